//! `cargo xtask browser`: draws reports and opens them in Chromium, where a script checks the needs of readers (`xtask/browser/check.mjs`).

use crate::cargo;
use crate::npm;
use crate::probe::Probe;
use crate::process;
use crate::setup;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Arguments of `browser`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Pages to open [default: reports of two new runs, one of them broken, the published reports, and an index]
    #[arg(value_name = "PAGE")]
    pages: Vec<PathBuf>,
}

/// Directory of `xtask` with the list of packages.
pub(crate) const PACKAGES: &str = "browser";
/// Runs drawn in addition to the published ones. They have equal names, so that the second is compared with the first.
const RUNS: [(&str, &[&str]); 2] =
    [("0001-01-01-dot", &["--op=dot"]), ("0001-01-02-dot", &["--op=dot", "--kernel=mutant-dot-wraps"])];

/// Checks pages. The exit code is 1 if a page has a fault.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let tools = [&Tool::BASE[..], &Tool::BROWSER].concat();
    let probe = setup::provide(&workspace, &tools)?;
    let is_sound = process::status(&mut command(&workspace, &probe, &arguments.pages)?)?.success();
    Ok(ExitCode::from(u8::from(!is_sound)))
}

/// Returns the command that checks the given pages, or new pages if there are none.
pub(crate) fn command(workspace: &Workspace, probe: &Probe, pages: &[PathBuf]) -> Result<Command> {
    let (Some(node), Some(chromium)) = (probe.path(Tool::Node), probe.path(Tool::Chromium)) else {
        bail!("no node and no Chromium; `cargo xtask setup --with browser` installs them");
    };
    let directory = npm::packages(workspace, probe, PACKAGES)?;
    let pages = match pages {
        [] => drawn(workspace, &directory)?,
        given => given.iter().map(std::path::absolute).collect::<Result<_, _>>()?,
    };
    let mut command = Command::new(node);
    command.current_dir(directory).arg(workspace.root.join("xtask/browser/check.mjs")).arg(chromium).args(pages);
    Ok(command)
}

/// Copies the published ledgers below `pages`. Returns the newest directory of each name, because earlier ones look alike.
fn published(workspace: &Workspace, pages: &Path) -> Result<Vec<PathBuf>> {
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(workspace.root.join("reports/published"))? {
        let (name, ledger) = entry.map(|entry| (entry.file_name(), entry.path().join("ledger.json")))?;
        if ledger.is_file() {
            fs::create_dir_all(pages.join(&name))?;
            fs::copy(ledger, pages.join(&name).join("ledger.json"))?;
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    let undated = |name: &String| name.trim_start_matches(|c: char| c.is_ascii_digit() || "-.".contains(c)).to_owned();
    let newest: BTreeMap<String, String> = names.into_iter().map(|name| (undated(&name), name)).collect();
    Ok(newest.into_values().map(|name| pages.join(name)).collect())
}

/// Draws the pages. Published ledgers are drawn by the current program, whichever program drew the published pages.
fn drawn(workspace: &Workspace, directory: &Path) -> Result<Vec<PathBuf>> {
    let tiebreak = cargo::build(workspace, &[cargo::TIEBREAK])?.remove(cargo::TIEBREAK.1).context("no tiebreak")?;
    let pages = directory.join("pages");
    if pages.exists() {
        fs::remove_dir_all(&pages)?;
    }
    let mut directories = Vec::new();
    for (name, arguments) in RUNS {
        let out = pages.join(name);
        let mut run = Command::new(&tiebreak);
        run.args(["verify", "--lane=host", "--effort=quick", "--format=json"]).args(arguments).arg("--out").arg(&out);
        // A broken run, as intended here, ends with 1, and a wrong call with 2.
        let output = run.current_dir(&workspace.root).output().context("starting tiebreak")?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            bail!("{}: {}", process::line(&run), String::from_utf8_lossy(&output.stderr));
        }
        directories.push(out);
    }
    directories.extend(published(workspace, &pages)?);
    process::output(Command::new(&tiebreak).args(["report", "--index"]).arg(&pages))?;
    let reports = directories.into_iter().map(|directory| directory.join("report.html"));
    Ok(reports.chain([pages.join("index.html")]).collect())
}
