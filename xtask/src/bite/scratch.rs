//! A copy of `impls` in which changes are made, and how they are judged there.

use super::outcome::{self, Ended, Seen};
use crate::process;
use crate::say::note;
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The test that asks `verify`.
const JUDGE: &str = include_str!("judge.rs.in");

/// Built quickly: what is measured is what `verify` sees, not how fast a kernel is.
const PROFILE: &str =
    "\n[profile.bite]\ninherits = \"release\"\nopt-level = 1\nincremental = true\ncodegen-units = 256\n";

/// Longest time for one change, in seconds: a quick run of one operation takes a few.
const PATIENCE: &str = "90";

/// What no worker of this machine runs, or what runs for every operation: not changed.
const LEFT_OUT: [&str; 5] =
    ["**/neon*.rs", "**/tests.rs", "**/*_tests.rs", "impls/src/mutants/**", "impls/src/simd/**"];

/// The copy.
pub(crate) struct Scratch {
    root: PathBuf,
    out: PathBuf,
    mutants: PathBuf,
    tiebreak: PathBuf,
}

impl Scratch {
    /// Makes the copy below the target directory.
    pub(crate) fn write(workspace: &Workspace, mutants: PathBuf, tiebreak: PathBuf) -> Result<Self> {
        let home = workspace.target.join("tiebreak/bite");
        let scratch = Self { root: home.join("copy"), out: home.join("out"), mutants, tiebreak };
        let manifest = read(&workspace.root.join("Cargo.toml"))?;
        put(&scratch.root.join("Cargo.toml"), &alone(&manifest)?)?;
        // Cargo takes out of the lock file what this copy does not need.
        put(&scratch.root.join("Cargo.lock"), &read(&workspace.root.join("Cargo.lock"))?)?;
        put(&scratch.root.join("impls/Cargo.toml"), &read(&workspace.root.join("impls/Cargo.toml"))?)?;
        put(&scratch.root.join("impls/tests/bite.rs"), JUDGE)?;
        let sources = scratch.root.join("impls/src");
        if sources.is_dir() {
            // What has moved since an earlier copy would be there twice.
            fs::remove_dir_all(&sources).with_context(|| format!("cannot remove {}", sources.display()))?;
        }
        copy(&workspace.root.join("impls/src"), &sources)?;
        Ok(scratch)
    }

