//! Changes of kernels, judged by `verify` through the changed worker.

use super::outcome::{Ended, Seen};
use super::sample::Choice;
use super::scratch::Scratch;
use super::select;
use super::subject::{Part, Subject};
use crate::process;
use crate::say::note;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

/// The test that asks `verify`.
const JUDGE: &str = include_str!("judge.rs.in");

/// The kernels, and the program that verifies them.
pub(crate) struct Kernels {
    pub(crate) tiebreak: PathBuf,
}

impl Subject for Kernels {
    fn package(&self) -> &'static str {
        "impls"
    }

    fn folders(&self) -> &'static [&'static str] {
        &["impls/src"]
    }

    /// What is measured is what `verify` sees of what people ship, which has no assertions.
    fn profile(&self) -> &'static str {
        ""
    }

    /// What no worker of this machine runs, or what runs for every operation.
    fn left_out(&self) -> &'static [&'static str] {
        &["**/neon*.rs", "**/tests.rs", "**/*_tests.rs", "impls/src/mutants/**", "impls/src/simd/**"]
    }

    /// A quick run of one operation takes a few.
    fn patience(&self) -> u32 {
        90
    }

    fn added(&self) -> Result<Vec<(&'static str, String)>> {
        Ok(vec![("impls/tests/bite.rs", JUDGE.to_owned())])
    }

    fn parts(&self, scratch: &Scratch, choice: &Choice, asked: &[String]) -> Result<Vec<Part>> {
        let part = |name: String| {
            let every = scratch.list(&files(&name))?;
            Ok(Part { chosen: choice.of(&every), name, every })
        };
        select("operation", self.operations()?, asked)?.into_iter().map(part).collect()
    }

    fn holds(&self, scratch: &Scratch) -> Result<()> {
        let ops = self.operations()?;
        let mut command = scratch.cargo();
        command.args(["test", "--quiet", "--profile", "bite", "--test", "bite"]);
        command.envs(self.judged_by(scratch, &ops.join(" ")));
        note(format_args!("the kernels as they are, by `cargo test --test bite`"));
        process::output(&mut command).context("`verify --effort quick` must hold before a change is tried")?;
        Ok(())
    }

    /// `verify` first, the unit tests on what it does not see.
    fn judge(&self, scratch: &Scratch, op: &str, changes: &[String]) -> Result<Vec<(String, Ended)>> {
        let environment = self.judged_by(scratch, &judges(op).join(" "));
        let tried = |changes: &[String], test: &str| {
            note(format_args!("{op}: {} changes by `cargo test {test}`", changes.len()));
            scratch.tried(&files(op), changes, &[test], &environment)
        };
        let by_verify = tried(changes, "--test=bite")?;
        let missed = |name: &&String| by_verify.get(*name) == Some(&Seen::Missed);
        let held: Vec<String> = changes.iter().filter(missed).cloned().collect();
        let by_tests = if held.is_empty() { BTreeMap::new() } else { tried(&held, "--lib")? };
        let ended = |name: &String| match (by_verify.get(name), by_tests.get(name)) {
            (Some(Seen::Caught), _) => Ok(Ended::Verify),
            (Some(Seen::TimedOut), _) => Ok(Ended::TimedOut),
            (Some(Seen::NotViable), _) => Ok(Ended::NotViable),
            (Some(Seen::Missed), Some(Seen::Caught | Seen::TimedOut)) => Ok(Ended::Tests),
            (Some(Seen::Missed), _) => Ok(Ended::Missed),
            (None, _) => bail!("cargo-mutants did not try {name}"),
        };
        changes.iter().map(|name| Ok((name.clone(), ended(name)?))).collect()
    }

    fn heading(&self) -> &'static str {
        "operation"
    }

    fn is_judged_by_tests(&self) -> bool {
        false
    }
}

impl Kernels {
    /// The operations that `tiebreak` has kernels of.
    fn operations(&self) -> Result<Vec<String>> {
        #[derive(Deserialize)]
        struct Kernel {
            op: String,
        }
        let text = process::output(Command::new(&self.tiebreak).args(["kernels", "--format", "json"]))?;
        let kernels: Vec<Kernel> = serde_json::from_str(&text).context("`tiebreak kernels` lists no kernels")?;
        let mut ops: Vec<String> = kernels.into_iter().map(|kernel| kernel.op).collect();
        let mut seen = BTreeSet::new();
        ops.retain(|op| seen.insert(op.clone()));
        Ok(ops)
    }

    /// What the test asks for: the program, the operations, and where to write.
    fn judged_by(&self, scratch: &Scratch, ops: &str) -> Vec<(&'static str, String)> {
        vec![
            ("TIEBREAK_BITE_PROGRAM", self.tiebreak.to_string_lossy().into_owned()),
            ("TIEBREAK_BITE_OPS", ops.to_owned()),
            ("TIEBREAK_BITE_DIRECTORY", scratch.out().to_string_lossy().into_owned()),
        ]
    }
}

/// The files of an operation's kernels.
fn files(op: &str) -> Vec<String> {
    let shared = shared(op).iter().map(|file| (*file).to_owned());
    let folder = match op {
        "add" | "mul" => format!("elementwise/{op}"),
        op => op.to_owned(),
    };
    std::iter::once(format!("impls/src/{folder}/**")).chain(shared).collect()
}

/// The operations of which the kernels are verified where code of one is changed: those with which it shares code.
fn judges(op: &str) -> Vec<&str> {
    match op {
        "fpm" => vec!["fpm", "requantize", "add", "mul"],
        "add" | "mul" => vec!["add", "mul"],
        "quantize" | "dequantize" => vec!["quantize", "dequantize"],
        // Packing and patches are kernels of their own.
        "matmul" | "conv2d" => vec![op, "transform"],
        op => vec![op],
    }
}

/// Code outside of an operation's folder that its kernels are made of.
fn shared(op: &str) -> &'static [&'static str] {
    match op {
        "add" | "mul" => &["impls/src/elementwise/*.rs"],
        "quantize" | "dequantize" => &["impls/src/expressed.rs", "impls/src/quantized/*.rs"],
        _ => &[],
    }
}
