//! Runs kernels for another process: requests on standard input, answers on standard output.

use std::io::{self, BufReader, Write};
use tiebreak_impls::sources;

fn main() -> io::Result<()> {
    if sources::asked() {
        return io::stdout().write_all(sources::of_worker().as_bytes());
    }
    // A kernel's panic is an answer with its message; a backtrace beside it on every such batch is noise.
    std::panic::set_hook(Box::new(|panic| eprintln!("tiebreak-worker: {panic}")));
    let reader = BufReader::with_capacity(1 << 16, io::stdin().lock());
    tiebreak_impls::worker::serve(reader, output()?)
}

/// Standard output without the line buffer that would search every payload for newlines.
#[cfg(unix)]
fn output() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// Standard output.
#[cfg(not(unix))]
fn output() -> io::Result<io::BufWriter<io::StdoutLock<'static>>> {
    Ok(io::BufWriter::new(io::stdout().lock()))
}
