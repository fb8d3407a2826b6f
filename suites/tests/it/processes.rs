//! Invariant 7: a worker that crashes, hangs, gives wrong answers or vanishes is a finding with a witness, never the end of a run.

use crate::common::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tiebreak_impls::mutants::FAULT_AT;
use tiebreak_impls::operation::Operation;
use tiebreak_suites::class::Class;
use tiebreak_suites::engine::erased::{Kernel, op};
use tiebreak_suites::engine::judge::record::{Record, run};
use tiebreak_suites::engine::run::sweep::ChunkOutcome;
use tiebreak_suites::fpm::sweep::{CHUNK, Plan};
use tiebreak_suites::fpm::{FixedPointMultiply, case};
use tiebreak_suites::lane::runner::Runner;
use tiebreak_suites::lane::{Failure, Lane, NotRun};
use tiebreak_suites::operation::Wanted;
use tiebreak_suites::quantize::sweep;
use tiebreak_suites::quantized::read_type;

/// Returns a lanes file with the native worker as lane `host-worker`, with a short time limit.
fn impatient(dir: &Path) -> PathBuf {
    lanes_with(dir, "host-worker", &worker("host-worker"))
}

fn opened(file: &Path, name: &str) -> Result<Lane, NotRun> {
    let lanes = tiebreak_suites::lane::config::Lanes::read(file).expect("a lanes file");
    Lane::open(name, &lanes).expect("a known lane")
}

/// Writes a script that acts as a worker.
fn script(dir: &Path, body: &str) -> Vec<String> {
    let file = dir.join("worker.sh");
    std::fs::write(&file, body).expect("the temporary directory can be written");
    vec!["/bin/sh".to_owned(), file.to_string_lossy().into_owned()]
}

/// Returns accumulators, with the one at which process mutants fail near the middle.
fn many() -> Vec<i32> {
    let mut xs: Vec<i32> = (0..40_000).map(|i: i32| i.wrapping_mul(0x9E37_79B9u32 as i32)).collect();
    xs.retain(|x| *x != FAULT_AT);
    xs[23_456] = FAULT_AT;
    xs
}

/// Returns a kernel, mutant or process mutant, without its types.
fn erased(name: &str) -> &'static Kernel {
    op::<FixedPointMultiply>().find(name).unwrap_or_else(|| panic!("no kernel {name}"))
}

/// Runs accumulators through a kernel, and judges them against its contract.
fn judged(lane: &Lane, name: &str, xs: Vec<i32>) -> Record {
    let kernel = erased(name);
    let contract = kernel.scheme().expect("a known scheme");
    let posed = posed(kernel, None, case(31, vec![channel(1 << 30, -1)], xs));
    run(lane, kernel, &contract, &[], &[posed])
}

/// Runs one batch of `kernel` through the native worker.
fn batch(kernel_name: &str) -> Record {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let lane = opened(&impatient(dir.path()), "host-worker").expect("run `cargo xtask test`");
    let record = judged(&lane, kernel_name, many());
    // The lane is usable afterwards, for other kernels and for the faulty one.
    let sound = judged(&lane, "tvm-relay", many());
    assert_eq!((sound.contract.count.inputs, sound.contract.count.differ, sound.failures.len()), (40_000, 0, 0));
    let again = judged(&lane, kernel_name, vec![1, 2, 3]);
    if kernel_name != "mutant-short" {
        assert_eq!((again.contract.count.inputs, again.contract.count.differ, again.failures.len()), (3, 0, 0));
    }
    record
}

fn only_failure(record: &Record) -> (&Failure, i32) {
    assert_eq!(record.failures.len(), 1, "{:?}", record.failures);
    let unanswered = &record.failures[0];
    let case = unanswered.witness.as_ref().unwrap_or_else(|| panic!("not isolated: {unanswered:?}"));
    assert_eq!(case.params.typed::<FixedPointMultiply>().params.channels, [channel(1 << 30, -1)]);
    let [x] = case.tensors[0][..] else { panic!("more than one accumulator: {unanswered:?}") };
    (&unanswered.failure, x)
}

#[test]
fn a_crash_is_isolated_out_of_a_big_batch() {
    let record = batch("mutant-crash");
    let (failure, x) = only_failure(&record);
    assert_eq!((failure.class(), x), (Class::Crash, FAULT_AT));
    assert!(failure.to_string().contains("signal: 6"), "{failure}");
}

