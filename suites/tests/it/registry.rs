//! The kernels of the tensor operations, whatever their types.

use tiebreak_impls::kernel::{Kernel, Native};
use tiebreak_impls::mutants::tensor::{self, Mutant};
use tiebreak_impls::{add, conv2d, dot, matmul, requantize, transform};

/// Operations on tensors.
pub(crate) const OPS: [&str; 6] = ["dot", "matmul", "conv2d", "requantize", "add", "transform"];

/// A kernel without its code.
pub(crate) struct Described {
    pub(crate) op: &'static str,
    pub(crate) name: &'static str,
    pub(crate) scheme: &'static str,
    pub(crate) native: Option<Form>,
}

/// A native form without its code.
pub(crate) struct Form {
    pub(crate) isa: &'static str,
    pub(crate) arch: &'static str,
    pub(crate) instructions: &'static [&'static str],
    pub(crate) symbol: &'static str,
    pub(crate) available: fn() -> bool,
}

/// A mutant without its code.
pub(crate) struct Bug {
    pub(crate) op: &'static str,
    pub(crate) name: &'static str,
    pub(crate) class: &'static str,
}

/// Every kernel of every tensor operation.
pub(crate) fn kernels() -> Vec<Described> {
    let mut all = of("dot", dot::kernels());
    all.extend(of("matmul", matmul::kernels()));
    all.extend(of("conv2d", conv2d::kernels()));
    all.extend(of("requantize", requantize::kernels()));
    all.extend(of("add", add::kernels()));
    all.extend(of("transform", transform::kernels()));
    all
}

/// Every mutant of every tensor operation.
pub(crate) fn bugs() -> Vec<Bug> {
    let mut all = bugs_of("dot", tensor::dot());
    all.extend(bugs_of("matmul", tensor::matmul()));
    all.extend(bugs_of("conv2d", tensor::conv2d()));
    all.extend(bugs_of("requantize", tensor::requantize()));
    all.extend(bugs_of("add", tensor::add()));
    all.extend(bugs_of("transform", tensor::transform()));
    all
}

fn of<R, D>(op: &'static str, kernels: &'static [Kernel<R, D>]) -> Vec<Described> {
    let form = |native: &Native<R>| Form {
        isa: native.isa,
        arch: native.arch,
        instructions: native.instructions,
        symbol: native.symbol,
        available: native.available,
    };
    let described = |kernel: &'static Kernel<R, D>| Described {
        op,
        name: kernel.name,
        scheme: kernel.contract.promise.scheme,
        native: kernel.native.as_ref().map(form),
    };
    kernels.iter().map(described).collect()
}

fn bugs_of<R, D>(op: &'static str, mutants: &'static [Mutant<R, D>]) -> Vec<Bug> {
    mutants.iter().map(|mutant| Bug { op, name: mutant.kernel.name, class: mutant.class }).collect()
}
