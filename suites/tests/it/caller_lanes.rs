//! Lanes of the caller: statements of a worker or a lanes file affect no verdict, and reports escape them.

use crate::common::*;
use crate::coverage::offering_script;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;
use tiebreak_reports::drawable::is_drawable;

/// Writes a lanes file with these lanes.
pub(crate) fn lanes(dir: &Path, lanes: &[Value]) -> PathBuf {
    let file = dir.join("lanes.json");
    fs::write(&file, json!({ "lanes": lanes }).to_string()).expect("written");
    file
}

/// Returns the command of the documentation's worker, with some text replaced.
pub(crate) fn python(dir: &Path, changes: &[(&str, &str)]) -> Vec<String> {
    let mut text = fs::read_to_string(workspace().join("docs/example-worker.py")).expect("the worker of the book");
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let file = dir.join("worker.py");
    fs::write(&file, text).expect("written");
    vec!["python3".to_owned(), file.to_string_lossy().into_owned()]
}

/// Returns the command of a shell worker that sends this greeting, and then runs `body`.
fn shell(dir: &Path, name: &str, hello: &Value, body: &str) -> Vec<String> {
    let file = dir.join(name);
    fs::write(&file, format!("read -r hello\ncat <<'END'\n{hello}\nEND\n{body}\n")).expect("written");
    vec!["/bin/sh".to_owned(), file.to_string_lossy().into_owned()]
}

/// Issue 31, item 1: a worker that called its path `scalar` ran only an eighth of its cases, as the project's code does, and held.
#[test]
fn a_worker_that_calls_itself_scalar_is_spared_nothing() {
    for name in ["mine", "host-worker"] {
        let dir = TempDir::new().expect("a temporary directory");
        let changes = [
            (r#""isa_path": "python""#, r#""isa_path": "scalar""#),
            (r#""arch": "python""#, &format!(r#""arch": "{}""#, std::env::consts::ARCH)),
            ("    return (result + 2**31)", "    result += shift == -7\n    return (result + 2**31)"),
        ];
        let file = lanes(dir.path(), &[json!({"name": name, "command": python(dir.path(), &changes)})]);
        let run = verify_in(&file, &["--op=fpm", "--effort=quick"]).exits(1);
        let ledger = run.ledger();
        let wrong = |f: &&Value| f["kernel"] == "tflite-single" && f["lane"] == name && f["witness"]["case"]["s"] == -7;
        assert!(items(&ledger, "findings").iter().any(|f| wrong(&f)), "{}", run.printed());
        assert!(!ledger.to_string().contains("nothing-new") && !run.stdout.contains("quick effort left out"));
    }
}

/// Issue 31, item 4: lanes of the caller were silently dropped.
#[test]
fn a_lane_of_the_callers_runs_or_is_said() {
    let dir = TempDir::new().expect("a temporary directory");
    let command = ["/bin/sh".to_owned(), offering_script(dir.path(), &["tvm-relay"])];
    let tools = json!({
        "mlir_opt": "/t", "mlir_translate": "/t", "opt": "/t", "llc": "/t", "version": "22.1.8", "triple": "x86_64-unknown-linux-gnu",
        "linker": "/t", "archives": [], "cache": "/t"
    });
    let file = lanes(
        dir.path(),
        &[
            json!({"name": "mine", "command": command}),
            json!({"name": "host-worker", "command": command}),
            json!({"name": "mlir-mine", "command": command}),
            json!({"name": "mlir-compiled", "command": command, "modules": tools}),
        ],
    );
    let arguments = ["--kernel=tvm-relay", "--multiplier=1073741824", "--shift=-1", "--x=1"];
    let run = verify_in(&file, &arguments).exits(0);
    let ledger = run.ledger();
    let status: Vec<[&str; 2]> = items(&ledger, "lanes")
        .iter()
        .map(|lane| ["name", "status"].map(|field| lane[field].as_str().expect("a text")))
        .collect();
    let expected =
        [["host", "ran"], ["mine", "ran"], ["mlir-mine", "ran"], ["host-worker", "ran"], ["mlir-compiled", "not-run"]];
    assert_eq!(status, expected);
    for lane in ["mine", "mlir-mine", "host-worker"] {
        let judged = items(&ledger, "rows").iter().any(|row| row["lane"] == lane && row["inputs"].as_u64() > Some(0));
        assert!(judged, "{lane}: {}", run.printed());
    }
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("mlir-compiled not run: it has the kernels of compiled modules alone"), "{}", run.printed());
    // A caller who names lanes excludes the rest.
    let named = verify_in(&file, &[&arguments[..], &["--lane=mine"]].concat()).exits(0).ledger();
    assert_eq!(items(&named, "lanes").len(), 1);
}

/// Issue 31, item 5: an emulator script that started the worker of the host held as `aarch64-qemu x86_64`.
#[test]
fn a_lane_of_the_projects_has_the_architecture_of_its_name() {
    let dir = TempDir::new().expect("a temporary directory");
    let (name, other) =
        if cfg!(target_arch = "aarch64") { ("mlir-x86", "x86_64") } else { ("aarch64-qemu", "aarch64") };
    let emulator = dir.path().join("qemu.sh");
    fs::write(&emulator, format!("exec '{}'\n", worker("host-worker")[0])).expect("written");
    let lane = |name: &str| json!({"name": name, "command": ["/bin/sh", emulator]});
    let file = lanes(dir.path(), &[lane(name), lane("mine")]);
    let call = ["--kernel=tvm-relay", "--multiplier=1073741824", "--shift=-1", "--x=1", "--lane=host", "--lane", name];
    for more in [&[][..], &["--allow-not-run", name]] {
        let run = verify_in(&file, &[&call[..], more].concat()).exits(1);
        let ledger = run.ledger();
        let [finding] = items(&ledger, "findings") else { panic!("{}", run.printed()) };
        assert_eq!((&finding["class"], &finding["lane"]), (&json!("not-run"), &json!(name)));
        let message = finding["message"].as_str().expect("a message");
        let promised =
            format!("its worker runs on `{}`, and a lane of this name is one of {other}", std::env::consts::ARCH);
        assert!(message.contains(&promised) && message.contains("qemu.sh"), "{message}");
    }
    verify_in(&file, &[&call[..4], &["--lane=mine"]].concat()).exits(0);
}

/// Returns the characters of a text that are neither drawable nor line ends.
fn undrawable(text: &str) -> Vec<char> {
    text.chars().filter(|c| !is_drawable(*c) && !matches!(c, '\n' | '\t')).collect()
}

/// Calls `look` with every text of a value.
fn texts(value: &Value, look: &dyn Fn(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, look)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            look(name);
            texts(value, look);
        }),
        _ => {}
    }
}

