//! SMT solvers as programs: standard input is the query, and the first line of the output is the answer.

use anyhow::{Context, Result, bail};
use std::io::Write;
use std::process::{Command, Stdio};

/// Solver that may be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solver {
    /// Name of the program, and of its Debian package.
    pub name: &'static str,
    arguments: &'static [&'static str],
}

/// Solvers in the order in which they are called.
pub const SOLVERS: [Solver; 2] =
    [Solver { name: "z3", arguments: &["-in", "-smt2"] }, Solver { name: "cvc5", arguments: &["--lang=smt2", "-"] }];

/// Answer to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An assignment exists.
    Satisfiable,
    /// No assignment exists.
    Unsatisfiable,
    /// The solver gave up or exceeded its time.
    Unknown,
}

impl Solver {
    /// Returns the first line of `--version`; `None` if the program is not installed.
    pub fn version(self) -> Option<String> {
        let output = Command::new(self.name).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
        output.status.success().then_some(text)
    }

    /// Runs one query, for at most `seconds`.
    pub fn ask(self, query: &str, seconds: u32) -> Result<Answer> {
        let text = self.run(query, seconds, &[])?;
        self.answer(text.lines().next().unwrap_or_default())
    }

    /// Runs many queries in one process, each for at most `seconds`, and all for at most `all` seconds.
    pub(super) fn ask_all(self, queries: &[String], seconds: u32, all: u32) -> Result<Vec<Answer>> {
        let text: String = queries.iter().map(|query| format!("{query}(reset)\n")).collect();
        let limit = match self.name {
            "z3" => format!("-t:{}", u64::from(seconds) * 1000),
            _ => format!("--tlimit-per={}", u64::from(seconds) * 1000),
        };
        let output = self.run(&text, all, &[&limit])?;
        let mut answers = output.lines().map(|line| self.answer(line)).collect::<Result<Vec<_>>>()?;
        // A solver that ends early leaves the remaining queries without an answer.
        answers.resize(queries.len(), Answer::Unknown);
        Ok(answers)
    }

    /// Returns the variables of a query and their bits, if the solver finds an assignment.
    pub(super) fn model(self, query: &str, seconds: u32) -> Result<Option<Vec<(String, u128)>>> {
        let models: &[&str] = if self.name == "z3" { &[] } else { &["--produce-models"] };
        let text = self.run(query, seconds, models)?;
        let Some(("sat", rest)) = text.split_once('\n').map(|(first, rest)| (first.trim(), rest)) else {
            return Ok(None);
        };
        let words: Vec<&str> = rest.split(['(', ')', ' ', '\n']).filter(|word| !word.is_empty()).collect();
        Ok(Some(words.chunks_exact(2).filter_map(|pair| Some((pair[0].to_owned(), bits(pair[1])?))).collect()))
    }

    fn answer(self, line: &str) -> Result<Answer> {
        match line.trim() {
            "sat" => Ok(Answer::Satisfiable),
            "unsat" => Ok(Answer::Unsatisfiable),
            "unknown" | "timeout" | "" => Ok(Answer::Unknown),
            other => bail!("{} answered `{other}`: the query is not one that it understands", self.name),
        }
    }

    /// Returns the solver's output for a text.
    fn run(self, query: &str, seconds: u32, more: &[&str]) -> Result<String> {
        let limit = match self.name {
            "z3" => format!("-T:{seconds}"),
            _ => format!("--tlimit={}", u64::from(seconds) * 1000),
        };
        let mut child = Command::new(self.name)
            .arg(limit)
            .args(more)
            .args(self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} could not be started", self.name))?;
        // A solver that ends before it has read everything prints the reason.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(query.as_bytes()));
        let output = child.wait_with_output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Parses `#x1f` or `#b101`.
fn bits(text: &str) -> Option<u128> {
    match text.strip_prefix("#x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => u128::from_str_radix(text.strip_prefix("#b")?, 2).ok(),
    }
}
