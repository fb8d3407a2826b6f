//! `worker`: runs the kernels of lane `host`, a library, a program or compiled modules for another process. A run starts a worker if it needs a
//! fresh process. The command is hidden.

use crate::program::Program;
use anyhow::{Context, Result};
use std::io::{self, BufReader};
use std::path::PathBuf;
use tiebreak_worker::library::{Library, Unusable};
use tiebreak_worker::modules::Modules;
use tiebreak_worker::serve;

/// Name on the command line.
const NAME: &str = "worker";

/// Exit code if the library cannot be judged: the call is wrong.
pub(super) const UNUSABLE: i32 = 2;

/// Exit code if the library was compiled with another version of the header: a finding.
const OTHER_ABI: i32 = 3;

/// Arguments of `worker`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Shared library whose functions run, and what it promises, in JSON
    #[arg(long, num_args = 2, value_names = ["FILE", "PROMISE"])]
    library: Option<Vec<String>>,
    /// Compiled module whose casts run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["library", "program"])]
    module: Vec<PathBuf>,
    /// What the program promises that follows, in JSON
    #[arg(long, value_name = "PROMISE", conflicts_with = "library", requires = "command")]
    program: Option<String>,
    /// Program that reads and writes lines, and its arguments
    #[arg(last = true, requires = "program", value_name = "CMD")]
    command: Vec<String>,
}

/// Returns the command that starts this program as a worker. `None` if the path of the program is unknown.
pub(super) fn command() -> Option<Vec<String>> {
    let program = std::env::current_exe().ok()?.into_os_string().into_string().ok()?;
    Some(vec![program, NAME.to_owned()])
}

pub(super) fn run(args: &Args) -> Result<()> {
    // A kernel's panic becomes an answer with its message.
    std::panic::set_hook(Box::new(|_| {}));
    let (reader, writer) = (BufReader::with_capacity(1 << 16, io::stdin().lock()), io::stdout().lock());
    let served = match (args.library.as_deref(), &args.program) {
        (Some([file, promise]), _) => {
            let library = Library::promised(&PathBuf::from(file), promise).unwrap_or_else(|error| {
                eprintln!("error: {error}");
                std::process::exit(if matches!(error, Unusable::Version { .. }) { OTHER_ABI } else { UNUSABLE })
            });
            serve::serve_with(&library, reader, writer)
        }
        (_, Some(promise)) => {
            let promise = serde_json::from_str(promise).context("the promise")?;
            serve::serve_with(&Program::start(&args.command, &promise)?, reader, writer)
        }
        _ if !args.module.is_empty() => serve::serve_with(&Modules::load(&args.module)?, reader, writer),
        _ => return crate::lane::serve(reader, writer).context(PIPES),
    };
    served.context(PIPES)
}

const PIPES: &str = "the worker's pipes";
