//! Files of a run that did not end: the `holds` of an earlier run once survived a kill, a signal and a wrong call.

use crate::common::*;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Quick and sound run; the last argument is the directory.
const SOUND: [&str; 7] = [
    "verify",
    "--kernel=tvm-relay",
    "--lane=host",
    "--multiplier=1073741824",
    "--shift=-1",
    "--x=1",
    "--out=tiebreak-out",
];

fn call(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = program();
    command.args(arguments).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("tiebreak starts")
}

fn ledger(dir: &Path) -> Value {
    let text = fs::read_to_string(dir.join("tiebreak-out/ledger.json")).expect("a ledger");
    serde_json::from_str(&text).expect("the ledger is JSON")
}

/// Checks that every file states that there is no verdict, with this reason.
#[track_caller]
fn unfinished(dir: &Path, why: &str) -> Value {
    let ledger = ledger(dir);
    assert_eq!(ledger["verdict"], "unfinished");
    let described = ledger["unfinished"].as_str().expect("a reason");
    assert!(described.contains(why), "{described}");
    let file = |name: &str| fs::read_to_string(dir.join("tiebreak-out").join(name)).expect("a file");
    assert!(file("summary.md").starts_with("# Tiebreak: unfinished\n\nNo verdict"), "{}", file("summary.md"));
    assert!(
        file("junit.xml").contains("type=\"unfinished\"")
            && !file("junit.xml").contains("errors=\"0\" failures=\"0\">\n        <testcase name=\"the run")
    );
    assert!(file("mismatches.csv").starts_with("op,kernel,"));
    ledger
}

/// Returns a directory in which a run has held.
fn held() -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    assert_eq!(output(&mut call(dir.path(), &SOUND)).status.code(), Some(0));
    assert_eq!(ledger(dir.path())["verdict"], "holds");
    dir
}

/// Starts a run that has finished its dot products and then waits, in its only thread, for a worker that never answers a batch.
fn waiting(dir: &Path) -> (Child, String) {
    waiting_for(dir, "sleep 300", &[])
}

