//! `case`: one input, evaluated by every scheme.

use super::{Format, print, table};
use crate::engine::case::catalogue::ready_line;
use crate::engine::erased::{self, AnyCase};
use crate::fpm::promised::Promised;
use crate::fpm::{self, FixedPointMultiply};
use crate::fraction::both;
use crate::parameters::SHIFTS;
use anyhow::{Result, bail};
use serde_json::json;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Parameters, Scheme, Trace};
use tiebreak_oracle::word::Overflow;

/// Elements of a catalogued batch: a vector body and a tail.
const CATALOGUED: usize = 9;

/// Arguments of `case`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Accumulator, an int32
    #[arg(long, allow_negative_numbers = true)]
    x: i32,
    /// Multiplier, an int32
    #[arg(long, allow_negative_numbers = true)]
    multiplier: i32,
    /// Shift, -31..=31, positive = left
    #[arg(long, allow_negative_numbers = true)]
    shift: i32,
    /// Fractional bits of the multiplier
    #[arg(long, value_name = "Q", default_value = "31", value_parser = clap::value_parser!(u32).range(0..=31))]
    q: u32,
    /// Scheme to show step by step, NAME or NAME:POLICY; without it, the result of every scheme
    #[arg(long, value_name = "NAME")]
    scheme: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Prints the exact value and the results of the schemes.
pub(super) fn run(args: &Args) -> Result<()> {
    if !SHIFTS.contains(&args.shift) {
        bail!("--shift {}: a shift must be in -31..=31, positive = left", args.shift);
    }
    let p = Parameters { q: args.q, ..Parameters::q31(args.multiplier, args.shift) };
    let schemes = match args.scheme.len() {
        0 => DEFINITIONS.iter().map(|definition| Scheme { definition, overflow: Overflow::Wrap }).collect(),
        _ => args.scheme.iter().map(|name| Scheme::parse(name)).collect::<Result<Vec<_>, _>>()?,
    };
    let traces: Vec<(Scheme, Trace)> =
        schemes.iter().map(|s| (*s, s.definition.trace(s.overflow, args.x.into(), &p))).collect();
    match args.format {
        Format::Json => as_json(args, &traces),
        Format::Table => as_table(args, &traces),
    }
}

fn result(trace: &Trace) -> String {
    trace.result.as_ref().map_or("out of domain".to_owned(), |r| r.to_string())
}

/// Returns the name of each step and the exact value after the step.
fn values(trace: &Trace) -> impl Iterator<Item = (&str, &Rational)> {
    trace.steps.iter().filter_map(|t| Some((t.name.as_ref(), t.after.as_ref()?)))
}

fn as_json(args: &Args, traces: &[(Scheme, Trace)]) -> Result<()> {
    let schemes: Vec<_> = traces
        .iter()
        .map(|(scheme, trace)| {
            let steps: Vec<_> = values(trace).map(|(name, v)| json!({"step": name, "value": v.to_string()})).collect();
            let result = trace.result.as_ref().and_then(|r| r.to_i64());
            json!({"scheme": scheme.label(), "result": result, "steps": steps})
        })
        .collect();
    let exact = traces.first().map(|(_, t)| t.exact.to_string());
    let all =
        json!({"x": args.x, "m": args.multiplier, "s": args.shift, "q": args.q, "exact": exact, "schemes": schemes});
    print(&(serde_json::to_string_pretty(&all)? + "\n"))
}

fn as_table(args: &Args, traces: &[(Scheme, Trace)]) -> Result<()> {
    let Some((_, first)) = traces.first() else { return Ok(()) };
    let (x, m, s) = (args.x, args.multiplier, args.shift);
    let q = if args.q == 31 { String::new() } else { format!(" q={}", args.q) };
    let mut out = format!("fpm x={x} m={m} s={s}{q}\nexact  {}\n\n", both(&first.exact));
    if args.scheme.is_empty() {
        let rows = traces.iter().map(|(scheme, trace)| vec![scheme.label(), result(trace)]);
        out += &table(&["scheme", "result"], rows.collect());
        if args.q != 31 {
            // The catalogue has only Q0.31 cases.
            return print(&out);
        }
        let kept: Vec<Scheme> = ["ties-up", "gemmlowp-double", "sqrdmulh-srshl"]
            .iter()
            .map(|n| Scheme::parse(n))
            .collect::<Result<_, _>>()?;
        let case = fpm::case(args.q, vec![Channel { multiplier: m, shift: s }], vec![x; CATALOGUED]);
        let kept: Vec<erased::Scheme> =
            kept.into_iter().map(Promised::plain).map(erased::Scheme::of::<FixedPointMultiply>).collect();
        let domain = erased::Domain::of::<FixedPointMultiply>(Domain::ALL);
        let case = AnyCase::of::<FixedPointMultiply>(case);
        let line = ready_line(&domain, (&case, 0), &kept, "provenance");
        out += &format!("\nAs a catalogue line:\n{}\n", line.unwrap_or_default());
    } else {
        for (scheme, trace) in traces {
            let rows = values(trace).map(|(name, v)| vec![name.to_owned(), v.to_string()]);
            out += &table(&[&scheme.label(), "exact value"], rows.collect());
            out += &format!(" result  {}\n\n", result(trace));
        }
    }
    print(&out)
}
