//! `mutants` and `corrupt`: faults that a run detects, and the parts of its plan that detect them.

use super::{Listing, csv_of, shards, table_within};
use crate::budget::Effort;
use crate::engine::self_check::Measure;
use crate::lane::Lane;
use crate::lane::config::Lanes;
use crate::verify::{OPERATIONS, OPS, Pipeline};
use anyhow::{Result, anyhow, bail};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::bite::{Kill, Planted, indispensable};
use tiebreak_reports::text::{count, plural};

/// Arguments of `mutants`.
#[derive(Debug, clap::Args)]
pub(super) struct MutantsArgs {
    #[command(flatten)]
    what: What,
}

/// Arguments of `corrupt`.
#[derive(Debug, clap::Args)]
pub(super) struct CorruptArgs {
    #[command(flatten)]
    pub(super) what: What,
    /// Number of faults of each family and threshold in each kernel
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) sample: u32,
    /// Print every family and threshold, not only those with undetected faults
    #[arg(long, short)]
    pub(super) verbose: bool,
    /// Directory for the file of a shard
    #[arg(long, value_name = "DIR", default_value = "tiebreak-out", requires = "shard")]
    pub(super) out: PathBuf,
    #[command(flatten)]
    pub(super) shards: shards::Options,
}

/// Where, with what, and how it is printed.
#[derive(Debug, clap::Args)]
pub(super) struct What {
    /// Operation; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    op: Vec<String>,
    /// Lane
    #[arg(long, value_name = "NAME", default_value = "host")]
    lane: String,
    /// Lanes file
    #[arg(long, value_name = "FILE")]
    lanes: Option<PathBuf>,
    /// Size of the plan
    #[arg(long, value_enum, default_value = "quick")]
    pub(super) effort: Effort,
    /// Seed of the plan
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: Listing,
}

impl What {
    /// Returns the requested operations.
    pub(super) fn operations(&self) -> Result<Vec<&'static Pipeline>> {
        let find = |name: &String| {
            let found = OPERATIONS.iter().find(|op| op.op() == name);
            found.ok_or_else(|| anyhow!(unknown("operation", name, OPS.iter().copied())))
        };
        if self.op.is_empty() { Ok(OPERATIONS.iter().collect()) } else { self.op.iter().map(find).collect() }
    }

    pub(super) fn lane(&self) -> Result<Lane> {
        let lanes = Lanes::given(self.lanes.as_deref())?;
        Lane::open(&self.lane, &lanes)?.map_err(|reason| anyhow!("the lane {} cannot run: {reason}", self.lane))
    }

    /// Collects the results of each operation.
    fn each<T>(&self, sample: u32, of: impl Fn(&Pipeline, &Measure<'_>) -> Result<Vec<T>>) -> Result<Vec<T>> {
        let lane = self.lane()?;
        let measure = Measure { lane: &lane, effort: self.effort, seed: self.seed, sample };
        let mut all = Vec::new();
        for op in self.operations()? {
            all.extend(of(op, &measure)?);
        }
        if all.is_empty() {
            bail!("the lane {} offers no kernel of the requested operations", self.lane);
        }
        Ok(all)
    }
}

/// Prints the kill matrix. Returns false if a mutant is alive.
pub(super) fn mutants(args: &MutantsArgs) -> Result<bool> {
    let kills = args.what.each(1, |op, measure| op.kills(measure))?;
    args.what.format.print(|| matrix(&kills), || &kills, || csv_of(HEADER, kills.iter().map(cells)))?;
    Ok(kills.iter().all(|kill| kill.generator.is_some()))
}

const HEADER: [&str; 8] = ["op", "mutant", "lane", "first detected by", "cases", "class", "detected by", "witness"];

fn cells(kill: &Kill) -> Vec<String> {
    let first = kill.generator.as_deref().unwrap_or("none: not detected");
    vec![
        kill.op.clone(),
        kill.mutant.clone(),
        kill.lane.clone(),
        first.to_owned(),
        kill.cases.to_string(),
        kill.class.clone(),
        kill.generators.join(", "),
        kill.witness.clone(),
    ]
}

