//! Check that programs are built from the workspace. Cargo compares dates, so it accepts a stale program after an edit with an older date, or after a
//! build of another checkout in the same target directory. A touch of the build script makes cargo build a stale program again.

use crate::process;
use crate::say::note;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;
use tiebreak_sources::{PACKAGES, Package, WORKER, XTASK};

/// File that every build script links. A touch makes cargo run all build scripts again.
const SCRIPTS: &str = "sources/src/bake.rs";

/// Variable that is set for an xtask started by a stale xtask.
const AGAIN: &str = "TIEBREAK_XTASK_BUILT_AGAIN";

/// Builds programs, and at most twice again while they are stale. `built` starts the build and returns the paths; `asked` starts a program.
pub(crate) fn sure(
    workspace: &Workspace,
    built: impl Fn() -> Result<BTreeMap<String, PathBuf>>,
    asked: impl Fn(&Path) -> Command,
) -> Result<BTreeMap<String, PathBuf>> {
    let mut programs = built()?;
    for again in 0.. {
        let stale = stale(&workspace.root, &programs, &asked)?;
        if stale.is_empty() {
            break;
        }
        let names = stale.iter().map(|package| package.directory).collect::<Vec<_>>().join(", ");
        if again == 2 {
            bail!(
                "what cargo builds is not from the sources of {} ({names}), even when it builds them again; does something change them? \
                 `cargo clean` begins anew",
                workspace.root.display()
            );
        }
        note(format_args!(
            "cargo calls fresh what was built from other sources than those of {}: {names}; building them again ...",
            workspace.root.display()
        ));
        let scripts = stale.iter().map(|package| format!("{}/build.rs", package.directory));
        // The build script itself may be stale.
        let all = scripts.chain((again > 0).then(|| SCRIPTS.to_owned()));
        all.into_iter().try_for_each(|script| touch(&workspace.root.join(script)))?;
        programs = built()?;
    }
    Ok(programs)
}

/// Returns the packages with a program built from other sources.
fn stale(root: &Path, programs: &BTreeMap<String, PathBuf>, asked: &impl Fn(&Path) -> Command) -> Result<Vec<Package>> {
    let mut stale = Vec::new();
    let mut now = BTreeMap::new();
    for (name, path) in programs {
        let packages = if name.ends_with("worker") { &WORKER[..] } else { &PACKAGES };
        let says = says(asked(path).arg("--sources"));
        for package in packages {
            let hash = match now.get(package.directory) {
                Some(hash) => hash,
                None => now.entry(package.directory).or_insert(hash(root, *package)?),
            };
            if says.get(package.directory) != Some(hash) && !stale.contains(package) {
                stale.push(*package);
            }
        }
    }
    Ok(stale)
}

fn hash(root: &Path, package: Package) -> Result<String> {
    package.hash(root).with_context(|| format!("reading the sources of {}", root.join(package.directory).display()))
}

/// Returns the hash of each package that a program prints. An old program prints none.
fn says(command: &mut Command) -> BTreeMap<String, String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
        .collect()
}

fn touch(file: &Path) -> Result<()> {
    let touched = File::options().append(true).open(file).and_then(|file| file.set_modified(SystemTime::now()));
    touched.with_context(|| format!("giving {} the date of today, so that cargo builds it again", file.display()))
}

/// Builds this xtask again if its sources changed, runs the new one instead, and returns its exit code; `None` if this xtask is current.
pub(crate) fn renewed(root: &Path, arguments: &[OsString]) -> Result<Option<ExitCode>> {
    let Some(built) = option_env!("TIEBREAK_SOURCES").filter(|_| fs::exists(root.join(SCRIPTS)).unwrap_or(false))
    else {
        return Ok(None);
    };
    if hash(root, XTASK)? == built {
        return Ok(None);
    }
    if std::env::var_os(AGAIN).is_some() {
        bail!(
            "`cargo xtask` is not built from the sources of {}, even when cargo builds it again; does something change them?",
            root.display()
        );
    }
    note(format_args!(
        "cargo calls fresh an xtask of other sources than those of {}; building it again ...",
        root.display()
    ));
    touch(&root.join("xtask/build.rs"))?;
    touch(&root.join(SCRIPTS))?;
    let mut command = crate::workspace::cargo_program();
    command.current_dir(root).args(["build", "--quiet", "--release", "--package", "xtask"]);
    if !process::status(&mut command)?.success() {
        bail!("building xtask failed, see above");
    }
    let mut command = crate::workspace::cargo_program();
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--"]).args(&arguments[1..]).env(AGAIN, "1");
    process::become_program(&mut command).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        Workspace::locate().expect("the workspace").root
    }

    /// Program that prints the given lines, as a worker or `tiebreak` does.
    fn program(lines: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("printf '%s\\n' {lines}"), "sh"]);
        command
    }

    /// T.2: programs of another checkout in a shared target directory were judged as programs of this one.
    #[test]
    fn a_program_of_other_sources_is_stale() {
        let [impls, worker] = WORKER.map(|package| hash(&root(), package).expect("the sources can be read"));
        let now = format!("'impls {impls}' 'impls/worker {worker}'");
        let programs = BTreeMap::from([("tiebreak-worker".to_owned(), PathBuf::from("/t/tiebreak-worker"))]);
        let stale = |lines: &str| stale(&root(), &programs, &|_: &Path| program(lines)).expect("they can be read");
        assert!(stale(&format!("'workspace /elsewhere' {now}")).is_empty());
        assert_eq!(stale(&format!("'impls 0000' 'impls/worker {worker}'")), [tiebreak_sources::IMPLS]);
        assert_eq!(stale("''"), WORKER, "a program that does not say it is older than the question");
        let programs = BTreeMap::from([("tiebreak".to_owned(), PathBuf::from("/t/tiebreak"))]);
        let stale = super::stale(&root(), &programs, &|_: &Path| program(&now)).expect("read");
        assert_eq!(stale.len(), PACKAGES.len() - WORKER.len());
    }

    #[test]
    fn what_stays_stale_is_an_error_after_two_more_builds() {
        let scratch = std::env::temp_dir().join(format!("tiebreak-built-from-{}", std::process::id()));
        for file in ["impls/build.rs", "impls/src/lib.rs", "impls/worker/build.rs", SCRIPTS] {
            let path = scratch.join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
            fs::write(path, "").expect("it can be written");
        }
        let workspace = Workspace { root: scratch.clone(), target: scratch.join("target") };
        let builds = std::cell::Cell::new(0);
        let built = || {
            builds.set(builds.get() + 1);
            Ok(BTreeMap::from([("tiebreak-worker".to_owned(), PathBuf::from("w"))]))
        };
        let error = sure(&workspace, built, |_| program("'impls 0'")).unwrap_err().to_string();
        assert!(error.contains("(impls, impls/worker)") && builds.get() == 3, "{error}: {} builds", builds.get());
        let [impls, worker] = WORKER.map(|package| hash(&scratch, package).expect("the sources can be read"));
        builds.set(0);
        sure(&workspace, built, |_| program(&format!("'impls {impls}' 'impls/worker {worker}'")))
            .expect("it is of this workspace");
        assert_eq!(builds.get(), 1);
        fs::remove_dir_all(scratch).expect("it can be removed");
    }
}
