//! `kernels`, `schemes`, `--op all` and the help. The lists once lacked quantize and dequantize, and `--op all` was rejected, although the help calls
//! it the default.

use crate::bad_input::refused;
use crate::common::{items, tiebreak, verify, workspace};
use clap::{Command, CommandFactory};
use serde_json::Value;
use std::collections::BTreeSet;
use tiebreak_suites::cli::Cli;
use tiebreak_suites::verify::{OPS, kernel_names};

fn list(command: &str) -> Vec<Value> {
    let run = tiebreak(&[command, "--format=json"]).exits(0);
    serde_json::from_str(&run.stdout).expect("a list")
}

fn named<'a>(list: &'a [Value], op: &str, name: &str) -> BTreeSet<&'a str> {
    list.iter().filter(|row| row["op"] == op).map(|row| row[name].as_str().expect("a name")).collect()
}

#[test]
fn every_kernel_of_every_operation_is_listed_and_the_scheme_that_it_promises() {
    let (kernels, schemes) = (list("kernels"), list("schemes"));
    for op in OPS.iter().copied() {
        let known: BTreeSet<&str> = kernel_names(&[op.to_owned()]).into_iter().collect();
        assert_eq!(named(&kernels, op, "kernel"), known, "{op}");
        let promised: BTreeSet<&str> =
            kernels.iter().filter(|row| row["op"] == op).filter_map(|row| row["scheme"].as_str()).collect();
        let defined = named(&schemes, op, "scheme");
        assert!(!known.is_empty() && !defined.is_empty(), "{op}");
        assert!(promised.is_subset(&defined), "{op}: {:?}", promised.difference(&defined));
    }
    for (list, name) in [(&kernels, "kernel"), (&schemes, "scheme")] {
        let ops: BTreeSet<&str> = list.iter().map(|row| row["op"].as_str().expect("a name")).collect();
        assert_eq!(ops, OPS.iter().copied().collect(), "{name}");
        let all: Vec<(&Value, &Value)> = list.iter().map(|row| (&row["op"], &row[name])).collect();
        assert_eq!(all.iter().map(|(op, name)| format!("{op} {name}")).collect::<BTreeSet<_>>().len(), all.len());
    }
    let table = tiebreak(&["kernels"]).exits(0).stdout;
    assert!(table.contains("mlir-qcast") && table.contains("mlir-dcast"), "{table}");
}

/// A reader's first try was `schemes requantize`, which was rejected.
#[test]
fn an_operation_is_listed_by_its_name_alone() {
    let by_option = |command: &str| tiebreak(&[command, "--op=pool", "--op=exp"]).exits(0).stdout;
    for command in ["kernels", "schemes"] {
        assert_eq!(tiebreak(&[command, "pool", "exp"]).exits(0).stdout, by_option(command), "{command}");
        refused(&tiebreak(&[command, "poool"]), &["unknown operation `poool`", "pool"]);
    }
}

/// `all` is the same as no operation: given parameters select the operations that accept them.
#[test]
fn all_operations_by_name() {
    let given = ["--lane=host", "--effort=quick", "--multiplier=1395864371", "--shift=-8", "--x=5"];
    let run = verify(&[&["--op=all"], &given[..]].concat()).exits(0);
    let usual = verify(&given).exits(0);
    let kernels =
        |ledger: &Value| items(ledger, "rows").iter().map(|row| row["kernel"].to_string()).collect::<Vec<_>>();
    assert_eq!(kernels(&run.ledger()), kernels(&usual.ledger()));
    refused(&verify(&["--op=all", "--op=fpm"]), &["--op all", "give it alone"]);
    refused(&verify(&["--op=all", "--case=m=1"]), &["--case belongs to one operation"]);
    let help = tiebreak(&["verify", "--help"]).exits(0).stdout;
    OPS.iter()
        .copied()
        .chain(["or `all` (alone)", "[default: all]"])
        .for_each(|op| assert!(help.contains(op), "{op}\n{help}"));
}

/// Returns each listed command, with all of its words.
fn commands(command: &Command, words: &[&str]) -> Vec<Vec<String>> {
    let one = |sub: &Command| {
        let words: Vec<&str> = words.iter().copied().chain([sub.get_name()]).collect();
        let below = commands(sub, &words);
        std::iter::once(words.iter().map(|w| (*w).to_owned()).collect()).chain(below).collect::<Vec<_>>()
    };
    command.get_subcommands().filter(|sub| !sub.is_hide_set()).flat_map(one).collect()
}

/// `cargo xtask verify --help` once installed tools and built for minutes. Help now prints these files; `UPDATE_EXPECT=1` updates them.
#[test]
fn the_help_that_needs_no_build_is_that_of_the_program() {
    let dir = workspace().join("xtask/help");
    let mut files = BTreeSet::new();
    for words in commands(&Cli::command(), &[]) {
        let line: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
        let name = words.join("-") + ".txt";
        expect_test::expect_file![dir.join(&name)].assert_eq(&tiebreak(&line).exits(0).stdout);
        files.insert(name);
    }
    let there = std::fs::read_dir(&dir).expect("it can be listed");
    let there = there.map(|file| file.expect("listed").file_name().into_string().expect("UTF-8"));
    assert_eq!(there.collect::<BTreeSet<_>>(), files);
}
