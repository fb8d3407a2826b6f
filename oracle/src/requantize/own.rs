//! Schemes for sums that are not a fixed point multiply of int32: a sum of 64 bits whose product is cast to int32 before its last place is rounded
//! away, and a product in f32.

use crate::fpm::steps::{Exponent, Multiplier, Step};
use crate::fpm::{Definition, Parameters};
use crate::rounding::RoundingRule::{TiesEven, TowardNegative};

/// Bound beyond the results of every output type, for the clamp of a scaled value in f32 before rounding.
const BEYOND: i64 = 1 << 30;
/// Bits of the significand of f32.
const SIGNIFICAND: u32 = 24;

/// Every scheme.
pub(super) static DEFINITIONS: [Definition; 2] = [
    Definition {
        name: "cmsis-nn-int16-multiplier",
        summary: "CMSIS-NN arm_nn_requantize_s64: multiplier reduced to 16 bits, the product cast to int32 before its last place is rounded",
        source: "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h REDUCE_MULTIPLIER, arm_nn_requantize_s64",
        steps: &[
            ("product x*m16", Step::Multiply(Multiplier::HighHalfSaturated)),
            ("scale by 2^(s-Q+16)", Step::Scale(Exponent::WholeHighHalf)),
            ("but for the last place", Step::Scale(Exponent::Constant(1))),
            ("the shift floors", Step::Round(TowardNegative)),
            ("cast to int32", Step::Wrap),
            ("plus one", Step::Add(1)),
            ("the sum wraps", Step::Wrap),
            ("halve", Step::Scale(Exponent::Constant(-1))),
            ("floor again", Step::Round(TowardNegative)),
        ],
        fast: |p, x| {
            let reduced = if p.m < 0x7FFF_0000 { (p.m + (1 << 15)) >> 16 } else { 0x7FFF };
            let product = i128::from(x) * i128::from(reduced);
            let places = p.q as i32 - p.s - 17;
            let high = p.word.wrap(if places > 0 { product >> places } else { product << -places });
            Some(p.word.wrap(high + 1) >> 1)
        },
    },
    Definition {
        name: "xnnpack-fp32",
        summary: "sum and product with the scale in f32, clamped, rounded to nearest with ties to even",
        source: "google/XNNPACK src/qs8-gemm/scalar.c.in with fp32; microsoft/onnxruntime onnxruntime/core/mlas/lib/requantize.cpp MlasRequantizeOutput",
        steps: &[
            ("the sum in f32", Step::F32),
            ("product with the scale in f32", Step::Multiply(Multiplier::Significand24)),
            ("the product in f32", Step::F32),
            ("scale by 2^(s-Q)", Step::Scale(Exponent::Whole)),
            ("round (ties-even)", Step::Round(TiesEven)),
            ("clamp beyond every output type", Step::Clamp(-BEYOND, BEYOND)),
        ],
        fast: in_f32,
    },
];

/// Rounds to a significand of 24 bits, ties to even: adds half of the last place minus one to the magnitude, and one more if the last place is odd.
fn significand(v: i128) -> i128 {
    let magnitude = v.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(SIGNIFICAND);
    if excess == 0 {
        return v;
    }
    let last = (magnitude >> excess) & 1;
    let rounded = (magnitude + (1 << (excess - 1)) - 1 + last) >> excess << excess;
    rounded as i128 * v.signum()
}

fn in_f32(p: &Parameters, x: i64) -> Option<i128> {
    let product = significand(significand(x.into()) * significand(p.m.into()));
    let places = p.q as i32 - p.s;
    let nearest = match u32::try_from(places) {
        Ok(0) | Err(_) => product << -places,
        Ok(places) => {
            let (floor, rest) = (product >> places, product & ((1 << places) - 1));
            let half = 1i128 << (places - 1);
            floor + i128::from(rest > half || (rest == half && floor & 1 == 1))
        }
    };
    Some(nearest.clamp((-BEYOND).into(), BEYOND.into()))
}
