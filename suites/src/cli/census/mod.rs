//! `census`: number and values of the accumulators on which two schemes differ.

mod counted;

use super::space::{self, Ends};
use super::{Listing, csv_of, int32, interval, print, table};
use crate::audit::Rescaling;
use crate::fraction::{both, decimal};
use crate::parameters::{SHIFTS, read_csv};
use anyhow::{Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tiebreak_common::called;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::census::{Census, Comparison, Counts};
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::fpm::{Parameters, Scheme, exact};
use tiebreak_reports::space::Plan;
use tiebreak_reports::text;

/// Maximum of `--list`: longer lists would not fit into memory.
const MOST_LISTED: i64 = 1_000_000;

/// Arguments of `census`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Left scheme, NAME or NAME:POLICY of fixed point multiply, or one in floats, such as f32-product: it multiplies by the real number
    /// M * 2^(S-31), rounded to its format
    #[arg(long, value_name = "SCHEME", value_parser = rescaling)]
    left: Rescaling,
    /// Right scheme; deltas are right - left
    #[arg(long, value_name = "SCHEME", value_parser = rescaling)]
    right: Rescaling,
    /// Multiplier, an int32
    #[arg(long, value_name = "M", requires = "shift", required_unless_present_any = ["params", "space"], allow_negative_numbers = true, value_parser = int32())]
    multiplier: Option<i32>,
    /// Shift, positive = left; with --space also a range A..B, both ends included [default with --space: all]
    #[arg(long, value_name = "S", required_unless_present_any = ["params", "space"], allow_hyphen_values = true, value_parser = shift)]
    shift: Option<Ends>,
    /// Multiplier of the right scheme [default: that of the left]
    #[arg(long, value_name = "M", requires = "right_shift", conflicts_with_all = ["params", "space"], allow_negative_numbers = true, value_parser = int32())]
    right_multiplier: Option<i32>,
    /// Shift of the right scheme [default: that of the left]
    #[arg(long, value_name = "S", requires = "right_multiplier", allow_hyphen_values = true, value_parser = clap::value_parser!(i32).range(-31..=31))]
    right_shift: Option<i32>,
    /// CSV file with columns multiplier and shift; each line gets its own census
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["multiplier", "shift"])]
    params: Option<PathBuf>,
    /// First accumulator
    #[arg(long, value_name = "A", default_value_t = i32::MIN, allow_negative_numbers = true, value_parser = int32())]
    x_min: i32,
    /// Last accumulator
    #[arg(long, value_name = "B", default_value_t = i32::MAX, allow_negative_numbers = true, value_parser = int32())]
    x_max: i32,
    /// Compare outputs instead of results: zero point, added to each result [default with --clamp: 0]
    #[arg(long, value_name = "Z", allow_negative_numbers = true, value_parser = int32())]
    zero_point: Option<i32>,
    /// Compare outputs instead of results: smallest and largest output, such as -128:127 [default with --zero-point: all of int32]
    #[arg(long, value_name = "LO:HI", allow_hyphen_values = true, value_parser = interval)]
    clamp: Option<(i32, i32)>,
    /// Also list the N differing accumulators nearest to zero, each with its exact value
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MOST_LISTED))]
    list: u32,
    /// Output format; CSV has one line for each census, with --list for each accumulator, with --space for each shift
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
    #[command(flatten)]
    whole: space::Options,
}

/// Parses one shift or a range of shifts. Only a space takes a range.
fn shift(text: &str) -> Result<Ends, String> {
    let ends = space::ends(text)?;
    match ends.into_iter().find(|s| !SHIFTS.contains(s)) {
        Some(s) => Err(format!("{s} is not in {}..={}", SHIFTS.start(), SHIFTS.end())),
        None => Ok(ends),
    }
}

/// Parses a scheme of rescaling that takes a multiplier.
pub(super) fn rescaling(text: &str) -> Result<Rescaling, String> {
    let rescaling = Rescaling::parse(text).map_err(|unknown| match unknown.nearest {
        Some(_) => unknown.to_string(),
        None => format!(
            "{unknown}; `{0} schemes` lists those of fixed point, `{0} audit --help` those in floats",
            called::program()
        ),
    })?;
    match rescaling.at(1 << 30, 0) {
        Some(_) => Ok(rescaling),
        None => {
            Err(format!("`{text}` needs the scales of a layer; `{} audit` counts it on a model", called::program()))
        }
    }
}

/// Census at one multiplier and shift.
#[derive(Debug, Serialize)]
struct Answer {
    left: String,
    right: String,
    multiplier: i32,
    shift: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    right_multiplier: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right_shift: Option<i32>,
    x_min: i64,
    x_max: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Clamped>,
    /// Accumulators on which both schemes have a value.
    inputs: u64,
    differ: u64,
    /// Counts by delta (right minus left). `other` counts the deltas that the census does not list.
    by_delta: BTreeMap<String, u64>,
    nearest_zero: Option<Nearest>,
    method: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    list: Vec<Place>,
}

