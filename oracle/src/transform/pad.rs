//! Padding of a quantized tensor: each axis of `[B,H,W,C]` gets elements before and after it, all equal to the zero point, which represents 0.
//!
//! Source: TensorFlow Lite, PAD and PADV2: a quantized tensor is padded by its zero point; ONNX operators, Pad with a constant value.

use super::{Source, tensor};
use crate::shape::{self, ShapeError};

/// Padding of a tensor `[B,H,W,C]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pad {
    /// Sizes of the tensor.
    pub sizes: [usize; 4],
    /// Elements before each axis.
    pub before: [usize; 4],
    /// Elements after each axis.
    pub after: [usize; 4],
    /// Stored value of real 0.
    pub zero_point: i32,
}

impl Pad {
    /// Returns the sizes of the padded tensor.
    fn padded(&self) -> [usize; 4] {
        std::array::from_fn(|axis| self.before[axis] + self.sizes[axis] + self.after[axis])
    }

    /// Returns the number of elements of input and output; the error is the invalid argument.
    pub(super) fn check(&self) -> Result<[usize; 2], ShapeError> {
        let [batches, height, width, channels] = self.sizes;
        shape::positive(&[("batches", batches), ("height", height), ("width", width), ("channels", channels)])?;
        let plain = shape::elements("input", &self.sizes)?;
        // Each side is at most MAX_ELEMENTS, so sums cannot overflow.
        self.before.iter().chain(&self.after).try_for_each(|side| shape::elements("side", &[*side]).map(|_| ()))?;
        Ok([plain, shape::elements("padded", &self.padded())?])
    }

    /// Returns the source of each output element.
    pub(super) fn sources(&self) -> Vec<Source> {
        let [_, height, width, channels] = self.sizes;
        tensor(self.padded(), |index| {
            let mut at = [0; 4];
            for axis in 0..4 {
                match index[axis].checked_sub(self.before[axis]) {
                    Some(inside) if inside < self.sizes[axis] => at[axis] = inside,
                    _ => return Source::ZeroPoint,
                }
            }
            Source::Element(((at[0] * height + at[1]) * width + at[2]) * channels + at[3])
        })
    }

    /// Computes the output axis by axis, from the innermost axis: each run of elements gets its own padding.
    pub(super) fn placed(&self, input: &[i32]) -> Vec<i32> {
        let padded = self.padded();
        let mut out = input.to_vec();
        for axis in (0..4).rev() {
            // Inner axes are padded already.
            let inner: usize = padded[axis + 1..].iter().product();
            let [before, after] = [self.before[axis], self.after[axis]].map(|side| vec![self.zero_point; side * inner]);
            let runs = out.chunks(self.sizes[axis] * inner);
            out = runs.flat_map(|run| [&before[..], run, &after].concat()).collect();
        }
        out
    }
}
