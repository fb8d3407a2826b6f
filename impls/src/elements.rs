//! One element of a batch as a function of integers, for translators of LLVM IR: a kernel's code for one element, without loop and memory.
//!
//! The module exists only with the feature `elements`. Each function calls a registered kernel on a batch of one whole vector and one more element,
//! and returns the element at one position; the optimiser removes the batch. `cargo xtask prove --kernels` reads the result.

use crate::simd::LANES;

/// Elements of the batch: one whole vector and one more element.
pub(crate) const BATCH: usize = LANES + 1;

/// Defines the functions `tiebreak_OP_NAME_FORM_POSITION` of each kernel: its portable form at each position, and on its target its native form.
/// `element` takes the code, the batch and these parameters.
macro_rules! positions {
    ($op:literal, $element:ident $parameters:tt, $run:ty; $($number:literal: $kernel:expr;)+) => {
        $(const _: () = {
            const KERNEL: &Kernel = &$kernel;
            positions!(@form $op, $element $parameters, $run, $number, "portable", Some(KERNEL.portable));
            #[cfg(target_arch = "aarch64")]
            positions!(@form $op, $element $parameters, $run, $number, "native", match &KERNEL.native {
                Some(native) => native.run,
                None => None,
            });
        };)+
    };
    (@form $op:literal, $element:ident $parameters:tt, $run:ty, $number:literal, $form:literal, $code:expr) => {
        positions!(@at $op, $element $parameters, $run, $number, $form, $code, 0, a);
        positions!(@at $op, $element $parameters, $run, $number, $form, $code, 1, b);
        positions!(@at $op, $element $parameters, $run, $number, $form, $code, 2, c);
        positions!(@at $op, $element $parameters, $run, $number, $form, $code, 3, d);
        positions!(@at $op, $element $parameters, $run, $number, $form, $code, 4, e);
    };
    (
        @at $op:literal, $element:ident($($parameter:ident),*), $run:ty, $number:literal, $form:literal, $code:expr,
        $at:literal, $name:ident
    ) => {
        const _: () = {
            const RUN: Option<$run> = $code;
            // SAFETY: the name has this project's prefix, and each name is used once.
            #[unsafe(export_name = concat!("tiebreak_", $op, "_", $number, "_", $form, "_", $at))]
            extern "Rust" fn $name(x0: i32, x1: i32, x2: i32, x3: i32, x4: i32, $($parameter: i32),*) -> i32 {
                match RUN {
                    Some(run) => $element::<$at>(run, [x0, x1, x2, x3, x4], $($parameter),*),
                    None => 0,
                }
            }
        };
    };
}

pub(crate) use positions;
