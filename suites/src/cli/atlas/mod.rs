//! `atlas`: schemes that agree, the parameters on which they agree, and the kernels that follow them.

mod agreement;
mod show;

use super::{Listing, interval_of, scheme, shifts};
use crate::atlas::examine;
use crate::parameters::{CORNER_MULTIPLIERS, SHIFTS, read_csv};
use anyhow::{Result, bail};
use indicatif::ProgressBar;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Definition, Scheme};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// Maximum number of pairs (m, s). A larger range is refused as a mistake.
const MOST_PARAMETERS: usize = 200_000;

/// Arguments of `atlas`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scheme, NAME or NAME:POLICY [default: all schemes]
    #[arg(long, value_name = "NAME", value_parser = scheme::<&'static Definition>)]
    scheme: Vec<Scheme>,
    /// Shifts, first to last [default: -31..31]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = shifts)]
    shift: Option<RangeInclusive<i32>>,
    /// Multipliers, M,M,... or A..B [default: corner values]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, value_parser = multipliers)]
    multipliers: Option<Multipliers>,
    /// CSV file with columns multiplier and shift, instead of --multipliers and --shift
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["shift", "multipliers"])]
    params: Option<PathBuf>,
    /// Output format; CSV has one line for each pair of schemes
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

/// Multipliers from the command line.
#[derive(Clone, Debug)]
struct Multipliers(Vec<i32>);

fn multipliers(text: &str) -> Result<Multipliers, String> {
    if text.contains("..") {
        let range = interval_of(text)?;
        if range.end().abs_diff(*range.start()) as usize >= MOST_PARAMETERS {
            return Err(format!("more than {} multipliers", text::count(MOST_PARAMETERS as u64)));
        }
        return Ok(Multipliers(range.collect()));
    }
    let one = |m: &str| m.trim().parse().map_err(|_| format!("`{m}` is not an int32"));
    text.split(',').map(one).collect::<Result<_, _>>().map(Multipliers)
}

/// Returns the requested pairs of multiplier and shift, without duplicates.
fn channels(args: &Args) -> Result<Vec<Channel>> {
    let mut channels = match &args.params {
        Some(path) => read_csv(path)?,
        None => {
            let multipliers = args.multipliers.as_ref().map_or(&CORNER_MULTIPLIERS[..], |m| &m.0);
            let shifts = args.shift.clone().unwrap_or(SHIFTS);
            multipliers.iter().flat_map(|m| shifts.clone().map(|shift| Channel { multiplier: *m, shift })).collect()
        }
    };
    channels.sort_unstable();
    channels.dedup();
    if channels.len() > MOST_PARAMETERS {
        let (n, most) = (text::count(channels.len() as u64), text::count(MOST_PARAMETERS as u64));
        bail!("{n} pairs (m, s), more than {most}: narrow --multipliers or --shift");
    }
    Ok(channels)
}

/// Prints the schemes that agree, and the parameters on which they agree.
pub(super) fn run(args: &Args) -> Result<()> {
    let all = || DEFINITIONS.iter().map(|definition| Scheme { definition, overflow: Overflow::OutOfDomain }).collect();
    let schemes = if args.scheme.is_empty() { all() } else { args.scheme.clone() };
    let labels: BTreeSet<String> = schemes.iter().map(Scheme::label).collect();
    if labels.len() < 2 {
        bail!("give at least two --scheme, or none for all schemes");
    }
    let channels = channels(args)?;
    let progress = ProgressBar::new(channels.len() as u64);
    let atlas = examine(schemes, channels, || progress.inc(1));
    progress.finish_and_clear();
    args.format.print(|| show::as_table(&atlas), || show::as_json(&atlas), || show::as_csv(&atlas))
}
