//! `atlas`: which schemes agree, on what, and which kernels follow them.

use super::{Listing, interval_of, print, scheme, table};
use crate::atlas::{Atlas, Between, Witness, examine};
use crate::parameters::{CORNER_MULTIPLIERS, SHIFTS, read_csv};
use anyhow::{Result, bail};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use tiebreak_impls::fpm::{self, Channel};
use tiebreak_oracle::fpm::scheme::DEFINITIONS;
use tiebreak_oracle::fpm::{Definition, Scheme};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// Pairs (m, s) beyond which a range is taken for a mistake.
const MOST_PARAMETERS: usize = 200_000;

/// Arguments of `atlas`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Scheme, NAME or NAME:POLICY; all of them when none is given
    #[arg(long, value_name = "NAME", value_parser = scheme::<&'static Definition>)]
    scheme: Vec<Scheme>,
    /// Shifts, first to last [default: -31..31]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = shifts)]
    shift: Option<RangeInclusive<i32>>,
    /// Multipliers, M,M,... or A..B; corner ones when none is given
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, value_parser = multipliers)]
    multipliers: Option<Multipliers>,
    /// CSV file with columns multiplier and shift, in place of multipliers and shifts
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["shift", "multipliers"])]
    params: Option<PathBuf>,
    /// How to print; for a spreadsheet a line a pair of schemes, names of one class apart
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

/// Multipliers of the command line.
#[derive(Clone, Debug)]
struct Multipliers(Vec<i32>);

fn shifts(text: &str) -> Result<RangeInclusive<i32>, String> {
    let range = interval_of(text)?;
    if SHIFTS.contains(range.start()) && SHIFTS.contains(range.end()) {
        Ok(range)
    } else {
        Err("a shift must be in -31..=31, positive = left".to_owned())
    }
}

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

/// Multipliers and shifts asked for, each once.
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

/// Prints who agrees with whom.
pub(super) fn run(args: &Args) -> Result<()> {
    let all = || DEFINITIONS.iter().map(|definition| Scheme { definition, overflow: Overflow::OutOfDomain }).collect();
    let schemes = if args.scheme.is_empty() { all() } else { args.scheme.clone() };
    let labels: BTreeSet<String> = schemes.iter().map(Scheme::label).collect();
    if labels.len() < 2 {
        bail!("at least two schemes are wanted, or no --scheme for all of them");
    }
    let channels = channels(args)?;
    let progress = ProgressBar::new(channels.len() as u64);
    let atlas = examine(schemes, channels, || progress.inc(1));
    progress.finish_and_clear();
    print(&match args.format {
        Listing::Table => as_table(&atlas),
        Listing::Json => serde_json::to_string_pretty(&as_json(&atlas))? + "\n",
        Listing::Csv => as_csv(&atlas)?,
    })
}

/// Kernels whose contract promises the scheme somewhere.
fn kernels(scheme: &Scheme) -> Vec<&'static str> {
    let name = scheme.definition.name;
    let promises = |k: &&fpm::Kernel| {
        k.contract.promise.scheme == name || k.contract.deviations.iter().any(|d| d.instead.scheme == name)
    };
    fpm::kernels().iter().filter(promises).map(|k| k.name).collect()
}

/// `A`, `B`, ..., by which the matrix names classes.
fn letter(at: usize) -> String {
    let last = char::from(b'A' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { format!("{}{last}", letter(at / 26 - 1)) }
}

/// Where two schemes are identical, of what was counted.
struct Agreement {
    /// All of it.
    everywhere: bool,
    /// Pairs (m, s) on which they are.
    identical: usize,
    /// Pairs (m, s) that were counted and have an accumulator with a value of both.
    counted: usize,
    /// Pairs (m, s) without one.
    apart: usize,
    /// Pairs (m, s) that were not counted.
    not_counted: usize,
    /// Shifts at which every multiplier counted is.
    shifts: Vec<RangeInclusive<i32>>,
    /// Multipliers that are at every shift counted.
    multipliers: Vec<i32>,
}

fn agreement(atlas: &Atlas, between: &Between) -> Agreement {
    let counted: Vec<(Channel, bool)> = atlas
        .channels
        .iter()
        .zip(&between.cells)
        .filter_map(|(channel, cell)| Some((*channel, cell.filter(|c| c.inputs > 0)?.differ == 0)))
        .collect();
    let identical = counted.iter().filter(|(_, same)| *same).count();
    let without = |all: BTreeSet<i32>, of: &dyn Fn(&Channel) -> i32| {
        let apart: BTreeSet<i32> = counted.iter().filter(|(_, same)| !same).map(|(c, _)| of(c)).collect();
        all.difference(&apart).copied().collect::<Vec<i32>>()
    };
    let shift = |c: &Channel| c.shift;
    let multiplier = |c: &Channel| c.multiplier;
    let shifts = without(counted.iter().map(|(c, _)| shift(c)).collect(), &shift);
    let multipliers = without(counted.iter().map(|(c, _)| multiplier(c)).collect(), &multiplier);
    let multipliers = if 2 * atlas.multipliers() > counted.len() { Vec::new() } else { multipliers };
    Agreement {
        everywhere: identical == counted.len(),
        identical,
        counted: counted.len(),
        apart: between.cells.iter().flatten().filter(|c| c.inputs == 0).count(),
        not_counted: between.cells.iter().filter(|c| c.is_none()).count(),
        shifts: ranges(&shifts),
        multipliers,
    }
}

/// Neighbours as ranges.
fn ranges(sorted: &[i32]) -> Vec<RangeInclusive<i32>> {
    let runs = sorted.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| run[0]..=run[run.len() - 1]).collect()
}