#[test]
fn a_hang_is_isolated_out_of_a_big_batch() {
    let record = batch("mutant-hang");
    let (failure, x) = only_failure(&record);
    assert_eq!((failure, x), (&Failure::Hung(Duration::from_secs(2)), FAULT_AT));
}

#[test]
fn a_panic_is_isolated_out_of_a_big_batch() {
    let record = batch("mutant-panic");
    let (failure, x) = only_failure(&record);
    assert_eq!((failure.class(), x), (Class::Panic, FAULT_AT));
    assert!(failure.to_string().contains("panicked: met x = 0x0badf00d"), "{failure}");
}

/// Batches are in flight while earlier ones are answered. Batches lost with a failing one run again, and are no failures.
#[test]
fn a_failure_among_batches_in_flight_is_that_of_its_own() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let lane = opened(&impatient(dir.path()), "host-worker").expect("run `cargo xtask test`");
    for (mutant, class) in [
        ("mutant-crash", Class::Crash),
        ("mutant-hang", Class::Hang),
        ("mutant-panic", Class::Panic),
        ("mutant-short", Class::WrongLength),
    ] {
        let kernel = erased(mutant);
        let contract = kernel.scheme().expect("a known scheme");
        // Small batches, and batches so large that a pipe cannot hold sixteen of them.
        for len in [50, 30_000] {
            let batch = |at: i32| {
                let mut xs: Vec<i32> = (0..len).map(|i| at * len + i).collect();
                if at == 13 {
                    xs[len as usize / 2] = FAULT_AT;
                }
                posed(kernel, None, case(31, vec![channel(1 << 30, -1)], xs))
            };
            let batches: Vec<_> = (0..40).map(batch).collect();
            let record = run(&lane, kernel, &contract, &[], &batches);
            if mutant == "mutant-short" {
                // The mutant fails on every batch, and is given up after three.
                assert_eq!((record.failures.len(), record.given_up, record.cases), (3, 37, 3));
                continue;
            }
            let (failure, x) = only_failure(&record);
            assert_eq!((failure.class(), x), (class, FAULT_AT), "{mutant} {len}");
            let count = &record.contract.count;
            assert_eq!((count.inputs, count.differ, record.given_up), (39 * len as u64, 0, 0), "{mutant} {len}");
        }
    }
}

/// Every input makes this answer short, so the smallest witness is the first input.
#[test]
fn a_short_answer_is_told_with_both_lengths() {
    let record = batch("mutant-short");
    let (failure, x) = only_failure(&record);
    assert_eq!((failure, x), (&Failure::WrongLength { expected: 40_000, got: 39_999 }, many()[0]));
}

/// Checks the findings of a whole run with a process mutant and a sound kernel.
fn program_finds(mutant: &str, class: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let x = format!("--x={FAULT_AT}");
    let arguments = ["--kernel", mutant, "--kernel", "tvm-relay", "--lane", "host-worker"];
    let given = ["--multiplier=1073741824", "--shift=-1", &x, "--format=json"];
    let begun = Instant::now();
    let run = verify_in(&impatient(dir.path()), &[&arguments[..], &given].concat()).exits(1);
    let ledger = run.ledger();
    let findings = items(&ledger, "findings");
    assert!(!findings.is_empty());
    for finding in findings {
        assert_eq!((finding["kernel"].as_str(), finding["class"].as_str()), (Some(mutant), Some(class)), "{finding}");
        assert_eq!(finding["witness"]["case"]["x"], FAULT_AT);
        assert_eq!(finding["witness"]["expected"], Value::Null);
    }
    // One accumulator at lengths 1 to 9: all 45 outputs are as promised, in spite of the mutant.
    let sound: Vec<_> = items(&ledger, "rows").iter().filter(|r| r["kernel"] == "tvm-relay").collect();
    assert_eq!(sound.len(), 2);
    assert!(sound.iter().all(|r| r["inputs"] == 45), "{sound:?}");
    assert!(run.file("junit.xml").contains(&format!("type=\"{class}\"")));
    println!("{mutant}: {} findings in {:.1} s", findings.len(), begun.elapsed().as_secs_f64());
}

#[test]
fn a_crash_is_a_finding() {
    program_finds("mutant-crash", "crash");
}

#[test]
fn a_hang_is_a_finding() {
    program_finds("mutant-hang", "hang");
}

