//! Sharing of scales and zero points among elements.
//!
//! Sources: MLIR RFC "Improvements in the 'quant' dialect"; blocks: llvm/llvm-project mlir/lib/Dialect/Quant/IR/QuantOps.cpp,
//! `verifySubChannelQuantization`; the blocks of ONNX: ONNX operators, QuantizeLinear, `block_size`.

use crate::shape::{ShapeError, broken};
use serde::{Deserialize, Serialize};

/// Part of a tensor with one scale and zero point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// Whole tensor.
    Layer,
    /// One index along an axis.
    Channel {
        /// Axis of the channels.
        axis: usize,
    },
    /// A block; the scales are in row-major order of the blocks.
    Blocks {
        /// Pairs of an axis and the size of a block along it. Along other axes a block is as long as the tensor.
        sizes: Vec<(usize, usize)>,
        /// Number of blocks along each axis of the tensor.
        counts: Vec<usize>,
    },
}

/// Finest granularity that a kernel accepts. It implies every coarser granularity, except that `OtherAxis` implies no other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finest {
    /// One scale for the tensor.
    Layer,
    /// Channels along any axis.
    Channel,
    /// Several blocks along the last axis, separate for each index of the other axes: `block_size` of ONNX with the last `axis`.
    LastAxis,
    /// Several blocks along one axis, with more than one element after it, separate for each index of the other axes: `block_size` of ONNX with
    /// another `axis`. Layers and channels are not included, because ONNX Runtime has a separate loop for these blocks.
    OtherAxis,
    /// Several blocks along any single axis, separate for each index of the other axes: `block_size` of ONNX.
    OneAxis,
    /// Any blocks.
    Blocks,
}

/// Serialization of the finest granularity as the list of all granularities that a kernel accepts.
pub(crate) mod coarser {
    use super::Finest;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    const ALL: [Finest; 6] =
        [Finest::Layer, Finest::Channel, Finest::LastAxis, Finest::OtherAxis, Finest::OneAxis, Finest::Blocks];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(finest: &Finest, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(ALL.iter().filter(|one| *one == finest || finest.takes_layers() && *one < finest))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Finest, D::Error> {
        let listed = Vec::deserialize(from)?;
        match listed.iter().copied().max() {
            None => Err(D::Error::custom("no granularity")),
            Some(Finest::OtherAxis) if listed.iter().any(|one| *one != Finest::OtherAxis) => {
                Err(D::Error::custom("`other-axis` stands alone; `one-axis` has it with every coarser granularity"))
            }
            Some(finest) => Ok(finest),
        }
    }
}

impl Finest {
    /// True if one scale for all elements is accepted, and with it every coarser granularity.
    pub fn takes_layers(self) -> bool {
        self != Self::OtherAxis
    }

    /// True if the granularity is accepted for a tensor of this shape.
    pub fn takes(self, granularity: &Granularity, shape: &[usize]) -> bool {
        match granularity {
            Granularity::Layer => self.takes_layers(),
            Granularity::Channel { .. } => self.takes_layers() && self != Self::Layer,
            Granularity::Blocks { counts, .. } => {
                // Axes that have fewer blocks than indices.
                let mut along = (0..shape.len()).filter(|axis| counts.get(*axis) != Some(&shape[*axis]));
                let several = counts.iter().product::<usize>() > 1;
                match self {
                    Self::Layer | Self::Channel => false,
                    Self::LastAxis => several && along.all(|axis| axis + 1 == shape.len()),
                    // If every index of every axis has its own block, the blocks are along each axis.
                    Self::OtherAxis => {
                        let axis = along.next().unwrap_or(0);
                        several && along.next().is_none() && shape.iter().skip(axis + 1).product::<usize>() > 1
                    }
                    Self::OneAxis => several && along.count() < 2,
                    Self::Blocks => true,
                }
            }
        }
    }
}

impl Granularity {
    /// Returns the number of scales of a tensor of this shape. An error names the invalid argument.
    pub fn scales(&self, shape: &[usize]) -> Result<usize, ShapeError> {
        match self {
            Self::Layer => Ok(1),
            Self::Channel { axis } => shape.get(*axis).copied().ok_or_else(|| no_axis(*axis, shape)),
            Self::Blocks { sizes, counts } => blocks(sizes, counts, shape),
        }
    }

