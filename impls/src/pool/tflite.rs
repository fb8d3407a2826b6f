//! TensorFlow Lite: the int32 sum of the stored values, plus or minus half the number of elements in the image, divided as in C. This rounds to
//! nearest, ties away from zero. Padding is left out of sums, divisors and maxima. Scale and zero point of input and output are equal
//! (`lite/kernels/pooling.cc`, Prepare).
//!
//! The optimized int8 form adds pixel after pixel to int16 accumulators of up to 256 channels. It leaves windows of more than 256 elements to the
//! reference form, because an int16 holds the sum of 256 elements of 8 bits and no more.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h` (AveragePool, MaxPool),
//! `tensorflow/lite/kernels/internal/reference/pooling.h` (uint8), `tensorflow/lite/kernels/internal/optimized/integer_ops/pooling.h` (AveragePool16).

use super::windows::{clamp, each, each_place};
use super::{Counted, Domain, Kernel, Params, Run, Scales};
use crate::contract::{Contract, Overflow, Promise};
use crate::element::Element::{self, I8, I16, U8};
use crate::kernel::of_elements;
use crate::simd::form::params_form;
use crate::simd::{LANES, Portable, Vector};

const SOURCE: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h";
const OPTIMIZED: &str = "tensorflow/tensorflow tensorflow/lite/kernels/internal/optimized/integer_ops/pooling.h";

/// Channels that the optimized form accumulates at a time.
const TRANCHE: usize = 256;
/// Largest window whose sum an int16 holds.
const SMALL: usize = 16 * 16;

pub(crate) const DOMAIN: Domain =
    Domain { element: I8, scales: Scales::Equal, counted: Counted::Never, global: false, clamp: true };
pub(super) const AVERAGE: Promise = Promise { scheme: "tflite", overflow: Overflow::OutOfDomain };
pub(crate) const MAX: Promise = Promise { scheme: "max", overflow: Overflow::OutOfDomain };

/// Average of int8.
pub(super) const AVERAGE_I8: Kernel =
    average("tflite-average-pool-i8", I8, |params, input, out| sums(params, I8, input, out, divided));

/// Average of unsigned bytes.
pub(super) const AVERAGE_U8: Kernel = average("tflite-average-pool-u8", U8, |params, input, out| {
    sums(params, U8, input, out, |sum, count| (sum + count / 2) / count);
});

/// Average of int16.
pub(super) const AVERAGE_I16: Kernel =
    average("tflite-average-pool-i16", I16, |params, input, out| sums(params, I16, input, out, divided));

/// Average of int8, the optimized form.
pub(super) const TRANCHES_I8: Kernel = Kernel::scalar(
    "tflite-average-pool-optimized-i8",
    "TFLite optimized AveragePool16: int16 sums of up to 256 channels, pixel after pixel",
    AVERAGE,
    DOMAIN,
    OPTIMIZED,
    |params, input, out| {
        if params.area() > SMALL {
            return sums(params, I8, input, out, divided);
        }
        each_place(params, I8, input, out, |window, out| {
            let count = window.inside() as i32;
            for first in (0..params.channels).step_by(TRANCHE) {
                let depth = TRANCHE.min(params.channels - first);
                let mut acc = [0i16; TRANCHE];
                for pixel in window.pixels() {
                    let channels = &input[pixel + first..][..depth];
                    acc.iter_mut().zip(channels).for_each(|(acc, byte)| *acc += i16::from(*byte as i8));
                }
                for (out, acc) in out[first..].iter_mut().zip(&acc[..depth]) {
                    *out = clamp(divided((*acc).into(), count), params);
                }
            }
        });
    },
);

/// Average of int8 with sums in vectors of four channels, and the remaining channels one by one.
pub(super) const NEON_I8: Kernel = Kernel {
    name: "tflite-average-pool-neon-i8",
    summary: "TFLite optimized AveragePool on NEON: sums of four channels in a vector, the division in scalars",
    contract: Contract { promise: AVERAGE, domain: DOMAIN, deviations: &[], source: OPTIMIZED },
    portable: vectors::<Portable>,
    native: Some(params_form!("tiebreak_pool_tflite_average_i8", ["add"], vectors(input: u8))),
};

of_elements! {
    "TFLite reference MaxPool: from the least value of the type, clamped",
    MAX, Domain { element: ELEMENT, ..DOMAIN }, SOURCE, |params, input, out| max(params, ELEMENT, input, out);
    MAX_I8 = "tflite-max-pool-i8", I8;
    MAX_U8 = "tflite-max-pool-u8", U8;
    MAX_I16 = "tflite-max-pool-i16", I16;
}

const fn average(name: &'static str, element: Element, run: Run) -> Kernel {
    let summary = "TFLite reference AveragePool: int32 sum of the stored values, half the count added by sign";
    Kernel::scalar(name, summary, AVERAGE, Domain { element, ..DOMAIN }, SOURCE, run)
}

/// Adds half the count with the sign of the sum, then divides toward zero.
#[inline(always)]
pub(crate) fn divided(sum: i32, count: i32) -> i32 {
    if sum > 0 { (sum + count / 2) / count } else { (sum - count / 2) / count }
}

/// Computes AveragePool, with `divide(sum, number of elements in the image)`.
#[inline(always)]
pub(crate) fn sums(params: &Params, element: Element, input: &[u8], out: &mut [i32], divide: impl Fn(i32, i32) -> i32) {
    each(params, element, input, out, |window| clamp(divide(window.sum(), window.inside() as i32), params));
}

/// Computes MaxPool.
#[inline(always)]
pub(crate) fn max(params: &Params, element: Element, input: &[u8], out: &mut [i32]) {
    let least = *element.range().start();
    each(params, element, input, out, |window| clamp(window.fold(least, i32::max), params));
}

#[inline(always)]
fn vectors<V: Vector>(params: &Params, input: &[u8], out: &mut [i32]) {
    each_place(params, I8, input, out, |window, out| {
        let count = window.inside() as i32;
        let (whole, rest) = out.as_chunks_mut::<LANES>();
        let first_of_rest = whole.len() * LANES;
        for (at, out) in whole.iter_mut().enumerate() {
            let mut acc = V::splat(0);
            for pixel in window.pixels() {
                let bytes = &input[pixel + at * LANES..][..LANES];
                acc = acc.add(V::load(&std::array::from_fn(|lane| (bytes[lane] as i8).into())));
            }
            acc.store(out);
            out.iter_mut().for_each(|sum| *sum = clamp(divided(*sum, count), params));
        }
        for (at, out) in rest.iter_mut().enumerate() {
            let channel = first_of_rest + at;
            let sum = window.pixels().map(|pixel| i32::from(input[pixel + channel] as i8)).sum();
            *out = clamp(divided(sum, count), params);
        }
    });
}
