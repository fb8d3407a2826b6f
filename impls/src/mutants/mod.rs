//! Known bugs, re-implemented to prove that the harness detects them. They cannot be mistaken for kernels: they are in separate registries, and
//! [`crate::fpm::find`] does not return them.
//!
//! Every mutant claims a contract, breaks it, and names the class. The values in `witnesses` are from the reports of the original bugs.

pub(crate) mod add;
pub(crate) mod concat;
mod controls;
pub(crate) mod conv2d;
pub(crate) mod dequantize;
pub(crate) mod dot;
pub(crate) mod exp;
pub(crate) mod fpm_directions;
pub(crate) mod fpm_rounding;
pub(crate) mod fpm_widths;
mod history;
pub(crate) mod instruction;
pub(crate) mod matmul;
pub(crate) mod mul;
pub(crate) mod pool;
pub(crate) mod process;
pub(crate) mod qconv2d;
mod qconv2d_sums;
pub(crate) mod qmatmul;
mod qmatmul_nibbles;
mod qmatmul_sums;
pub(crate) mod quantize;
mod quantize_neon;
#[cfg(test)]
mod quantized_tests;
pub(crate) mod requantize;
mod requantize_fpm;
mod requantize_neon;
mod scales;
pub(crate) mod softmax;
pub(crate) mod sub;
pub mod tensor;
#[cfg(test)]
mod tensor_tests;
#[cfg(test)]
mod tests;
pub(crate) mod transform;

pub use controls::{Control, controls};
pub use process::{FAULT_AT, Fault, fault, process};

use crate::contract::Domain;
use crate::fpm::Run;

/// Input on which a mutant is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Accumulator.
    pub x: i32,
    /// Multiplier.
    pub m: i32,
    /// Shift.
    pub s: i32,
    /// Mutant's result, in a batch of this one element.
    pub got: i32,
    /// Result promised by the contract.
    pub expected: i32,
}

/// Known bug of fixed point multiply.
pub type Mutant = tensor::Mutant<Run, Domain>;

/// Mutants of fixed point multiply.
pub mod fpm {
    use super::{Mutant, fpm_directions, fpm_rounding, fpm_widths};

    /// Returns every mutant of fixed point multiply.
    pub fn mutants() -> &'static [Mutant] {
        ALL
    }

    /// Returns the mutant of this name.
    pub fn find(name: &str) -> Option<&'static Mutant> {
        ALL.iter().find(|mutant| mutant.kernel.name == name)
    }

    /// Every mutant, as a constant for operations that contain a fixed point multiply.
    pub(crate) const ALL: &[Mutant] = &[
        fpm_rounding::DOUBLE_FOR_SINGLE,
        fpm_rounding::SINGLE_FOR_DOUBLE,
        fpm_directions::DEAD_FIXUP,
        fpm_directions::FIXUP_WITHOUT_SHIFT,
        fpm_widths::NARROW_BEFORE_ROUNDING,
        fpm_widths::NARROWED_MULTIPLIER,
        fpm_widths::POWER_OF_TWO,
        fpm_widths::POWER_OF_TWO_SHIFT_MINUS_ONE,
        fpm_widths::LEFT_SHIFT_BEFORE_HIGH_HALF,
        fpm_rounding::DOUBLE_ROUNDING_TAIL,
        fpm_widths::NO_SATURATION,
        fpm_directions::FLOOR_FOR_TRUNCATION,
        fpm_directions::TIES_DOWN,
        fpm_directions::TIES_AWAY,
        fpm_directions::NO_ROUNDING,
        fpm_widths::SQRDMULH_NO_SATURATION,
        fpm_directions::CEILING,
    ];
}

/// Scalar mutant: `f(x, m, s)` for every element.
macro_rules! scalar {
    (
        $name:literal, $summary:literal, claims $scheme:literal on $domain:expr, $class:literal, $origin:literal,
        $f:expr, [$(($x:expr, $m:expr, $s:expr): $got:expr, not $expected:expr);+ $(;)?]
    ) => {
        $crate::mutants::tensor::Mutant {
            kernel: $crate::kernel::scalar!($name, $summary, $scheme Wrap on $domain, from $origin, |params, x, out| {
                let (m, s) = params.first();
                for (x, out) in x.iter().zip(out) {
                    *out = $f(*x, m, s);
                }
            }),
            class: $class,
            origin: $origin,
            witnesses: &[$($crate::mutants::Witness { x: $x, m: $m, s: $s, got: $got, expected: $expected }),+],
        }
    };
}
pub(crate) use scalar;
