//! Copy of a package, with the packages that judge its changes. cargo-mutants makes changes in it, one at a time.

use super::outcome::{self, Seen};
use super::subject::{JUDGE, Subject};
use crate::process;
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Profile with short builds, because every change is built.
const PROFILE: &str =
    "\n[profile.bite]\ninherits = \"release\"\nopt-level = 1\nincremental = true\ncodegen-units = 256\n";

/// Copy of a package.
pub(crate) struct Scratch {
    root: PathBuf,
    out: PathBuf,
    mutants: PathBuf,
    left_out: &'static [&'static str],
    patience: u32,
}

impl Scratch {
    /// Creates the copy below the target directory.
    pub(crate) fn write(workspace: &Workspace, subject: &Subject, mutants: PathBuf) -> Result<Self> {
        let packages: Vec<&str> = [subject.package].into_iter().chain(subject.judges.iter().copied()).collect();
        let home = workspace.target.join("tiebreak/bite").join(subject.package);
        let (root, out) = (home.join("copy"), home.join("out"));
        let manifest = read(&workspace.root.join("Cargo.toml"))?;
        put(&root.join("Cargo.toml"), &(alone(&manifest, &packages)? + PROFILE + subject.profile))?;
        // Cargo removes unneeded packages from the lock file.
        put(&root.join("Cargo.lock"), &read(&workspace.root.join("Cargo.lock"))?)?;
        for package in packages {
            let its_own = Path::new(package).join("Cargo.toml");
            // The copy has neither the build scripts nor their dependency.
            let own = read(&workspace.root.join(&its_own))?.replace("tiebreak-sources.workspace = true\n", "");
            put(&root.join(its_own), &own)?;
        }
        for folder in subject.folders {
            let target = root.join(folder);
            if target.is_dir() {
                // A file that has moved since an earlier copy would exist twice.
                fs::remove_dir_all(&target).with_context(|| format!("cannot remove {}", target.display()))?;
            }
            copy(&workspace.root.join(folder), &target)?;
        }
        if !subject.is_judged_by_tests() {
            put(&root.join("impls/worker/tests/bite.rs"), JUDGE)?;
        }
        fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
        Ok(Self { root, out, mutants, left_out: subject.left_out, patience: subject.patience })
    }

    /// Returns the output directory of cargo-mutants and of the tests.
    pub(crate) fn out(&self) -> &Path {
        &self.out
    }

    /// Returns the changes of some files.
    pub(crate) fn list(&self, files: &[String]) -> Result<Vec<String>> {
        let text = process::output(self.command(files).args(["--list", "--line-col", "true"]))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns cargo in the copy. A target directory of the caller would mix the copy with the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = workspace::cargo_program();
        command.current_dir(&self.root).env_remove("CARGO_TARGET_DIR").env("CARGO_INCREMENTAL", "1");
        command
    }

    /// Tries changes of some files with the selected tests, and returns the result of each change.
    pub(crate) fn tried(
        &self,
        files: &[String],
        changes: &[String],
        [tests, filters]: [&[String]; 2],
        environment: &[(&'static str, String)],
    ) -> Result<BTreeMap<String, Seen>> {
        let names: Vec<String> = changes.iter().map(|name| escaped(name)).collect();
        let mut command = self.command(files);
        command
            .args(["--in-place", "--baseline", "skip", "--line-col", "true", "--profile", "bite", "--colors", "never"])
            // The tests of a change are in another package.
            .args(["--test-workspace", "true"])
            .args(["--timeout", &self.patience.to_string()])
            .args(["--re", &format!("^({})$", names.join("|"))])
            .arg("--output")
            .arg(&self.out)
            // Cargo's builds get these arguments, too, so that only the selected tests are built.
            .args(tests.iter().map(|test| format!("--cargo-arg={test}")))
            .args(if filters.is_empty() { &[][..] } else { &["--", "--"] })
            .args(filters)
            .envs(environment.iter().map(|(name, value)| (name, value)));
        // The exit code reports surviving changes, which are in the outcomes, too.
        let code = process::status(command.stdout(Stdio::null()))?.code();
        if !matches!(code, Some(0 | 2 | 3)) {
            bail!("cargo-mutants ended with {code:?}: see {}", self.out.join("mutants.out/log").display());
        }
        outcome::read(&self.out.join("mutants.out"))
    }

    fn command(&self, files: &[String]) -> Command {
        let mut command = Command::new(&self.mutants);
        // A target directory of the caller would mix the copy with the workspace.
        command.env_remove("CARGO_TARGET_DIR").env("CARGO_INCREMENTAL", "1");
        command.args(["mutants", "--dir"]).arg(&self.root);
        command.args(files.iter().flat_map(|file| ["--file", file]));
        command.args(self.left_out.iter().flat_map(|left_out| ["--exclude", left_out]));
        command
    }
}

/// Returns the manifest of a workspace with only these packages, named by their folders.
fn alone(manifest: &str, packages: &[&str]) -> Result<String> {
    let members =
        manifest.lines().find(|line| line.starts_with("members = [")).context("the workspace lists its members")?;
    let manifest = manifest.replace(members, &format!("members = {packages:?}"));
    let name = |package: &str| package.rsplit('/').next().unwrap_or(package).to_owned();
    let names: Vec<String> = packages.iter().map(|package| format!("tiebreak-{} ", name(package))).collect();
    let is_one = |line: &str| names.iter().any(|name| line.starts_with(name));
    let mut kept = String::new();
    let mut ours = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            ours = line.starts_with("[profile.release.package.");
        }
        if !ours && (!line.starts_with("tiebreak-") || is_one(line)) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    Ok(kept)
}

/// Returns a regular expression that matches only this name.
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
    fn a_copy_is_a_workspace_of_its_packages_alone() {
        let root = Workspace::locate().expect("the workspace").root;
        let manifest = read(&root.join("Cargo.toml")).expect("it is there");
        for (packages, names, other) in
            [(&["impls", "impls/worker"][..], &["impls", "worker"][..], "oracle"), (&["oracle"], &["oracle"], "impls")]
        {
            let manifest = alone(&manifest, packages).expect("it lists its members");
            assert!(manifest.contains(&format!("members = {packages:?}")) && !manifest.contains("clap_builder"));
            assert!(names.iter().all(|name| manifest.contains(&format!("tiebreak-{name} = "))), "{manifest}");
            assert!(!manifest.contains(&format!("tiebreak-{other}")));
        }
    }

    #[test]
    fn names_match_only_themselves() {
        assert_eq!(escaped("a.rs:1:2: replace + with - in f"), "a\\.rs:1:2: replace \\+ with - in f");
        assert_eq!(escaped("f -> i32 with 0"), "f -> i32 with 0");
    }
}
