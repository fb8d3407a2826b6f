//! Second count of chunks from a file, to compare their sums.

use super::count::count;
use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::space::{Chunk, Plan};

/// At least one in `ONE_IN` chunks is counted again. In a small file, about [`super::CHUNK`] pairs are, or all chunks.
pub const ONE_IN: usize = 64;

/// Number of chunks that were counted again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Again {
    /// Chunks counted again.
    pub counted: usize,
    /// Chunks in the file.
    pub of: usize,
}

/// Counts chunks again. A different sum is an error with its place and both values.
pub fn hold(plan: &Plan, chunks: &[Chunk], all: bool) -> Result<Again> {
    let scheme = |name: &str| Scheme::parse(name).with_context(|| format!("the plan is of `{name}`"));
    let (left, right) = (scheme(&plan.left)?, scheme(&plan.right)?);
    let pairs: u64 = chunks.iter().map(|chunk| chunk.place.pairs()).sum();
    let step = if all { 1 } else { (pairs.div_ceil(super::CHUNK.into()) as usize).clamp(1, ONE_IN) };
    let chosen: Vec<&Chunk> = chunks.iter().step_by(step).collect();
    let bar = ProgressBar::new(chosen.len() as u64);
    let same = |chunk: &&Chunk| {
        let counted = Chunk { place: chunk.place, sums: count(left, right, chunk.place)? };
        bar.inc(1);
        if counted == **chunk {
            return Ok(());
        }
        let [there, counted] = [*chunk, &counted].map(|chunk| serde_json::to_value(chunk).unwrap_or_default());
        let names = ["pairs", "pairs_differ", "inputs", "out_of_domain", "differ", "by_delta", "most", "first"];
        let unlike = names.iter().filter(|name| there[name] != counted[name]);
        let unlike: Vec<String> =
            unlike.map(|name| format!("{name} {}, counted again {}", there[name], counted[name])).collect();
        let place = chunk.place;
        bail!(
            "shift {}, multipliers {}..{}: {}; the file is damaged or edited, or a program that counts otherwise wrote it",
            place.shift,
            place.from,
            place.to,
            unlike.join("; ")
        )
    };
    // The error is that of the first bad chunk, for any number of threads.
    chosen.par_iter().map(same).collect::<Vec<Result<()>>>().into_iter().collect::<Result<()>>()?;
    bar.finish_and_clear();
    Ok(Again { counted: chosen.len(), of: chunks.len() })
}
