//! Worker that runs kernels for another process: requests on standard input, answers on standard output.
//! `tiebreak-worker --library FILE PROMISE` runs the kernels of a shared library; PROMISE is JSON. `tiebreak-worker --module FILE --module FILE ..`
//! runs the casts of compiled modules.

use std::io::{self, BufReader, Write};
use std::process::ExitCode;
use tiebreak_impls::sources;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("tiebreak-worker: {stop}");
            ExitCode::from(2)
        }
    }
}

const ARGUMENTS: &str = "arguments are none, or --library FILE PROMISE, or pairs of --module and a file";

/// Answers requests until the input ends.
fn serve() -> Result<(), Box<dyn std::error::Error>> {
    if sources::asked() {
        return Ok(io::stdout().write_all(of_worker().as_bytes())?);
    }
    // A panic in a kernel becomes an answer with its message, so a backtrace for each batch would be noise.
    std::panic::set_hook(Box::new(|panic| eprintln!("tiebreak-worker: {panic}")));
    let reader = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(tiebreak_worker::serve::serve(reader, output()?)?),
        #[cfg(unix)]
        ["--library", file, promise] => {
            let library = tiebreak_worker::library::Library::promised(file.as_ref(), promise)?;
            Ok(tiebreak_worker::serve::serve_with(&library, reader, output()?)?)
        }
        #[cfg(all(unix, target_pointer_width = "64"))]
        ["--module", ..] => {
            let modules = tiebreak_worker::modules::Modules::load(&files(&arguments)?)?;
            Ok(tiebreak_worker::serve::serve_with(&modules, reader, output()?)?)
        }
        _ => Err(ARGUMENTS.into()),
    }
}

/// Returns the hashes of the sources of this program.
fn of_worker() -> String {
    sources::described(&[("impls", sources::SOURCES), ("impls/worker", tiebreak_worker::SOURCES)])
}

/// Parses `--module FILE --module FILE ..` into files.
#[cfg(all(unix, target_pointer_width = "64"))]
fn files(arguments: &[String]) -> Result<Vec<std::path::PathBuf>, &'static str> {
    let file = |pair: &[String]| match pair {
        [option, file] if option == "--module" => Ok(file.into()),
        _ => Err(ARGUMENTS),
    };
    arguments.chunks(2).map(file).collect()
}

/// Returns standard output without its line buffer, which would search every payload for newlines.
#[cfg(unix)]
fn output() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// Returns standard output.
#[cfg(not(unix))]
fn output() -> io::Result<io::BufWriter<io::StdoutLock<'static>>> {
    Ok(io::BufWriter::new(io::stdout().lock()))
}
