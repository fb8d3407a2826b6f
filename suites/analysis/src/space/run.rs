//! Run of a count: counts the chunks that are missing in the file of the run.
//!
//! The file is a [`tiebreak_shards::journal`]: the plan, then a line for each finished chunk. When all chunks are counted, the ledger replaces the
//! file.

use super::again::{self, Again};
use super::count::{NoClosedForm, count};
use super::merge::{self, Contents};
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::files;
use tiebreak_reports::space::{Chunk, Ledger, Line, Place, Plan, render};
use tiebreak_shards::journal::{Journal, damaged};

/// Request of a run.
#[derive(Clone, Debug)]
pub struct Request {
    /// Plan with the chunks to count.
    pub plan: Plan,
    /// Left scheme of the plan.
    pub left: Scheme,
    /// Right scheme of the plan.
    pub right: Scheme,
    /// Path of the ledger.
    pub out: PathBuf,
    /// True to continue a run of the same plan.
    pub resume: bool,
    /// Number of threads; all cores if `None`.
    pub jobs: Option<usize>,
    /// True to count every chunk that is read back again, not only one in [`again::ONE_IN`].
    pub verify_all: bool,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Ledger as written.
    pub ledger: Ledger,
    /// (multiplier, shift) pairs that this run counted; the file had the other pairs.
    pub counted: u64,
    /// Duration of the count in seconds.
    pub seconds: f64,
    /// Number of threads.
    pub jobs: usize,
    /// Chunks that were read back and counted again.
    pub again: Again,
}

/// Counts the missing chunks and writes the ledger.
pub fn run(request: &Request) -> Result<Finished> {
    let Request { plan, left, right, out, .. } = request;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.jobs.unwrap_or(0)).build();
    let pool = pool.context("cannot start --jobs threads")?;
    probe(request)?;
    files::create(out.parent().unwrap_or(out))?;
    let (journal, Contents { chunks, whole, .. }) = open(request)?;
    let again = pool.install(|| again::hold(plan, &chunks, request.verify_all)).with_context(|| damaged(out))?;
    let begun = Instant::now();
    let known: HashSet<Place> = chunks.iter().map(|chunk| chunk.place).collect();
    let pending: Vec<Place> = plan.places().filter(|place| !known.contains(place)).collect();
    let pairs = |places: &mut dyn Iterator<Item = Place>| places.map(|place| place.pairs()).sum::<u64>();
    let counted = pairs(&mut pending.iter().copied());
    let bar = progress(pairs(&mut known.into_iter()), counted);
    let shared = Mutex::new(chunks);
    let each = |place: &Place| -> Result<()> {
        let chunk = Chunk { place: *place, sums: count(*left, *right, *place)? };
        journal.append(&render(&Line::Chunk(chunk.clone())))?;
        shared.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        bar.inc(place.pairs());
        Ok(())
    };
    pool.install(|| pending.par_iter().with_max_len(1).try_for_each(each))?;
    bar.finish_and_clear();
    let chunks = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ledger = Ledger::new(plan.clone(), chunks);
    if !whole {
        files::write(out, ledger.render().as_bytes())?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Finished { ledger, counted, seconds, jobs: pool.current_num_threads(), again })
}

/// Checks that both schemes have a closed form at each shift, at the ends of the multipliers, before anything is written.
fn probe(request: &Request) -> Result<()> {
    let Request { plan, left, right, .. } = request;
    for scheme in [left, right] {
        for shift in plan.shifts[0]..=plan.shifts[1] {
            for m in plan.multipliers {
                count(*scheme, *scheme, Place { shift, from: m, to: m }).map_err(|e| refused(*scheme, e))?;
            }
        }
    }
    Ok(())
}

fn refused(scheme: Scheme, NoClosedForm { multiplier, shift }: NoClosedForm) -> anyhow::Error {
    let label = scheme.label();
    anyhow::anyhow!(
        "{label} has no closed form at multiplier {multiplier}, shift {shift}, and a space is too large for anything else; \
         without --space a census sweeps: {} census --left {label} --right ties-up --multiplier {multiplier} --shift={shift}",
        tiebreak_common::called::program()
    )
}

/// Opens and locks the file, and returns its chunks; a missing file is created. Errors: a file exists without `resume`, has another plan, or is in
/// use.
fn open(request: &Request) -> Result<(Journal, Contents)> {
    let Request { plan, out, .. } = request;
    let (journal, text) = Journal::open(out, request.resume)?;
    let contents = merge::contents(text.as_bytes()).with_context(|| damaged(out))?;
    if let Some(contents) = &contents {
        same(&contents.plan, request)?;
    }
    journal.begin()?;
    if let Some(contents) = contents {
        return Ok((journal, contents));
    }
    journal.append(&render(&Line::Plan(plan.clone())))?;
    Ok((journal, Contents { plan: plan.clone(), chunks: Vec::new(), whole: false, length: 0 }))
}

/// Checks that a file belongs to the requested run.
fn same(begun: &Plan, request: &Request) -> Result<()> {
    let mut unlike = request.plan.unlike(begun);
    if begun.shard != request.plan.shard {
        let shard = |plan: &Plan| plan.shard.map_or("none".to_owned(), |shard| shard.to_string());
        unlike.push(format!("shard {} is {} there", shard(&request.plan), shard(begun)));
    }
    if unlike.is_empty() {
        return Ok(());
    }
    bail!(
        "{} belongs to another run: {}; give the arguments of that run, or name another file with --out",
        request.out.display(),
        unlike.join(", ")
    )
}

/// Returns a progress bar of (multiplier, shift) pairs on a terminal. The time estimate uses only the pairs of this run.
fn progress(before: u64, counted: u64) -> ProgressBar {
    let bar = ProgressBar::new(before + counted).with_position(before);
    let template = "{wide_bar} {human_pos}/{human_len} pairs, {per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.reset_eta();
    bar
}
