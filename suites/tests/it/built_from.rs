//! T.2: a program of another checkout, or of sources edited since, printed `holds` with the commit of sources other than its own.

use crate::common::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tiebreak_suites::sources::PACKAGES;

#[allow(dead_code, reason = "the program uses it")]
#[path = "../../src/cli/built/commit.rs"]
mod commit;

/// Returns a directory that looks like a workspace of this project, with other sources.
fn another_workspace() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for file in ["sources/src/lib.rs", "suites/ops/src/registry.rs", "impls/src/lib.rs"] {
        put(&dir.path().join(file), "// of another checkout\n");
    }
    dir
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
    fs::write(path, text).expect("it can be written");
}

/// Returns the program, copied into a directory.
fn copied(directory: &Path) -> Command {
    fs::create_dir_all(directory).expect("it can be made");
    let copy = directory.join("tiebreak");
    // Another process makes the copy, because a parallel test could pass a file that is open for writing here to a program that it starts.
    let made = Command::new("cp").arg(program().get_program()).arg(&copy).status().expect("cp starts");
    assert!(made.success());
    let mut command = Command::new(copy);
    command.env("NO_COLOR", "1");
    command
}

fn run(command: &mut Command, directory: &Path, arguments: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    command.args(arguments);
    if arguments[0] == "verify" {
        command.arg("--out").arg(dir.path().join("out"));
    }
    ended(command.current_dir(directory).output().expect("tiebreak starts"), dir)
}

const QUICK: [&str; 5] = ["verify", "--lane=host", "--op=transform", "--effort=quick", "--seed=3"];

#[test]
fn the_program_says_what_it_was_built_from() {
    let said = tiebreak(&["--sources"]).exits(0).stdout;
    for package in PACKAGES {
        let hash = package.hash(&workspace()).expect("the sources can be read");
        let line = format!("{} {hash}", package.directory);
        assert!(said.lines().any(|said| said == line), "no `{line}` in\n{said}");
    }
    assert!(said.lines().any(|line| line.starts_with("workspace /")), "{said}");
    let worker = worker("host-worker");
    let output = Command::new(&worker[0]).arg("--sources").output().expect("the worker starts");
    let of_worker = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(of_worker.lines().any(|line| line.starts_with("impls ") && said.contains(line)), "{of_worker}\n{said}");
}

#[test]
fn another_checkout_is_not_judged() {
    let other = another_workspace();
    let place = other.path().canonicalize().expect("it is there").display().to_string();
    // The original program called in another checkout, and a copy in the target directory of that checkout.
    let moved = copied(&other.path().join("target/release"));
    for mut command in [program(), moved] {
        let refused = run(&mut command, other.path(), &QUICK).exits(2);
        for said in [&format!("not built from the sources in {place}"), "impls", "touch ", "cargo xtask"] {
            assert!(refused.stderr.contains(said), "no `{said}`: {}", refused.printed());
        }
        // Results of an earlier run must not be mistaken for an answer.
        assert_eq!(refused.ledger()["verdict"], "unfinished");
        assert!(refused.ledger()["unfinished"].as_str().is_some_and(|why| why.contains("not built from")));
        let also = run(&mut { program() }, other.path(), &["case", "--x=5", "--multiplier=1073741824", "--shift=0"]);
        assert_eq!(also.code, 2, "{}", also.printed());
    }
}

#[test]
fn a_program_that_is_installed_elsewhere_runs() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let ledger = run(&mut copied(&dir.path().join("bin")), dir.path(), &QUICK).exits(0).ledger();
    assert!(ledger["environment"]["commit"].is_null(), "nobody knows its commit: {}", ledger["environment"]);
    let here = run(&mut program(), dir.path(), &QUICK).exits(0).ledger();
    let sources = &here["environment"]["sources"];
    assert!(sources == &ledger["environment"]["sources"] && sources.as_str().is_some_and(|hash| hash.len() == 64));
}

