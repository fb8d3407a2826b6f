//! `explain requantize`: steps of one accumulator with zero point and clamp.

use super::show::{Shown, show};
use super::wanted;
use crate::cli::{Listing, int32, interval, scheme};
use crate::engine::erased::op;
use crate::explain::case::{Wanted, evaluated_line};
use crate::explain::requantize::{explain, kernel};
use crate::explain::sheet::Sheet;
use crate::requantize::Requantize;
use anyhow::{Context, Result};
use serde_json::json;
use tiebreak_impls::requantize::Kernel;
use tiebreak_oracle::requantize::{Definition, Parameters, Scheme};

/// Arguments of `explain requantize`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scheme, NAME or NAME:POLICY of fixed point multiply, or legacy, or legacy-ties-away; further schemes are compared with the first
    #[arg(long, value_name = "NAME", num_args = 1.., required_unless_present = "kernel", value_parser = scheme::<Definition>)]
    scheme: Vec<Scheme>,
    /// Kernel or known bug to run in this process; compared with the first scheme, or with its contract if no scheme is given
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = known)]
    kernel: Vec<&'static Kernel>,
    /// The case in words, as `verify --case` takes it, in place of the options below; `at=3` names the result [default: the first]
    #[arg(long, value_name = "CASE", conflicts_with_all = ["acc", "bias", "multiplier", "shift", "zero_point", "clamp"])]
    case: Option<String>,
    /// Type of the results of a case [default: int8, or that of the first kernel]
    #[arg(long = "type", value_name = "TYPE", requires = "case")]
    ty: Option<String>,
    /// Accumulator
    #[arg(long, value_name = "ACC", allow_negative_numbers = true, value_parser = int32(), required_unless_present = "case")]
    acc: Option<i32>,
    /// Bias, added to the accumulator first
    #[arg(long, value_name = "B", default_value_t = 0, allow_negative_numbers = true, value_parser = int32())]
    bias: i32,
    /// Multiplier, an int32
    #[arg(long, value_name = "M", allow_negative_numbers = true, value_parser = int32(), required_unless_present = "case")]
    multiplier: Option<i32>,
    /// Shift, positive = left
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-31..=31), required_unless_present = "case")]
    shift: Option<i32>,
    /// Zero point, added after the multiplication
    #[arg(long, value_name = "Z", default_value_t = 0, allow_negative_numbers = true, value_parser = int32())]
    zero_point: i32,
    /// The smallest and the largest output
    #[arg(long, value_name = "LO:HI", default_value = "-128:127", allow_hyphen_values = true, value_parser = interval)]
    clamp: (i32, i32),
    #[command(flatten)]
    own: super::own::Args,
    /// Output format; CSV has one line for each step
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

fn known(name: &str) -> Result<&'static Kernel, String> {
    kernel(name).map_err(|unknown| unknown.to_string())
}

/// Returns the accumulator of the result that a case names, with the parameters of its channel.
fn of_case(wanted: &Wanted) -> Result<(i32, Parameters)> {
    let evaluated_line = evaluated_line(op::<Requantize>(), wanted)?;
    let (at, p) = (evaluated_line.at.unwrap_or(0), evaluated_line.case.params.typed::<Requantize>());
    let acc = evaluated_line.case.tensors[0].get(at).context("--case: it has no accumulator; write x=1000")?;
    let channel = p.channels[at % p.channels.len()];
    let parameters = Parameters {
        channels: vec![(channel.multiplier, channel.shift)],
        bias: vec![p.bias[at % p.bias.len()]],
        zero_point: p.zero_point,
        min: p.min,
        max: p.max,
    };
    Ok((*acc, parameters))
}

pub(super) fn run(args: &Args) -> Result<()> {
    let wanted = Wanted { ty: args.ty.clone(), ..wanted(&args.case, &args.scheme, &args.kernel) };
    if args.own.is_given() {
        return args.own.explain::<Requantize>(&wanted, args.format);
    }
    let given = || {
        let Args { bias, zero_point, clamp: (min, max), .. } = *args;
        let [acc, multiplier, shift] = [args.acc, args.multiplier, args.shift].map(Option::unwrap_or_default);
        (acc, Parameters { channels: vec![(multiplier, shift)], bias: vec![bias], zero_point, min, max })
    };
    let (acc, parameters) = if args.case.is_some() { of_case(&wanted)? } else { given() };
    let explained = explain(acc, &parameters, &args.scheme, &args.kernel)?;
    let Parameters { zero_point, min, max, .. } = parameters;
    let (bias, (multiplier, shift)) = (parameters.bias[0], parameters.channels[0]);
    let named = [("acc", acc), ("bias", bias), ("m", multiplier), ("s", shift)];
    let placed = [("zero_point", zero_point), ("min", min), ("max", max)];
    let input = named.into_iter().chain(placed).map(|(name, value)| (name, json!(value))).collect();
    show(&Shown { op: "requantize", input, sheet: Sheet::from(&explained) }, args.format)
}
