//! Detection of hung workers: endless workers are found, and slow, paused or large jobs are left alone.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tiebreak_impls::matmul;
use tiebreak_suites::lane::config::Lanes;
use tiebreak_suites::lane::{Failure, Input, Lane, Order};
use tiebreak_suites::matmul::Matmul;
use tiebreak_suites::operation::products;
use tiebreak_worker::protocol::Job;

/// Returns a worker that offers one kernel and runs `body` for each batch; `$line` has the batch's header.
fn offering(op: &str, kernel: &str, body: &str) -> String {
    let offer = format!(r#"{{"op":"{op}","kernel":"{kernel}","isa_path":"scalar"}}"#);
    let hello = format!(r#"{{"answer":"hello","protocol":1,"arch":"x86_64","kernels":[{offer}]}}"#);
    format!("read -r line\necho '{hello}'\nwhile read -r line; do\n{body}\ndone\n")
}

/// Writes a lanes file with the lane `mine`, whose worker is this script, with a time limit in seconds.
fn lanes(dir: &Path, body: &str, patience: u64) -> std::path::PathBuf {
    let (script, file) = (dir.join("worker.sh"), dir.join("lanes.json"));
    fs::write(&script, body).expect("written");
    let lane = serde_json::json!({"name": "mine", "command": ["/bin/sh", script], "patience_seconds": patience});
    fs::write(&file, serde_json::json!({"lanes": [lane]}).to_string()).expect("written");
    file
}

fn opened(dir: &Path, body: &str, patience: u64) -> Lane {
    let lanes = Lanes::read(&lanes(dir, body, patience)).expect("a lanes file");
    Lane::open("mine", &lanes).expect("a known lane").expect("it speaks the protocol")
}

/// Runs one batch.
fn run(lane: &Lane, job: &Job, len: usize, values: &[i32]) -> Result<Vec<i32>, Failure> {
    let mut out = Vec::new();
    let products = match job {
        Job::Matmul { params, .. } => products::<Matmul>(params),
        _ => 0,
    };
    lane.lease()
        .run(
            &Order { job, input: Input::Values { len, values: &Arc::new(values.to_vec()) }, misalign: 0, products },
            &mut out,
        )
        .map(|()| out)
}

fn multiply() -> Job {
    Job::Fpm { kernel: "tvm-relay".to_owned(), params: params(channel(1 << 30, -1)) }
}

/// Returns the message of the finding about this worker's greeting, within a time limit.
fn greeting(body: &str) -> String {
    let dir = TempDir::new().expect("a temporary directory");
    let begun = Instant::now();
    let run = verify_in(&lanes(dir.path(), body, 2), &["--kernel=tvm-relay", "--lane=mine", "--effort=quick"]).exits(1);
    assert!(begun.elapsed() < GUARD, "{:?}", begun.elapsed());
    items(&run.ledger(), "findings")[0]["message"].as_str().expect("a message").to_owned()
}

fn is_there(pid: &str) -> bool {
    // A zombie process counts as ended.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

fn signal(name: &str, pid: &str) {
    let status = Command::new("kill").args([name, pid]).status().expect("kill is there");
    assert!(status.success(), "{pid} was gone already");
}

/// Returns the text of a file after a whole line has been written to it.
fn line_of(file: &Path) -> String {
    wait_for(&format!("{} is written", file.display()), || {
        let text = fs::read_to_string(file).ok().filter(|text| text.ends_with('\n'))?;
        Some(text.trim().to_owned())
    })
}

/// The harness once killed only the direct child, and read the pipes of its descendants forever.
#[test]
fn a_worker_whose_child_holds_the_pipes_is_hung_and_both_are_ended() {
    let dir = TempDir::new().expect("a temporary directory");
    let pid = dir.path().join("pid");
    let described = greeting(&format!("sleep 300 & echo $! > '{}'; wait; true", pid.display()));
    assert!(described.contains("no answer within 2s"), "{described}");
    let pid = line_of(&pid);
    assert!(!is_there(&pid), "{pid} outlived its lane");
}

#[test]
fn a_worker_that_leaves_its_pipes_to_another_process_is_dead() {
    let dir = TempDir::new().expect("a temporary directory");
    let pid = dir.path().join("pid");
    let described = greeting(&format!("read -r line; sleep 300 & echo $! > '{}'; exit 3", pid.display()));
    assert!(described.contains("exit status: 3, while a process that it started held its pipes"), "{described}");
    let pid = line_of(&pid);
    assert!(!is_there(&pid), "{pid} outlived its lane");
}

/// Issue 31, item 9: a process that called `setsid` outlived its run. So did a process whose parent had ended, and a process without an environment.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_leaves_the_group_of_its_worker_is_ended() {
    for started in [
        "setsid sleep 300 & echo $! > 'PID'; wait",
        "(setsid sleep 300 & echo $! > 'PID'); read -r line; read -r line",
        "(setsid sleep 300 > /dev/null 2>&1 < /dev/null & echo $! > 'PID'); exit 3",
        "(env -i setsid sleep 300 > /dev/null 2>&1 < /dev/null & echo $! > 'PID'); exit 3",
        "setsid sh -c 'setsid sleep 300 & echo $! > \"PID\"; wait' & wait",
    ] {
        let dir = TempDir::new().expect("a temporary directory");
        let pid = dir.path().join("pid");
        let body = started.replace("PID", &pid.to_string_lossy());
        greeting(&body);
        let pid = line_of(&pid);
        assert!(!is_there(&pid), "{pid} outlived its run: {body}");
    }
}

/// 1,296 processes once ran. A cleared environment hides nothing on Linux.
#[test]
fn a_lane_that_runs_its_own_lanes_does_not_breed() {
    for clear in ["", "env -i "] {
        let dir = TempDir::new().expect("a temporary directory");
        let (file, runs) = (dir.path().join("lanes.json"), dir.path().join("runs"));
        let program = env!("CARGO_BIN_EXE_tiebreak");
        let body = format!(
            "echo run >> '{}'\nexec {clear}'{program}' verify --lanes '{}' --lane mine --op fpm --out '{}'\n",
            runs.display(),
            file.display(),
            dir.path().join("inner").display()
        );
        let file = lanes(dir.path(), &body, 2);
        let run = verify_in(&file, &["--kernel=tvm-relay", "--lane=mine", "--effort=quick"]).exits(1);
        let described = items(&run.ledger(), "findings")[0]["message"].to_string();
        assert!(described.contains("a lane's worker started this program"), "{described}");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(fs::read_to_string(&runs).expect("it ran").lines().count(), 1);
    }
}

/// The whole payload was once written before reading began, so that both sides waited for each other.
#[test]
fn a_worker_that_writes_while_it_reads_answers_a_million_elements() {
    let dir = TempDir::new().expect("a temporary directory");
    let body = r#"echo '{"answer":"done","bytes":4000000}'; head -c 4000000"#;
    let lane = opened(dir.path(), &offering("fpm", "tvm-relay", body), 5);
    let values: Vec<i32> = (0..1_000_000).collect();
    assert_eq!(run(&lane, &multiply(), values.len(), &values), Ok(values));
}

#[test]
fn a_worker_that_reads_nothing_and_one_that_writes_without_end_are_hung() {
    let dir = TempDir::new().expect("a temporary directory");
    let values = vec![1; 1_000_000];
    let lane = opened(dir.path(), &offering("fpm", "tvm-relay", "sleep 300"), 1);
    assert_eq!(run(&lane, &multiply(), values.len(), &values), Err(Failure::Hung(Duration::from_secs(1))));
    let lane = opened(dir.path(), &offering("fpm", "tvm-relay", "cat /dev/zero"), 1);
    let failure = run(&lane, &multiply(), values.len(), &values).unwrap_err();
    assert_eq!(failure, Failure::Hung(Duration::from_secs(1)));
}

/// With a fixed time limit, a large product under emulation was called hung.
#[test]
fn a_large_product_may_take_longer_than_a_small_one() {
    let dir = TempDir::new().expect("a temporary directory");
    // Two sizes, each read and answered after three seconds.
    let body = r#"case "$line" in *'"k":1,'*) read=512;; *) read=2097152;; esac
        head -c $read > /dev/null; sleep 3; echo '{"answer":"done","bytes":16384}'; head -c 16384 /dev/zero"#;
    let lane = opened(dir.path(), &offering("matmul", "arm-uadalp", body), 1);
    let product = |k: usize| {
        let params = matmul::Params { m: 64, n: 64, k, lhs_offset: 0, rhs_offset: 0 };
        run(&lane, &Job::Matmul { kernel: "arm-uadalp".to_owned(), params }, 64 * 64, &vec![0; 2 * 64 * k])
    };
    assert_eq!(product(1), Err(Failure::Hung(Duration::from_secs(1))));
    assert_eq!(product(16_384).map(|out| out.len()), Ok(64 * 64));
}

/// A spinning worker uses a processor, but makes no progress.
#[test]
fn a_worker_that_spins_is_hung() {
    let described = greeting("read -r line\nwhile :; do :; done\n");
    assert!(described.contains("no answer within 2s"), "{described}");
}

#[test]
fn a_worker_that_is_paused_is_not_hung() {
    let dir = TempDir::new().expect("a temporary directory");
    let pid = dir.path().join("pid");
    let body = format!(
        "echo $$ > '{}'\n{}",
        pid.display(),
        offering(
            "fpm",
            "tvm-relay",
            r#"kill -STOP $$
        head -c 4 > /dev/null; echo '{"answer":"done","bytes":4}'; head -c 4 /dev/zero"#
        )
    );
    let lane = opened(dir.path(), &body, 1);
    let answer = std::thread::scope(|scope| {
        let answer = scope.spawn(|| run(&lane, &multiply(), 1, &[7]));
        std::thread::sleep(Duration::from_secs(4));
        signal("-CONT", &line_of(&pid));
        answer.join().expect("no panic")
    });
    assert_eq!(answer, Ok(vec![0]));
}

/// Both are paused, and continue one after the other. The pause counts for neither of them.
#[test]
fn a_harness_that_was_paused_does_not_count_the_pause() {
    let dir = TempDir::new().expect("a temporary directory");
    let pid = dir.path().join("pid");
    let body = format!("echo $$ > '{}'\nsleep 1\n{}", pid.display(), offering("fpm", "tvm-relay", "echo no"));
    let mut command = program();
    command.args(["verify", "--kernel=tvm-relay", "--lane=mine", "--effort=quick", "--lanes"]);
    command.arg(lanes(dir.path(), &body, 2)).arg("--out").arg(dir.path().join("out"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("tiebreak starts");
    let (harness, worker) = (child.id().to_string(), line_of(&pid));
    signal("-STOP", &worker);
    signal("-STOP", &harness);
    std::thread::sleep(Duration::from_secs(5));
    signal("-CONT", &harness);
    std::thread::sleep(Duration::from_millis(300));
    signal("-CONT", &worker);
    let run = ended(child.wait_with_output().expect("it ends"), dir);
    assert_eq!(run.ledger()["lanes"][0]["status"], "ran", "{}", run.printed());
}

/// A time limit beyond the range of the clock is accepted; a limit of zero is not.
#[test]
fn any_patience_is_taken_but_none() {
    let with = |patience: u64| {
        let dir = TempDir::new().expect("a temporary directory");
        let file = dir.path().join("lanes.json");
        let lane = serde_json::json!({"name": "mine", "command": worker("host-worker"), "patience_seconds": patience});
        fs::write(&file, serde_json::json!({"lanes": [lane]}).to_string()).expect("written");
        verify_in(&file, &["--kernel=tvm-relay", "--lane=mine", "--multiplier=1073741824", "--shift=-1", "--x=1"])
    };
    with(u64::MAX).exits(0);
    with(9_223_372_036_854_775_807).exits(0);
    assert!(with(0).exits(2).stderr.contains("expected a nonzero u64"));
}