#[test]
fn a_panic_is_a_finding() {
    program_finds("mutant-panic", "panic");
}

#[test]
fn a_short_answer_is_a_finding() {
    program_finds("mutant-short", "wrong-length");
}

/// The host lane has no separate process, so it rejects process mutants, which is a finding, too.
#[test]
fn the_host_lane_refuses_process_mutants() {
    let x = format!("--x={FAULT_AT}");
    let run = verify(&["--kernel=mutant-crash", "--lane=host", "--multiplier=1073741824", "--shift=-1", &x]).exits(1);
    assert!(run.stdout.contains("mutant-crash runs in a worker process only"), "{}", run.printed());
}

/// Returns the workers of a running process, which may also start other programs, such as git, that end on their own.
fn workers_of(parent: u32) -> Vec<u32> {
    let output = Command::new("pgrep")
        .args(["-f", "tiebreak-worker", "-P", &parent.to_string()])
        .output()
        .expect("pgrep is there");
    String::from_utf8_lossy(&output.stdout).lines().filter_map(|pid| pid.trim().parse().ok()).collect()
}

/// Kills a process; false if it has already ended.
fn killed(pid: u32) -> bool {
    let output = Command::new("kill").args(["-9", &pid.to_string()]).output().expect("kill is there");
    output.status.success()
}

