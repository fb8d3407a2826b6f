//! How many threads a run may start.

use anyhow::{Context, Result, bail};

/// As many as `--jobs` takes: each core has one by default.
const MOST: usize = 1024;

/// What the library that starts threads reads by itself.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Starts as many threads as the caller wants, and otherwise leaves it to what first needs them. A number in the environment that no machine starts in
/// reasonable time is refused.
pub(super) fn start(jobs: Option<u16>) -> Result<()> {
    if let Some(jobs) = jobs {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.into());
        return pool.build_global().context("cannot start --jobs threads");
    }
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(()) };
    match text.parse::<usize>() {
        Ok(threads) if threads > MOST => {
            bail!(
                "{VARIABLE}={threads} asks for more than {MOST} threads; unset it, or set it to a number from 1 to {MOST}"
            )
        }
        // What is no number, or 0, is as if it were not set.
        _ => Ok(()),
    }
}