/// Checks that a drawn text has no undrawable character and no heading from a worker.
#[track_caller]
fn all_is_drawn(what: &str, text: &str) {
    assert_eq!(undrawable(text), [], "{what}: {text}");
    assert!(!text.lines().any(|line| line.starts_with("# Tiebreak: holds")), "{what}: {text}");
}

/// Issue 31, item 10: a name with a line end put `# Tiebreak: holds` into the summary of a broken run.
#[test]
fn what_a_worker_says_draws_nothing() {
    let bad = "x\n# Tiebreak: holds\u{1b}[2J\u{202e}\u{9b}2J\r";
    let dir = TempDir::new().expect("a temporary directory");
    let offer = |kernel: &str| json!({"op": "fpm", "kernel": kernel, "isa_path": bad});
    let hello = json!({"answer": "hello", "protocol": 1, "arch": bad, "kernels": [offer("tvm-relay"), offer(bad)]});
    let failed = json!({"answer": "failed", "reason": bad});
    let unknown = json!({"answer": bad});
    let answering = |answer: &Value| format!("while read -r line; do cat <<'END'\n{answer}\nEND\nexit; done");
    let dies = "printf 'x\\033[2J\\r# Tiebreak: holds\\n\\033[1A' >&2; exit 3".to_owned();
    for (at, body) in [answering(&failed), answering(&unknown), dies].iter().enumerate() {
        let command = shell(dir.path(), &format!("{at}.sh"), &hello, body);
        let file = lanes(dir.path(), &[json!({"name": "mine", "command": command, "patience_seconds": 2})]);
        let run = verify_in(&file, &["--op=fpm", "--kernel=tvm-relay", "--lane=mine", "--effort=quick"]).exits(1);
        all_is_drawn("standard output", &run.stdout);
        all_is_drawn("standard error", &run.stderr);
        for name in ["summary.md", "details.md", "junit.xml", "mismatches.csv", "report.html", "ledger.json"] {
            all_is_drawn(name, &run.file(name));
        }
        // Texts in the ledger are drawable, too; JSON would escape them.
        texts(&run.ledger(), &|text| assert!(text.chars().all(is_drawable), "ledger.json: {text:?}"));
    }
    // A foreign ledger.
    let broken = verify(&["--kernel=mutant-dead-fixup", "--lane=host", "--effort=quick"]).exits(1);
    let mut ledger = broken.ledger();
    ledger["lanes"][0]["name"] = json!(bad);
    ledger["lanes"][0]["arch"] = json!(bad);
    ledger["rows"].as_array_mut().expect("rows").iter_mut().for_each(|row| {
        row["lane"] = json!(bad);
        row["isa_path"] = json!(bad);
    });
    for section in ["findings", "catalogue", "planned", "self_checks", "unchecked"] {
        let entries = ledger.get_mut(section).and_then(Value::as_array_mut);
        entries.into_iter().flatten().for_each(|entry| entry["lane"] = json!(bad));
    }
    ledger["command"] = json!(bad);
    let place = dir.path().join("ledger.json");
    fs::write(&place, ledger.to_string()).expect("written");
    let place = place.to_string_lossy().into_owned();
    for arguments in [
        &["show", &place][..],
        &["show", "--verbose", &place],
        &["show", "--format=markdown", &place],
        &["diff", &place, &place],
    ] {
        all_is_drawn(&arguments.join(" "), &tiebreak(arguments).stdout);
    }
    tiebreak(&["report", &place]).exits(0);
    all_is_drawn("report.html", &fs::read_to_string(dir.path().join("report.html")).expect("a page"));
}

