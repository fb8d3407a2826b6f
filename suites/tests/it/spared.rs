//! Reductions of quick effort in a further lane: cases of code that has shown nothing new there, and results of a detected known bug.

use crate::common::*;
use serde_json::{Value, json};
use std::process::Command;

/// Returns for each kernel in a lane the cases planned, run, and omitted because nothing new was expected.
fn cases<'a>(ledger: &'a Value, lane: &str) -> Vec<(&'a str, [u64; 3])> {
    let of_lane =
        items(ledger, "planned").iter().filter(|planned| planned["lane"] == lane && planned["unit"] == "case");
    let row = |planned: &'a Value| {
        let number = |value: &Value| value.as_u64().expect("a count");
        let dropped = planned["dropped"].as_array().map_or(&[][..], Vec::as_slice);
        let spared = dropped.iter().filter(|dropped| dropped["why"] == "nothing-new");
        let spared = spared.map(|dropped| number(&dropped["count"])).sum();
        let all: u64 = dropped.iter().map(|dropped| number(&dropped["count"])).sum();
        assert_eq!(number(&planned["planned"]), number(&planned["run"]) + all, "{planned}");
        (planned["kernel"].as_str().expect("a name"), [number(&planned["planned"]), number(&planned["run"]), spared])
    };
    of_lane.map(row).collect()
}

/// Runs a quick verification of an operation in this process and in a faulty worker that was built together with the program. Otherwise a lane is not
/// reduced.
fn beside_a_liar(op: &str, lie: &Value) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut command = corruptor(dir.path(), &worker("host-worker"), &json!([lie]));
    let [program, beside] = ["tiebreak", "tiebreak-worker"].map(|name| dir.path().join(name));
    std::fs::copy(env!("CARGO_BIN_EXE_tiebreak"), &program).expect("the temporary directory can be written");
    std::fs::copy(&command[0], &beside).expect("the temporary directory can be written");
    command[0] = beside.to_string_lossy().into_owned();
    let file = lanes_with(dir.path(), "host-worker", &command);
    let mut run = Command::new(&program);
    run.args(["verify", "--lane=host", "--lane=host-worker", "--effort=quick", "--op", op, "--lanes"]).arg(&file);
    run.arg("--out").arg(dir.path().join("out")).current_dir(dir.path()).env("NO_COLOR", "1");
    ended(run.output().expect("tiebreak starts"), dir)
}

/// Issue 31, item 1: the screen counted the omitted cases, but the tables did not.
#[test]
fn what_was_left_out_is_named() {
    let named = |stdout: &str, lane: &str| {
        let words = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let from = words.find(&format!("{lane}: quick effort left out ")).unwrap_or_else(|| panic!("{stdout}"));
        words[from..].to_owned()
    };
    let screen = named(&whole().stdout, aarch64());
    assert!(screen.contains(" cases of ") && screen.contains(" more): "), "{screen}");
    let run = verify(&["--lane=host", "--lane=host-worker", "--effort=quick", "--op=add"]).exits(0);
    let tables = named(&run.stdout, "host-worker");
    let ledger = run.ledger();
    let spared: Vec<_> = cases(&ledger, "host-worker").into_iter().filter(|(_, [.., spared])| *spared > 0).collect();
    assert!(!spared.is_empty());
    for (kernel, _) in spared {
        assert!(tables.contains(&format!("add {kernel}")), "{kernel}: {tables}");
    }
}

