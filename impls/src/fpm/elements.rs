//! One element of a batch as a function of integers, for translators of LLVM IR: the code of a kernel around one element, without loop and memory.
//!
//! Only the feature `elements` has this module. Each function calls the form that the registry holds on a batch of one vector and one element more,
//! and returns the element of one position; the optimiser removes the batch. `cargo xtask prove --kernels` reads the result.

use super::{Kernel, cmsis_nn, gemmlowp, tflite};
use super::{Params, Run, mlir, tosa, tvm_neon, tvm_qmuls, tvm_relay, xnnpack};
use crate::mutants::fpm::ALL as MUTANTS;
use crate::simd::LANES;

/// Elements of the batch: a whole vector and one more.
const BATCH: usize = LANES + 1;

/// Element `AT` of a batch, by `run`.
#[inline(always)]
fn element<const AT: usize>(run: Run, x: [i32; BATCH], m: i32, s: i32) -> i32 {
    let mut out = [0; BATCH];
    run(&Params::single(m, s), &x, &mut out);
    out[AT]
}

/// The functions of one kernel: its portable form at each position, and on its target its native form.
macro_rules! positions {
    ($number:literal: $kernel:expr) => {
        const _: () = {
            const KERNEL: &Kernel = &$kernel;
            positions!(@form $number, "portable", Some(KERNEL.portable));
            #[cfg(target_arch = "aarch64")]
            positions!(@form $number, "native", match &KERNEL.native { Some(native) => native.run, None => None });
        };
    };
    (@form $number:literal, $form:literal, $run:expr) => {
        positions!(@at $number, $form, $run, 0, a);
        positions!(@at $number, $form, $run, 1, b);
        positions!(@at $number, $form, $run, 2, c);
        positions!(@at $number, $form, $run, 3, d);
        positions!(@at $number, $form, $run, 4, e);
    };
    (@at $number:literal, $form:literal, $run:expr, $at:literal, $name:ident) => {
        const _: () = {
            const RUN: Option<Run> = $run;
            // SAFETY: the name is this project's own and each is used once.
            #[unsafe(export_name = concat!("tiebreak_fpm_", $number, "_", $form, "_", $at))]
            extern "Rust" fn $name(x0: i32, x1: i32, x2: i32, x3: i32, x4: i32, m: i32, s: i32) -> i32 {
                match RUN {
                    Some(run) => element::<$at>(run, [x0, x1, x2, x3, x4], m, s),
                    None => 0,
                }
            }
        };
    };
}

positions!("tvm-relay": tvm_relay::RELAY);
positions!("tvm-relay-per-channel": tvm_relay::PER_CHANNEL);
positions!("tvm-relay-tonearest": tvm_relay::TO_NEAREST);
positions!("tvm-qmuls": tvm_qmuls::QMULS);
positions!("tvm-neon-rfc": tvm_neon::RFC);
positions!("tvm-neon-fixup": tvm_neon::FIXUP);
positions!("gemmlowp-scalar": gemmlowp::SCALAR);
positions!("gemmlowp-neon": gemmlowp::NEON);
positions!("tflite-double": tflite::DOUBLE);
positions!("tflite-single": tflite::SINGLE);
positions!("tflite-int16": tflite::REDUCED);
positions!("cmsis-nn-double": cmsis_nn::DOUBLE);
positions!("cmsis-nn-single": cmsis_nn::SINGLE);
positions!("cmsis-nn-mve-single": cmsis_nn::MVE_SINGLE);
positions!("xnnpack-rndnu-scalar": xnnpack::RNDNU_SCALAR);
positions!("xnnpack-rndnu-neon": xnnpack::RNDNU_NEON);
positions!("tosa-apply-scale-32-single": tosa::APPLY_SCALE_32_SINGLE);
positions!("tosa-apply-scale-32-double": tosa::APPLY_SCALE_32_DOUBLE);
positions!("mlir-apply-scale-halves-single": mlir::APPLY_SCALE_SINGLE);
positions!("mlir-apply-scale-halves-double": mlir::APPLY_SCALE_DOUBLE);
positions!("mutant-double-rounding": MUTANTS[0].kernel);
positions!("mutant-single-rounding": MUTANTS[1].kernel);
positions!("mutant-dead-fixup": MUTANTS[2].kernel);
positions!("mutant-fixup-lost": MUTANTS[3].kernel);
positions!("mutant-narrow-before-rounding": MUTANTS[4].kernel);
positions!("mutant-narrowed-multiplier": MUTANTS[5].kernel);
positions!("mutant-power-of-two-wrap": MUTANTS[6].kernel);
positions!("mutant-power-of-two-shift-minus-one": MUTANTS[7].kernel);
positions!("mutant-left-shift-wrap": MUTANTS[8].kernel);
positions!("mutant-tail-double-rounding": MUTANTS[9].kernel);
positions!("mutant-no-saturation": MUTANTS[10].kernel);
positions!("mutant-floor-for-truncation": MUTANTS[11].kernel);
positions!("mutant-ties-down": MUTANTS[12].kernel);
positions!("mutant-ties-away": MUTANTS[13].kernel);
positions!("mutant-no-rounding": MUTANTS[14].kernel);
positions!("mutant-sqrdmulh-no-saturation": MUTANTS[15].kernel);