/// Starts `verify`, kills `victims` of its workers in sequence while it runs, and waits for its end.
fn killed_while_running(arguments: &[&str], victims: usize) -> Run {
    let dir = TempDir::new().expect("a temporary directory");
    let mut command = program();
    command.arg("verify").arg("--lanes").arg(lanes_file()).arg("--out").arg(dir.path().join("out"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(dir.path());
    let begun = Instant::now();
    let child = command.spawn().expect("tiebreak starts");
    for _ in 0..victims {
        // The kill happens soon after a worker starts, because a run of one operation may take less than a second. On a busy machine, the worker may
        // have ended by then.
        wait_for("a worker is killed", || {
            let victim = workers_of(child.id()).pop()?;
            std::thread::sleep(Duration::from_millis(200));
            killed(victim).then_some(())
        });
    }
    let output = child.wait_with_output().expect("it ends");
    println!("killed {victims} workers of a run of {:.1} s", begun.elapsed().as_secs_f64());
    ended(output, dir)
}

/// Checks that every finding is a kill, and that no computed or planned result is lost.
fn only_crashes(ledger: &Value, victims: usize) {
    let findings = items(ledger, "findings");
    assert!((1..=victims).contains(&findings.len()), "{findings:#?}");
    for finding in findings {
        assert_eq!(finding["class"], "crash", "{finding}");
        let message = finding["message"].as_str().expect("a message");
        assert!(
            message.contains("signal: 9") && message.contains("a fresh worker answered the same batch"),
            "{message}"
        );
        assert_eq!(finding["witness"], Value::Null);
    }
    for row in items(ledger, "rows").iter().filter(|r| r["against"] == "contract") {
        assert_eq!(row["differ"], 0, "{row}");
    }
}

/// All accumulators of one pair, although two workers are killed: each is counted once, and the count equals the closed form.
#[test]
fn a_worker_killed_during_a_sweep_costs_no_coverage() {
    let arguments = ["--kernel=tvm-neon-rfc", "--lane=host-worker", "--effort=exhaustive"];
    let run = killed_while_running(&[&arguments[..], &["--multiplier=1395864371", "--shift=-8"]].concat(), 2).exits(1);
    let ledger = run.ledger();
    only_crashes(&ledger, 2);
    let of = |r: &&Value| r["coverage"] == "exhaustive";
    let swept: BTreeMap<&str, &Value> =
        items(&ledger, "rows").iter().filter(of).map(|r| (r["against"].as_str().expect("a side"), r)).collect();
    let [contract, reference] = ["contract", "reference"].map(|side| swept[side]);
    assert_eq!([&contract["inputs"], &reference["inputs"]], [1u64 << 32; 2]);
    assert_eq!((&contract["differ"], reference["by_delta"].to_string()), (&0.into(), r#"{"1":8388607}"#.to_owned()));
    assert_eq!(reference["classes"].to_string(), r#"{"double-rounding":8388607}"#);
    assert_eq!(reference["witness"]["case"].to_string(), r#"{"m":1395864371,"s":-8,"x":-197}"#);
    assert!(run.stdout.contains("class crash"), "{}", run.stdout);
    assert!(run.file("junit.xml").contains("type=\"crash\""));
}

/// Acceptance 5, sampled and under emulation: as many inputs as an undisturbed run.
#[test]
fn an_emulated_worker_killed_during_a_sampled_run_costs_no_coverage() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let csv = dir.path().join("scales.csv");
    let rows = (0..2000).map(|i| format!("{},{}\n", (1i64 << 30) + i * 500_001, -(i % 12)));
    std::fs::write(&csv, std::iter::once("multiplier,shift\n".to_owned()).chain(rows).collect::<String>())
        .expect("written");
    let csv = csv.to_string_lossy().into_owned();
    let arguments = ["--kernel=gemmlowp-neon", "--lane", aarch64(), "--effort=standard", "--params", &csv];
    let inputs = |ledger: &Value| {
        items(ledger, "rows").iter().map(|r| r["inputs"].as_u64().expect("a count")).collect::<Vec<_>>()
    };
    let undisturbed = inputs(&verify(&arguments).exits(0).ledger());
    let run = killed_while_running(&arguments, 1).exits(1);
    let ledger = run.ledger();
    only_crashes(&ledger, 1);
    assert_eq!(inputs(&ledger), undisturbed);
}

/// A worker that ended while idle is noticed when the next sweep begins: a crash, and no result is attributed to another batch.
#[test]
fn an_idle_worker_that_died_is_a_crash_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let pids = dir.path().join("pids");
    let real = worker("host-worker").join(" ");
    let body = format!("echo $$ >> '{}'\nexec {real}\n", pids.display());
    let file = lanes_with(dir.path(), "mine", &script(dir.path(), &body));
    let lane = opened(&file, "mine").expect("it speaks the protocol");
    for attempt in 1..=5 {
        let runner = Runner::new(&lane);
        let plan = Plan::new(kernel("gemmlowp-scalar"), &runner, channel(1_395_864_371, -8), None);
        let plan = plan.expect("a known scheme");
        let started = std::fs::read_to_string(&pids).expect("it wrote its number");
        assert!(killed(started.lines().last().and_then(|l| l.parse().ok()).expect("a number")), "a worker sleeps");
        let settled = plan.settle(plan.chunk(0));
        assert_eq!(
            (settled.sides[0].count.inputs, settled.sides[0].count.differ),
            (CHUNK as u64, 0),
            "attempt {attempt}"
        );
        let classes: Vec<_> = settled.failures.iter().map(|f| f.failure.class()).collect();
        assert_eq!(classes, [Class::Crash], "{:?}", settled.failures);
    }
}

/// Runs a chunk of a sweep of quantize (i8, scale 0.3, zero point 1) with this kernel in this lane.
fn quantized_chunk(lane: &Lane, kernel: &str, start: u64) -> ChunkOutcome<sweep::Sides> {
    let runner = Runner::new(lane);
    let kernel = tiebreak_impls::quantize::Quantize::find(kernel).expect("a kernel");
    let ty = read_type("!quant.uniform<i8:f32,0.3:1>").expect("a type");
    let plan = sweep::Plan::new(kernel, &runner, &ty, &Wanted::default()).expect("a type with decision boundaries");
    plan.chunk(start)
}

/// A sweep of quantize once ended at the first lost block, without a witness and without the rest.
#[test]
fn a_pattern_that_ends_the_worker_is_found_in_a_sweep_of_quantize() {
    const INFINITY: u64 = 0x7f80_0000;
    let dir = tempfile::tempdir().expect("a temporary directory");
    let lane = opened(&impatient(dir.path()), "host-worker").expect("run `cargo xtask test`");
    let start = INFINITY / sweep::CHUNK * sweep::CHUNK;
    let swept = quantized_chunk(&lane, "mutant-quantize-crash", start);
    let found: Vec<_> = swept.failures.iter().map(|f| (f.failure.class(), f.witness)).collect();
    assert_eq!(found, [(Class::Crash, Some(INFINITY as i64))], "{:?}", swept.failures);
    // Only the block of the pattern is lost.
    assert_eq!(swept.seen.seen(), sweep::CHUNK - (1 << 16));
}

/// A worker that ends on its own causes a finding, but no gap in a sweep of quantize.
#[test]
fn a_worker_that_died_costs_a_sweep_of_quantize_no_coverage() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let pids = dir.path().join("pids");
    let body = format!("echo $$ >> '{}'\nexec {}\n", pids.display(), worker("host-worker").join(" "));
    let file = lanes_with(dir.path(), "mine", &script(dir.path(), &body));
    let lane = opened(&file, "mine").expect("it speaks the protocol");
    let started = std::fs::read_to_string(&pids).expect("it wrote its number");
    assert!(killed(started.lines().last().and_then(|l| l.parse().ok()).expect("a number")), "a worker sleeps");
    let swept = quantized_chunk(&lane, "onnx-quantizelinear", 0);
    let found: Vec<_> = swept.failures.iter().map(|f| (f.failure.class(), f.witness)).collect();
    assert_eq!(found, [(Class::Crash, None)], "{:?}", swept.failures);
    assert_eq!(swept.seen.seen(), sweep::CHUNK);
}

/// A tensor kernel that hangs or crashes is narrowed down to one element and given up after three cases. Runs once waited for each of hundreds.
#[test]
fn a_tensor_kernel_that_fails_is_narrowed_down_and_given_up() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (mutant, class) in [("mutant-quantize-hang", "hang"), ("mutant-quantize-crash", "crash")] {
        let arguments = ["--op=quantize", "--kernel", mutant, "--kernel=onnx-quantizelinear", "--effort=quick"];
        let run = verify_in(&impatient(dir.path()), &[&arguments[..], &["--lane=host-worker"]].concat()).exits(1);
        let ledger = run.ledger();
        let [finding] = items(&ledger, "findings") else { panic!("{}", run.printed()) };
        assert_eq!((finding["kernel"].as_str(), finding["class"].as_str()), (Some(mutant), Some(class)));
        assert!(finding["message"].as_str().expect("a message").ends_with(", 3 times in all"), "{finding}");
        let case = &finding["witness"]["case"];
        assert_eq!(case["x"], "inf", "{case}");
        assert_eq!(case.get("shape"), None, "one element: {case}");
        let planned = |kernel: &str| {
            let mut all = items(&ledger, "planned").iter().filter(|p| p["kernel"] == kernel && p["unit"] == "case");
            all.next().expect("what was planned").clone()
        };
        let dropped = planned(mutant)["dropped"].clone();
        assert!(dropped[0]["why"] == "given-up" && dropped[0]["count"].as_u64() > Some(10), "{dropped}");
        assert_eq!(planned("onnx-quantizelinear").get("dropped"), None);
        // The command next to the witness reproduces the failure.
        let command = finding["witness"]["command"].as_str().expect("a command");
        assert!(command.contains("--case") && command.contains("x=inf"), "{command}");
    }
}

/// The host lane rejects process mutants of every operation.
#[test]
fn the_host_lane_refuses_process_mutants_of_tensors() {
    let run = verify(&["--op=quantize", "--kernel=mutant-quantize-crash", "--lane=host", "--effort=quick"]).exits(1);
    assert!(run.stdout.contains("mutant-quantize-crash runs in a worker process only"), "{}", run.printed());
}

/// Invariant 4: a lane that could not run is reported with its reason, and breaks the run unless it was allowed by name.
#[test]
fn a_lane_without_its_program_is_not_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "mine", &["/nowhere/tiebreak-worker".to_owned()]);
    let arguments = ["--kernel=tvm-relay", "--effort=quick", "--lane=host", "--lane=mine"];
    let run = verify_in(&file, &arguments).exits(1);
    assert!(run.stdout.contains("not run: cannot start `/nowhere/tiebreak-worker`"), "{}", run.printed());
    assert!(run.stdout.contains("--allow-not-run mine"), "{}", run.printed());
    let ledger = run.ledger();
    assert_eq!(finding_classes(&ledger), ["not-run"]);
    assert!(items(&ledger, "rows").iter().all(|r| r["lane"] == "host" && r["inputs"].as_u64() > Some(10_000)));
    let allowed = verify_in(&file, &[&arguments[..], &["--allow-not-run=mine"]].concat()).exits(0);
    assert!(allowed.stdout.contains("not run: ") && allowed.stdout.contains("(allowed)"), "{}", allowed.printed());
    assert!(allowed.file("junit.xml").contains("<skipped"), "a build server sees it");
}

