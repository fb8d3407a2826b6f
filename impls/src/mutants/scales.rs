//! Elements that use the wrong scale.

use crate::quantize::{Domain, Run, mlir};
use crate::quantized::{Container, Granularity, Params};

/// The lowering, of tensors that may have blocks.
pub(super) const BLOCKS: Domain = Domain { containers: &[Container::Ranked], ..mlir::DOMAIN };

/// Every element by itself, with the parameters of the scale that `scale` names.
pub(super) fn elsewhere(params: &Params, x: &[i32], out: &mut [i32], run: Run, scale: impl Fn(usize) -> usize) {
    let layers: Vec<Params> = (0..params.quantized.scales.len()).map(|at| layer(params, at)).collect();
    let elements = params.shape.iter().product::<usize>().max(1);
    let words = [x.len() / elements, out.len() / elements].map(|words| words.max(1));
    for (i, (x, out)) in x.chunks(words[0]).zip(out.chunks_mut(words[1])).enumerate() {
        run(&layers[scale(i)], x, out);
    }
}

/// One value with the parameters of one scale.
fn layer(params: &Params, scale: usize) -> Params {
    let mut one = Params { container: Container::Scalar, shape: vec![1], ..params.clone() };
    let quantized = &mut one.quantized;
    quantized.granularity = Granularity::Layer;
    quantized.scales = vec![params.quantized.scales[scale]];
    quantized.zero_points = vec![params.quantized.zero_points[scale]];
    one
}

/// The block along an axis is the index modulo the number of blocks.
pub(super) fn block_modulo(params: &Params, index: usize) -> usize {
    let row_major = |block, [at, _, count]: [usize; 3]| block * count + at % count;
    places(params, index).map_or_else(|| params.scale_of(index), |places| places.into_iter().fold(0, row_major))
}

/// The blocks of the first axis lie one after the other.
pub(super) fn column_major(params: &Params, index: usize) -> usize {
    let column_major = |block, [at, size, count]: [usize; 3]| block * count + at / (size / count);
    places(params, index)
        .map_or_else(|| params.scale_of(index), |places| places.into_iter().rev().fold(0, column_major))
}

/// Index in each dimension, size of the dimension, and blocks along it; `None` if there are no blocks.
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