/// Zero point and clamp that turn results into the compared outputs.
#[derive(Clone, Copy, Debug, Serialize)]
struct Clamped {
    zero_point: i32,
    min: i32,
    max: i32,
}

/// Accumulator on which the schemes differ, with both results.
#[derive(Clone, Copy, Debug, Serialize)]
struct Nearest {
    x: i64,
    left: i64,
    right: i64,
}

/// Differing accumulator with `x * m * 2^(s-31)`, as a fraction and as a decimal number.
#[derive(Clone, Debug, Serialize)]
struct Place {
    #[serde(flatten)]
    at: Nearest,
    exact: String,
    decimal: String,
    #[serde(skip)]
    both: String,
}

/// True if a whole space is counted.
pub(super) fn is_space(args: &Args) -> bool {
    args.whole.space.is_some()
}

/// Plans the count of a whole space.
pub(super) fn plan(args: &Args) -> Result<Plan> {
    let (left, right) = of_space(args)?;
    space::plan(left, right, args.shift, &args.whole)
}

/// Returns the schemes of a whole space.
fn of_space(args: &Args) -> Result<(Scheme, Scheme)> {
    match (args.left, args.right) {
        (Rescaling::Fixed(left), Rescaling::Fixed(right)) => Ok((left, right)),
        _ => bail!(
            "--space counts schemes of fixed point multiply; for a scheme in floats give --multiplier and --shift"
        ),
    }
}

/// Prints the census of each multiplier and shift, or of a space.
pub(super) fn run(args: &Args) -> Result<()> {
    if is_space(args) {
        let (left, right) = of_space(args)?;
        return space::run(left, right, args.shift, &args.whole, args.format);
    }
    if let Some(option) = args.whole.stray() {
        bail!("{option} needs --space");
    }
    if args.x_min > args.x_max {
        bail!("--x-min {} is above --x-max {}", args.x_min, args.x_max);
    }
    let channels = match (&args.params, args.multiplier, args.shift) {
        (Some(path), ..) => read_csv(path)?,
        (None, Some(multiplier), Some([shift, last])) if shift == last => vec![Channel { multiplier, shift }],
        (None, _, Some(_)) => bail!("--shift A..B needs --space: without it a census has one shift"),
        _ => bail!("--multiplier and --shift, or --params, must be given"),
    };
    // The text of a million lines fits into memory, but the answers need ten times as much. Chunks limit the answers.
    let some = |some: &[Channel]| some.par_iter().map(|channel| answer(args, *channel)).collect::<Vec<Answer>>();
    let answers = channels.chunks(AT_ONCE).flat_map(some);
    print(&match args.format {
        Listing::Json if args.params.is_some() => pretty(answers)?,
        Listing::Json => answers.map(|answer| Ok(serde_json::to_string(&answer)? + "\n")).collect::<Result<_>>()?,
        Listing::Csv => csv(answers, args.list > 0)?,
        Listing::Table => as_table(&answers.collect::<Vec<_>>()),
    })
}

/// Number of answers held at a time.
const AT_ONCE: usize = 1 << 12;

/// Formats answers as an indented JSON list.
fn pretty(answers: impl Iterator<Item = Answer>) -> Result<String> {
    let mut out = String::new();
    for answer in answers {
        out += if out.is_empty() { "[\n" } else { ",\n" };
        let lines = serde_json::to_string_pretty(&answer)?;
        out += &lines.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
    }
    Ok(out + "\n]\n")
}

fn answer(args: &Args, Channel { multiplier, shift }: Channel) -> Answer {
    let (min, max) = args.clamp.unwrap_or((i32::MIN, i32::MAX));
    let asked = args.zero_point.is_some() || args.clamp.is_some();
    let output = asked.then(|| Output { zero_point: args.zero_point.unwrap_or(0), min, max });
    let (lo, hi) = (args.x_min.into(), args.x_max.into());
    let right_one = args.right_multiplier.zip(args.right_shift);
    let most = args.list.max(1).into();
    let counted = match (args.left, args.right) {
        (Rescaling::Fixed(left), Rescaling::Fixed(right)) => {
            let parameters = Parameters::q31(multiplier, shift);
            let right_parameters = right_one.map(|(m, s)| Parameters::q31(m, s));
            let census = Census { right_parameters, lo, hi, output, ..Census::of(left, right, parameters) };
            counted::folded(&census, most)
        }
        _ => {
            let (m, s) = right_one.unwrap_or((multiplier, shift));
            let sides = args.left.at(multiplier, shift).zip(args.right.at(m, s));
            let (left, right) = sides.expect("the parser has refused the others");
            counted::stepped(&Comparison { left: &left, right: &right, output: output.as_ref() }, lo..=hi, most)
        }
    };
    let counted::Counted { counts, places, method } = counted;
    let parameters = Parameters::q31(multiplier, shift);
    let places: Vec<Place> = places.into_iter().map(|at| place(at, &parameters)).collect();
    Answer {
        left: args.left.label(),
        right: args.right.label(),
        multiplier,
        shift,
        right_multiplier: args.right_multiplier,
        right_shift: args.right_shift,
        x_min: lo,
        x_max: hi,
        output: output.map(|Output { zero_point, min, max }| Clamped { zero_point, min, max }),
        inputs: counts.inputs,
        differ: counts.differ(),
        by_delta: by_delta(&counts),
        nearest_zero: places.first().map(|place| place.at),
        method,
        list: if args.list > 0 { places } else { Vec::new() },
    }
}