/// Issue 31, item 10: such a name in a lanes file was accepted.
#[test]
fn a_lane_whose_name_cannot_be_printed_is_refused() {
    let dir = TempDir::new().expect("a temporary directory");
    for name in ["x\n# Tiebreak: holds", "\u{1b}[2J", &"x".repeat(65)] {
        let file = lanes(dir.path(), &[json!({"name": name, "command": ["true"]})]);
        let run = verify_in(&file, &["--op=fpm", "--lane=host", "--effort=quick"]).exits(2);
        assert!(run.stderr.contains("has a name that reports cannot print"), "{}", run.printed());
        all_is_drawn("standard error", &run.stderr);
    }
}

/// Issue 30, item 6: a worker that announced four times as many bytes as it sent kept a quick run busy for 23 minutes without a message, because the
/// run waited for each attempt to shrink a case. Text after a short answer is taken for results, so the lane differs, fails and hangs.
#[test]
fn a_worker_that_announces_more_than_it_sends_is_given_up() {
    let dir = TempDir::new().expect("a temporary directory");
    let sent = r#"struct.pack("<%di" % count, *out)"#;
    let short = format!("{sent}[:count if count > 2 else None]");
    let command = python(dir.path(), &[(sent, &short)]);
    let file = lanes(dir.path(), &[json!({"name": "mine", "command": command, "patience_seconds": 1})]);
    let begun = Instant::now();
    let run = verify_in(&file, &["--op=fpm", "--lane=mine", "--effort=quick"]).exits(1);
    assert!(begun.elapsed() < 2 * GUARD, "{:?}", begun.elapsed());
    let ledger = run.ledger();
    let [kept] = items(&ledger, "catalogue") else { panic!("{}", run.printed()) };
    assert!(kept["unanswered"].as_u64() > Some(0), "{kept}");
    assert!(run.stdout.contains("without an answer") && !run.stdout.contains("all as promised"), "{}", run.printed());
}

