//! Mutants of the tensor operations: kernels that break the contract they claim.
//!
//! Each has one form, the same in every lane.

use crate::kernel::Kernel;
use crate::{add, conv2d, dequantize, dot, matmul, quantize, requantize, transform};

/// A known bug, as a kernel that breaks the contract it claims.
#[derive(Clone, Debug)]
pub struct Mutant<R: 'static, D: 'static> {
    /// The buggy code, with the contract that it claims.
    pub kernel: Kernel<R, D>,
    /// The class that the judge must name.
    pub class: &'static str,
    /// Where the bug was shipped or reported, or the mutation that it is.
    pub origin: &'static str,
}

/// Mutants of [`mod@dot`].
pub fn dot() -> &'static [Mutant<dot::Run, dot::Domain>] {
    super::dot::MUTANTS
}

/// Mutants of [`mod@matmul`].
pub fn matmul() -> &'static [Mutant<matmul::Run, matmul::Domain>] {
    super::matmul::MUTANTS
}

/// Mutants of [`mod@conv2d`].
pub fn conv2d() -> &'static [Mutant<conv2d::Run, conv2d::Domain>] {
    super::conv2d::MUTANTS
}

/// Mutants of [`mod@requantize`].
pub fn requantize() -> &'static [Mutant<requantize::Run, requantize::Domain>] {
    super::requantize::MUTANTS
}

/// Mutants of [`mod@quantize`].
pub fn quantize() -> &'static [Mutant<quantize::Run, quantize::Domain>] {
    super::quantize::MUTANTS
}

/// Mutants of [`mod@dequantize`].
pub fn dequantize() -> &'static [Mutant<dequantize::Run, quantize::Domain>] {
    super::dequantize::MUTANTS
}

/// Mutants of [`mod@add`].
pub fn add() -> &'static [Mutant<add::Run, add::Domain>] {
    super::add::MUTANTS
}

/// Mutants of [`mod@transform`].
pub fn transform() -> &'static [Mutant<transform::Run, transform::Domain>] {
    super::transform::MUTANTS
}

/// A mutant: its name, the class it shows, what it does, in one line, the scheme it claims with what becomes of results beyond
/// int32, on which domain, where it comes from, and its code.
macro_rules! mutant {
    (
        $name:literal, $class:literal, $summary:literal, claims $scheme:literal $overflow:ident on $domain:expr,
        from $origin:literal, $run:expr
    ) => {
        $crate::mutants::tensor::Mutant {
            kernel: $crate::kernel::Kernel {
                name: $name,
                summary: $summary,
                contract: $crate::contract::Contract {
                    promise: $crate::contract::Promise {
                        scheme: $scheme,
                        overflow: $crate::contract::Overflow::$overflow,
                    },
                    domain: $domain,
                    deviations: &[],
                    source: $origin,
                },
                portable: $run,
                native: None,
            },
            class: $class,
            origin: $origin,
        }
    };
}
pub(super) use mutant;
