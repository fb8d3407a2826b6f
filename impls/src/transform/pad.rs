//! Padding of a quantized tensor by its zero point, before and after each axis of `[B,H,W,C]`.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/pad.cc`, `internal/reference/pad.h` (PadImpl), `internal/optimized/optimized_ops.h`
//! (PadImageStyleMemset); microsoft/onnxruntime `onnxruntime/core/providers/cpu/tensor/pad.cc` (PadImpl); ARM-software/CMSIS-NN
//! `Source/PadFunctions/arm_pad_s8.c`.

use super::{Kernel, Kind, from};
use crate::shape::{self, ShapeError, Sizes, positive, with_defaults};
use serde::{Deserialize, Serialize};

with_defaults! {
    /// Padding of a tensor `[B,H,W,C]`. By default one element without padding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub struct Params {
        /// Number of images.
        pub batches: usize = 1,
        /// Rows of the input.
        pub height: usize = 1,
        /// Columns of the input.
        pub width: usize = 1,
        /// Channels of the input.
        pub channels: usize = 1,
        /// Images of padding before the first image.
        pub batches_before: usize = 0,
        /// Images of padding after the last image.
        pub batches_after: usize = 0,
        /// Rows of padding above.
        pub top: usize = 0,
        /// Rows of padding below.
        pub bottom: usize = 0,
        /// Columns of padding on the left.
        pub left: usize = 0,
        /// Columns of padding on the right.
        pub right: usize = 0,
        /// Channels of padding before the first channel.
        pub channels_before: usize = 0,
        /// Channels of padding after the last channel.
        pub channels_after: usize = 0,
        /// Stored value that represents 0.
        pub zero_point: i32 = 0,
    }
}

impl Params {
    /// Returns the sizes of the input.
    fn plain(&self) -> [usize; 4] {
        [self.batches, self.height, self.width, self.channels]
    }

    /// Returns the padding before each axis.
    fn before(&self) -> [usize; 4] {
        [self.batches_before, self.top, self.left, self.channels_before]
    }

    /// Returns the padding after each axis.
    fn after(&self) -> [usize; 4] {
        [self.batches_after, self.bottom, self.right, self.channels_after]
    }

    /// Returns the sizes of the padded tensor. Input sizes and padding have been checked.
    fn padded(&self) -> [usize; 4] {
        let (plain, before, after) = (self.plain(), self.before(), self.after());
        std::array::from_fn(|axis| before[axis] + plain[axis] + after[axis])
    }

    /// Returns the sizes of the input and of the output. An error names the invalid argument.
    pub(super) fn sizes(&self) -> Result<Sizes, ShapeError> {
        for (name, size) in ["batches", "height", "width", "channels"].into_iter().zip(self.plain()) {
            positive(name, size)?;
        }
        let input = shape::elements("input", &self.plain())?;
        // No side is larger than the largest tensor, so the sums cannot overflow.
        self.before().iter().chain(&self.after()).try_for_each(|side| shape::elements("side", &[*side]).map(|_| ()))?;
        Ok(Sizes { inputs: [input, 0, 0], outputs: shape::elements("padded", &self.padded())? })
    }
}

const TFLITE: &str =
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/pad.h, tensorflow/lite/kernels/pad.cc";

pub(super) const REFERENCE: Kernel = from(
    "tflite-pad",
    "TFLite PAD, reference: each place of the output is asked whether it is padding",
    Kind::Pad,
    TFLITE,
    |params, input, out| params.pad(|p| reference(p, input, p.zero_point, out)),
);

pub(super) const IMAGE: Kernel = from(
    "tflite-pad-image",
    "TFLite PAD, optimized: rows of an image copied between fills; padding of images and channels by the reference",
    Kind::Pad,
    "tensorflow/tensorflow tensorflow/lite/kernels/internal/optimized/optimized_ops.h, PadImageStyleMemset",
    |params, input, out| params.pad(|p| image(p, input, p.zero_point, out)),
);

