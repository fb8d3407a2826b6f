//! Findings of `docs/src/findings.md` as regression cases. `impls/shipped/findings.json` has the lane, the smallest input and the output of each.

use crate::lanes;
use crate::say;
use crate::shipped::Library;
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Arguments of `findings`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only the findings of this lane
    #[arg(long, value_name = "NAME")]
    lane: Vec<String>,
}

/// Finding, with its number on the page of findings.
#[derive(Debug, Deserialize)]
struct Case {
    finding: u32,
    #[serde(flatten)]
    run: Run,
}

/// Run that reproduces the finding.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Run {
    /// Input for a lane, and the output of `verify` for this input.
    Lane {
        lane: String,
        op: String,
        kernel: String,
        input: Vec<String>,
        prints: String,
        /// Version of the library without the finding.
        #[serde(default)]
        gone: Option<String>,
    },
    /// Reason why no lane reproduces the finding.
    Absent { absent: String },
}

/// Outcome of a finding.
enum Outcome {
    Reproduced,
    Gone(String),
    /// Neither reproduced nor recorded as gone; with the command.
    Lost(String),
    NotInstalled(String),
    Absent(String),
}

fn cases(root: &Path) -> Result<Vec<Case>> {
    let file = root.join("impls/shipped/findings.json");
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no list of findings", file.display()))
}

/// True if a run can use the lane: an installed library, or a lane of the last build.
fn is_installed(workspace: &Workspace, lane: &str) -> bool {
    match Library::find(lane) {
        Some(library) => library.is_installed(workspace),
        None => lanes::described(workspace).iter().any(|[name, status, ..]| name == lane && status == "installed"),
    }
}

impl Case {
    fn lane(&self) -> Option<&str> {
        match &self.run {
            Run::Lane { lane, .. } => Some(lane),
            Run::Absent { .. } => None,
        }
    }

    fn outcome(&self, workspace: &Workspace) -> Result<Outcome> {
        let (lane, op, kernel, input, prints, gone) = match &self.run {
            Run::Lane { lane, op, kernel, input, prints, gone } => (lane, op, kernel, input, prints, gone),
            Run::Absent { absent } => return Ok(Outcome::Absent(absent.clone())),
        };
        if !is_installed(workspace, lane) {
            return Ok(Outcome::NotInstalled(lane.clone()));
        }
        let own = std::env::current_exe().context("the path of xtask")?;
        let mut command = Command::new(own);
        command.args(["verify", "--op", op, "--kernel", kernel, "--lane", lane]).args(input);
        let output = command.output().context("starting `cargo xtask verify`")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(match gone {
            _ if printed.contains(prints) => Outcome::Reproduced,
            Some(version) => Outcome::Gone(version.clone()),
            None => Outcome::Lost(format!(
                "cargo xtask verify --op {op} --kernel {kernel} --lane {lane} '{}'",
                input.join("' '")
            )),
        })
    }
}

/// Runs the findings of these lanes, or all. The exit code is 1 if a finding of an installed lane is neither reproduced nor recorded as gone.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let all = cases(&workspace.root)?;
    if let Some(name) = arguments.lane.iter().find(|name| !all.iter().any(|case| case.lane() == Some(name))) {
        bail!("no finding is of a lane {name}; `cargo xtask lanes` lists the lanes");
    }
    let is_wanted = |case: &&Case| {
        arguments.lane.is_empty() || case.lane().is_some_and(|lane| arguments.lane.iter().any(|name| name == lane))
    };
    let mut code = ExitCode::SUCCESS;
    for case in all.iter().filter(is_wanted) {
        let text = match case.outcome(&workspace)? {
            Outcome::Reproduced => "reproduced".to_owned(),
            Outcome::Gone(version) => format!("gone in this version, as recorded of {version}"),
            Outcome::NotInstalled(lane) => format!("not installed: {lane}"),
            Outcome::Absent(why) => format!("not run: {why}"),
            Outcome::Lost(command) => {
                code = ExitCode::FAILURE;
                format!("not reproduced; `{command}` shows what the library gives now")
            }
        };
        say::print(format!("finding {:>2} {:<17} {text}\n", case.finding, case.lane().unwrap_or("-")))?;
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each finding of the page has one case, in the same order, and there is no other case.
    #[test]
    fn each_finding_of_the_page_has_a_case() {
        let root = crate::workspace::own_root();
        let page = fs::read_to_string(root.join("docs/src/findings.md")).expect("the page of findings");
        let of_page: Vec<u32> =
            page.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(". ")?.0.parse().ok()).collect();
        let of_cases: Vec<u32> = cases(&root).expect("cases").iter().map(|case| case.finding).collect();
        assert_eq!(of_cases, of_page);
    }
}
