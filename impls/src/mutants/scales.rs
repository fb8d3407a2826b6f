//! Elements that use the wrong scale.

use crate::quantize::{Domain, Run, mlir};
use crate::quantized::{Container, Granularity, Params};

/// Domain of the lowering for tensors that may have blocks.
pub(super) const BLOCKS: Domain = Domain { containers: &[Container::Ranked], ..mlir::DOMAIN };

/// Runs every element as a separate scalar, with the scale and zero point of index `scale(element)`.
pub(super) fn elsewhere(params: &Params, x: &[i32], out: &mut [i32], run: Run, scale: impl Fn(usize) -> usize) {
    let layers: Vec<Params> = (0..params.quantized.scales.len()).map(|at| layer(params, at)).collect();
    let elements = params.shape.iter().product::<usize>().max(1);
    let words = [x.len() / elements, out.len() / elements].map(|words| words.max(1));
    for (i, (x, out)) in x.chunks(words[0]).zip(out.chunks_mut(words[1])).enumerate() {
        run(&layers[scale(i)], x, out);
    }
}

/// Returns the parameters of one value with one of the scales.
fn layer(params: &Params, scale: usize) -> Params {
    let mut one = Params { container: Container::Scalar, shape: vec![1], ..params.clone() };
    let quantized = &mut one.quantized;
    quantized.granularity = Granularity::Layer;
    quantized.scales = vec![params.quantized.scales[scale]];
    quantized.zero_points = vec![params.quantized.zero_points[scale]];
    one
}

/// Returns the scale for a block of `index % blocks` along each axis.
pub(super) fn block_modulo(params: &Params, index: usize) -> usize {
    let row_major = |block, [at, _, count]: [usize; 3]| block * count + at % count;
    places(params, index).map_or_else(|| params.scale_of(index), |places| places.into_iter().fold(0, row_major))
}

/// Returns the scale for blocks stored column-major: blocks along the first axis are adjacent.
pub(super) fn column_major(params: &Params, index: usize) -> usize {
    let column_major = |block, [at, size, count]: [usize; 3]| block * count + at / (size / count);
    places(params, index)
        .map_or_else(|| params.scale_of(index), |places| places.into_iter().rev().fold(0, column_major))
}

/// Returns, per dimension, the index, the size and the number of blocks; `None` if there are no blocks.
fn places(params: &Params, mut index: usize) -> Option<Vec<[usize; 3]>> {
    let Granularity::Blocks { counts, .. } = &params.quantized.granularity else { return None };
    let place = |(size, count): (&usize, &usize)| {
        let at = index % size;
        index /= size;
        [at, *size, *count]
    };
    let mut places: Vec<_> = params.shape.iter().zip(counts).rev().map(place).collect();
    places.reverse();
    Some(places)
}
