//! `worker`: the kernels of lane `host` for another process. A run starts it for what has to begin in a fresh process; it is in no list of commands.

use anyhow::{Context, Result};
use std::io::{self, BufReader};

/// Name on the command line.
const NAME: &str = "worker";

/// How to start this program as a worker, where its file is known.
pub(super) fn command() -> Option<Vec<String>> {
    let program = std::env::current_exe().ok()?.into_os_string().into_string().ok()?;
    Some(vec![program, NAME.to_owned()])
}

pub(super) fn run() -> Result<()> {
    // A kernel's panic is an answer with its message.
    std::panic::set_hook(Box::new(|_| {}));
    crate::lane::serve(BufReader::new(io::stdin().lock()), io::stdout().lock()).context("the worker's pipes")
}
