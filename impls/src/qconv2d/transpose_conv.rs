//! Quantized transposed convolutions of TensorFlow Lite and of CMSIS-NN, from input elements to output elements.
//!
//! TFLite's reference adds the products of each element to accumulators of the whole output. A second pass applies bias,
//! `MultiplyByQuantizedMultiplier`, output offset and bounds.
//!
//! CMSIS-NN has two forms. `arm_transpose_conv_s8` keeps a ring of accumulator rows, as many as a window is high, which start with the bias. After
//! each input row, the rows to which no later input row adds are requantized, written, and set to the bias again. The second form, for strides up to
//! 2 and more than 16 input channels, is `arm_convolve_s8` with the strides as upscale factors of the input and with reversed filters, padded by
//! `filter - 1 - pad`. Sums wrap where C leaves them undefined.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/transpose_conv.h` and `reference/transpose_conv.h`;
//! ARM-software/CMSIS-NN `Source/ConvolutionFunctions/arm_transpose_conv_s8.c`, `arm_transpose_conv_wrapper_s8.c`.

use super::{Domain, Kernel, Params, cmsis_nn, loops, tflite};
use crate::contract;
use crate::conv2d::transposed::inserted::{STEPS, inserted, rotated};
use crate::conv2d::transposed::scatter::{PLAIN, scatter};
use crate::conv2d::transposed::{Dilation, Outputs, Transposed};
use crate::element::Element::{self, I8, U8};
use crate::fpm::cmsis_nn::double_rounding;
use crate::kernel::scalar;

const TFLITE: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/transpose_conv.h";
const CMSIS_NN: &str = "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_transpose_conv_s8.c";

/// Domain of symmetric filters of one group.
pub(crate) const fn symmetric(channels: contract::Domain, taken: Transposed) -> Domain {
    Domain { grouped: false, transposed: Some(taken), ..tflite::symmetric(channels) }
}

/// Sizes that TFLite has, without dilation.
pub(crate) const STEPPED: Transposed = Transposed { dilation: Dilation::One, outputs: Outputs::WholeSteps };

/// `TransposeConv` of int8.
pub(super) const TFLITE_I8: Kernel = scalar!(
    "tflite-transpose-conv-i8", "TFLite reference TransposeConv, int8: scatter, bias, double rounding per channel, output offset",
    tflite::DOUBLE on symmetric(contract::Domain::PER_CHANNEL, PLAIN), from TFLITE,
    |params, input, weights, out| reference(params, (I8, input), (I8, weights), out)
);

/// `TransposeConv` of uint8.
pub(super) const TFLITE_U8: Kernel = scalar!(
    "tflite-transpose-conv-u8", "TFLite reference TransposeConv, uint8: scatter, bias, double rounding, output offset, activation",
    tflite::DOUBLE on Domain { grouped: false, transposed: Some(PLAIN), ..tflite::BYTES },
    from "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/transpose_conv.h",
    |params, input, weights, out| reference(params, (U8, input), (U8, weights), out)
);

/// `arm_transpose_conv_s8`.
pub(super) const CMSIS_NN_I8: Kernel = scalar!(
    "cmsis-nn-transpose-conv-i8", "CMSIS-NN arm_transpose_conv_s8: rows of accumulators that go round, arm_nn_requantize per channel",
    cmsis_nn::DOUBLE on symmetric(cmsis_nn::CHANNELS, STEPPED), from CMSIS_NN,
    |params, input, weights, out| rolling(params, input, weights, out, FINISHED)
);

/// `arm_convolve_s8` over an upscaled input.
pub(super) const CMSIS_NN_REVERSE_I8: Kernel = scalar!(
    "cmsis-nn-transpose-conv-reverse-i8", "CMSIS-NN arm_transpose_conv_wrapper_s8: arm_convolve_s8 over an upscaled input, filters in reverse",
    cmsis_nn::DOUBLE on symmetric(cmsis_nn::CHANNELS, STEPPED),
    from "ARM-software/CMSIS-NN Source/ConvolutionFunctions/arm_transpose_conv_wrapper_s8.c", reverse
);

fn reference(params: &Params, input: (Element, &[u8]), weights: (Element, &[u8]), out: &mut [i32]) {
    let mut sums = vec![0; out.len()];
    scatter(&params.shape, input, weights, &mut sums);
    loops::each(params, &sums, out, |sum, o| tflite::tail(params, sum, o));
}

