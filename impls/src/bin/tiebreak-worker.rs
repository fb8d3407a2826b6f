//! Runs kernels for another process: requests on standard input, answers on standard output.

use std::io::{self, BufReader};

fn main() -> io::Result<()> {
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
