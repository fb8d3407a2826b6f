//! Single elements of the kernels of fixed point multiply.

use super::{Kernel, cmsis_nn, gemmlowp, tflite};
use super::{Params, Run, mlir, tosa, tvm_neon, tvm_qmuls, tvm_relay, xnnpack};
use crate::elements::{BATCH, positions};
use crate::mutants::{fpm_directions, fpm_rounding, fpm_widths};

/// Returns element `AT` of a batch that `run` computes.
#[inline(always)]
fn element<const AT: usize>(run: Run, x: [i32; BATCH], m: i32, s: i32) -> i32 {
    let mut out = [0; BATCH];
    run(&Params::single(m, s), &x, &mut out);
    out[AT]
}

positions! {
    "fpm", element(m, s), Run;
    "tvm-relay": tvm_relay::RELAY;
    "tvm-relay-per-channel": tvm_relay::PER_CHANNEL;
    "tvm-relay-tonearest": tvm_relay::TO_NEAREST;
    "tvm-qmuls": tvm_qmuls::QMULS;
    "tvm-neon-rfc": tvm_neon::RFC;
    "tvm-neon-fixup": tvm_neon::FIXUP;
    "gemmlowp-scalar": gemmlowp::SCALAR;
    "gemmlowp-neon": gemmlowp::NEON;
    "tflite-double": tflite::DOUBLE;
    "tflite-single": tflite::SINGLE;
    "tflite-int16": tflite::REDUCED;
    "cmsis-nn-double": cmsis_nn::DOUBLE;
    "cmsis-nn-single": cmsis_nn::SINGLE;
    "cmsis-nn-mve-single": cmsis_nn::MVE_SINGLE;
    "xnnpack-rndnu-scalar": xnnpack::RNDNU_SCALAR;
    "xnnpack-rndnu-neon": xnnpack::RNDNU_NEON;
    "tosa-apply-scale-32-single": tosa::APPLY_SCALE_32_SINGLE;
    "tosa-apply-scale-32-double": tosa::APPLY_SCALE_32_DOUBLE;
    "mlir-apply-scale-halves-single": mlir::APPLY_SCALE_SINGLE;
    "mlir-apply-scale-halves-double": mlir::APPLY_SCALE_DOUBLE;
    "mutant-double-rounding": fpm_rounding::DOUBLE_FOR_SINGLE.kernel;
    "mutant-single-rounding": fpm_rounding::SINGLE_FOR_DOUBLE.kernel;
    "mutant-dead-fixup": fpm_directions::DEAD_FIXUP.kernel;
    "mutant-fixup-lost": fpm_directions::FIXUP_WITHOUT_SHIFT.kernel;
    "mutant-narrow-before-rounding": fpm_widths::NARROW_BEFORE_ROUNDING.kernel;
    "mutant-narrowed-multiplier": fpm_widths::NARROWED_MULTIPLIER.kernel;
    "mutant-power-of-two-wrap": fpm_widths::POWER_OF_TWO.kernel;
    "mutant-power-of-two-shift-minus-one": fpm_widths::POWER_OF_TWO_SHIFT_MINUS_ONE.kernel;
    "mutant-left-shift-wrap": fpm_widths::LEFT_SHIFT_BEFORE_HIGH_HALF.kernel;
    "mutant-tail-double-rounding": fpm_rounding::DOUBLE_ROUNDING_TAIL.kernel;
    "mutant-no-saturation": fpm_widths::NO_SATURATION.kernel;
    "mutant-floor-for-truncation": fpm_directions::FLOOR_FOR_TRUNCATION.kernel;
    "mutant-ties-down": fpm_directions::TIES_DOWN.kernel;
    "mutant-ties-away": fpm_directions::TIES_AWAY.kernel;
    "mutant-no-rounding": fpm_directions::NO_ROUNDING.kernel;
    "mutant-sqrdmulh-no-saturation": fpm_widths::SQRDMULH_NO_SATURATION.kernel;
    "mutant-srshl-ceiling": fpm_directions::CEILING.kernel;
}