/// A worker with other kernels than the program's was judged as if both were equal.
#[test]
fn a_worker_of_other_sources_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let other = format!(
        "'{}' | sed -u 's/\"sources\":\"[0-9a-f]*\"/\"sources\":\"0123456789abcdef\"/'",
        worker("host-worker")[0]
    );
    let command = ["sh".to_owned(), "-c".to_owned(), other];
    let lanes = lanes_with(dir.path(), "host-worker", &command);
    let refused = verify_in(&lanes, &["--lane=host-worker", "--op=transform", "--effort=quick"]).exits(2);
    for said in ["lane host-worker", "other sources of `impls`", "0123456789ab", "cargo xtask verify"] {
        assert!(refused.stderr.contains(said), "no `{said}`: {}", refused.printed());
    }
    assert_eq!(refused.ledger()["verdict"], "unfinished");
}

/// Git variables of the caller gave the commit of another repository, or none.
#[test]
fn the_commit_is_that_of_the_sources_whatever_the_caller_has_set() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let plain = run(&mut program(), dir.path(), &QUICK).exits(0).ledger();
    let nowhere = dir.path().join("nowhere");
    let mut command = program();
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        command.env(name, &nowhere);
    }
    let set = run(command.env("GIT_EXTERNAL_DIFF", "true"), dir.path(), &QUICK).exits(0).ledger();
    assert_eq!(plain["environment"]["commit"], set["environment"]["commit"]);
    let head = Command::new("git").arg("-C").arg(workspace()).args(["rev-parse", "HEAD"]).output();
    let head = head
        .ok()
        .filter(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let commit =
        plain["environment"]["commit"].as_str().map(|commit| commit.split('+').next().unwrap_or_default().to_owned());
    assert_eq!(commit, head);
}

/// Repository with one commit of a package.
struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().expect("a temporary directory"));
        put(&repository.path("Cargo.toml"), "[workspace]\n");
        put(&repository.path("impls/src/lib.rs"), "one\n");
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "."],
            &["-c", "user.name=t", "-c", "user.email=t@t.example", "commit", "--quiet", "-m", "one"],
        ] {
            repository.git(arguments);
        }
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").arg("-C").arg(self.0.path()).args(arguments).output().expect("git starts");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self) -> Option<String> {
        commit::of(self.0.path(), &["impls/src".to_owned()])
    }
}

#[test]
fn what_was_changed_since_the_commit_is_told() {
    let repository = Repository::new();
    let head = repository.git(&["rev-parse", "HEAD"]);
    assert_eq!(repository.commit(), Some(head.clone()));
    let changed = |what: &str| {
        let commit = repository.commit().unwrap_or_default();
        assert!(commit.starts_with(&format!("{head}+")), "{what}: {commit}");
        commit
    };
    put(&repository.path("impls/src/lib.rs"), "two\n");
    let first = changed("an edit");
    // A diff program of the caller once hid every difference.
    repository.git(&["config", "diff.external", "true"]);
    assert_eq!(changed("an edit, with diff.external"), first);
    put(&repository.path("impls/src/lib.rs"), "one\n");
    assert_eq!(repository.commit(), Some(head.clone()));
    put(&repository.path("impls/src/new.rs"), "new\n");
    changed("a new file");
    fs::remove_file(repository.path("impls/src/new.rs")).expect("it can be removed");
    put(&repository.path("elsewhere.rs"), "no part of it\n");
    assert_eq!(repository.commit(), Some(head));
}

/// A copy without history, inside another repository, had the commit of the outer repository.
#[test]
fn a_repository_around_the_sources_is_not_theirs() {
    let repository = Repository::new();
    put(&repository.path("unpacked/Cargo.toml"), "[workspace]\n");
    assert_eq!(commit::of(&repository.path("unpacked"), &["impls/src".to_owned()]), None);
    assert_eq!(commit::of(tempfile::tempdir().expect("a directory").path(), &[]), None);
}
