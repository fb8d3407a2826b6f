//! Number of threads of a run.

use anyhow::{Context, Result, bail};

/// Maximum number of threads, equal to the maximum of `--jobs`. The default is one thread for each core.
const MOST: usize = 1024;

/// Variable that rayon reads for the number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Starts the requested number of threads. Without a request, rayon starts its threads at first use. Fails if the environment asks for too many.
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
        // Rayon ignores 0 and text that is not a number.
        _ => Ok(()),
    }
}
