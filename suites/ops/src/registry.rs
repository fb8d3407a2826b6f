//! The registry: every operation, one line each. Lists, `--op`, help, runs and the tests of mutants and classes read it.

use crate::bounds;
use crate::concat::Concat;
use crate::elementwise::{Add, Mul, Sub};
use crate::exp::Exp;
use crate::fpm::FixedPointMultiply;
use crate::pool::Pool;
use crate::presented::Presented;
use crate::softmax::Softmax;
use crate::{conv2d::Conv2d, dequantize::Dequantize, dot::Dot, instruction::Instruction, matmul::Matmul};
use crate::{qconv2d::Qconv2d, qmatmul::Qmatmul, quantize::Quantize, requantize::Requantize, transform::Transform};
use anyhow::Result;
use std::sync::LazyLock;
use tiebreak_engine::ledger::kept::Kept;
use tiebreak_engine::ledger::part::Outcome;
use tiebreak_engine::operation::Request;
use tiebreak_engine::pipeline::Pipeline;
use tiebreak_engine::registry::{Registry, Verifies};

/// Something done with every operation on tensors.
pub trait Visitor {
    /// Does it with one.
    fn visit<O: Presented>(&mut self);
}

/// The corner catalogue of every operation on tensors.
pub fn catalogues() -> Vec<&'static str> {
    struct Catalogues(Vec<&'static str>);
    impl Visitor for Catalogues {
        fn visit<O: Presented>(&mut self) {
            self.0.push(O::CATALOGUE);
        }
    }
    let mut all = Catalogues(Vec::new());
    visit_tensors(&mut all);
    all.0
}

macro_rules! operations {
    ($($tensors:ident),+) => {
        /// Every operation, in the order of reports.
        pub static OPERATIONS: &[&dyn Verifies] = &[$(&Pipeline::<$tensors>::NEW),+];

        /// Visits every operation on tensors.
        pub fn visit_tensors(visitor: &mut impl Visitor) {
            $(visitor.visit::<$tensors>();)+
        }
    };
}

operations! {
    FixedPointMultiply, Instruction, Dot, Matmul, Conv2d, Requantize, Qconv2d, Qmatmul, Quantize, Dequantize, Add, Sub, Mul, Concat, Pool,
    Exp, Softmax, Transform
}

/// `$body` with the operation of a name as a type, and other arms for other names. If the name is known when a program is compiled, as that of a fuzz target, the
/// program holds the code of its operation alone.
#[macro_export]
macro_rules! for_operation {
    ($name:expr, $operation:ident => $body:expr, $($others:tt)*) => {
        match $name {
            "fpm" => {
                type $operation = $crate::fpm::FixedPointMultiply;
                $body
            }
            "instruction" => {
                type $operation = $crate::instruction::Instruction;
                $body
            }
            "dot" => {
                type $operation = $crate::dot::Dot;
                $body
            }
            "matmul" => {
                type $operation = $crate::matmul::Matmul;
                $body
            }
            "conv2d" => {
                type $operation = $crate::conv2d::Conv2d;
                $body
            }
            "requantize" => {
                type $operation = $crate::requantize::Requantize;
                $body
            }
            "qconv2d" => {
                type $operation = $crate::qconv2d::Qconv2d;
                $body
            }
            "qmatmul" => {
                type $operation = $crate::qmatmul::Qmatmul;
                $body
            }
            "quantize" => {
                type $operation = $crate::quantize::Quantize;
                $body
            }
            "dequantize" => {
                type $operation = $crate::dequantize::Dequantize;
                $body
            }
            "add" => {
                type $operation = $crate::elementwise::Add;
                $body
            }
            "sub" => {
                type $operation = $crate::elementwise::Sub;
                $body
            }
            "mul" => {
                type $operation = $crate::elementwise::Mul;
                $body
            }
            "concat" => {
                type $operation = $crate::concat::Concat;
                $body
            }
            "pool" => {
                type $operation = $crate::pool::Pool;
                $body
            }
            "exp" => {
                type $operation = $crate::exp::Exp;
                $body
            }
            "softmax" => {
                type $operation = $crate::softmax::Softmax;
                $body
            }
            "transform" => {
                type $operation = $crate::transform::Transform;
                $body
            }
            $($others)*
        }
    };
}

/// Names of the operations.
pub static OPS: LazyLock<Vec<&'static str>> = LazyLock::new(|| OPERATIONS.iter().map(|op| op.op()).collect());

/// Everything that can be named with `--kernel` for these operations, known bugs last.
pub fn kernel_names(ops: &[String]) -> Vec<&'static str> {
    REGISTRY.kernel_names(ops)
}

/// What a run needs to know of all operations.
pub static REGISTRY: Registry = Registry { operations: OPERATIONS, bounds: bounds::shown };

/// Runs a request. An error is one of usage; whatever goes wrong with a kernel or a lane is in the ledger.
pub fn run(request: &Request, kept: &Kept) -> Result<Outcome> {
    tiebreak_engine::verification::run(request, &REGISTRY, kept)
}