/// A worker that refuses a batch goes on, as the page of the protocol says. Each refusal once cost a process: `identify` of a Python kernel took half
/// a minute for a fifth of a second of jobs.
#[test]
fn a_worker_that_refuses_is_not_started_again() {
    let dir = TempDir::new().expect("a temporary directory");
    let starts = dir.path().join("starts");
    let counts = format!("import sys\nopen({:?}, 'a').write('.')\n", starts.to_string_lossy());
    let refuses = "    if any(shift > 0 for _, shift in channels):\n        answer({\"answer\": \"failed\", \"reason\": \"no left shifts\"})\n        \
                   continue\n    out = [";
    let command = python(dir.path(), &[("import sys\n", &counts), ("    out = [", refuses)]);
    let file = lanes(dir.path(), &[json!({"name": "mine", "command": command})]);
    let file = file.to_string_lossy();
    let run = tiebreak(&["identify", "--format=json", "--lanes", &file, "--lane=mine"]).exits(0);
    let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let [refused, results] = ["refused", "results"].map(|key| found[0][key].as_u64().expect("a count"));
    let started = fs::read_to_string(&starts).expect("it started").len();
    println!("{started} processes, {refused} refusals, {results} results");
    assert!(
        refused > 50 && results > 1_000 && started < 10,
        "{started} processes, {refused} refusals, {results} results"
    );
}

/// Issue 30, item 6: the run waited for each kernel of a lane, each known bug and each attempt to shrink a case.
#[test]
fn a_lane_that_never_answers_is_asked_nothing_more() {
    let dir = TempDir::new().expect("a temporary directory");
    let kernels = tiebreak_impls::fpm::kernels().iter().map(|kernel| kernel.name);
    let offers: Vec<Value> =
        kernels.map(|kernel| json!({"op": "fpm", "kernel": kernel, "isa_path": "scalar"})).collect();
    let hello = json!({"answer": "hello", "protocol": 1, "arch": "mine", "kernels": offers});
    let command = shell(dir.path(), "worker.sh", &hello, "sleep 300");
    let file = lanes(dir.path(), &[json!({"name": "mine", "command": command, "patience_seconds": 1})]);
    let begun = Instant::now();
    let run = verify_in(&file, &["--op=fpm", "--lane=mine", "--effort=quick"]).exits(1);
    assert!(begun.elapsed() < 2 * GUARD, "{:?}", begun.elapsed());
    let ledger = run.ledger();
    let gave_up = |f: &&Value| f["kernel"] == "" && f["lane"] == "mine" && f["class"] == "hang";
    let [finding] = items(&ledger, "findings").iter().filter(gave_up).collect::<Vec<_>>()[..] else {
        panic!("{}", run.printed())
    };
    let message = finding["message"].as_str().expect("a message");
    assert!(
        message.contains("its worker was waited for in vain for 2") && message.contains("asked nothing more"),
        "{message}"
    );
    // Every planned case has a status.
    for planned in items(&ledger, "planned").iter().filter(|planned| planned["unit"] == "case") {
        assert!(
            planned["dropped"].as_array().is_some_and(|all| all.iter().any(|one| one["why"] == "given-up")),
            "{planned}"
        );
    }
}

/// The worker's path was relative to the current directory, and its debugging line was reported only with a column.
#[test]
fn a_worker_is_beside_its_lanes_file_and_its_debugging_lines_are_quoted() {
    let dir = TempDir::new().expect("a temporary directory");
    python(dir.path(), &[]);
    let entry = json!({"name": "mine", "command": ["python3", "./worker.py"]});
    let file = lanes(dir.path(), std::slice::from_ref(&entry));
    let call = ["--op=fpm", "--kernel=tflite-single", "--lane=mine", "--x=1", "--multiplier=1073741824", "--shift=-1"];
    verify_in(&file, &call).exits(0);
    let text = fs::read_to_string(dir.path().join("worker.py")).expect("the worker");
    fs::write(dir.path().join("worker.py"), format!("print('debug: 42 \x1b[2J', flush=True)\n{text}"))
        .expect("written");
    let run = verify_in(&file, &call).exits(1);
    let ledger = run.ledger();
    let message =
        items(&ledger, "findings").iter().filter_map(|f| f["message"].as_str()).find(|m| m.contains("`debug: 42"));
    let message = message.unwrap_or_else(|| panic!("{}", run.printed()));
    assert!(message.contains("is not one of the protocol") && undrawable(message).is_empty(), "{message}");
}