fn reverse(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32]) {
    let offset = params.shape.input_zero_point.wrapping_neg() as i16;
    let wide: Vec<i16> = input.iter().map(|byte| i16::from(*byte as i8).wrapping_add(offset)).collect();
    let (shape, image) = inserted(&params.shape, &wide, 0, STEPS.before);
    let filters = rotated(&params.shape, weights, STEPS.tap);
    cmsis_nn::products(&Params { shape, ..params.clone() }, &image, &filters, out, double_rounding);
}

/// Returns the number of output rows finished after an input row, from the row's index, the stride and the padding above.
pub(crate) type Finished = fn(usize, usize, usize) -> usize;

/// One stride of rows per input row, except rows in the padding.
const FINISHED: Finished =
    |row, stride, padding| ((row + 1) * stride).saturating_sub(padding) - (row * stride).saturating_sub(padding);

/// Computes the form with a ring of accumulator rows.
pub(crate) fn rolling(params: &Params, input: &[u8], weights: &[u8], out: &mut [i32], finished: Finished) {
    let shape = &params.shape;
    let Ok((rows, columns)) = shape.output() else { return };
    let outputs = shape.out_channels;
    let mut ring = Ring::new(params);
    let mut out = out.chunks_exact_mut(columns * outputs);
    let mut write = |ring: &mut Ring, kept: bool| {
        let row = &mut ring.rows[ring.first];
        if let Some(out) = if kept { out.next() } else { None } {
            let sums = &row[shape.left * outputs..][..columns * outputs];
            loops::each(params, sums, out, |sum, o| cmsis_nn::end(params, sum, o, double_rounding));
        }
        row.clone_from(&ring.bias);
        ring.first = (ring.first + 1) % ring.rows.len();
    };
    for image in input.chunks_exact(shape.height * shape.width * shape.channels) {
        ring.reset();
        for (at, row) in image.chunks_exact(shape.width * shape.channels).enumerate() {
            let begin = at * shape.stride_h;
            let above = shape.top.saturating_sub(begin);
            let below = (begin + shape.kernel_h).saturating_sub(shape.top + rows + 1);
            for i in above..shape.kernel_h.saturating_sub(below) {
                ring.add(params, (row, weights), i, i - above);
            }
            for _ in 0..finished(at, shape.stride_h, shape.top) {
                write(&mut ring, true);
            }
        }
        for y in 0..shape.kernel_h.saturating_sub(shape.stride_h) {
            let place = shape.height * shape.stride_h + y;
            write(&mut ring, (shape.top..shape.top + rows).contains(&place));
        }
    }
}

/// Ring of accumulator rows.
struct Ring {
    bias: Vec<i32>,
    rows: Vec<Vec<i32>>,
    first: usize,
}

impl Ring {
    fn new(params: &Params) -> Self {
        let shape = &params.shape;
        let width = (shape.width - 1) * shape.stride_w + shape.kernel_w.max(shape.stride_w);
        let bias: Vec<i32> = (0..width * shape.out_channels).map(|at| params.bias(at % shape.out_channels)).collect();
        Self { rows: vec![bias.clone(); shape.kernel_h.max(shape.stride_h)], bias, first: 0 }
    }

    fn reset(&mut self) {
        self.rows.fill(self.bias.clone());
        self.first = 0;
    }

    /// Adds the products of an input row and row `i` of the filter to the accumulator row at distance `after` from the first.
    fn add(&mut self, params: &Params, (input, weights): (&[u8], &[u8]), i: usize, after: usize) {
        let shape = &params.shape;
        let at = (self.first + after) % self.rows.len();
        let row = &mut self.rows[at];
        for (x, pixel) in input.chunks_exact(shape.channels).enumerate() {
            for j in 0..shape.kernel_w {
                let sums = &mut row[(x * shape.stride_w + j) * shape.out_channels..][..shape.out_channels];
                let filter = &weights[(i * shape.kernel_w + j) * shape.channels * shape.out_channels..];
                for (value, filter) in pixel.iter().zip(filter.chunks_exact(shape.out_channels)) {
                    let value = i32::from(*value as i8).wrapping_sub(shape.input_zero_point);
                    for (sum, weight) in sums.iter_mut().zip(filter) {
                        *sum = sum.wrapping_add(value.wrapping_mul(i32::from(*weight as i8)));
                    }
                }
            }
        }
    }
}
