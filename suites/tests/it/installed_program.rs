//! J: every command that the program printed failed outside its repository: `error: no such command: xtask`.

use crate::common::*;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Returns a directory with only the installed program, for the search path, and an empty directory to work in.
pub(crate) fn installed() -> (TempDir, TempDir) {
    let [bin, work] = [(), ()].map(|()| tempfile::tempdir().expect("a temporary directory"));
    // Another process makes the copy, because a parallel test could pass a file that is open for writing here to a program that it starts.
    let made = Command::new("cp").arg(program().get_program()).arg(bin.path()).status().expect("cp starts");
    assert!(made.success());
    (bin, work)
}

/// Runs a shell line, without variables of `cargo` in its environment.
pub(crate) fn shell(bin: &Path, work: &Path, line: &str) -> Output {
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(work).env_clear().env("PATH", path).env("HOME", work).env("NO_COLOR", "1");
    command.output().expect("sh starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every printed command of a failing run works as printed.
#[test]
fn commands_of_an_installed_program_run_where_it_is_installed() {
    let (bin, work) = installed();
    let run = shell(
        bin.path(),
        work.path(),
        "tiebreak verify --op fpm --kernel mutant-double-rounding --lane host --effort quick --multiplier 1395864371 --shift=-8 --format json",
    );
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let ledger: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let commands: Vec<&str> = ledger["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter_map(|finding| finding["witness"]["command"].as_str())
        .collect();
    assert!(!commands.is_empty(), "{ledger}");
    for command in &commands {
        assert!(command.starts_with("tiebreak verify "), "{command}");
        let again = shell(bin.path(), work.path(), command);
        assert_eq!(again.status.code(), Some(1), "{command}\n{}", text(&again.stderr));
    }
    for file in ["summary.md", "details.md", "report.html", "mismatches.csv"] {
        let drawn = std::fs::read_to_string(work.path().join("tiebreak-out").join(file)).expect("a file of the run");
        assert!(!drawn.contains("cargo xtask"), "{file} names a command that is not there");
    }
    println!("{} commands", commands.len());
}

#[test]
fn an_installed_program_states_its_version_completions_and_pages() {
    let (bin, work) = installed();
    let of = |line: &str| {
        let run = shell(bin.path(), work.path(), line);
        assert!(run.status.success(), "{line}: {}", text(&run.stderr));
        text(&run.stdout)
    };
    let version = of("tiebreak --version");
    let sources = version.split_once("(sources ").expect("the hash of its sources").1;
    assert!(version.starts_with("tiebreak 0.") && sources.trim_end().len() == "0123456789ab)".len(), "{version}");
    assert!(of("tiebreak completions bash").contains("tiebreak__subcmd__verify"));
    assert!(of("tiebreak verify --help").contains("Usage: tiebreak verify"));
    of("tiebreak man pages");
    let page = std::fs::read_to_string(work.path().join("pages/tiebreak-verify.1")).expect("a page of verify");
    assert!(page.contains(".TH tiebreak-verify 1") && page.contains("\\-\\-effort"), "{page}");
}

/// In a clone, the version also has the commit of the ledger's environment.
#[test]
fn a_program_in_its_workspace_states_the_commit() {
    let run = program().arg("--version").current_dir(workspace()).output().expect("tiebreak starts");
    let said = text(&run.stdout);
    let commit = said.split_once("(commit ").and_then(|(_, rest)| rest.split([',', ' ']).next()).expect("a commit");
    assert!(commit.len() >= 7 && said.contains("sources "), "{said}");
}