/// If the only lane cannot run, no input ran, so the run does not hold.
#[test]
fn a_run_without_any_lane_does_not_hold() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "mine", &["/nowhere/tiebreak-worker".to_owned()]);
    let run = verify_in(&file, &["--kernel=tvm-relay", "--effort=quick", "--lane=mine", "--allow-not-run=mine"]);
    assert_ne!(run.code, 0, "no input was judged, and the run says it holds\n{}", run.printed());
}

/// Returns the finding about a worker with this script, without waiting for sleeping processes.
fn reason(body: &str) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "mine", &script(dir.path(), body));
    let begun = Instant::now();
    let run = verify_in(&file, &["--kernel=tvm-relay", "--effort=quick", "--lane=mine"]).exits(1);
    assert!(begun.elapsed() < GUARD, "{:?}", begun.elapsed());
    let ledger = run.ledger();
    let finding = &items(&ledger, "findings")[0];
    format!("{}: {}", finding["class"].as_str().expect("a class"), finding["message"].as_str().expect("a message"))
}

#[test]
fn a_worker_of_another_protocol_is_refused() {
    let hello = r#"{"answer":"hello","protocol":2,"arch":"x86_64","kernels":[]}"#;
    let described = reason(&format!("read line\necho '{hello}'\nread line\n"));
    let words = "not-run: not run: it is installed and does not start: the worker speaks protocol 2, this program 1";
    assert!(described.starts_with(words), "{described}");
}