fn by_delta(counts: &Counts) -> BTreeMap<String, u64> {
    let apart = counts.by_delta().map(|(delta, count)| (delta.to_string(), count));
    let far = (counts.far() > 0).then(|| ("other".to_owned(), counts.far()));
    apart.chain(far).collect()
}

/// Adds the exact value at the parameters of the left scheme.
fn place(at: Nearest, parameters: &Parameters) -> Place {
    let exact = exact(at.x, parameters);
    Place { at, exact: exact.to_string(), decimal: decimal(&exact), both: both(&exact) }
}

fn as_table(answers: &[Answer]) -> String {
    let Some(Answer { left, right, x_min, x_max, output, .. }) = answers.first() else { return String::new() };
    let outputs = output.map_or(String::new(), |Clamped { zero_point, min, max }| {
        format!(", outputs with zero point {zero_point} in {min}..={max}")
    });
    let mut out = format!("{right} minus {left}, x in {x_min}..={x_max}{outputs}\n\n");
    let nearest = |place: &Option<Nearest>| {
        place.as_ref().map_or("none".to_owned(), |p| format!("x={}: {}, {}", p.x, p.left, p.right))
    };
    let rows = answers.iter().map(|a| {
        vec![
            parameters(a),
            text::count(a.inputs),
            text::count(a.differ),
            text::deltas(&a.by_delta, 4).join(" "),
            nearest(&a.nearest_zero),
            a.method.to_owned(),
        ]
    });
    out +=
        &table(&["parameters", "inputs", "differ", "by delta", "nearest zero: left, right", "method"], rows.collect());
    for answer in answers.iter().filter(|a| !a.list.is_empty()) {
        out += &format!("\n{}\n", parameters(answer));
        let row = |p: &Place| vec![p.at.x.to_string(), p.both.clone(), p.at.left.to_string(), p.at.right.to_string()];
        out += &table(&["x", "exact value", left, right], answer.list.iter().map(row).collect());
    }
    out
}

/// Formats multiplier and shift of both schemes.
fn parameters(answer: &Answer) -> String {
    let right = answer.right_multiplier.zip(answer.right_shift);
    let right = right.map_or(String::new(), |(m, s)| format!("; m={m} s={s}"));
    format!("m={} s={}{right}", answer.multiplier, answer.shift)
}

fn csv(answers: impl Iterator<Item = Answer>, list: bool) -> Result<String> {
    const PLACES: &str = "left,right,multiplier,shift,x,exact,decimal,left_value,right_value";
    const ANSWERS: &str = "left,right,multiplier,shift,x_min,x_max,inputs,differ,\
                           by_delta,nearest_zero_x,nearest_zero_left,nearest_zero_right,method";
    let name = |a: &Answer| [a.left.clone(), a.right.clone(), a.multiplier.to_string(), a.shift.to_string()];
    let places = |a: Answer| -> Vec<Vec<String>> {
        let place = |p: &Place| {
            let [x, left, right] = [p.at.x, p.at.left, p.at.right].map(|v| v.to_string());
            [&name(&a)[..], &[x, p.exact.clone(), p.decimal.clone(), left, right]].concat()
        };
        a.list.iter().map(place).collect()
    };
    let answer = |a: Answer| {
        let counts = [a.x_min.to_string(), a.x_max.to_string(), a.inputs.to_string(), a.differ.to_string()];
        let deltas: Vec<String> = a.by_delta.iter().map(|(delta, count)| format!("{delta}:{count}")).collect();
        let nearest = a.nearest_zero.map(|p| [p.x, p.left, p.right].map(|v| v.to_string())).unwrap_or_default();
        [&name(&a)[..], &counts, &[deltas.join(" ")], &nearest, &[a.method.to_owned()]].concat()
    };
    match list {
        true => csv_of(PLACES.split(','), answers.flat_map(places)),
        false => csv_of(ANSWERS.split(','), answers.map(answer)),
    }
}
