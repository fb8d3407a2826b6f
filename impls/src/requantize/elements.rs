//! One-element functions of the requantizations: one channel without bias.

use super::{Kernel, Params, Run, cmsis_nn, gemmlowp, tflite, tosa, tvm_neon, tvm_relay, xnnpack};
use crate::elements::{BATCH, positions};
use crate::fpm::Channel;
use crate::mutants::requantize::MUTANTS;

/// Returns element `AT` of a batch that `run` requantizes.
#[inline(always)]
fn element<const AT: usize>(
    run: Run,
    x: [i32; BATCH],
    multiplier: i32,
    shift: i32,
    zero_point: i32,
    min: i32,
    max: i32,
) -> i32 {
    let mut out = [0; BATCH];
    let channels = vec![Channel { multiplier, shift }];
    run(&Params { len: BATCH, channels, bias: vec![0], zero_point, min, max }, &x, &mut out);
    out[AT]
}

positions! {
    "requantize", element(m, s, zero_point, min, max), Run;
    "gemmlowp-quantize-down": gemmlowp::QUANTIZE_DOWN;
    "gemmlowp-quantize-down-shipped": gemmlowp::QUANTIZE_DOWN_SHIPPED;
    "gemmlowp-eight-bit-int": gemmlowp::EIGHT_BIT_INT;
    "gemmlowp-quantize-down-fixedpoint": gemmlowp::FIXED_POINT_U8;
    "gemmlowp-quantize-down-fixedpoint-i8": gemmlowp::FIXED_POINT_I8;
    "gemmlowp-quantize-down-fixedpoint-i16": gemmlowp::FIXED_POINT_I16;
    "gemmlowp-scale-fixedpoint-exponent": gemmlowp::EXPONENT_U8;
    "gemmlowp-scale-fixedpoint-exponent-i8": gemmlowp::EXPONENT_I8;
    "gemmlowp-scale-fixedpoint-exponent-i16": gemmlowp::EXPONENT_I16;
    "gemmlowp-pipeline": gemmlowp::PIPELINE_U8;
    "gemmlowp-pipeline-i8": gemmlowp::PIPELINE_I8;
    "gemmlowp-pipeline-i16": gemmlowp::PIPELINE_I16;
    "tflite-requantize-i8": tflite::DOUBLE_I8;
    "tflite-requantize-u8": tflite::DOUBLE_U8;
    "tflite-requantize-single-i8": tflite::SINGLE_I8;
    "tflite-requantize-i16": tflite::REDUCED_I16;
    "tvm-requantize-i8": tvm_relay::UPWARD_I8;
    "tvm-requantize-tonearest-i8": tvm_relay::TO_NEAREST_I8;
    "tvm-requantize-neon-i8": tvm_neon::RFC_I8;
    "tvm-requantize-neon-u8": tvm_neon::RFC_U8;
    "tvm-requantize-neon-fixup-i8": tvm_neon::FIXUP_I8;
    "tvm-requantize-neon-fixup-u8": tvm_neon::FIXUP_U8;
    "cmsis-nn-requantize-i8": cmsis_nn::DOUBLE_I8;
    "cmsis-nn-requantize-single-i8": cmsis_nn::SINGLE_I8;
    "xnnpack-rndnu-i8": xnnpack::RNDNU_I8;
    "xnnpack-rndnu-u8": xnnpack::RNDNU_U8;
    "xnnpack-rndnu-scalar-i8": xnnpack::RNDNU_SCALAR_I8;
    "tosa-rescale-i8": tosa::DOUBLE_I8;
    "tosa-rescale-u8": tosa::DOUBLE_U8;
    "tosa-rescale-single-i8": tosa::SINGLE_I8;
    "tosa-rescale-single-i16": tosa::SINGLE_I16;
    "mutant-logical-shift": MUTANTS[0].kernel;
    "mutant-cast-before-zero-point": MUTANTS[1].kernel;
    "mutant-clamp-before-zero-point": MUTANTS[2].kernel;
    "mutant-zero-point-sign-extended": MUTANTS[3].kernel;
    "mutant-legacy-wraps": MUTANTS[4].kernel;
    "mutant-requantize-truncates": MUTANTS[5].kernel;
    "mutant-requantize-f32": MUTANTS[6].kernel;
    "mutant-requantize-tail-by-rule": MUTANTS[24].kernel;
    "mutant-requantize-fixup-unused": MUTANTS[25].kernel;
    "mutant-requantize-tail-without-zero-point": MUTANTS[26].kernel;
}
