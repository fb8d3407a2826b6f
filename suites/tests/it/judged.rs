//! A run holds only on inputs that contracts judged. Each test is named after a run that held on something else.

use crate::common::*;
use serde_json::json;

/// Input for which MLIR's cast has no contract value (poison of the lowering), and the reference has 127.
const POISON: &str = "type=!quant.uniform<i8:f32, 1.0:0> shape=1 x=inf";

/// The run printed `held on 1 input`, although only the reference had a value. A worker that always answers 77 held as well.
#[test]
fn an_input_that_only_the_reference_has_a_value_for() {
    let named = ["--op=quantize", "--kernel=mlir-qcast", "--case", POISON];
    let run = verify(&[&named[..], &["--lane=host"]].concat()).exits(1);
    let ledger = run.ledger();
    assert_eq!(finding_classes(&ledger), ["not-run"], "{}", run.printed());
    let message = ledger["findings"][0]["message"].as_str().expect("a message");
    assert_eq!(message, "no contract gives a value to any input of this run, so that nothing was judged");
    let rows: Vec<_> = items(&ledger, "rows").iter().map(|row| (&row["against"], &row["inputs"])).collect();
    assert_eq!(rows, [(&json!("contract"), &json!(0)), (&json!("reference"), &json!(1))]);
    assert!(run.stdout.contains("1 finding on 0 inputs, 1 kernel"), "{}", run.printed());
    assert!(!run.file("summary.md").contains("1 input,"), "{}", run.file("summary.md"));
    // No answer of a worker makes the run hold.
    let dir = tempfile::tempdir().expect("a temporary directory");
    let hello = json!({
        "answer": "hello", "protocol": 1, "arch": "mine",
        "kernels": [{"op": "quantize", "kernel": "mlir-qcast", "isa_path": "scalar"}],
    });
    let script = dir.path().join("worker.py");
    let body = format!(
        "import json, struct, sys\ninput = sys.stdin.buffer\nfor line in input:\n    request = json.loads(line)\n    \
         if request['command'] == 'hello':\n        answer, payload = {hello}, b''\n    else:\n        \
         input.read(request['source'].get('payload', {{}}).get('bytes', 0))\n        \
         payload = struct.pack('<%di' % request['len'], *[77] * request['len'])\n        \
         answer = {{'answer': 'done', 'bytes': len(payload)}}\n    \
         sys.stdout.buffer.write(json.dumps(answer).encode() + b'\\n' + payload)\n    sys.stdout.buffer.flush()\n"
    );
    std::fs::write(&script, body).expect("it can be written");
    let lanes = lanes_with(dir.path(), "mine", &["python3".to_owned(), script.to_string_lossy().into_owned()]);
    let run = verify_in(&lanes, &[&named[..], &["--lane=mine"]].concat()).exits(1);
    let rows = items(&run.ledger(), "rows").to_vec();
    assert!(rows.iter().any(|row| row["against"] == "reference" && row["differ"] == 1), "{rows:?}");
    assert_eq!(finding_classes(&run.ledger()), ["not-run"], "{}", run.printed());
}

/// An unjudged kernel that the caller named is a finding in each lane, even if another kernel was judged.
#[test]
fn a_named_kernel_of_which_only_the_reference_judged() {
    let named = ["--op=quantize", "--kernel=mlir-qcast", "--kernel=pytorch-quantize", "--case", POISON];
    let run = verify(&[&named[..], &["--lane=host", "--lane=host-worker"]].concat()).exits(1);
    let ledger = run.ledger();
    let found: Vec<_> = items(&ledger, "findings").iter().map(|f| (&f["class"], &f["kernel"], &f["lane"])).collect();
    let class = json!("nothing-judged");
    let (kernel, lanes) = (json!("mlir-qcast"), ["host", "host-worker"].map(|lane| json!(lane)));
    assert_eq!(found, [(&class, &kernel, &lanes[0]), (&class, &kernel, &lanes[1])], "{}", run.printed());
    let message = ledger["findings"][0]["message"].as_str().expect("a message");
    assert!(message.contains("the contract gives a value to none of its inputs"), "{message}");
    // If neither kernel is named, the first line states the missing judgement, and the run holds on the rest.
    let run = verify(&["--op=quantize", "--lane=host", "--case", POISON]).exits(0);
    assert!(run.stdout.contains("mlir-qcast (host): no input was judged by a contract"), "{}", run.printed());
    assert!(run.stdout.contains("not judged)"), "{}", run.printed());
}

/// Totals of a run are sums over its contract rows, not over the larger row of each kernel.
#[test]
fn the_totals_of_a_whole_run_are_those_of_its_contracts() {
    let Shared { stdout, ledger, .. } = whole();
    let sum = |of: &str| -> u64 {
        let rows = items(ledger, "rows").iter().filter(|row| row["against"] == of);
        rows.map(|row| row["inputs"].as_u64().expect("a count")).sum()
    };
    let judged = tiebreak_reports::text::count(sum("contract"));
    assert!(stdout.contains(&format!("every contract held on {judged} inputs, ")), "{judged}: {stdout}");
    let wider = items(ledger, "rows").iter().filter(|row| row["against"] == "reference").any(|row| {
        let same = |other: &&serde_json::Value| {
            other["against"] == "contract" && ["op", "kernel", "lane"].iter().all(|key| other[key] == row[key])
        };
        items(ledger, "rows").iter().find(same).is_some_and(|own| own["inputs"].as_u64() < row["inputs"].as_u64())
    });
    assert!(wider, "no reference has a value where a contract has none: the test compares nothing");
}
