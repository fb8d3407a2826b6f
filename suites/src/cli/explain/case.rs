//! `explain` for a case given as text. Every operation accepts a case, also operations with options of their own.

use super::show::{Shown, show};
use crate::cli::Listing;
use crate::explain::case::{Wanted, explain_of};
use crate::presented::Presented;
use anyhow::Result;

/// Arguments of operations that are explained by a case alone.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scheme, NAME or NAME:POLICY; further schemes are compared with the first
    #[arg(long, value_name = "NAME", num_args = 1.., required_unless_present = "kernel")]
    scheme: Vec<String>,
    /// Kernel or known bug to run in this process; compared with the first scheme, or with its contract if no scheme is given
    #[arg(long, value_name = "NAME", num_args = 1..)]
    kernel: Vec<String>,
    /// The case, as `verify --case` takes it; `at=3` names the result [default: the first on which results differ]
    #[arg(long, value_name = "CASE")]
    case: String,
    /// Type of the elements, as a line of `eval` names it, such as uint8,int8 [default: int8]
    #[arg(long = "type", value_name = "TYPE")]
    ty: Option<String>,
    #[command(flatten)]
    own: super::own::Args,
    /// Output format; CSV has one line for each step
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

/// Prints a result of the case.
pub(super) fn run<O: Presented>(args: &Args) -> Result<()> {
    let wanted = Wanted {
        case: args.case.clone(),
        ty: args.ty.clone(),
        schemes: args.scheme.clone(),
        kernels: args.kernel.clone(),
    };
    if args.own.is_given() {
        return args.own.explain::<O>(&wanted, args.format);
    }
    let (input, sheet) = explain_of::<O>(&wanted, None)?;
    show(&Shown { op: O::OP, input, sheet }, args.format)
}