impl Agreement {
    /// For a cell of the matrix: `=`, the shifts if it is about them, otherwise how many.
    fn glyph(&self) -> String {
        match &self.shifts[..] {
            _ if self.counted == 0 => "?".to_owned(),
            _ if self.everywhere => "=".to_owned(),
            [one] => format!("s {}", range(one)),
            _ if self.identical == 0 => ".".to_owned(),
            _ => percent(self.identical as f64 / self.counted as f64),
        }
    }

    /// In words.
    fn told(&self) -> String {
        let counted = text::count(self.counted as u64);
        let mut parts = Vec::new();
        if self.everywhere {
            parts.push(format!("all {counted} pairs (m, s)"));
        } else {
            let shifts: Vec<String> = self.shifts.iter().map(range).collect();
            parts.push(format!("{} of {counted} pairs (m, s)", text::count(self.identical as u64)));
            parts.extend((!shifts.is_empty()).then(|| format!("every m at s {}", shifts.join(", "))));
            // Of multipliers that are examined at one shift each there is nothing to tell.
            let few: Vec<String> = self.multipliers.iter().take(4).map(i32::to_string).collect();
            let more = if self.multipliers.len() > few.len() { ", ..." } else { "" };
            parts.extend((!few.is_empty()).then(|| format!("every s at m {}{more}", few.join(", "))));
        }
        parts.extend((self.apart > 0).then(|| format!("{} without a common value", text::count(self.apart as u64))));
        parts.extend((self.not_counted > 0).then(|| format!("{} not counted", text::count(self.not_counted as u64))));
        parts.join("; ")
    }
}

fn range(range: &RangeInclusive<i32>) -> String {
    if range.start() == range.end() { range.start().to_string() } else { format!("{}..{}", range.start(), range.end()) }
}

fn percent(rate: f64) -> String {
    if rate >= 0.001 { format!("{:.1}%", 100.0 * rate) } else { format!("{:.0e}", rate) }
}

fn largest(between: &Between) -> String {
    match between.largest() {
        None => "-".to_owned(),
        Some(Some(delta)) => delta.to_string(),
        Some(None) => format!("above {}", tiebreak_oracle::census::APART),
    }
}

fn at(witness: &Witness) -> String {
    let Witness { x, channel: Channel { multiplier, shift }, values: (left, right) } = witness;
    format!("x={x} m={multiplier} s={shift}: {left}, {right}")
}

/// Classes, the matrix, and each two classes: those that kernels follow first, of them those that agree most.
fn as_table(atlas: &Atlas) -> String {
    let label = |scheme: usize| atlas.schemes[scheme].label();
    let firsts: Vec<usize> = atlas.classes.keys().copied().collect();
    let name = |first: usize| firsts.iter().position(|f| *f == first).map_or_else(String::new, letter);
    let pairs = text::plural(atlas.channels.len(), "pair");
    let mut out = format!(
        "{} on {pairs} (m, s), all 2^32 accumulators of each: {}\n\n",
        text::plural(atlas.schemes.len(), "scheme"),
        text::plural(firsts.len(), "class").replace("classs", "classes")
    );
    let members = |class: &Vec<usize>| class.iter().map(|s| label(*s)).collect::<Vec<_>>().join(", ");
    let followers = |class: &Vec<usize>| {
        let all: Vec<_> = class.iter().flat_map(|s| kernels(&atlas.schemes[*s])).collect();
        if all.is_empty() { "-".to_owned() } else { all.join(", ") }
    };
    let legend = atlas.classes.iter().map(|(first, class)| vec![name(*first), members(class), followers(class)]);
    out += &table(&["", "the same function on all of it", "kernels that promise it"], legend.collect());
    out += "\nIdentical where both have a value: = everywhere, at these shifts, at this share of the pairs (m, s), . nowhere\n";
    let agreements: Vec<Agreement> = atlas.between.iter().map(|b| agreement(atlas, b)).collect();
    let glyph = |i: usize, j: usize| {
        let at = atlas.between.iter().position(|b| b.pair == (i.min(j), i.max(j)));
        at.map_or("\\".to_owned(), |at| agreements[at].glyph())
    };
    let rows = firsts
        .iter()
        .enumerate()
        .map(|(row, i)| std::iter::once(name(*i)).chain(firsts[..=row].iter().map(|j| glyph(*i, *j))).collect());
    let header: Vec<String> = std::iter::once(String::new()).chain(firsts.iter().map(|f| name(*f))).collect();
    out += &table(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows.collect());
    out += "\n";
    let mut order: Vec<usize> = (0..atlas.between.len()).collect();
    // Those that kernels follow first.
    let followed = |first: usize| atlas.classes[&first].iter().any(|s| !kernels(&atlas.schemes[*s]).is_empty());
    let unfollowed = |(i, j): (usize, usize)| !(followed(i) && followed(j));
    order.sort_by_key(|at| (unfollowed(atlas.between[*at].pair), std::cmp::Reverse(agreements[*at].identical), *at));
    let rows = order.into_iter().map(|i| {
        let between = &atlas.between[i];
        let (left, right) = between.pair;
        let worst = between.worst().map_or("-".to_owned(), |(rate, _)| percent(rate));
        let witness = between.witness.as_ref().map_or("none".to_owned(), at);
        let names = format!("{} {}, {} {}", name(left), label(left), name(right), label(right));
        vec![names, agreements[i].told(), worst, largest(between), witness]
    });
    out += &table(
        &["schemes", "identical on", "highest rate", "delta", "smallest witness: first, second"],
        rows.collect(),
    );
    out + "\nIdentical means: no difference on any accumulator of the pairs (m, s) examined. It says nothing of others.\n"
}

