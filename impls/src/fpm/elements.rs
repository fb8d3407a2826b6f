//! Single elements of the kernels of fixed point multiply.

use super::{Kernel, cmsis_nn, gemmlowp, tflite};
use super::{Params, Run, mlir, tosa, tvm_neon, tvm_qmuls, tvm_relay, xnnpack};
use crate::elements::{BATCH, positions};
use crate::mutants::fpm::ALL as MUTANTS;

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
    "mutant-double-rounding": MUTANTS[0].kernel;
    "mutant-single-rounding": MUTANTS[1].kernel;
    "mutant-dead-fixup": MUTANTS[2].kernel;
    "mutant-fixup-lost": MUTANTS[3].kernel;
    "mutant-narrow-before-rounding": MUTANTS[4].kernel;
    "mutant-narrowed-multiplier": MUTANTS[5].kernel;
    "mutant-power-of-two-wrap": MUTANTS[6].kernel;
    "mutant-power-of-two-shift-minus-one": MUTANTS[7].kernel;
    "mutant-left-shift-wrap": MUTANTS[8].kernel;
    "mutant-tail-double-rounding": MUTANTS[9].kernel;
    "mutant-no-saturation": MUTANTS[10].kernel;
    "mutant-floor-for-truncation": MUTANTS[11].kernel;
    "mutant-ties-down": MUTANTS[12].kernel;
    "mutant-ties-away": MUTANTS[13].kernel;
    "mutant-no-rounding": MUTANTS[14].kernel;
    "mutant-sqrdmulh-no-saturation": MUTANTS[15].kernel;
    "mutant-srshl-ceiling": MUTANTS[16].kernel;
}
