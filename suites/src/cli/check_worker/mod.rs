//! `check-worker`: finds mistakes of a worker by a few questions of the protocol, within five seconds.

mod asked;
mod question;

use anyhow::Result;
use asked::{Problem, Session};
use question::questions;
use std::fmt::Write;
use tiebreak_reports::drawable::{bounded, escaped};

/// Maximum number of characters quoted from a line.
const MOST_QUOTED: usize = 160;

/// Maximum number of unchecked kernels that are listed.
const MOST_LISTED: usize = 6;

/// Arguments of `check-worker`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Program of the worker, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<String>,
}

/// Checks a worker and returns true if it has no problem. Otherwise prints the first problem with a remedy.
pub(super) fn run(args: &Args) -> Result<bool> {
    let found = checked(&args.command);
    super::print(&match &found {
        Ok(said) => format!("no problem found\n{said}"),
        Err(problem) => format!("problem: {problem}\n"),
    })?;
    Ok(found.is_ok())
}

/// Describes the offers and answers of the worker, one line for each.
fn checked(command: &[String]) -> Result<String, Problem> {
    let mut worker = Session::start(command)?;
    let hello = worker.hello()?;
    let questions = questions(&hello.kernels)?;
    let mut said = String::new();
    for question in &questions {
        let answered = worker.kernel(question)?;
        let _ = writeln!(said, "  {:<12}{}: {answered}", question.op, escaped(&question.kernel));
    }
    worker.end()?;
    let is_asked = |op: &str, kernel: &str| questions.iter().any(|one| one.op == op && one.kernel == kernel);
    let others: Vec<String> = hello
        .kernels
        .iter()
        .filter(|offer| !is_asked(&offer.op, &offer.kernel))
        .map(|offer| escaped(&format!("{} {}", offer.op, offer.kernel)).into_owned())
        .collect();
    if !others.is_empty() {
        let more = if others.len() > MOST_LISTED { ", .." } else { "" };
        let shown = others[..others.len().min(MOST_LISTED)].join(", ");
        let _ = writeln!(said, "  {:<12}{} kernels: {shown}{more}", "not asked", others.len());
    }
    let _ = writeln!(said, "  {:<12}with its input", "ended");
    Ok(said)
}

fn quoted(line: &[u8]) -> String {
    format!("`{}`", bounded(String::from_utf8_lossy(line).trim_end(), MOST_QUOTED))
}
