//! Invariant 13: every example and every printed command runs. The example worker of the documents could not be parsed until this test ran it.

mod claims;
mod links;
mod listed;
mod read;

use crate::common::*;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use listed::{EXIT, Instead, LISTED};
use rayon::prelude::*;
use read::{Printed, commands, documents, words};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use tempfile::TempDir;
use tiebreak_suites::cli::Cli;

/// Returns the commands of `tiebreak`; all others belong to `cargo xtask` itself.
fn subcommands() -> Vec<String> {
    Cli::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name().to_owned())
        .collect()
}

/// Returns a directory with all files that the documents name: examples, and files of a user.
fn examples() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let put = |name: &str, contents: &[u8]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory in the temporary one");
        std::fs::write(path, contents).expect("the temporary directory can be written");
    };
    for (path, contents) in read::example_files() {
        put(&path, &contents);
    }
    put("channels.csv", b"name,multiplier,shift\na,1395864371,-8\nb,1073741824,-1\nc,2147483647,3\n");
    put("outputs.csv", read::shown_file("docs/src/adding-your-own.md", "outputs.csv").as_bytes());
    put("model.tflite", &crate::models::small());
    LIBRARIES.iter().for_each(|(name, library)| put(name, library));
    dir
}

/// Libraries of the tutorial: the example of a requantization, and one with another tie rule.
static LIBRARIES: LazyLock<[(&str, Vec<u8>); 2]> = LazyLock::new(|| {
    let built = |name: &'static str, changes: &[(&str, &str)]| {
        let (bin, work) = crate::installed_program::installed();
        let source = crate::libraries::example("requantize.c", changes);
        crate::libraries::compiled(bin.path(), work.path(), "requantize.c", &source);
        (name, std::fs::read(work.path().join("libmine.so")).expect("a library"))
    };
    [built("libmine.so", &[]), built("libwrong.so", &[("(mask >> 1) + (x < 0)", "mask >> 1")])]
});

/// Runs `tiebreak` with these words and the built lanes, for `cargo xtask` or another printed program.
fn xtask(printed: &str, arguments: &[String]) -> Run {
    let dir = examples();
    let mut command: Command = program();
    if !printed.starts_with("cargo ") {
        // An installed program prints its own name in commands.
        command.env_remove("TIEBREAK_CALLED_AS");
    }
    command.arg(&arguments[0]);
    if ["verify", "bounds"].contains(&arguments[0].as_str()) && !arguments.iter().any(|a| a.starts_with("--lanes")) {
        command.arg("--lanes").arg(lanes_file());
    }
    let output = command.args(&arguments[1..]).current_dir(dir.path()).output().expect("tiebreak starts");
    ended(output, dir)
}

/// Returns the words of a command after `cargo xtask`, or after `tiebreak`.
fn arguments(command: &str) -> Vec<String> {
    let program = read::CALLS.into_iter().find(|call| command.starts_with(call)).expect("a command of the program");
    words(command).split_off(program.split_whitespace().count())
}

fn listed(command: &str) -> Option<&'static Instead> {
    LISTED.iter().find(|(printed, ..)| *printed == command).map(|(_, instead, _)| instead)
}

/// Returns the words that run in place of a printed command; `None` if it is only parsed, or not a command of `tiebreak`.
fn runnable(command: &str) -> Option<Vec<String>> {
    let text = match listed(command) {
        None => command.to_owned(),
        Some(Instead::With(more)) => format!("{command} {more}"),
        Some(Instead::As(other)) => (*other).to_owned(),
        Some(Instead::Parsed | Instead::Xtask) => return None,
    };
    Some(arguments(&text))
}

fn exit_code(command: &str) -> i32 {
    EXIT.iter().find(|(printed, _)| *printed == command).map_or(0, |(_, code)| *code)
}

/// Returns every printed command, once each.
fn printed() -> BTreeSet<String> {
    let help = subcommands().into_iter().flat_map(|name| {
        let text = tiebreak(&[&name, "--help"]).exits(0).stdout;
        read::commands_in_prose(&text)
    });
    documents().iter().flat_map(commands).map(|Printed { command, .. }| command).chain(help).collect()
}

