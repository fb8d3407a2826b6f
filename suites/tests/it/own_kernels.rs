//! J.3, J.10: a worker could offer only kernels that the project has, under their names: a report said `arm-sadalp` of an AVX2 kernel, and a scheme could be
//! judged only under the name of a kernel that promises it.

use crate::bad_input::refused;
use crate::caller_lanes::{lanes, python};
use crate::common::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const OFFER: &str = r#"offer = {"op": "fpm", "kernel": "tflite-single", "isa_path": "python"}"#;

/// A lanes file whose lane `mine` is the worker of the documentation with this offer, and with further changes.
fn mine(dir: &Path, offer: &Value, changes: &[(&str, &str)]) -> PathBuf {
    let offer = format!("offer = {offer}");
    let command = python(dir, &[&[(OFFER, offer.as_str())], changes].concat());
    lanes(dir, &[json!({"name": "mine", "command": command})])
}

/// A claim of `mylib-multiply`.
fn claim(keys: &[(&str, &str)]) -> Value {
    let mut offer = json!({"op": "fpm", "kernel": "mylib-multiply", "isa_path": "python"});
    keys.iter().for_each(|(key, value)| offer[*key] = json!(value));
    offer
}

fn rows<'a>(ledger: &'a Value, key: &str) -> Vec<&'a str> {
    items(ledger, "rows")
        .iter()
        .filter(|row| row["against"] == "contract")
        .filter_map(|row| row[key].as_str())
        .collect()
}

/// By scheme, like a kernel, and like a kernel with another scheme.
#[test]
fn a_kernel_of_its_own_name_is_judged_by_its_claim() {
    let claims: [&[(&str, &str)]; 3] = [
        &[("scheme", "tflite-single:wrap")],
        &[("like", "tflite-single")],
        &[("like", "tflite-int16"), ("scheme", "tflite-single:wrap")],
    ];
    let mut inputs = Vec::new();
    for keys in claims {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = mine(dir.path(), &claim(keys), &[]);
        let run = verify_in(&file, &["--op=fpm", "--lane=mine", "--effort=quick"]).exits(0);
        let ledger = run.ledger();
        assert_eq!(rows(&ledger, "kernel"), ["mylib-multiply"], "{}", run.printed());
        assert_eq!(rows(&ledger, "scheme"), ["tflite-single:wrap"]);
        assert!(run.file("junit.xml").contains("mylib-multiply") && run.file("summary.md").contains("mylib-multiply"));
        tiebreak(&["show", run.out().to_str().expect("UTF-8")]).exits(0);
        inputs.push(items(&ledger, "rows")[0]["inputs"].as_u64().expect("a count"));
    }
    println!("{inputs:?} inputs");
    assert!(inputs[0] == inputs[1] && inputs.iter().all(|inputs| *inputs > 10_000), "{inputs:?}");
}

/// The difference has the kernel's own name, and so does the command that shows it again.
#[test]
fn a_wrong_kernel_of_its_own_name_is_shown_again_by_its_name() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let wrong = ("    return (result + 2**31)", "    result += shift == -7\n    return (result + 2**31)");
    let file = mine(dir.path(), &claim(&[("scheme", "tflite-single:wrap")]), &[wrong]);
    let run = verify_in(&file, &["--op=fpm", "--kernel=mylib-multiply", "--lane=mine", "--effort=quick"]).exits(1);
    let ledger = run.ledger();
    let finding = items(&ledger, "findings")
        .iter()
        .find(|finding| finding["kernel"] == "mylib-multiply" && finding["witness"]["case"]["s"] == -7)
        .unwrap_or_else(|| panic!("{}", run.printed()));
    let command = finding["witness"]["command"].as_str().expect("a command");
    assert!(command.contains("--kernel mylib-multiply") && command.contains("--lane mine"), "{command}");
    again(command).exits(1);
}

#[test]
fn an_offer_that_claims_nothing_known_is_refused() {
    let told: [(Value, &[&str]); 5] = [
        (claim(&[("scheme", "tflite-singel")]), &["lane mine offers fpm mylib-multiply", "`tflite-single`"]),
        (claim(&[("like", "tflite-singel")]), &["unknown kernel `tflite-singel`", "`tflite-single`"]),
        (claim(&[("scheme", "toward-zero")]), &["no kernel of the project promises toward-zero", "add \"like\""]),
        (claim(&[("like", "tflite-single"), ("kernel", "tvm-relay")]), &["the project has a kernel of that name"]),
        (claim(&[("like", "tflite-single"), ("kernel", "my lib")]), &["name it with at most 64 letters"]),
    ];
    for (offer, words) in told {
        let dir = tempfile::tempdir().expect("a temporary directory");
        refused(&verify_in(&mine(dir.path(), &offer, &[]), &["--op=fpm", "--lane=mine", "--effort=quick"]), words);
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = mine(dir.path(), &claim(&[("like", "tflite-single")]), &[]);
    let run = verify_in(&file, &["--op=fpm", "--kernel=mylib-multiplz", "--lane=mine", "--effort=quick"]);
    refused(&run, &["unknown kernel `mylib-multiplz`", "`mylib-multiply`"]);
}