/// As [`waiting`], with a command that the worker waits for, and words before the program's.
fn waiting_for(dir: &Path, sleep: &str, front: &[&str]) -> (Child, String) {
    let started = dir.join("started");
    let offer = r#"{"op":"transform","kernel":"i8mm-pack","isa_path":"scalar"}"#;
    let hello = format!(r#"{{"answer":"hello","protocol":1,"arch":"x86_64","kernels":[{offer}]}}"#);
    let body = format!(
        "read -r line\necho '{hello}'\nread -r line\n{sleep} & echo $! > '{}.new'; mv '{0}.new' '{0}'\nwait\n",
        started.display()
    );
    fs::write(dir.join("worker.sh"), body.replace("i8mm-pack", &transform())).expect("written");
    let lane = serde_json::json!({"name": "mine", "command": ["/bin/sh", "worker.sh"], "patience_seconds": 3600});
    fs::write(dir.join("lanes.json"), serde_json::json!({"lanes": [lane]}).to_string()).expect("written");
    let arguments = ["verify", "--lanes=lanes.json", "--lane=host", "--lane=mine", "--effort=quick", "--jobs=1"];
    let mut command = call(dir, &arguments);
    if let [program, others @ ..] = front {
        let rest =
            [command.get_program()].into_iter().chain(command.get_args()).map(OsStr::to_owned).collect::<Vec<_>>();
        command = Command::new(program);
        command.args(others).args(rest).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    let child = command.args(["--op=dot", "--op=transform"]).spawn().expect("tiebreak starts");
    wait_for("the worker is given a batch", || started.exists().then_some(()));
    (child, fs::read_to_string(&started).expect("a number").trim().to_owned())
}

/// Returns the name of a kernel of `transform`.
fn transform() -> String {
    tiebreak_impls::transform::kernels()[0].name.to_owned()
}

fn end(child: Child, signal: &str) -> Output {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill is there");
    assert!(status.success());
    child.wait_with_output().expect("it ends")
}

#[test]
fn an_old_verdict_does_not_survive_a_call_that_is_wrong() {
    let dir = held();
    let wrong = output(&mut call(dir.path(), &["verify", "--kernel=no-such-kernel", "--lane=host"]));
    assert_eq!(wrong.status.code(), Some(2));
    let ledger = unfinished(dir.path(), "unknown kernel `no-such-kernel`");
    assert_eq!(ledger["command"], "cargo xtask verify --kernel=no-such-kernel --lane=host");
}

#[test]
fn an_old_verdict_does_not_survive_a_kill() {
    let dir = held();
    let (child, _) = waiting(dir.path());
    assert_eq!(end(child, "-KILL").status.code(), None);
    unfinished(dir.path(), "the run is still going on, or was killed");
}

#[test]
fn a_run_that_fails_fast_ends_at_the_first_finding_and_holds_where_there_is_none() {
    let dir = held();
    let broken = ["verify", "--kernel=mutant-dead-fixup", "--op=fpm", "--op=dot", "--lane=host", "--effort=quick"];
    let run = output(call(dir.path(), &broken).args(["--kernel=arm-uadalp", "--fail-fast"]));
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let ledger = unfinished(dir.path(), "--fail-fast ended it at the first finding");
    assert_eq!(items(&ledger, "findings")[0]["kernel"], "mutant-dead-fixup");
    let dots = items(&ledger, "rows").iter().filter(|row| row["op"] == "dot").count();
    assert_eq!(dots, 0, "the operation after that of the finding was run");
    let sound = output(call(dir.path(), &SOUND).arg("--fail-fast"));
    assert_eq!(sound.status.code(), Some(0));
    assert_eq!(self::ledger(dir.path())["verdict"], "holds");
}

/// Checks that results judged before the signal are kept, and that no worker is left.
fn interrupted_by(signal: &str, code: i32, sleep: &str, front: &[&str]) {
    let dir = held();
    let (child, sleeper) = waiting_for(dir.path(), sleep, front);
    let output = end(child, signal);
    let described = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{described}");
    assert!(described.contains("marked as unfinished"), "{described}");
    let ledger = unfinished(dir.path(), "interrupted by");
    let dots = items(&ledger, "rows").iter().filter(|row| row["op"] == "dot" && row["lane"] == "host");
    assert!(dots.map(|row| row["inputs"].as_u64().expect("a count")).sum::<u64>() > 1000, "{ledger:#}");
    assert_eq!(items(&ledger, "lanes").len(), 2);
    let alive = || fs::read_to_string(format!("/proc/{sleeper}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    wait_for("no process of the worker outlives the run", || (!alive()).then_some(()));
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    interrupted_by("-INT", 130, "sleep 300", &[]);
}

/// Issue 31, item 9: a closed terminal left the run's processes behind, and none of its results.
#[test]
#[cfg(target_os = "linux")]
fn a_run_whose_terminal_is_closed_keeps_what_it_has() {
    interrupted_by("-HUP", 129, "sleep 300", &["env", "--default-signal=HUP"]);
}

/// Issue 31, item 9: a process that called `setsid` outlived its run.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_called_setsid_ends_with_an_interrupted_run() {
    interrupted_by("-TERM", 143, "setsid sleep 300", &[]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_is_to_outlive_its_terminal_does() {
    let dir = held();
    let (mut child, _) = waiting_for(dir.path(), "sleep 300", &["env", "--ignore-signal=HUP"]);
    let hang_up = Command::new("kill").args(["-HUP", &child.id().to_string()]).status().expect("kill is there");
    assert!(hang_up.success());
    // The run would have ended within this time.
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("it can be asked").is_none());
    assert_eq!(end(child, "-TERM").status.code(), Some(143));
}

/// Issue 31, item 9: two runs mixed their files in one directory.
#[test]
fn a_second_run_into_one_directory_is_refused() {
    let dir = held();
    let (child, _) = waiting(dir.path());
    let second = output(&mut call(dir.path(), &SOUND));
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(2), "{message}");
    let named = format!("another run writes to tiebreak-out (process {})", child.id());
    let named = if cfg!(target_os = "linux") { &*named } else { "another run writes to tiebreak-out" };
    assert!(message.contains(named) && message.contains("--out DIR"), "{message}");
    unfinished(dir.path(), "the run is still going on");
    let elsewhere = output(call(dir.path(), &SOUND[..6]).arg("--out=elsewhere"));
    assert_eq!(elsewhere.status.code(), Some(0));
    end(child, "-TERM");
    assert_eq!(output(&mut call(dir.path(), &SOUND)).status.code(), Some(0));
}

#[test]
fn a_terminated_run_keeps_what_it_has() {
    interrupted_by("-TERM", 143, "sleep 300", &[]);
}

/// The output was once printed before any file was written, so that a failure left no file.
#[test]
fn a_standard_output_that_takes_nothing_costs_no_file() {
    let dir = TempDir::new().expect("a temporary directory");
    let full = File::options().write(true).open("/dev/full").expect("the system has it");
    let run = output(call(dir.path(), &SOUND).stdout(full));
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("cannot write to standard output"));
    assert_eq!(ledger(dir.path())["verdict"], "holds");
}

/// Each case was once a panic with exit code 101: error and progress lines of any command.
#[test]
fn a_standard_error_that_takes_nothing_is_no_panic() {
    let dir = TempDir::new().expect("a temporary directory");
    let space = [
        "census",
        "--space=q31",
        "--left=ties-up",
        "--right=ties-even",
        "--shift=-8",
        "--multipliers=1073741824..1073741825",
    ];
    let calls: [(&[&str], i32); 5] = [
        (&SOUND, 0),
        (&["verify", "--kernel=no-such-kernel"], 2),
        (&["verify", "--no-such-option"], 2),
        (&["kernels", "--op=no-such-operation"], 2),
        (&space, 0),
    ];
    for (arguments, code) in calls {
        let full = File::options().write(true).open("/dev/full").expect("the system has it");
        let run = output(call(dir.path(), arguments).stderr(full));
        assert_eq!(run.status.code(), Some(code), "{arguments:?}");
    }
}

/// Every command reports a standard output that cannot be written, also for help.
#[test]
fn a_standard_output_that_takes_nothing_is_an_error_of_every_command() {
    let dir = TempDir::new().expect("a temporary directory");
    let case = ["case", "--x=1", "--multiplier=1073741824", "--shift=-1"];
    for arguments in [&["kernels"][..], &["schemes"], &["--help"], &["verify", "--help"], &case] {
        let full = File::options().write(true).open("/dev/full").expect("the system has it");
        let run = output(call(dir.path(), arguments).stdout(full));
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_directory_whose_name_is_no_text_is_no_panic() {
    let dir = TempDir::new().expect("a temporary directory");
    let name = OsStr::from_bytes(b"out\xff");
    let run = output(call(dir.path(), &SOUND[..6]).arg("--out").arg(name));
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(dir.path().join(name).join("ledger.json").is_file());
}
