//! What this crate was built from, as its build script bakes it in: a worker says it, so that nobody takes its kernels for those of other sources.
//!
//! A worker of the project states its sources in its greeting, and the harness refuses a worker whose kernels differ from
//! its own. A worker of a caller states none. `cargo xtask bite` copies a package without its build script, so a changed
//! worker states none either.

use std::fmt::Write;

/// The SHA-256 of the sources; none in a copy of the crate without its build script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

/// The workspace that they lay in.
pub const WORKSPACE: Option<&str> = option_env!("TIEBREAK_WORKSPACE");

/// The argument, alone, by which a program of the project is asked what it was built from.
pub const ASKED: &str = "--sources";

/// Whether this process is asked for it.
pub fn asked() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|argument| argument == ASKED) && arguments.next().is_none()
}

/// The answer: a line with the workspace, and one for each package with its hash.
pub fn described(packages: &[(&str, Option<&str>)]) -> String {
    let mut text = WORKSPACE.map_or_else(String::new, |workspace| format!("workspace {workspace}\n"));
    for (package, hash) in packages {
        if let Some(hash) = hash {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{package} {hash}");
        }
    }
    text
}

/// The answer of a worker, which has the kernels alone.
pub fn of_worker() -> String {
    described(&[("impls", SOURCES)])
}

/// The SHA-256 of what the kernels of `fpm` and its mutants are made of: recorded proofs are about these files.
pub const PROVED: Option<&str> = option_env!("TIEBREAK_PROVED_SOURCES");
