//! What this program says.

use anyhow::{Context, Result};
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// A line to standard error, with this program's name. Where that takes nothing there is nobody to tell.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "xtask: {text}");
}

/// Text to standard output; a reader that has seen enough is not an error.
pub(crate) fn print(text: impl Display) -> Result<()> {
    let mut out = std::io::stdout();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write to standard output"),
        _ => Ok(()),
    }
}
