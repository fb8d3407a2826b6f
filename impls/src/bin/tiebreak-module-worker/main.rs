//! Runs the casts of compiled modules for another process: `tiebreak-module-worker --module FILE --module FILE ...`.
//!
//! A module is a shared object with functions named by [`tiebreak_impls::quantized::symbol`], in MLIR's C interface, and for
//! each kernel it has the code of a string `tiebreak:KERNEL`, what executes. The protocol is that of every worker.

mod memref;
mod module;

use module::{Modules, Unusable};
use std::io::{self, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tiebreak_impls::sources;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| eprintln!("tiebreak-module-worker: {panic}")));
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("tiebreak-module-worker: {stop}");
            ExitCode::from(2)
        }
    }
}

/// Why the worker ends.
#[derive(Debug, thiserror::Error)]
enum Stop {
    #[error("arguments are pairs of --module and a file")]
    Arguments,
    #[error(transparent)]
    Module(#[from] Unusable),
    #[error(transparent)]
    Transport(#[from] io::Error),
}

/// Answers requests until the input ends.
fn serve() -> Result<(), Stop> {
    if sources::asked() {
        return Ok(io::stdout().write_all(sources::of_worker().as_bytes())?);
    }
    let modules = Modules::load(&files()?)?;
    let reader = BufReader::with_capacity(1 << 16, io::stdin().lock());
    Ok(tiebreak_impls::worker::serve_with(&modules, reader, io::stdout().lock())?)
}

/// The files of the command line.
fn files() -> Result<Vec<PathBuf>, Stop> {
    let mut arguments = std::env::args_os().skip(1);
    let mut files = Vec::new();
    while let Some(argument) = arguments.next() {
        match (argument.to_str(), arguments.next()) {
            (Some("--module"), Some(file)) => files.push(PathBuf::from(file)),
            _ => return Err(Stop::Arguments),
        }
    }
    Ok(files)
}