fn as_json(atlas: &Atlas) -> Value {
    let label = |scheme: usize| atlas.schemes[scheme].label();
    let class = |members: &Vec<usize>| {
        let one = |s: &usize| json!({"scheme": label(*s), "kernels": kernels(&atlas.schemes[*s])});
        members.iter().map(one).collect::<Vec<_>>()
    };
    let pair = |b: &Between| {
        let (agreement, (inputs, differ)) = (agreement(atlas, b), b.total());
        let worst = b.worst().map(|(rate, at)| {
            json!({"rate": rate, "multiplier": atlas.channels[at].multiplier, "shift": atlas.channels[at].shift})
        });
        let witness = b.witness.map(|w| {
            json!({
                "x": w.x, "multiplier": w.channel.multiplier, "shift": w.channel.shift,
                "left": w.values.0, "right": w.values.1,
            })
        });
        let shifts: Vec<[i32; 2]> = agreement.shifts.iter().map(|r| [*r.start(), *r.end()]).collect();
        json!({
            "left": label(b.pair.0), "right": label(b.pair.1), "identical": agreement.everywhere && agreement.not_counted == 0,
            "identical_parameters": agreement.identical, "counted_parameters": agreement.counted,
            "apart_parameters": agreement.apart,
            "not_counted_parameters": agreement.not_counted, "identical_shifts": shifts,
            "identical_multipliers": agreement.multipliers, "inputs": inputs, "differ": differ, "highest_rate": worst,
            "largest_delta": b.largest().flatten(), "larger_than_told": b.largest() == Some(None), "witness": witness,
        })
    };
    json!({
        "parameters": atlas.channels.len(), "accumulators_each": 1u64 << 32,
        "classes": atlas.classes.values().map(class).collect::<Vec<_>>(),
        "pairs": atlas.between.iter().map(pair).collect::<Vec<_>>(),
    })
}

fn as_csv(atlas: &Atlas) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = ["left", "right", "identical_parameters", "counted_parameters", "not_counted_parameters", "inputs"];
    let rest = ["differ", "highest_rate", "largest_delta", "witness_x", "witness_multiplier", "witness_shift"];
    writer.write_record(names.iter().chain(&rest).chain(&["witness_left", "witness_right"]))?;
    let members = |first: usize| atlas.classes.get(&first).into_iter().flatten().map(|s| atlas.schemes[*s].label());
    for between in &atlas.between {
        let (agreement, (inputs, differ)) = (agreement(atlas, between), between.total());
        let counts = [agreement.identical, agreement.counted, agreement.not_counted].map(|n| n.to_string());
        let rate = between.worst().map_or_else(|| "0".to_owned(), |(rate, _)| rate.to_string());
        let witness = between.witness.map(|w| {
            [w.x, w.channel.multiplier.into(), w.channel.shift.into(), w.values.0, w.values.1].map(|v| v.to_string())
        });
        for (left, right) in members(between.pair.0).flat_map(|l| members(between.pair.1).map(move |r| (l.clone(), r)))
        {
            let sums = [inputs.to_string(), differ.to_string(), rate.clone(), largest(between)];
            let row =
                [left, right].into_iter().chain(counts.clone()).chain(sums).chain(witness.clone().unwrap_or_default());
            writer.write_record(row)?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