#[test]
fn every_printed_command_runs() {
    let all = printed();
    assert!(all.len() >= 40, "only {all:#?}");
    let failed: Vec<String> = all
        .par_iter()
        .filter_map(|command| {
            let run = xtask(command, &runnable(command)?);
            let code = exit_code(command);
            (run.code != code).then(|| format!("{command}: expected exit code {code}\n{}", run.printed()))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// The program accepts the arguments of every printed command, also of those that are too slow to run.
#[test]
fn every_printed_command_is_one() {
    let own = std::fs::read_to_string(workspace().join("xtask/src/main.rs")).expect("the commands of xtask");
    for command in printed() {
        let words = arguments(&command);
        match listed(&command) {
            Some(Instead::Xtask) => {
                let name = format!("{}{}", words[0][..1].to_uppercase(), &words[0][1..]);
                assert!(own.contains(&format!("{name}(")) || own.contains(&format!("{name},")), "{command}: no {name}");
            }
            Some(Instead::As(other)) => {
                // Xtask's `help COMMAND` is replaced by the option `--help` of the command.
                let name = if words[0] == "help" { &words[1] } else { &words[0] };
                assert_eq!(arguments(other)[0], *name, "{command} is shown by another command")
            }
            None | Some(Instead::With(_) | Instead::Parsed) => {
                let refused = Cli::try_parse_from(["cargo xtask".to_owned()].iter().chain(&words)).err();
                // The parser reports help and the version as errors.
                let printed = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
                let refused = refused.filter(|error| !printed.contains(&error.kind()));
                assert!(refused.is_none(), "{command}: {}", refused.map_or(String::new(), |e| e.to_string()));
            }
        }
    }
}

/// The page of commands names every command of `tiebreak`.
#[test]
fn every_command_has_its_line_in_the_book() {
    let page = std::fs::read_to_string(workspace().join("docs/src/commands.md")).expect("the page of commands");
    let names = subcommands();
    assert!(names.len() >= 12, "only {names:?}");
    for name in names {
        assert!(page.contains(&format!("`cargo xtask {name}")), "docs/src/commands.md does not name `{name}`");
    }
}

/// Every command in the list is printed somewhere.
#[test]
fn nothing_is_listed_that_is_not_printed() {
    let all = printed();
    let listed = LISTED.iter().map(|(command, _, reason)| (command, reason));
    for (command, reason) in listed {
        assert!(all.contains(*command), "{command} is printed nowhere");
        assert!(reason.len() > 10, "{command}: no reason");
    }
    EXIT.iter().for_each(|(command, _)| assert!(all.contains(*command), "{command} is printed nowhere"));
}

/// Joins the words of a text, so that line breaks at the terminal's width do not matter.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The command prints every line that a document shows below it. An abridged block omits lines, but changes none.
#[test]
fn every_printed_output_is_what_the_command_prints() {
    let shown: Vec<Printed> = documents().iter().flat_map(commands).filter(|one| !one.output.is_empty()).collect();
    assert!(shown.len() >= 6, "only {} blocks with an output", shown.len());
    let mut compared = 0;
    for one in &shown {
        let run = xtask(&one.command, &runnable(&one.command).unwrap_or_else(|| panic!("{} is not run", one.command)));
        let real = collapsed(&run.stdout);
        for line in one.output.iter().filter(|line| line.trim() != "..." && !line.trim().is_empty()) {
            assert!(real.contains(&collapsed(line)), "{}: `{line}` is not printed\n{}", one.document, run.printed());
            compared += 1;
        }
    }
    assert!(compared >= 50, "only {compared} lines compared");
}

/// The program prints the failure in the book, which does not show its command.
#[test]
fn the_failure_in_the_book_is_printed() {
    let page = std::fs::read_to_string(workspace().join("docs/src/how-a-difference-is-explained.md")).expect("a page");
    let block = read::block_with(&page, "fpm mutant-dead-fixup host x=-1");
    let run = verify(&["--op=fpm", "--kernel=mutant-dead-fixup", "--lane=host", "--effort=quick"]).exits(1);
    let real = collapsed(&run.stdout);
    for line in block.lines() {
        assert!(real.contains(&collapsed(line)), "`{line}` is not printed\n{}", run.printed());
    }
}

/// A Python worker fulfils the contract of `tflite-single`, with the lanes file of the project and with the file in the book.
#[test]
fn the_example_worker_holds() {
    let dir = examples();
    let page = std::fs::read_to_string(workspace().join("docs/src/adding-your-own.md")).expect("a page");
    let shown = page.lines().find(|line| line.starts_with("{\"lanes\":")).expect("a lanes file");
    std::fs::write(dir.path().join("shown.json"), shown).expect("the temporary directory can be written");
    for lanes in ["docs/example-lanes.json", "shown.json"] {
        let mut command = program();
        command.args([
            "verify",
            "--lanes",
            lanes,
            "--lane=example",
            "--op=fpm",
            "--kernel=tflite-single",
            "--effort=quick",
        ]);
        let output = command.current_dir(dir.path()).output().expect("tiebreak starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
        let ledger = std::fs::read_to_string(dir.path().join("tiebreak-out/ledger.json")).expect("a ledger");
        let ledger: serde_json::Value = serde_json::from_str(&ledger).expect("JSON");
        assert_eq!(ledger["verdict"], "holds");
        assert!(
            items(&ledger, "rows").iter().all(|row| row["lane"] == "example" && row["inputs"].as_u64() > Some(200_000))
        );
    }
}

/// The same worker with the arithmetic of another library breaks the contract.
#[test]
fn the_example_worker_with_another_arithmetic_is_detected() {
    let dir = examples();
    let path = dir.path().join("docs/example-worker.py");
    let text = std::fs::read_to_string(&path).expect("the worker");
    let wrong = text.replace("(1 << (total - 1))", "(1 << (total - 1)) - 1");
    assert_ne!(text, wrong);
    std::fs::write(&path, wrong).expect("the temporary directory can be written");
    let lanes = "--lanes=docs/example-lanes.json";
    let mut command = program();
    command.args(["verify", lanes, "--lane=example", "--op=fpm", "--kernel=tflite-single", "--effort=quick"]);
    let output = command.current_dir(dir.path()).output().expect("tiebreak starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("class tie-direction"));
}

/// Every file in `docs` is a document, an example that tests use, or the configuration of the book.
#[test]
fn every_example_file_is_used() {
    let used: BTreeSet<String> = documents().iter().map(|document| document.path.clone()).collect();
    for path in read::paths("docs", &[""]) {
        let known = [
            "docs/example-worker.py",
            "docs/example-lanes.json",
            "docs/cases.jsonl",
            "docs/cases.csv",
            "docs/chain.jsonl",
            "docs/book.toml",
            "docs/wide.css",
        ];
        // The tests of `libraries` compile the C and C++ files.
        let known = known.contains(&path.as_str()) || path.starts_with("docs/examples/");
        assert!(known || used.contains(&path), "{path} is used by no test");
    }
    let published = workspace().join("reports/published/micro-wake-word/params.csv");
    let channels = tiebreak_suites::parameters::read_csv(Path::new(&published)).expect("parameters");
    assert!(channels.len() > 900);
}
