//! Counting what a plan has and a journal has not.

use super::again::{self, Again};
use super::count::{NoClosedForm, count};
use super::journal::{self, Journal};
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::space::{Chunk, Ledger, Place, Plan};
use tiebreak_reports::{files, read};

/// A run.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is counted.
    pub plan: Plan,
    /// Its left scheme.
    pub left: Scheme,
    /// Its right scheme.
    pub right: Scheme,
    /// The ledger.
    pub out: PathBuf,
    /// Whether to go on where a run with the same plan ended.
    pub resume: bool,
    /// Threads; all cores when nothing is said.
    pub jobs: Option<usize>,
    /// Whether everything that is read back is counted again, and not only some of it.
    pub verify_all: bool,
}

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The whole ledger, as it was written.
    pub ledger: Ledger,
    /// Pairs counted by this run; the others were in the journal.
    pub counted: u64,
    /// Seconds that took.
    pub seconds: f64,
    /// Threads.
    pub jobs: usize,
    /// What was read back and counted again.
    pub again: Again,
}

/// Counts, and writes the ledger.
pub fn run(request: &Request) -> Result<Finished> {
    let Request { plan, out, .. } = request;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.jobs.unwrap_or(0)).build();
    let pool = pool.context("cannot start --jobs threads")?;
    let jobs = pool.current_num_threads();
    probe(request)?;
    there(request)?;
    files::create(out.parent().unwrap_or(out))?;
    let (journal, done) = Journal::open(out, plan, request.resume)?;
    // Looked for again under the lock: another process may just have ended.
    let whole = there(request)?;
    let (chunks, file) = match &whole {
        Some(ledger) => (&ledger.chunks, out.clone()),
        None => (&done, journal::path(out)),
    };
    let again = pool.install(|| again::hold(plan, chunks, request.verify_all));
    let again = again
        .with_context(|| format!("{} cannot be resumed: remove it, or name another file with --out", file.display()))?;
    let begun = Instant::now();
    let (ledger, counted) = match whole {
        Some(ledger) => {
            journal.remove()?;
            (ledger, 0)
        }
        None => pool.install(|| rest(request, journal, done))?,
    };
    Ok(Finished { ledger, counted, seconds: begun.elapsed().as_secs_f64(), jobs, again })
}

/// That both schemes have a closed form at each shift, tried at the ends, before anything is written.
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
         without --space a census sweeps: cargo xtask census --left {label} --right ties-up --multiplier {multiplier} --shift={shift}"
    )
}

/// The whole ledger, if it is there.
fn there(request: &Request) -> Result<Option<Ledger>> {
    let Request { plan, out, .. } = request;
    if !out.exists() {
        return Ok(None);
    }
    if !request.resume {
        bail!("{} exists: print it with --resume, or name another file with --out", out.display());
    }
    let text = read::text(out, read::LEDGER)?;
    let ledger = super::merge::ledger(&text).with_context(|| out.display().to_string())?;
    journal::same(&ledger.plan, plan, out)?;
    Ok(Some(ledger))
}

/// Counts the chunks that the journal lacks, writes the ledger and removes the journal.
fn rest(request: &Request, journal: Journal, done: Vec<Chunk>) -> Result<(Ledger, u64)> {
    let Request { plan, left, right, .. } = request;
    let known: HashSet<Place> = done.iter().map(|chunk| chunk.place).collect();
    let pending: Vec<Place> = plan.places().filter(|place| !known.contains(place)).collect();
    let pairs = |places: &[Place]| places.iter().map(Place::pairs).sum();
    let counted = pairs(&pending);
    let bar = progress(&done, counted);
    let shared = Mutex::new((journal, done));
    pending.par_iter().with_max_len(1).try_for_each(|place| -> Result<()> {
        let sums = count(*left, *right, *place)?;
        let chunk = Chunk { place: *place, sums };
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.0.add(&chunk)?;
        shared.1.push(chunk);
        bar.inc(place.pairs());
        Ok(())
    })?;
    bar.finish_and_clear();
    let (journal, chunks) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ledger = Ledger::new(plan.clone(), chunks);
    files::write(&request.out, ledger.render().as_bytes())?;
    journal.remove()?;
    Ok((ledger, counted))
}

/// Pairs of multiplier and shift on a terminal, with an estimate from those of this run; nothing elsewhere.
fn progress(done: &[Chunk], counted: u64) -> ProgressBar {
    let before: u64 = done.iter().map(|chunk| chunk.place.pairs()).sum();
    let bar = ProgressBar::new(before + counted).with_position(before);
    let template = "{wide_bar} {human_pos}/{human_len} pairs, {per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.reset_eta();
    bar
}
