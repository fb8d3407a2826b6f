//! The registry: every operation, one line each. Lists, `--op`, help, runs and the tests of mutants and classes read it.

use super::tensor_op::Tensor;
use super::{Part, Request, fpm_op, instruction_op};
use crate::lane::Lane;
use crate::mlir::Function;
use crate::tensor::Operation;
use crate::{add::Add, conv2d::Conv2d, dequantize::Dequantize, dot::Dot, matmul::Matmul, quantize::Quantize};
use crate::{requantize::Requantize, transform::Transform};
use anyhow::Result;
use serde_json::Value;
use std::sync::LazyLock;
use tiebreak_impls::operation::{self as impls, Code};
use tiebreak_oracle::scheme::Described;

/// An operation, whatever its types.
pub(crate) trait Verifies: Sync {
    /// Its name.
    fn op(&self) -> &'static str;
    /// Its kernels, known bugs last.
    fn names(&self) -> Vec<&'static str>;
    /// Its kernels and mutants, as they are listed.
    fn listed(&self) -> Vec<Value>;
    /// Its schemes.
    fn schemes(&self) -> Vec<Described>;
    /// Whether a compiler makes kernels of it, which run in lanes of compiled modules.
    fn is_compiled(&self) -> bool {
        false
    }
    /// What modules must hold for the kernels of these names (all where there is no name).
    fn functions(&self, _request: &Request, _names: &[String]) -> Result<Vec<Function>> {
        Ok(Vec::new())
    }
    /// Runs the kernels of these names; all, with self-checks, where there is no name.
    fn verify(&self, request: &Request, names: &[String], lanes: &[Lane]) -> Result<Part>;
}

/// Something done with every operation on tensors.
pub trait Visitor {
    /// Does it with one.
    fn visit<O: Operation>(&mut self);
}

macro_rules! operations {
    ([$($other:expr),+], $($tensors:ident),+) => {
        /// Every operation, in the order of reports.
        pub(crate) static OPERATIONS: &[&dyn Verifies] = &[$(&$other,)+ $(&Tensor::<$tensors>::NEW),+];

        /// Visits every operation on tensors.
        pub fn visit_tensors(visitor: &mut impl Visitor) {
            $(visitor.visit::<$tensors>();)+
        }
    };
}

operations! {
    [fpm_op::FixedPointMultiply, instruction_op::Instructions],
    Dot, Matmul, Conv2d, Requantize, Quantize, Dequantize, Add, Transform
}

/// Names of the operations.
pub static OPS: LazyLock<Vec<&'static str>> = LazyLock::new(|| OPERATIONS.iter().map(|op| op.op()).collect());

/// The operation of that name.
pub(crate) fn find(op: &str) -> Option<&'static dyn Verifies> {
    OPERATIONS.iter().copied().find(|known| known.op() == op)
}

/// Everything that can be named with `--kernel` for these operations, known bugs last.
pub fn kernel_names(ops: &[String]) -> Vec<&'static str> {
    let asked = OPERATIONS.iter().filter(|op| ops.iter().any(|name| name == op.op()));
    asked.flat_map(|op| op.names()).collect()
}

/// Kernels of an operation, known bugs last.
pub(super) fn every_name<O: impls::Operation>() -> Vec<&'static str> {
    O::every().chain(O::process_mutants()).map(Code::name).collect()
}