/// Formats the mutants, then the generators with the mutants that no other generator detects.
fn matrix(kills: &[Kill]) -> String {
    let row = |kill: &Kill| {
        let [op, mutant, _, first, cases, class, ..] = <[String; 8]>::try_from(cells(kill)).expect("eight cells");
        let others = kill.generators.len().saturating_sub(1);
        vec![op, mutant, first, cases, others.to_string(), class]
    };
    let header = ["op", "mutant", "first detected by", "cases", "others", "class"];
    let mut text = table_within(&header, kills.iter().map(row).collect(), None);
    let generators = indispensable(kills);
    let row = |((op, generator), only): (&(&str, &str), &Vec<&str>)| {
        let only = if only.is_empty() { "none".to_owned() } else { only.join(", ") };
        vec![(*op).to_owned(), (*generator).to_owned(), only]
    };
    text.push('\n');
    text += &table_within(
        &["op", "part of the plan", "mutants that only this part detects"],
        generators.iter().map(row).collect(),
        Some(super::WIDTH_ELSEWHERE),
    );
    let alive = kills.iter().filter(|kill| kill.generator.is_none()).count();
    text + &format!(
        "\n{} of {} detected; {} of {} parts of a plan each detect a mutant that no other part detects.\n",
        kills.len() - alive,
        plural(kills.len(), "mutant"),
        generators.values().filter(|only| !only.is_empty()).count(),
        generators.len()
    )
}

/// Prints the faults that a run detects, and the faults that it misses.
pub(super) fn corrupt(args: &CorruptArgs) -> Result<()> {
    if let Some(shard) = args.shards.shard {
        return shards::corrupt(args, shard);
    }
    let rows = args.what.each(args.sample, |op, measure| op.planted(measure))?;
    show_faults(&rows, args.what.format, args.verbose)
}

/// Prints the outcomes of faults.
pub(super) fn show_faults(rows: &[Planted], format: Listing, verbose: bool) -> Result<()> {
    format.print(|| faults(rows, verbose), || rows, || csv_of(FAULTS, rows.iter().map(planted)))
}

const FAULTS: [&str; 7] = ["op", "fault", "threshold", "injected", "detected", "cases", "most cases"];

fn planted(row: &Planted) -> Vec<String> {
    let numbers = [row.tried, row.detected, row.cases, row.most_cases].map(|n| n.to_string());
    [row.op.clone(), row.family.clone(), row.threshold.clone()].into_iter().chain(numbers).collect()
}

fn faults(rows: &[Planted], verbose: bool) -> String {
    let shown: Vec<&Planted> = rows.iter().filter(|row| verbose || row.detected < row.tried).collect();
    let mut text = String::new();
    if !shown.is_empty() {
        text += &table_within(&FAULTS, shown.into_iter().map(planted).collect(), None);
        text.push('\n');
    }
    for row in rows {
        for hole in row.holes.iter().take(if verbose { usize::MAX } else { 1 }) {
            let why = match hole.struck {
                0 => "no case reaches the place".to_owned(),
                n => format!("{} hit; none changed", plural(n as usize, "result")),
            };
            text += &format!("{} {}, {} {}: {why}: {}\n", row.op, hole.kernel, row.family, row.threshold, hole.fault);
        }
    }
    let mut only: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for row in rows {
        row.only.iter().for_each(|(part, n)| *only.entry((&row.op, part)).or_default() += n);
    }
    let parts = only.iter().map(|((op, part), n)| vec![(*op).to_owned(), (*part).to_owned(), n.to_string()]);
    text.push('\n');
    text += &table_within(&["op", "part of the plan", "faults that only this part detects"], parts.collect(), None);
    text.push('\n');
    let (tried, seen) = rows.iter().fold((0, 0), |(tried, seen), row| (tried + row.tried, seen + row.detected));
    let whole = rows.iter().filter(|row| row.detected == row.tried).count();
    text + &format!(
        "{} of {} faults are detected; all faults at {} of {} families and thresholds.\n",
        count(seen),
        count(tried),
        whole,
        rows.len()
    )
}
