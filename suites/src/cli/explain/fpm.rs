//! `explain fpm`.

use super::show::{Shown, show};
use crate::cli::{Listing, int32, scheme};
use crate::explain::fpm::{Input, explain, find};
use crate::explain::sheet::Sheet;
use anyhow::Result;
use serde_json::json;
use tiebreak_impls::fpm::{Channel, Kernel};
use tiebreak_oracle::fpm::{Definition, Scheme};

/// Arguments of `explain fpm`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scheme, NAME or NAME:POLICY; further schemes are compared with the first
    #[arg(long, value_name = "NAME", num_args = 1.., required_unless_present = "kernel", value_parser = scheme::<&'static Definition>)]
    scheme: Vec<Scheme>,
    /// Kernel or mutant to run in this process; compared with the first scheme, or with its contract if no scheme is given
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = kernel)]
    kernel: Vec<&'static Kernel>,
    /// Accumulator
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = int32())]
    x: i32,
    /// Multiplier, an int32
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = int32())]
    multiplier: i32,
    /// Shift, positive = left
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-31..=31))]
    shift: i32,
    /// Fractional bits of the multiplier
    #[arg(long, value_name = "Q", default_value = "31", value_parser = clap::value_parser!(u32).range(0..=31))]
    q: u32,
    /// Output format; CSV has one line for each step
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

fn kernel(name: &str) -> Result<&'static Kernel, String> {
    find(name).map_err(|unknown| unknown.to_string())
}

pub(super) fn run(args: &Args) -> Result<()> {
    let Args { x, multiplier, shift, q, .. } = *args;
    let explained = explain(Input { x, channel: Channel { multiplier, shift }, q }, &args.scheme, &args.kernel)?;
    let mut input = vec![("x", json!(x)), ("m", json!(multiplier)), ("s", json!(shift))];
    input.extend((q != 31).then(|| ("q", json!(q))));
    show(&Shown { op: "fpm", input, sheet: Sheet::from(&explained) }, args.format)
}
