//! Runs the casts of compiled modules for another process: `tiebreak-module-worker --module FILE --module FILE ...`.
//!
//! A module is a shared object with functions named by [`tiebreak_impls::quantized::symbol`], in MLIR's C interface, and for
//! each kernel it has the code of a string `tiebreak:KERNEL`, what executes. The protocol is that of every worker.

mod memref;
mod module;

use module::Modules;
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| eprintln!("tiebreak-module-worker: {panic}")));
    let served = files().and_then(|files| Modules::load(&files)).and_then(|modules| {
        let reader = BufReader::with_capacity(1 << 16, io::stdin().lock());
        tiebreak_impls::worker::serve_with(&modules, reader, io::stdout().lock()).map_err(|error| error.to_string())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("tiebreak-module-worker: {reason}");
            ExitCode::from(2)
        }
    }
}

/// The files of the command line.
fn files() -> Result<Vec<PathBuf>, String> {
    let mut arguments = std::env::args_os().skip(1);
    let mut files = Vec::new();
    while let Some(argument) = arguments.next() {
        match (argument.to_str(), arguments.next()) {
            (Some("--module"), Some(file)) => files.push(PathBuf::from(file)),
            _ => return Err("arguments are pairs of --module and a file".to_owned()),
        }
    }
    Ok(files)
}
