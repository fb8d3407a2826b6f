//! `census --space` and `merge`: comparison of two schemes over a whole space, and merge of its shards.

use super::shards::MergeArgs;
use super::{Listing, built, csv_of, note, print, table};
use crate::space::{self, ACCUMULATORS, Again, Finished, MULTIPLIERS, Part, Q31, Request, SHIFTS, merge};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::space::{Ledger, Line, Plan, Shard, Sums, render};
use tiebreak_reports::{files, text};

/// A space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Space {
    /// Every normalised Q0.31 multiplier (2^30..2^31-1), every shift -31..0, every int32 accumulator: 2^67 cases
    Q31,
}

/// Arguments of `census --space`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A whole space")]
pub(super) struct Options {
    /// Count over a whole space instead of one multiplier and shift; --shift A..B takes only some of its shifts
    #[arg(long, value_enum, value_name = "SPACE", conflicts_with_all = ["multiplier", "params", "x_min", "x_max", "zero_point", "clamp", "list"])]
    pub(super) space: Option<Space>,
    /// Take only some of its multipliers, both ends included
    #[arg(long, value_name = "A..B", requires = "space", value_parser = ends)]
    multipliers: Option<Ends>,
    /// Count every Nth chunk, starting with the Ith; `cargo xtask merge` merges the N ledgers
    #[arg(long, value_name = "I/N", requires = "space")]
    shard: Option<Shard>,
    /// Continue an interrupted run with the same --out
    #[arg(long, requires = "space")]
    resume: bool,
    /// With --resume, count again every chunk that the earlier run wrote, instead of one in 64
    #[arg(long, requires = "resume")]
    verify_all: bool,
    /// The ledger; until the run is complete, the chunks that are counted [default: tiebreak-out/space.jsonl]
    #[arg(long, value_name = "FILE", requires = "space")]
    out: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", requires = "space", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Multipliers of one shift in a chunk, which is counted and written at once [default: 1048576]
    #[arg(long, value_name = "N", requires = "space")]
    chunk: Option<u32>,
    /// The name of the commit in the ledger, instead of what git reports
    #[arg(long, value_name = "NAME", requires = "space", hide = true)]
    commit: Option<String>,
}

impl Options {
    /// Returns an option that is given without a space. Clap cannot require `--space`, because `--multiplier` excludes it.
    pub(super) fn stray(&self) -> Option<&'static str> {
        let given = [
            ("--multipliers", self.multipliers.is_some()),
            ("--shard", self.shard.is_some()),
            ("--resume", self.resume),
            ("--verify-all", self.verify_all),
            ("--out", self.out.is_some()),
            ("--jobs", self.jobs.is_some()),
            ("--chunk", self.chunk.is_some()),
            ("--commit", self.commit.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given && self.space.is_none()).map(|(name, _)| name)
    }
}

/// Two ends, both included: `A..B`, or `A` for a single value.
pub(super) type Ends = [i32; 2];

/// Parses `A..B` or `A`.
pub(super) fn ends(text: &str) -> Result<Ends, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| text.parse::<i32>().map_err(|_| format!("`{text}` is no int32; A..B or A is wanted"));
    Ok([number(first)?, number(last)?])
}

/// Plans the count.
pub(super) fn plan(left: Scheme, right: Scheme, shift: Option<Ends>, options: &Options) -> Result<Plan> {
    let part = Part {
        left,
        right,
        shifts: shift.unwrap_or([*SHIFTS.start(), *SHIFTS.end()]),
        multipliers: options.multipliers.unwrap_or([*MULTIPLIERS.start(), *MULTIPLIERS.end()]),
        chunk: options.chunk.unwrap_or(space::CHUNK),
        shard: options.shard,
    };
    part.plan(options.commit.clone().or_else(built::commit))
}

/// Counts the space and prints the sums.
pub(super) fn run(left: Scheme, right: Scheme, shift: Option<Ends>, options: &Options, format: Listing) -> Result<()> {
    let plan = plan(left, right, shift, options)?;
    let out = options.out.clone().unwrap_or_else(|| space::usual_out(options.shard));
    if options.resume && !out.exists() {
        note(&format!("{} has nothing to resume: counting from the beginning", out.display()));
    }
    let jobs = options.jobs.map(usize::from);
    let (resume, verify_all) = (options.resume, options.verify_all);
    let finished = space::run(&Request { plan, left, right, out: out.clone(), resume, jobs, verify_all })?;
    note(&rate(&finished));
    note_again(finished.again);
    note(&format!("ledger: {}", out.display()));
    show(&finished.ledger, format)
}

/// Prints the number of chunks that were counted again, of the chunks that were read.
fn note_again(Again { counted, of }: Again) {
    let all = if counted < of { "; --verify-all counts all of them" } else { "" };
    if of > 0 {
        note(&format!(
            "counted again: {} of {} that were read, with the same sums{all}",
            text::count(counted as u64),
            text::plural(of, "chunk")
        ));
    }
}

/// Minimum duration for an estimate. Shorter runs are mostly start-up.
const LEAST_SECONDS: f64 = 1.0;

/// Describes the speed of the run, with an estimate for the whole space.
fn rate(finished: &Finished) -> String {
    let Finished { counted, seconds, jobs, .. } = *finished;
    if counted == 0 {
        return "everything was counted before".to_owned();
    }
    let rate = counted as f64 / seconds;
    let took =
        format!("{} pairs in {} s with {}", text::count(counted), text::seconds(seconds), text::plural(jobs, "thread"));
    if seconds < LEAST_SECONDS {
        return took;
    }
    let whole = (MULTIPLIERS.count() * SHIFTS.count()) as f64 / rate;
    format!(
        "{took}: {} pairs a second a thread; all of {Q31} would take {:.1} hours at this rate",
        text::count((rate / jobs as f64) as u64),
        whole / 3600.0
    )
}

