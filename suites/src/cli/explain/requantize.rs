//! `explain requantize`.

use super::show::{Shown, show};
use crate::cli::{Listing, int32, interval, scheme};
use crate::explain::requantize::explain;
use crate::explain::sheet::Sheet;
use anyhow::Result;
use serde_json::json;
use tiebreak_oracle::requantize::{Definition, Parameters, Scheme};

/// Arguments of `explain requantize`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scheme, NAME or NAME:POLICY of fixed point multiply, or legacy, or legacy-ties-away; further schemes are compared with the first
    #[arg(long, value_name = "NAME", num_args = 1.., required = true, value_parser = scheme::<Definition>)]
    scheme: Vec<Scheme>,
    /// Accumulator
    #[arg(long, value_name = "ACC", allow_negative_numbers = true, value_parser = int32())]
    acc: i32,
    /// Bias, added to the accumulator first
    #[arg(long, value_name = "B", default_value_t = 0, allow_negative_numbers = true, value_parser = int32())]
    bias: i32,
    /// Multiplier, an int32
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = int32())]
    multiplier: i32,
    /// Shift, positive = left
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-31..=31))]
    shift: i32,
    /// Zero point, added after the multiplication
    #[arg(long, value_name = "Z", default_value_t = 0, allow_negative_numbers = true, value_parser = int32())]
    zero_point: i32,
    /// The smallest and the largest output
    #[arg(long, value_name = "LO:HI", default_value = "-128:127", allow_hyphen_values = true, value_parser = interval)]
    clamp: (i32, i32),
    /// Output format; CSV has one line for each step
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let Args { acc, bias, multiplier, shift, zero_point, clamp: (min, max), .. } = *args;
    let parameters = Parameters { channels: vec![(multiplier, shift)], bias: vec![bias], zero_point, min, max };
    let explained = explain(acc, &parameters, &args.scheme)?;
    let named = [("acc", acc), ("bias", bias), ("m", multiplier), ("s", shift)];
    let placed = [("zero_point", zero_point), ("min", min), ("max", max)];
    let input = named.into_iter().chain(placed).map(|(name, value)| (name, json!(value))).collect();
    show(&Shown { op: "requantize", input, sheet: Sheet::from(&explained) }, args.format)
}
