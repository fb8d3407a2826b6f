//! Mutants of the tensor operations: kernels that break their claimed contract.
//!
//! Each mutant has one form, the same in every lane.

use super::Witness;
use crate::kernel::Kernel;

/// Known bug: a kernel that breaks its claimed contract.
#[derive(Clone, Debug)]
pub struct Mutant<R: 'static, D: 'static> {
    /// Buggy code, with the contract that it claims.
    pub kernel: Kernel<R, D>,
    /// Class that the judge must name.
    pub class: &'static str,
    /// Origin of the bug: where it was shipped or reported, or which mutation it is.
    pub origin: &'static str,
    /// Published inputs on which the mutant is wrong; empty if there are none.
    pub witnesses: &'static [Witness],
}

/// Makes a mutant from its name, the class it shows, a one-line summary, the scheme it claims with the policy for results beyond int32, the domain,
/// the origin, and the code.
macro_rules! mutant {
    (
        $name:literal, $class:literal, $summary:literal, claims $scheme:literal $overflow:ident on $domain:expr,
        from $origin:literal, $run:expr
    ) => {
        $crate::mutants::tensor::Mutant {
            kernel: $crate::kernel::scalar!($name, $summary, $scheme $overflow on $domain, from $origin, $run),
            class: $class,
            origin: $origin,
            witnesses: &[],
        }
    };
}
pub(super) use mutant;

/// Makes a list of mutants: entries with the words of [`mutant!`], each ended by a semicolon, then mutants that are made elsewhere, after `also`.
macro_rules! mutants {
    ($($name:literal, $class:literal, $summary:literal, claims $scheme:literal $overflow:ident on $domain:expr,
       from $origin:literal, $run:expr;)* $(also $($other:expr),+;)?) => {
        &[
            $($crate::mutants::tensor::mutant!(
                $name, $class, $summary, claims $scheme $overflow on $domain, from $origin, $run
            ),)*
            $($($other),+)?
        ]
    };
}
pub(super) use mutants;
