//! `explain fpm`: steps of one accumulator.

use super::show::{Shown, show};
use super::wanted;
use crate::cli::{Listing, int32, scheme};
use crate::engine::erased::op;
use crate::explain::case::{Wanted, evaluated_line};
use crate::explain::fpm::{Input, explain, find};
use crate::explain::sheet::Sheet;
use crate::fpm::FixedPointMultiply;
use anyhow::{Context, Result};
use serde_json::json;
use tiebreak_impls::fpm::{Channel, Kernel, Params};
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
    /// The case in words, as `verify --case` takes it, in place of the options below; `at=3` names the result [default: the first]
    #[arg(long, value_name = "CASE", conflicts_with_all = ["x", "multiplier", "shift", "q"])]
    case: Option<String>,
    /// Accumulator
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = int32(), required_unless_present = "case")]
    x: Option<i32>,
    /// Multiplier, an int32
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = int32(), required_unless_present = "case")]
    multiplier: Option<i32>,
    /// Shift, positive = left
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-31..=31), required_unless_present = "case")]
    shift: Option<i32>,
    /// Fractional bits of the multiplier
    #[arg(long, value_name = "Q", default_value = "31", value_parser = clap::value_parser!(u32).range(0..=31))]
    q: u32,
    #[command(flatten)]
    own: super::own::Args,
    /// Output format; CSV has one line for each step
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

fn kernel(name: &str) -> Result<&'static Kernel, String> {
    find(name).map_err(|unknown| unknown.to_string())
}

/// Returns the input of the result that a case names.
fn of_case(wanted: &Wanted) -> Result<Input> {
    let evaluated_line = evaluated_line(op::<FixedPointMultiply>(), wanted)?;
    let at = evaluated_line.at.unwrap_or(0);
    let Params { q, channels } = &evaluated_line.case.params.typed::<FixedPointMultiply>().params;
    let x = evaluated_line.case.tensors[0].get(at).context("--case: it has no accumulator; write x=1000")?;
    Ok(Input { x: *x, channel: channels[at % channels.len()], q: *q })
}

pub(super) fn run(args: &Args) -> Result<()> {
    let wanted = wanted(&args.case, &args.scheme, &args.kernel);
    if args.own.is_given() {
        return args.own.explain::<FixedPointMultiply>(&wanted, args.format);
    }
    let [x, multiplier, shift] = [args.x, args.multiplier, args.shift].map(Option::unwrap_or_default);
    let given = Input { x, channel: Channel { multiplier, shift }, q: args.q };
    let input = if args.case.is_some() { of_case(&wanted)? } else { given };
    let Input { x, channel: Channel { multiplier, shift }, q } = input;
    let explained = explain(input, &args.scheme, &args.kernel)?;
    let mut input = vec![("x", json!(x)), ("m", json!(multiplier)), ("s", json!(shift))];
    input.extend((q != 31).then(|| ("q", json!(q))));
    show(&Shown { op: "fpm", input, sheet: Sheet::from(&explained) }, args.format)
}