pub(super) const ONNX: Kernel = from(
    "onnx-pad",
    "ONNX Runtime Pad, constant: runs of the innermost axis, the padding of an outer axis at once",
    Kind::Pad,
    "microsoft/onnxruntime onnxruntime/core/providers/cpu/tensor/pad.cc, PadImpl",
    |params, input, out| params.pad(|p| axis(p, 0, input, out)),
);

pub(super) const CMSIS_NN: Kernel = from(
    "arm-pad-s8",
    "CMSIS-NN arm_pad_s8: fills and copies one after another",
    Kind::Pad,
    "ARM-software/CMSIS-NN Source/PadFunctions/arm_pad_s8.c",
    |params, input, out| params.pad(|p| sequence(p, input, out)),
);

/// Writes each place of the output in order: the next element, or `value`.
pub(crate) fn reference(p: &Params, input: &[i32], value: i32, out: &mut [i32]) {
    let ([_, rows, columns, depth], plain, before) = (p.padded(), p.plain(), p.before());
    let mut elements = input.iter();
    for (at, place) in out.iter_mut().enumerate() {
        let index = [at / depth / columns / rows, at / depth / columns % rows, at / depth % columns, at % depth];
        let inside = (0..4).all(|axis| (before[axis]..before[axis] + plain[axis]).contains(&index[axis]));
        *place = if inside { elements.next().copied().unwrap_or(value) } else { value };
    }
}

/// Copies rows of images between fills of `value`.
pub(crate) fn image(p: &Params, input: &[i32], value: i32, out: &mut [i32]) {
    if p.batches_before + p.batches_after + p.channels_before + p.channels_after != 0 {
        return reference(p, input, value, out);
    }
    let (row, [_, rows, columns, depth]) = (p.width * p.channels, p.padded());
    let (left, line) = (p.left * p.channels, columns * depth);
    out.fill(value);
    for (i, elements) in input.chunks_exact(row).enumerate() {
        let at = (i / p.height * rows + p.top + i % p.height) * line + left;
        out[at..at + row].copy_from_slice(elements);
    }
}

/// Pads this axis, and then each of its indices along the next axis.
fn axis(p: &Params, at: usize, input: &[i32], out: &mut [i32]) {
    let (plain, before) = (p.plain()[at], p.before()[at]);
    let (inner, run) = (out.len() / p.padded()[at], input.len() / plain);
    let (head, rest) = out.split_at_mut(before * inner);
    let (body, tail) = rest.split_at_mut(plain * inner);
    head.fill(p.zero_point);
    tail.fill(p.zero_point);
    if at == 3 {
        return body.copy_from_slice(input);
    }
    for (input, out) in input.chunks_exact(run).zip(body.chunks_exact_mut(inner)) {
        axis(p, at + 1, input, out);
    }
}

/// Remaining part of an output that is written from begin to end.
struct Cursor<'a>(&'a mut [i32]);

impl Cursor<'_> {
    /// Returns the next `count` places.
    fn next(&mut self, count: usize) -> &mut [i32] {
        let (now, left) = std::mem::take(&mut self.0).split_at_mut(count);
        self.0 = left;
        now
    }
}

/// Fills and copies, so that the output is written from begin to end.
fn sequence(p: &Params, input: &[i32], out: &mut [i32]) {
    let [_, rows, columns, depth] = p.padded();
    let mut places = Cursor(out);
    places.next(p.batches_before * rows * columns * depth).fill(p.zero_point);
    for image in input.chunks_exact(p.height * p.width * p.channels) {
        places.next(p.top * columns * depth).fill(p.zero_point);
        for row in image.chunks_exact(p.width * p.channels) {
            places.next(p.left * depth).fill(p.zero_point);
            for pixel in row.chunks_exact(p.channels) {
                places.next(p.channels_before).fill(p.zero_point);
                places.next(p.channels).copy_from_slice(pixel);
                places.next(p.channels_after).fill(p.zero_point);
            }
            places.next(p.right * depth).fill(p.zero_point);
        }
        places.next(p.bottom * columns * depth).fill(p.zero_point);
    }
    places.next(p.batches_after * rows * columns * depth).fill(p.zero_point);
}
