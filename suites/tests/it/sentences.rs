//! Sentences of help and documents that a test can check. Each was once untrue.

use crate::bad_input::refused;
use crate::common::*;
use clap::CommandFactory;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tiebreak_suites::cli::Cli;

fn text(file: &str) -> String {
    std::fs::read_to_string(workspace().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// `those that list things --format csv`, although `kernels` and `schemes` had no CSV.
#[test]
fn the_commands_that_print_csv_are_those_that_the_book_names() {
    let page = text("docs/src/commands.md");
    let sentence = page.lines().find(|line| line.contains("take `--format csv`")).expect("the sentence");
    let names =
        sentence.split_once("and `kernels`").and_then(|(_, rest)| rest.split_once(" take")).expect("the list").0;
    let named: BTreeSet<&str> =
        std::iter::once("kernels").chain(names.split('`').filter(|word| !word.contains([' ', ',', '-']))).collect();
    let takes = |command: &clap::Command, format: &str| {
        let values = command.get_arguments().find(|argument| argument.get_id() == "format");
        values.is_some_and(|values| values.get_possible_values().iter().any(|value| value.get_name() == format))
    };
    let root = Cli::command();
    let any = |command: &clap::Command, format: &str| {
        takes(command, format) || command.get_subcommands().any(|sub| takes(sub, format))
    };
    let all: BTreeSet<&str> = root.get_subcommands().filter(|c| any(c, "csv")).map(|c| c.get_name()).collect();
    assert_eq!(named.into_iter().filter(|name| !name.is_empty()).collect::<BTreeSet<_>>(), all);
    let without: Vec<&str> =
        root.get_subcommands().filter(|c| !c.is_hide_set() && !any(c, "json")).map(|c| c.get_name()).collect();
    assert_eq!(
        without,
        ["eval", "check-worker", "report", "header", "schema"],
        "every command that prints a result takes --format json; `eval` prints JSON lines alone, `schema` JSON, `header` a file of C, and `check-worker` what is wrong"
    );
}

/// `verify` takes `--op`, and so do the lists of its possible values.
#[test]
fn lists_of_one_operation_have_it_alone() {
    for command in ["kernels", "schemes"] {
        let run = tiebreak(&[command, "--op", "add", "--op", "mul", "--format", "json"]).exits(0);
        let listed: Vec<Value> = serde_json::from_str(&run.stdout).expect("JSON");
        let ops: BTreeSet<&str> = listed.iter().filter_map(|one| one["op"].as_str()).collect();
        assert_eq!(ops, BTreeSet::from(["add", "mul"]), "{command}");
        let refused = tiebreak(&[command, "--op", "ad"]).exits(2);
        assert!(refused.stderr.contains("did you mean `add`?"), "{}", refused.printed());
    }
}

/// `schemes` lists schemes `with their steps`, which its table once lacked. Both lists are equal in each format.
#[test]
fn lists_are_the_same_in_each_format() {
    for (command, key) in [("kernels", "kernel"), ("schemes", "scheme")] {
        let run = |format: &str| tiebreak(&[command, "--format", format]).exits(0).stdout;
        let listed: Vec<Value> = serde_json::from_str(&run("json")).expect("JSON");
        let csv = run("csv");
        let rows: Vec<csv::StringRecord> =
            csv::Reader::from_reader(csv.as_bytes()).records().collect::<Result<_, _>>().expect("CSV");
        let names = |row: &csv::StringRecord| (row[0].to_owned(), row[1].to_owned());
        let own =
            |row: &Value| (row["op"].as_str().unwrap_or("").to_owned(), row[key].as_str().unwrap_or("").to_owned());
        assert_eq!(rows.iter().map(names).collect::<Vec<_>>(), listed.iter().map(own).collect::<Vec<_>>());
        if command == "schemes" {
            let table = run("table");
            for (row, listed) in rows.iter().zip(&listed) {
                let steps: Vec<&str> =
                    listed["steps"].as_array().expect("steps").iter().filter_map(Value::as_str).collect();
                assert_eq!(row[3], steps.join("; "));
                // Single instructions are their own definitions, without steps.
                assert!(steps.first().map_or(listed["op"] != "fpm", |first| table.contains(first)), "{row:?}");
            }
        }
    }
}

/// The book once showed another lanes file than the one it names, and the worker named a nonexistent file.
#[test]
fn the_lanes_and_the_worker_of_the_book_are_the_files() {
    let page = text("docs/src/adding-your-own.md");
    let shown: Value = page
        .lines()
        .find(|line| line.starts_with("{\"lanes\""))
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .expect("a lanes file");
    assert_eq!(shown, serde_json::from_str::<Value>(&text("docs/example-lanes.json")).expect("JSON"));
    for file in [
        "docs/example-worker.py",
        "docs/src/adding-your-own.md",
        "docs/src/commands.md",
        "docs/src/formats.md",
        "docs/src/lanes.md",
        "docs/src/concepts.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
    ] {
        let body = text(file);
        let words = body.split(|c: char| c.is_whitespace() || "`'\"()|,".contains(c));
        let rooms = ["impls/src/", "suites/", "oracle/src/", "reports/src/", "xtask/src/", "docs/"];
        let named = words.filter(|word| rooms.iter().any(|room| word.starts_with(room)) && word.ends_with(".rs"));
        for word in named.map(|word| word.trim_end_matches(['.', ':'])) {
            assert!(workspace().join(word).exists(), "{file} names {word}, which is not there");
        }
    }
    let help = tiebreak(&["verify", "--help"]).exits(0).stdout;
    assert!(help.contains("see docs/src/lanes.md"), "{help}");
}

/// A worker that replays stored answers holds only for their seed. A build server needs a new seed each time, and the drawn seed to repeat the run.
#[test]
fn a_seed_that_is_drawn_is_printed_and_runs_again() {
    let named = ["--op=fpm", "--kernel=tvm-relay", "--lane=host", "--effort=quick"];
    let drawn = |form: &[&str]| {
        let run = verify(&[&named[..], form].concat()).exits(0);
        let seed = run.ledger()["seed"].as_u64().expect("a seed");
        assert!(run.stderr.contains(&format!("seed {seed}, drawn at random: --seed {seed} runs")), "{}", run.printed());
        let command = run.ledger()["command"].as_str().expect("a command").to_owned();
        assert!(command.contains(&seed.to_string()) && !command.contains("random"), "{command}");
        (seed, run.ledger()["rows"].clone())
    };
    let (first, rows) = drawn(&["--seed", "random"]);
    let (second, _) = drawn(&["--seed=random"]);
    assert_ne!(first, second);
    let again = verify(&[&named[..], &["--seed", &first.to_string()]].concat()).exits(0);
    let counts = |rows: &Value| -> Vec<Value> {
        rows.as_array().expect("rows").iter().map(|row| json!([row["inputs"], row["differ"], row["ranges"]])).collect()
    };
    assert_eq!(counts(&again.ledger()["rows"]), counts(&rows));
    assert!(!again.stderr.contains("drawn"), "{}", again.printed());
    refused(&verify(&[&named[..], &["--seed=any"]].concat()), &["--seed", "`random`"]);
}

/// `--q 0` was rejected with `tvm-relay: everything`, although `everything` meant a format of 31 bits.
#[test]
fn a_format_that_no_kernel_takes_is_the_reason() {
    let run = verify(&["--op=fpm", "--kernel=tvm-relay", "--multiplier=5", "--shift=0", "--q=0", "--lane=host"]);
    refused(&run, &["tvm-relay", "every m and s, Q 31"]);
    let explained = ["explain", "fpm", "--kernel", "tvm-relay", "--x=1", "--multiplier=5", "--shift=0", "--q=15"];
    refused(&tiebreak(&explained), &["Q=15", "Q 31"]);
    // Steps are named by their effect in any format.
    let case = ["case", "--x=3", "--multiplier=5", "--shift=0", "--q=15", "--scheme=tflite-int16-multiplier"];
    let shown = tiebreak(&case).exits(0).stdout;
    assert!(shown.contains("scale by 2^(s-Q+16)") && !shown.contains("2^(s-15)"), "{shown}");
}

/// `302,943,616 of them are wrong on this unsigned path, and one on its signed twin`: sums of two products beyond 16 bits, counted by byte products.
#[test]
fn the_wrong_pair_sums_of_the_book_are_as_many() {
    let wrong = |bytes: std::ops::RangeInclusive<i32>, word: std::ops::RangeInclusive<i32>| -> u64 {
        let mut products: Vec<i32> = bytes.clone().flat_map(|a| bytes.clone().map(move |b| a * b)).collect();
        products.sort_unstable();
        let outside = |product: &i32| {
            let below = products.partition_point(|other| product + other < *word.start());
            below + products.len() - products.partition_point(|other| product + other <= *word.end())
        };
        products.iter().map(|product| outside(product) as u64).sum()
    };
    let (unsigned, signed) = (wrong(0..=255, 0..=65_535), wrong(-128..=127, -32_768..=32_767));
    let page = text("docs/src/introduction.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let count = tiebreak_reports::text::count(unsigned);
    assert!(page.contains(&format!("{count} of them are wrong on this unsigned path, and one on its signed twin")));
    assert_eq!(signed, 1);
}
