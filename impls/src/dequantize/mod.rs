//! Dequantization: stored integers to expressed (floating-point) values, as shipped systems compute it, one file a system.

mod mlir;
mod onnx;
#[cfg(test)]
mod tests;

use crate::contract::{Contract, Promise};
use crate::kernel;
use crate::quantize::Domain;
use crate::quantized::Params;

/// `run(params, stored, out)`: stored values to words of expressed values. `params` and lengths have been checked.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// A dequantization under test. Its sizes are [`Params::dequantize_sizes`].
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Every kernel, in the order of reports.
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// The kernel of that name; mutants are not kernels.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

static KERNELS: &[Kernel] = &[mlir::DCAST, onnx::LINEAR];

/// A kernel of one form, the same on every target.
const fn scalar(
    name: &'static str,
    summary: &'static str,
    promise: Promise,
    domain: Domain,
    source: &'static str,
    run: Run,
) -> Kernel {
    let contract = Contract { promise, domain, deviations: &[], source };
    Kernel { name, summary, contract, portable: run, native: None }
}
