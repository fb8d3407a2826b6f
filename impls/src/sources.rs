//! Hashes of the sources of this crate, made by its build script. A worker reports its hash, so that its kernels are not mistaken for kernels of
//! other sources.
//!
//! A worker of the project states its hash in its greeting, and the harness refuses a worker whose hash differs from its own. A worker of a caller
//! states no hash. `cargo xtask bite` copies a package without its build script, so a mutated worker states no hash either.

use std::fmt::Write;

/// SHA-256 of the sources; `None` in a copy of the crate without its build script.
pub const SOURCES: Option<&str> = option_env!("TIEBREAK_SOURCES");

/// Path of the workspace with the sources.
pub const WORKSPACE: Option<&str> = option_env!("TIEBREAK_WORKSPACE");

/// Only argument of a call that asks a program of the project for the hashes of its sources.
pub const ASKED: &str = "--sources";

/// True if this process was asked for the hashes.
pub fn asked() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|argument| argument == ASKED) && arguments.next().is_none()
}

/// Returns the answer: one line with the workspace, and one line for each package with its hash.
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

/// SHA-256 of the sources of the kernels of `fpm` and `requantize` and their mutants, to which recorded proofs refer.
pub const PROVED: Option<&str> = option_env!("TIEBREAK_PROVED_SOURCES");