/// Counts chunks of each file again and compares the sums.
fn again(parts: &[merge::Part], all: bool) -> Result<Again> {
    let mut sum = Again::default();
    for merge::Part { path, plan, chunks } in parts {
        let again =
            space::again::hold(plan, chunks, all).with_context(|| format!("{} cannot be merged", path.display()))?;
        sum.counted += again.counted;
        sum.of += again.of;
    }
    Ok(sum)
}

/// Merges shards and prints the sums. Returns false if a shard is missing.
pub(super) fn merge(args: &MergeArgs) -> Result<bool> {
    let out = args.out.clone().unwrap_or_else(|| space::usual_out(None));
    if out.exists() {
        bail!("{} exists: name another file with --out", out.display());
    }
    let parts = args.files.iter().map(|path| merge::read(path)).collect::<Result<Vec<_>>>()?;
    match merge::merge(&parts)? {
        merge::Merged::Whole(ledger) => {
            note_again(again(&parts, args.verify_all)?);
            files::write(&out, ledger.render().as_bytes())?;
            note(&format!("ledger: {}", out.display()));
            show(&ledger, args.format)?;
            Ok(true)
        }
        merge::Merged::Missing { chunks, of, commands } => {
            let (chunks, of) = (text::count(chunks as u64), text::count(of as u64));
            note(&format!(
                "missing: {chunks} of {of} chunks; nothing was written. Count them with these commands, then merge again:"
            ));
            commands.iter().for_each(|command| note(&format!("  {command}")));
            Ok(false)
        }
    }
}

fn show(ledger: &Ledger, format: Listing) -> Result<()> {
    print(&match format {
        Listing::Table => as_table(ledger),
        Listing::Json => {
            let lines = ledger.shifts().into_iter().map(Line::Shift).chain([Line::Total(ledger.total())]);
            std::iter::once(Line::Plan(ledger.plan.clone())).chain(lines).map(|line| render(&line)).collect()
        }
        Listing::Csv => csv(ledger)?,
    })
}

/// Returns one row for each shift, and the total.
fn rows(ledger: &Ledger) -> Vec<(String, Sums)> {
    let shifts = ledger.shifts().into_iter().rev().map(|row| (row.shift.to_string(), row.sums));
    shifts.chain([("all".to_owned(), ledger.total())]).collect()
}

fn as_table(ledger: &Ledger) -> String {
    let plan = &ledger.plan;
    let [first, last] = plan.multipliers;
    let shard = plan.shard.map_or(String::new(), |shard| format!(", shard {shard}"));
    let head =
        format!("{} minus {}, multipliers {first}..{last}, every int32 accumulator{shard}\n\n", plan.right, plan.left);
    let rows = rows(ledger).into_iter().map(|(shift, sums)| {
        let percent = sums.differ.0 as f64 / (u128::from(sums.pairs.max(1)) * u128::from(ACCUMULATORS)) as f64 * 100.0;
        let deltas = sums.by_delta.iter().map(|(delta, n)| format!("{}: {}", text::delta(delta), text::big_count(n.0)));
        vec![
            shift,
            text::count(sums.pairs),
            text::count(sums.pairs_differ),
            text::big_count(sums.out_of_domain.0),
            if percent == 0.0 || percent >= 0.001 { format!("{percent:.3} %") } else { format!("{percent:.1e} %") },
            deltas.collect::<Vec<_>>().join(" "),
            sums.most
                .map_or("none".to_owned(), |most| format!("{} at m={}", text::count(most.differ), most.multiplier)),
            sums.first.map_or("none".to_owned(), |f| format!("m={} x={}: {}, {}", f.multiplier, f.x, f.left, f.right)),
        ]
    });
    let header = [
        "shift",
        "pairs",
        "that differ",
        "out of domain",
        "differ",
        "by delta",
        "most at one pair",
        "first: left, right",
    ];
    head + &table(&header, rows.collect())
}

fn csv(ledger: &Ledger) -> Result<String> {
    const HEADER: &str = "left,right,shift,pairs,pairs_differ,inputs,out_of_domain,differ,by_delta,\
                          most_differ,most_multiplier,most_shift,first_multiplier,first_shift,first_x,first_left,first_right";
    let record = |(shift, sums): (String, Sums)| {
        let head = [ledger.plan.left.clone(), ledger.plan.right.clone(), shift];
        let pairs = [sums.pairs, sums.pairs_differ].map(|n| n.to_string());
        let counts = [sums.inputs, sums.out_of_domain, sums.differ].map(|n| n.0.to_string());
        let deltas: Vec<String> = sums.by_delta.iter().map(|(delta, n)| format!("{delta}:{}", n.0)).collect();
        let most = sums.most.map(|m| [m.differ.to_string(), m.multiplier.to_string(), m.shift.to_string()]);
        let first = sums.first.map(|f| {
            [f.multiplier.to_string(), f.shift.to_string(), f.x.to_string(), f.left.to_string(), f.right.to_string()]
        });
        let numbers = head.into_iter().chain(pairs).chain(counts).chain([deltas.join(" ")]);
        numbers.chain(most.unwrap_or_default()).chain(first.unwrap_or_default())
    };
    csv_of(HEADER.split(','), rows(ledger).into_iter().map(record))
}
