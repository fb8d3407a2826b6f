//! `quant.dcast` as `mlir-opt` lowers it and LLVM compiles it. Only the lanes of compiled modules (`mlir-x86`, `mlir-aarch64`, `mlir-aarch64-bf16`)
//! have the code of these kernels.

use super::Kernel;
use crate::contract::{Overflow, Promise};
use crate::kernel::{no_code_here, scalar};
use crate::quantize::mlir_opt::DOMAIN;

const SOURCE: &str = "llvm/llvm-project mlir/lib/Dialect/Quant/Transforms/LowerQuantOps.cpp, release 22";

const PROMISE: Promise = Promise { scheme: "mlir-dcast", overflow: Overflow::OutOfDomain };

/// Not optimised: `opt -O0`, `llc -O0`.
pub(super) const O0: Kernel = scalar!(
    "mlir-opt-dcast-o0", "quant.dcast by mlir-opt 22 and LLVM, -O0",
    PROMISE on DOMAIN, from SOURCE, no_code_here
);

/// Optimised: `opt -O2`, `llc -O2`.
pub(super) const O2: Kernel = scalar!(
    "mlir-opt-dcast-o2", "quant.dcast by mlir-opt 22 and LLVM, -O2",
    PROMISE on DOMAIN, from SOURCE, no_code_here
);