#[test]
fn a_further_lane_runs_a_part_of_the_same_code() {
    let ledger = &whole().ledger;
    assert!(cases(ledger, "host").iter().all(|(_, [.., spared])| *spared == 0));
    let emulated = cases(ledger, aarch64());
    let vectors = |kernel: &str| {
        let of = |row: &&Value| row["kernel"] == kernel && row["lane"] == aarch64();
        let path = items(ledger, "rows").iter().find(of).map(|row| row["isa_path"].as_str().expect("a path"));
        path.is_some_and(|path| path.starts_with("neon"))
    };
    let (with, without): (Vec<_>, Vec<_>) = emulated.into_iter().partition(|(kernel, _)| vectors(kernel));
    assert!(with.len() >= 50 && without.len() >= 100, "{} {}", with.len(), without.len());
    // Convolutions by matrix product, whose vector code `matmul` runs in the same lane on all its cases.
    let (shared, own): (Vec<_>, Vec<_>) = with.into_iter().partition(|(_, [.., spared])| *spared > 0);
    let is_product = |kernel: &str| {
        items(ledger, "rows")
            .iter()
            .any(|row| row["kernel"] == kernel && row["op"] == "matmul" && row["lane"] == aarch64())
    };
    let is_transposed = |kernel: &str| kernel.starts_with("xnnpack-deconvolution-");
    assert!(
        shared.len() >= 10 && shared.iter().all(|(kernel, _)| is_product(kernel) || is_transposed(kernel)),
        "{shared:?}"
    );
    assert!(own.len() >= 50, "{own:?}");
    let counts = |all: &[(&str, [u64; 3])]| {
        assert!(all.iter().all(|(_, [_, run, _])| *run > 0), "{all:?}");
        [1, 2].map(|at| all.iter().map(|(_, counts)| counts[at]).sum::<u64>())
    };
    let ([run, spared], [run_of_shared, spared_of_shared]) = (counts(&without), counts(&shared));
    assert!((7 * run..=15 * run).contains(&spared), "{run} run, {spared} spared");
    let expected = 2 * run_of_shared..=4 * run_of_shared;
    assert!(expected.contains(&spared_of_shared), "{run_of_shared} run, {spared_of_shared} spared");
}

/// Without `matmul` in the run, nothing else runs the vector code of a convolution.
#[test]
fn shared_code_runs_all_cases_if_the_other_operation_does_not_run() {
    let ledger = verify(&["--lane=host", "--lane", aarch64(), "--effort=quick", "--op=conv2d"]).exits(0).ledger();
    let is_neon = |kernel: &str| {
        let row = items(&ledger, "rows").iter().find(|row| row["kernel"] == kernel && row["lane"] == aarch64());
        row.is_some_and(|row| row["isa_path"].as_str().is_some_and(|path| path.starts_with("neon")))
    };
    let (with, without): (Vec<_>, Vec<_>) =
        cases(&ledger, aarch64()).into_iter().partition(|(kernel, _)| is_neon(kernel));
    assert!(with.len() >= 10 && with.iter().all(|(_, [.., spared])| *spared == 0), "{with:?}");
    assert!(without.iter().any(|(_, [.., spared])| *spared > 0), "{without:?}");
}

#[test]
fn one_other_result_makes_it_run_all() {
    let kernel = "tflite-add-i8";
    let run = beside_a_liar("add", &json!({"kernel": kernel, "from_index": 3})).exits(1);
    let ledger = run.ledger();
    let found = items(&ledger, "findings");
    assert!(
        !found.is_empty() && found.iter().all(|f| f["kernel"] == kernel && f["lane"] == "host-worker"),
        "{found:?}"
    );
    for (known, [_, run, spared]) in cases(&ledger, "host-worker") {
        assert_eq!(spared == 0, known == kernel, "{known}: {run} run, {spared} spared");
    }
}

#[test]
fn a_kernel_that_is_named_runs_all() {
    let lanes = ["--lane=host", "--lane=host-worker", "--effort=quick", "--op=add", "--kernel=tflite-add-i8"];
    let ledger = verify(&lanes).exits(0).ledger();
    assert!(cases(&ledger, "host-worker").iter().all(|(_, [planned, run, _])| planned == run));
}

/// A verdict of the first lane does not apply to a lane with other results.
#[test]
fn a_mutant_that_differs_in_another_way_is_judged_by_itself() {
    let mutant = "mutant-add-wraps";
    let run = beside_a_liar("add", &json!({"kernel": mutant, "from_index": 0})).exits(1);
    let ledger = run.ledger();
    let found = items(&ledger, "findings");
    let is = |f: &Value| f["class"] == "self-check" && f["lane"] == "host-worker" && f["kernel"] == mutant;
    assert!(!found.is_empty() && found.iter().all(is), "{found:?}");
}
