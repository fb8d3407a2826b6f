//! Messages and output.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Writes a line to standard error, with this program's name. A failure to write is ignored.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "xtask: {text}");
}

/// Writes text to standard output. A reader that closes the pipe early causes no error.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut out = std::io::stdout();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write to standard output"),
        _ => Ok(()),
    }
}