#[test]
fn a_worker_that_speaks_garbage_is_refused() {
    let described = reason("read line\necho 'Segmentation fault (core dumped)'\nread line\n");
    assert!(described.contains("the worker's answer is not one of the protocol"), "{described}");
    let described = reason("read line\nhead -c 4096 /dev/zero\necho\nread line\n");
    assert!(described.contains("the worker's answer is not one of the protocol"), "{described}");
}

/// An endless line is not read until memory is full.
#[test]
fn a_worker_that_never_ends_its_line_is_refused() {
    let described = reason("exec cat /dev/zero\n");
    assert!(described.contains("not one of the protocol"), "{described}");
}

#[test]
fn a_worker_that_ends_at_once_is_told() {
    let described = reason("exit 3\n");
    assert!(described.contains("exit status: 3"), "{described}");
}

#[test]
fn a_worker_that_says_nothing_is_hung() {
    let described = reason("exec sleep 100\n");
    assert!(described.contains("no answer within 2s"), "{described}");
}

/// Returns a script that greets with tvm-relay, then sends `answer` for every batch.
fn liar(answer: &str) -> String {
    let offer = r#"{"op":"fpm","kernel":"tvm-relay","isa_path":"scalar"}"#;
    let hello = format!(r#"{{"answer":"hello","protocol":1,"arch":"x86_64","kernels":[{offer}]}}"#);
    format!("read line\necho '{hello}'\nwhile read line; do echo '{answer}'; done\n")
}

/// Memory for an impossible length is not reserved.
#[test]
fn a_worker_that_promises_too_much_is_a_finding() {
    for bytes in ["4611686018427387904", "18446744073709551612", "400000000000"] {
        let described = reason(&liar(&format!(r#"{{"answer":"done","bytes":{bytes}}}"#)));
        assert!(described.starts_with("wrong-length: "), "{described}");
    }
}

/// A part of an element is not an element.
#[test]
fn a_worker_that_splits_an_element_is_a_finding() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let body = liar(r#"{"answer":"done","bytes":7}"#);
    let file = lanes_with(dir.path(), "mine", &script(dir.path(), &body));
    let given = ["--multiplier=1073741824", "--shift=-1", "--x=1"];
    let run = verify_in(&file, &[&["--kernel=tvm-relay", "--lane=mine"][..], &given].concat()).exits(1);
    let ledger = run.ledger();
    assert_eq!(finding_classes(&ledger)[0], "refused", "{}", run.printed());
    assert!(run.stdout.contains("7 bytes, which are no whole number of results"), "{}", run.printed());
}

#[test]
fn a_worker_that_does_not_offer_the_kernel_is_a_finding() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "mine", &script(dir.path(), &liar("x")));
    let run = verify_in(&file, &["--kernel=gemmlowp-neon", "--effort=quick", "--lane=mine"]).exits(1);
    assert_eq!(finding_classes(&run.ledger()), ["not-run"]);
    assert!(run.stdout.contains("no lane of this run offers this kernel"), "{}", run.printed());
}