    /// Returns the index of the scale of element `index` in a tensor of this shape.
    pub(super) fn scale_of(&self, shape: &[usize], index: usize) -> usize {
        match self {
            Self::Layer => 0,
            Self::Channel { axis } => {
                let inner: usize = shape[axis + 1..].iter().product();
                index / inner % shape[*axis]
            }
            Self::Blocks { counts, .. } => block_of(counts, shape, index),
        }
    }
}

fn no_axis(axis: usize, shape: &[usize]) -> ShapeError {
    broken("axis", format!("{axis} is no axis of {} dimensions", shape.len()))
}

/// Returns the number of blocks. Every dimension must be the block size times the number of blocks in the type.
fn blocks(sizes: &[(usize, usize)], counts: &[usize], shape: &[usize]) -> Result<usize, ShapeError> {
    if let Some((axis, _)) = sizes.iter().find(|(axis, _)| *axis >= shape.len()) {
        return Err(no_axis(*axis, shape));
    }
    if counts.len() != shape.len() {
        let [ranks, rank] = [counts.len(), shape.len()];
        return Err(broken("shape", format!("{rank} dimensions where the scales have {ranks}")));
    }
    for (axis, (dimension, count)) in shape.iter().zip(counts).enumerate() {
        let size = sizes.iter().find(|(a, _)| *a == axis).map_or(*dimension, |(_, size)| *size);
        if *dimension == 0 || size.checked_mul(*count) != Some(*dimension) {
            let described = format!("axis {axis} of size {dimension} is not {count} blocks of {size}");
            return Err(broken("shape", described));
        }
    }
    // Not more than the elements, whose number has been checked.
    Ok(counts.iter().product())
}

fn block_of(counts: &[usize], shape: &[usize], mut index: usize) -> usize {
    let (mut block, mut stride) = (0, 1);
    for (dimension, count) in shape.iter().zip(counts).rev() {
        block += index % dimension / (dimension / count) * stride;
        stride *= count;
        index /= dimension;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the definition: the index in each dimension, divided by the size of a block in this dimension.
    #[test]
    fn blocks_are_as_defined_on_small_shapes() {
        let divisors = |n: usize| (1..=n).filter(move |size| n.is_multiple_of(*size));
        let mut cases = 0;
        for (d0, d1, d2) in (1..=6).flat_map(|a| (1..=4).flat_map(move |b| (1..=4).map(move |c| (a, b, c)))) {
            let shape = [d0, d1, d2];
            for (s0, s1, s2) in
                divisors(d0).flat_map(|a| divisors(d1).flat_map(move |b| divisors(d2).map(move |c| (a, b, c))))
            {
                let counts = vec![d0 / s0, d1 / s1, d2 / s2];
                let sizes = vec![(2, s2), (0, s0), (1, s1)];
                let granularity = Granularity::Blocks { sizes, counts: counts.clone() };
                assert_eq!(granularity.scales(&shape).expect("blocks"), counts.iter().product::<usize>());
                let places = (0..d0).flat_map(|i| (0..d1).flat_map(move |j| (0..d2).map(move |k| (i, j, k))));
                for (index, (i, j, k)) in places.enumerate() {
                    let defined = (i / s0 * counts[1] + j / s1) * counts[2] + k / s2;
                    assert_eq!(granularity.scale_of(&shape, index), defined, "{shape:?} {granularity:?} {index}");
                }
                cases += 1;
            }
        }
        // Sums of the numbers of divisors up to 6, 4 and 4.
        assert_eq!(cases, 14 * 8 * 8);
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let refused = |sizes: &[(usize, usize)], counts: &[usize], shape: &[usize]| {
            let granularity = Granularity::Blocks { sizes: sizes.to_vec(), counts: counts.to_vec() };
            granularity.scales(shape).expect_err("no such blocks").to_string()
        };
        assert!(refused(&[(0, 3)], &[1], &[4]).contains("axis 0 of size 4 is not 1 blocks of 3"));
        assert!(refused(&[(0, 2)], &[1], &[4]).contains("axis 0 of size 4 is not 1 blocks of 2"));
        assert!(refused(&[(0, 2)], &[2, 2], &[4, 2]).contains("axis 1"));
        assert!(refused(&[(2, 1)], &[1, 1], &[4, 2]).contains("2 is no axis of 2 dimensions"));
        assert!(refused(&[(0, 2)], &[2], &[4, 1]).contains("2 dimensions where the scales have 1"));
        // mlir-opt: "tensor dimension size of zero is not allowed with sub-channel quantization".
        assert!(refused(&[(0, 2)], &[0], &[0]).contains("axis 0 of size 0"));
        assert!(refused(&[], &[1], &[0]).contains("axis 0 of size 0"));
        assert!(refused(&[(0, usize::MAX)], &[2], &[4]).contains("axis 0"));
    }

    #[test]
    fn channels_are_finer_than_a_layer() {
        use Finest::{Blocks, Channel, LastAxis, Layer, OneAxis, OtherAxis};
        let all = [Layer, Channel, LastAxis, OneAxis, Blocks];
        assert_eq!(all.map(|finest| finest.takes(&Granularity::Layer, &[4])), [true; 5]);
        let channels = Granularity::Channel { axis: 0 };
        assert_eq!(all.map(|finest| finest.takes(&channels, &[4])), [false, true, true, true, true]);
        assert!([Granularity::Layer, channels].iter().all(|coarse| !OtherAxis.takes(coarse, &[4, 4])));
    }

    #[test]
    fn the_blocks_of_onnx_lie_along_one_axis() {
        let takes = |finest: Finest, counts: &[usize], shape: &[usize]| {
            let sizes = counts.iter().zip(shape).map(|(count, dimension)| dimension / count).enumerate().collect();
            finest.takes(&Granularity::Blocks { sizes, counts: counts.to_vec() }, shape)
        };
        use Finest::{Blocks, Channel, LastAxis, OneAxis, OtherAxis};
        let all = |counts: &[usize], shape: &[usize]| {
            [Channel, LastAxis, OtherAxis, OneAxis, Blocks].map(|f| takes(f, counts, shape))
        };
        assert_eq!(all(&[2, 3], &[2, 6]), [false, true, false, true, true]);
        assert_eq!(all(&[2, 3], &[4, 3]), [false, false, true, true, true]);
        assert_eq!(all(&[2, 3], &[4, 6]), [false, false, false, false, true]);
        assert_eq!(all(&[2, 3], &[2, 3]), [false, true, true, true, true]);
        assert_eq!(all(&[2, 1, 3], &[2, 5, 3]), [false, false, true, true, true]);
        // Only axes of one element follow the axis, so ONNX Runtime runs its code for the last axis.
        assert_eq!(all(&[2, 2, 1], &[2, 4, 1]), [false, false, false, true, true]);
        // ONNX Runtime treats a single scale as one for the whole tensor, and refuses a block size with it.
        assert_eq!(all(&[1], &[5]), [false, false, false, false, true]);
        assert_eq!(all(&[1, 1], &[5, 1]), [false, false, false, false, true]);
    }

    /// Granularities as a worker declares them and as its domain has them.
    #[test]
    fn a_granularity_is_the_list_of_those_that_a_kernel_takes() {
        use serde::de::value::{Error, SeqDeserializer};
        let read = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            coarser::deserialize(SeqDeserializer::<_, Error>::new(names.into_iter()))
        };
        assert_eq!(read(&["layer", "channel"]), Ok(Finest::Channel));
        assert_eq!(read(&["other-axis"]), Ok(Finest::OtherAxis));
        assert_eq!(read(&["layer", "channel", "last-axis", "other-axis", "one-axis"]), Ok(Finest::OneAxis));
        assert!(read(&["layer", "other-axis"]).expect_err("not alone").to_string().contains("stands alone"));
        assert!(read(&[]).expect_err("nothing").to_string().contains("no granularity"));
    }
}
