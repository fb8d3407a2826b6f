//! Kernels of a user with their own names: offered by a worker or in the lanes file, judged by their scheme in their domain, and reported under this
//! name.

use crate::common::*;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Name of the kernel.
const NAME: &str = "mylib-multiply";

/// Writes a lanes file with one lane: the worker of the book, with the offer made by the worker or in the lanes file.
fn lanes(dir: &Path, offer: &Value, by_worker: bool, changes: &[(&str, &str)]) -> PathBuf {
    let mut text = fs::read_to_string(workspace().join("docs/example-worker.py")).expect("the worker of the book");
    let offered = format!("offer = json.loads('{offer}')");
    let by_worker = by_worker
        .then_some((r#"offer = {"op": "fpm", "kernel": "tflite-single", "isa_path": "python"}"#, &offered[..]));
    for (old, new) in changes.iter().copied().chain(by_worker) {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    fs::write(dir.join("worker.py"), text).expect("written");
    let mut lane = json!({"name": "mine", "command": ["python3", dir.join("worker.py")]});
    if by_worker.is_none() {
        lane["offers"] = json!([offer]);
    }
    let file = dir.join("lanes.json");
    fs::write(&file, json!({"lanes": [lane]}).to_string()).expect("written");
    file
}

/// Returns an offer of the kernel with these further fields.
fn offer(more: &Value) -> Value {
    let mut offer = json!({"op": "fpm", "kernel": NAME, "isa_path": "python"});
    more.as_object().expect("fields").iter().for_each(|(key, value)| offer[key] = value.clone());
    offer
}

/// Returns the rows of the kernel's contract.
fn rows(ledger: &Value) -> Vec<&Value> {
    items(ledger, "rows").iter().filter(|row| row["kernel"] == NAME && row["against"] == "contract").collect()
}

#[test]
fn a_kernel_of_ones_own_is_judged_by_its_scheme_in_its_domain() {
    for by_worker in [true, false] {
        let dir = TempDir::new().expect("a temporary directory");
        let own = offer(&json!({"scheme": "ties-up:wrap", "domain": {"shifts": [-12, 0]}}));
        let file = lanes(dir.path(), &own, by_worker, &[]);
        let run = verify_in(&file, &["--op=fpm", "--effort=quick", "--kernel", NAME]).exits(0);
        let ledger = run.ledger();
        let [row] = rows(&ledger)[..] else { panic!("{}", run.printed()) };
        assert_eq!((&row["lane"], &row["isa_path"]), (&json!("mine"), &json!("python")));
        assert!(row["inputs"].as_u64() > Some(1000) && row["scheme"] == "ties-up:wrap", "{row}");
        assert!(run.stdout.contains(NAME) && run.file("junit.xml").contains(NAME), "{}", run.printed());
        // A run that does not name the kernel includes it in addition to the kernels of this project, only in its lane.
        let all = verify_in(&file, &["--op=fpm", "--effort=quick"]).ledger();
        assert_eq!(rows(&all).len(), 1);
    }
}

#[test]
fn a_wrong_kernel_of_ones_own_is_found_under_its_name_and_shown_again() {
    let dir = TempDir::new().expect("a temporary directory");
    let wrong = [("    return (result + 2**31)", "    result += shift == -7\n    return (result + 2**31)")];
    let file = lanes(dir.path(), &offer(&json!({"scheme": "ties-up:wrap"})), true, &wrong);
    let run = verify_in(&file, &["--op=fpm", "--effort=quick", "--lane=mine", "--kernel", NAME]).exits(1);
    let ledger = run.ledger();
    let found = items(&ledger, "findings").iter().find(|finding| finding["kernel"] == NAME);
    let command = found.and_then(|finding| finding["witness"]["command"].as_str()).unwrap_or_default();
    assert!(command.contains(NAME) && command.contains("lanes.json"), "{command}: {}", run.printed());
    let place = run.out().join("ledger.json").to_string_lossy().into_owned();
    for arguments in [&["show", &place][..], &["diff", &place, &place], &["report", &place]] {
        let again = tiebreak(arguments).exits(0);
        assert!(arguments[0] != "show" || again.stdout.contains(NAME), "{}", again.printed());
    }
    // The kernel holds in the part of the domain in which it is right.
    let part = offer(&json!({"scheme": "ties-up:wrap", "domain": {"shifts": [-6, 0]}}));
    let file = lanes(dir.path(), &part, true, &wrong);
    verify_in(&file, &["--op=fpm", "--effort=quick", "--lane=mine", "--kernel", NAME]).exits(0);
}

#[test]
fn an_offer_that_cannot_be_read_is_refused_with_the_nearest_name() {
    let dir = TempDir::new().expect("a temporary directory");
    for (more, said) in [
        (json!({"scheme": "ties-upp"}), "did you mean `ties-up`?"),
        (json!({"scheme": "ties-up:wrapp"}), "did you mean `wrap`?"),
        (json!({"like": "tflite-singel"}), "did you mean `tflite-single`?"),
        (json!({"like": "tflite-single", "domain": {"shift": [0, 0]}}), "did you mean `shifts`?"),
        (json!({"like": "tflite-single", "domain": {"shifts": [0, 99]}}), "is no part"),
        (json!({"like": "tflite-single", "op": "fpn"}), "did you mean `fpm`?"),
        (json!({"like": "tflite-single", "kernel": "tvm-relay"}), "give yours a name of its own"),
    ] {
        for by_worker in [true, false] {
            let file = lanes(dir.path(), &offer(&more), by_worker, &[]);
            let run = verify_in(&file, &["--op=fpm", "--effort=quick"]).exits(2);
            assert!(run.stderr.contains(said) && run.stderr.contains("lane `mine` offers"), "{}", run.printed());
        }
    }
    let file = lanes(dir.path(), &offer(&json!({})), false, &[]);
    let run = verify_in(&file, &["--op=fpm", "--effort=quick"]).exits(2);
    assert!(run.stderr.contains("does not say what it promises"), "{}", run.printed());
    let file = lanes(dir.path(), &offer(&json!({"like": "tflite-single"})), false, &[]);
    let run = verify_in(&file, &["--op=fpm", "--effort=quick", "--kernel=mylib-multiplz"]).exits(2);
    assert!(run.stderr.contains("did you mean `mylib-multiply`?"), "{}", run.printed());
}

/// A product without offsets is never called with other offsets.
#[test]
fn a_domain_without_offsets_has_a_plan_without_offsets() {
    let dir = TempDir::new().expect("a temporary directory");
    let own = json!({"op": "matmul", "kernel": "mylib-gemm", "isa_path": "none", "like": "gemmlowp-reference",
        "domain": {"lhs_offsets": 0, "rhs_offsets": 0}});
    let file = dir.path().join("lanes.json");
    let lane = json!({"name": "mine", "command": worker("host-worker"), "offers": [own]});
    fs::write(&file, json!({"lanes": [lane]}).to_string()).expect("written");
    let run = verify_in(&file, &["--op=matmul", "--effort=quick", "--lane=mine", "--kernel=mylib-gemm"]).exits(1);
    let ledger = run.ledger();
    let planned = items(&ledger, "planned").iter().find(|one| one["kernel"] == "mylib-gemm").expect("a plan");
    let outside = |one: &&Value| one["why"] == "outside-domain";
    let count = planned["dropped"]
        .as_array()
        .into_iter()
        .flatten()
        .find(outside)
        .map_or(0, |one| one["count"].as_u64().expect("a count"));
    assert!(count * 10 < planned["planned"].as_u64().expect("a count"), "{planned}");
}

/// A run claimed every input of an instruction whose worker had refused some of them as outside its domain.
#[test]
fn a_refused_input_makes_no_run_exhaustive() {
    for (refused, coverage) in [("1030", "sampled"), ("0", "exhaustive")] {
        let dir = TempDir::new().expect("a temporary directory");
        let worker = r#"
    vectors = request["params"]["vectors"]
    lanes = struct.unpack("<%di" % (32 * vectors), sys.stdin.buffer.read(128 * vectors))
    if vectors == REFUSED:
        answer({"answer": "failed", "reason": "too many vectors", "kind": "outside-domain"})
        continue
    out = [(a + b + 128) % 256 - 128 for a, b in zip(lanes, lanes[16 * vectors:])] + [0] * vectors
    answer({"answer": "done", "bytes": 4 * count}, struct.pack("<%di" % count, *out))
    continue
    if "payload""#;
        let changes = [("\n    if \"payload\"", &*worker.replace("REFUSED", refused))];
        let own = json!({"op": "instruction", "kernel": NAME, "isa_path": "python", "scheme": "add.s8"});
        let file = lanes(dir.path(), &own, true, &changes);
        let run = verify_in(&file, &["--op=instruction", "--effort=quick", "--lane=mine", "--kernel", NAME]);
        let ledger = run.ledger();
        let [row] = rows(&ledger)[..] else { panic!("{}", run.printed()) };
        assert_eq!((&row["coverage"], &row["differ"]), (&json!(coverage), &json!(0)), "{}", run.printed());
    }
}
