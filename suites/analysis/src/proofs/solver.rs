//! SMT solvers as programs: a query goes in at standard input, and one word comes back.

use anyhow::{Context, Result, bail};
use std::io::Write;
use std::process::{Command, Stdio};

/// A solver that this machine may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Its program, and the package of Debian that has it.
    pub name: &'static str,
    arguments: &'static [&'static str],
}

/// Those that are asked, in this order.
pub const SOLVERS: [Solver; 2] =
    [Solver { name: "z3", arguments: &["-in", "-smt2"] }, Solver { name: "cvc5", arguments: &["--lang=smt2", "-"] }];

/// The answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is an assignment.
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// The solver gave up, or took longer than the time that it was given.
    Unknown,
}

impl Solver {
    /// The first line of `--version`; `None` if the program is not here.
    pub fn version(self) -> Option<String> {
        let output = Command::new(self.name).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
        output.status.success().then_some(text)
    }

    /// Asks one query, for at most so many seconds.
    pub fn ask(self, query: &str, seconds: u32) -> Result<Answer> {
        let limit = match self.name {
            "z3" => format!("-T:{seconds}"),
            _ => format!("--tlimit={}", u64::from(seconds) * 1000),
        };
        let mut child = Command::new(self.name)
            .arg(limit)
            .args(self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} could not be started", self.name))?;
        // A solver that ends before it has read everything says why on its output.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(query.as_bytes()));
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        match text.lines().next().map(str::trim) {
            Some("sat") => Ok(Answer::Satisfiable),
            Some("unsat") => Ok(Answer::Unsatisfiable),
            Some("unknown" | "timeout") | None => Ok(Answer::Unknown),
            Some(other) => bail!("{} answered `{other}`: the query is not one that it understands", self.name),
        }
    }
}
