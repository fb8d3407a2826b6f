//! The registry: every operation, one line each. Lists, `--op`, help, runs and the tests of mutants and classes read it.

use crate::bounds;
use crate::presented::Presented;
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
    ($dollar:tt $($name:literal => $module:ident :: $operation:ident;)+) => {
        /// Every operation, in the order of reports.
        pub static OPERATIONS: &[&dyn Verifies] = &[$(&Pipeline::<crate::$module::$operation>::NEW),+];

        /// Visits every operation on tensors.
        pub fn visit_tensors(visitor: &mut impl Visitor) {
            $(visitor.visit::<crate::$module::$operation>();)+
        }

        /// `$body` with the operation of a name as a type, and other arms for other names. If the name is known when a program is compiled, as that of a
        /// fuzz target, the program holds the code of its operation alone.
        #[macro_export]
        macro_rules! for_operation {
            ($dollar named:expr, $dollar type:ident => $dollar body:expr, $dollar($dollar others:tt)*) => {
                match $dollar named {
                    $($name => {
                        type $dollar type = $dollar crate::$module::$operation;
                        $dollar body
                    })+
                    $dollar($dollar others)*
                }
            };
        }
    };
}

// The first token is the one with which the macro that is made names its own arguments.
operations! { $
    "fpm" => fpm::FixedPointMultiply;
    "instruction" => instruction::Instruction;
    "dot" => dot::Dot;
    "matmul" => matmul::Matmul;
    "conv2d" => conv2d::Conv2d;
    "requantize" => requantize::Requantize;
    "qconv2d" => qconv2d::Qconv2d;
    "qmatmul" => qmatmul::Qmatmul;
    "quantize" => quantize::Quantize;
    "dequantize" => dequantize::Dequantize;
    "add" => elementwise::Add;
    "sub" => elementwise::Sub;
    "mul" => elementwise::Mul;
    "concat" => concat::Concat;
    "pool" => pool::Pool;
    "exp" => exp::Exp;
    "softmax" => softmax::Softmax;
    "transform" => transform::Transform;
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
