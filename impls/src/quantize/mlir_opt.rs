//! `quant.qcast` as `mlir-opt` lowers it and LLVM compiles it. Only the lanes of compiled modules (`mlir-x86`, `mlir-aarch64`, `mlir-aarch64-bf16`)
//! have the code of these kernels.

use super::{Domain, Kernel, mlir};
use crate::contract::{Overflow, Promise};
use crate::kernel::{no_code_here, scalar};

const SOURCE: &str = "llvm/llvm-project mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp, release 22";

/// Domain of a module. Poison, NaN and infinities have no promised value.
pub(crate) const DOMAIN: Domain = Domain { compiled: true, ..mlir::DOMAIN };

const PROMISE: Promise = Promise { scheme: "mlir-qcast", overflow: Overflow::OutOfDomain };

/// Not optimised: `opt -O0`, `llc -O0`.
pub(super) const O0: Kernel = scalar!(
    "mlir-opt-qcast-o0", "quant.qcast by mlir-opt 22 and LLVM, -O0",
    PROMISE on DOMAIN, from SOURCE, no_code_here
);

/// Optimised: `opt -O2`, `llc -O2`.
pub(super) const O2: Kernel = scalar!(
    "mlir-opt-qcast-o2", "quant.qcast by mlir-opt 22 and LLVM, -O2",
    PROMISE on DOMAIN, from SOURCE, no_code_here
);
