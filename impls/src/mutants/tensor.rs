//! Mutants of the tensor operations: kernels that break the contract they claim.
//!
//! Each has one form, the same in every lane.

use super::Witness;
use crate::kernel::Kernel;

/// A known bug, as a kernel that breaks the contract it claims.
#[derive(Clone, Debug)]
pub struct Mutant<R: 'static, D: 'static> {
    /// The buggy code, with the contract that it claims.
    pub kernel: Kernel<R, D>,
    /// The class that the judge must name.
    pub class: &'static str,
    /// Where the bug was shipped or reported, or the mutation that it is.
    pub origin: &'static str,
    /// Published inputs on which it is wrong, where there are any.
    pub witnesses: &'static [Witness],
}

/// A mutant: its name, the class it shows, what it does in one line, the scheme it claims with what becomes of results beyond
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
            witnesses: &[],
        }
    };
}
pub(super) use mutant;
