//! Registry of the operations, one line each. Lists, `--op`, help, runs and the tests of mutants and classes use it.

use crate::bounds;
use crate::presented::Presented;
use anyhow::Result;
use std::sync::LazyLock;
use tiebreak_engine::ledger::partial_run::PartialRun;
use tiebreak_engine::ledger::section::Outcome;
use tiebreak_engine::operation::Request;
use tiebreak_engine::pipeline::Pipeline;
use tiebreak_engine::registry::Registry;

/// Action for every operation on tensors.
pub trait Visitor {
    /// Performs the action for one operation.
    fn visit<O: Presented>(&mut self);
}

/// Returns the corner cases of every operation on tensors.
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
        pub static OPERATIONS: &[Pipeline] = &[$(Pipeline::of::<crate::$module::$operation>()),+];

        /// Visits every operation on tensors.
        pub fn visit_tensors(visitor: &mut impl Visitor) {
            $(visitor.visit::<crate::$module::$operation>();)+
        }

        /// Evaluates `$body` with the operation of a name as a type; other arms handle other names. If the compiler knows the name, as for a fuzz
        /// target, the program contains only that operation's code.
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

// The first token is the dollar sign for the arguments of the generated macro.
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

/// Returns every name that `--kernel` accepts for these operations; mutants come last.
pub fn kernel_names(ops: &[String]) -> Vec<&'static str> {
    REGISTRY.kernel_names(ops)
}

/// Information on all operations that a run needs.
pub static REGISTRY: Registry = Registry { operations: OPERATIONS, bounds: bounds::requested_bounds };

/// Runs a request. An error means wrong usage; failures of kernels and lanes are in the ledger.
pub fn run(request: &Request, kept: &PartialRun) -> Result<Outcome> {
    tiebreak_engine::verification::run(request, &REGISTRY, kept)
}