    /// The operations that `tiebreak` has kernels of.
    pub(crate) fn operations(&self) -> Result<Vec<String>> {
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

    /// The changes of an operation's kernels.
    pub(crate) fn list(&self, op: &str) -> Result<Vec<String>> {
        let text = process::output(self.command(op).args(["--list", "--line-col", "true"]))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Tries changes: `verify` first, the unit tests on what it does not see.
    pub(crate) fn judge(&self, op: &str, changes: &[String]) -> Result<Vec<(String, Ended)>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let by_verify = self.tried(op, changes, &["--test=bite"])?;
        let missed = |name: &&String| by_verify.get(*name) == Some(&Seen::Missed);
        let held: Vec<String> = changes.iter().filter(missed).cloned().collect();
        let by_tests = if held.is_empty() { BTreeMap::new() } else { self.tried(op, &held, &["--lib"])? };
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

    /// Builds the copy as it is, and lets `verify` judge it: where that does not hold, no change can be judged.
    pub(crate) fn holds(&self) -> Result<()> {
        let ops = self.operations()?;
        let mut command = workspace::cargo_program();
        command.current_dir(&self.root).args(["test", "--quiet", "--profile", "bite", "--test", "bite"]);
        self.judged_by(&mut command, &ops.iter().map(String::as_str).collect::<Vec<_>>())?;
        note(format_args!("the kernels as they are, by `cargo test --test bite`"));
        process::output(command.env_remove("CARGO_TARGET_DIR").env("CARGO_INCREMENTAL", "1"))
            .context("`verify --effort quick` must hold before a change is tried")?;
        Ok(())
    }

    /// Gives the test what it asks: the program, the operations, and where to write.
    fn judged_by(&self, command: &mut Command, ops: &[&str]) -> Result<()> {
        fs::create_dir_all(&self.out).with_context(|| format!("cannot make {}", self.out.display()))?;
        command.env("TIEBREAK_BITE_PROGRAM", &self.tiebreak).env("TIEBREAK_BITE_OPS", ops.join(" "));
        command.env("TIEBREAK_BITE_DIRECTORY", &self.out);
        Ok(())
    }

    /// What cargo-mutants says of each change, tried by one kind of test.
    fn tried(&self, op: &str, changes: &[String], tests: &[&str]) -> Result<BTreeMap<String, Seen>> {
        let names: Vec<String> = changes.iter().map(|name| escaped(name)).collect();
        let mut command = self.command(op);
        command.args([
            "--in-place",
            "--baseline",
            "skip",
            "--line-col",
            "true",
            "--timeout",
            PATIENCE,
            "--profile",
            "bite",
            "--colors",
            "never",
        ]);
        command
            .arg("--re")
            .arg(format!("^({})$", names.join("|")))
            .arg("--output")
            .arg(&self.out)
            // Of cargo's building and testing both: nothing is built that is not run.
            .args(tests.iter().map(|test| format!("--cargo-arg={test}")));
        self.judged_by(&mut command, &judges(op))?;
        note(format_args!("{op}: {} changes by `cargo test {}`", changes.len(), tests.join(" ")));
        // Its exit code says that a change survived, which is in the outcomes too.
        let code = process::status(command.stdout(Stdio::null()))?.code();
        if !matches!(code, Some(0 | 2 | 3)) {
            bail!("cargo-mutants ended with {code:?}: see {}", self.out.join("mutants.out/log").display());
        }
        outcome::read(&self.out.join("mutants.out"))
    }

    fn command(&self, op: &str) -> Command {
        let mut command = Command::new(&self.mutants);
        // A target directory of the caller would mix the copy with the workspace.
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_INCREMENTAL", "1");
        command.args(["mutants", "--dir"]).arg(&self.root).args(["--file", &format!("impls/src/{op}/**")]);
        shared(op).iter().for_each(|file| {
            command.args(["--file", file]);
        });
        LEFT_OUT.iter().for_each(|left_out| {
            command.args(["--exclude", left_out]);
        });
        command
    }
}

/// The operations of which the kernels are verified where code of one is changed: those with which it shares code.
fn judges(op: &str) -> Vec<&str> {
    match op {
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
        "add" | "mul" => &["impls/src/elementwise.rs"],
        "quantize" | "dequantize" => &["impls/src/expressed.rs", "impls/src/quantized/*.rs"],
        _ => &[],
    }
}

/// The manifest of a workspace of `impls` alone.
fn alone(manifest: &str) -> Result<String> {
    let members =
        manifest.lines().find(|line| line.starts_with("members = [")).context("the workspace lists its members")?;
    let manifest = manifest.replace(members, "members = [\"impls\"]");
    let mut kept = String::new();
    let mut ours = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            ours = line.starts_with("[profile.release.package.");
        }
        if !ours && (!line.starts_with("tiebreak-") || line.starts_with("tiebreak-impls")) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    Ok(kept + PROFILE)
}

/// A name as a regular expression that matches nothing else.
fn escaped(name: &str) -> String {
    let special = |c: char| r".+*?()|[]{}^$\".contains(c);
    name.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn put(path: &Path, text: &str) -> Result<()> {
    let directory = path.parent().context("a file has a directory")?;
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let path = entry?.path();
        let target = to.join(path.file_name().context("an entry has a name")?);
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_a_workspace_of_impls_alone() {
        let root = Workspace::locate().expect("the workspace").root;
        let manifest = alone(&read(&root.join("Cargo.toml")).expect("it is there")).expect("it lists its members");
        assert!(manifest.contains("members = [\"impls\"]") && manifest.contains("[profile.bite]"));
        assert!(!manifest.contains("tiebreak-oracle") && !manifest.contains("clap_builder"));
    }

    #[test]
    fn names_match_only_themselves() {
        assert_eq!(escaped("a.rs:1:2: replace + with - in f"), "a\\.rs:1:2: replace \\+ with - in f");
        assert_eq!(escaped("f -> i32 with 0"), "f -> i32 with 0");
    }
}
