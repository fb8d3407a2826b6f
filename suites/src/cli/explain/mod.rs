//! `explain`: one input step by step, and why results differ. One file an operation.

mod case;
mod casts;
mod fpm;
mod requantize;
mod show;

use crate::concat::Concat;
use crate::conv2d::Conv2d;
use crate::dot::Dot;
use crate::elementwise::{Add, Mul, Sub};
use crate::exp::Exp;
use crate::explain::{stages, steps};
use crate::instruction::Instruction;
use crate::matmul::Matmul;
use crate::pool::Pool;
use crate::qconv2d::Qconv2d;
use crate::qmatmul::Qmatmul;
use crate::softmax::Softmax;
use crate::transform::Transform;
use anyhow::Result;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    op: Op,
}

/// The operation: a new one is a file here and a line below.
#[derive(Debug, clap::Subcommand)]
enum Op {
    /// Fixed point multiply: x * m * 2^(s-31), by schemes, kernels and mutants.
    Fpm(fpm::Args),
    /// Requantization: bias, fixed point multiply, zero point, clamp.
    Requantize(requantize::Args),
    /// Quantization: a float to the stored value of a type of MLIR's quant dialect.
    Quantize(casts::ToStored),
    /// Dequantization: a stored value of a type of MLIR's quant dialect to a float.
    Dequantize(casts::ToFloat),
    /// Matrix product: one result of a case.
    Matmul(case::Args),
    /// Convolution: one result of a case.
    Conv2d(case::Args),
    /// Quantized convolution, with bias, multiplication, zero point and clamp: one result of a case.
    Qconv2d(case::Args),
    /// Quantized matrix product, with every output stage: one result of a case.
    Qmatmul(case::Args),
    /// Dot product: one result of a case.
    Dot(case::Args),
    /// Addition of two quantized tensors: one result of a case.
    Add(case::Args),
    /// Subtraction of two quantized tensors: one result of a case.
    Sub(case::Args),
    /// Multiplication of two quantized tensors: one result of a case.
    Mul(case::Args),
    /// Concatenation of quantized tensors: one result of a case.
    Concat(case::Args),
    /// Average or max pooling: one result of a case.
    Pool(case::Args),
    /// Fixed-point exponential: one result of a case.
    Exp(case::Args),
    /// Softmax of rows: one result of a case.
    Softmax(case::Args),
    /// Layout transform: one result of a case.
    Transform(case::Args),
    /// Vector instruction: one result of a case.
    Instruction(case::Args),
}

/// Prints the steps and results for the input.
pub(super) fn run(args: &Args) -> Result<()> {
    match &args.op {
        Op::Fpm(args) => fpm::run(args),
        Op::Requantize(args) => requantize::run(args),
        Op::Quantize(args) => casts::quantize(args),
        Op::Dequantize(args) => casts::dequantize(args),
        Op::Matmul(args) => case::run::<Matmul>(args, steps::matmul),
        Op::Conv2d(args) => case::run::<Conv2d>(args, steps::conv2d),
        Op::Qconv2d(args) => case::run::<Qconv2d>(args, steps::qconv2d),
        Op::Qmatmul(args) => case::run::<Qmatmul>(args, stages::qmatmul),
        Op::Dot(args) => case::run::<Dot>(args, steps::none::<Dot>),
        Op::Add(args) => case::run::<Add>(args, steps::none::<Add>),
        Op::Sub(args) => case::run::<Sub>(args, steps::none::<Sub>),
        Op::Mul(args) => case::run::<Mul>(args, steps::none::<Mul>),
        Op::Concat(args) => case::run::<Concat>(args, steps::concat),
        Op::Pool(args) => case::run::<Pool>(args, steps::pool),
        Op::Exp(args) => case::run::<Exp>(args, steps::none::<Exp>),
        Op::Softmax(args) => case::run::<Softmax>(args, steps::none::<Softmax>),
        Op::Transform(args) => case::run::<Transform>(args, steps::none::<Transform>),
        Op::Instruction(args) => case::run::<Instruction>(args, steps::none::<Instruction>),
    }
}
