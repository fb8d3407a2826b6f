//! `explain`: one input step by step, and why results differ. One file an operation.

mod casts;
mod fpm;
mod requantize;
mod show;

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
}

/// Prints the steps and results for the input.
pub(super) fn run(args: &Args) -> Result<()> {
    match &args.op {
        Op::Fpm(args) => fpm::run(args),
        Op::Requantize(args) => requantize::run(args),
        Op::Quantize(args) => casts::quantize(args),
        Op::Dequantize(args) => casts::dequantize(args),
    }
}
