//! Mutants of the tensor operations: kernels that claim what they do not do.

use crate::kernel::Kernel;
use crate::{conv2d, dot, matmul, requantize, transform};

/// A known bug, as a kernel that claims what it does not do.
#[derive(Clone, Debug)]
pub struct Mutant<R: 'static, D: 'static> {
    /// The buggy code, with the contract that it claims.
    pub kernel: Kernel<R, D>,
    /// The class that the judge must name.
    pub class: &'static str,
    /// Where the bug was shipped or reported, or the mutation that it is.
    pub origin: &'static str,
}

/// Mutants of [`dot`].
pub fn dot() -> &'static [Mutant<dot::Run, dot::Domain>] {
    &[]
}

/// Mutants of [`matmul`].
pub fn matmul() -> &'static [Mutant<matmul::Run, matmul::Domain>] {
    &[]
}

/// Mutants of [`conv2d`].
pub fn conv2d() -> &'static [Mutant<conv2d::Run, conv2d::Domain>] {
    &[]
}

/// Mutants of [`requantize`].
pub fn requantize() -> &'static [Mutant<requantize::Run, requantize::Domain>] {
    &[]
}

/// Mutants of [`transform`].
pub fn transform() -> &'static [Mutant<transform::Run, transform::Domain>] {
    &[]
}
