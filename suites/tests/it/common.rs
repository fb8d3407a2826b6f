//! Lanes, the program `tiebreak`, and its output.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tiebreak_impls::fpm::{self, Batch, Channel, Kernel, Params};
use tiebreak_impls::mutants;
use tiebreak_reports::files::{LEDGER, read_ledger};
use tiebreak_suites::engine::erased::{self, AnyCase};
use tiebreak_suites::engine::run::subject::{ExpectedCase, mask_undefined};
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::fpm::promised::Promised;
use tiebreak_suites::lane::Lane;
use tiebreak_suites::lane::config::Lanes;
use tiebreak_suites::operation::{Case, scheme_named};
use tiebreak_suites::verify::{OPS, kernel_names};

/// Returns the lanes file: next to the build of this test, otherwise that of the workspace.
pub(crate) fn lanes_file() -> PathBuf {
    let tests = std::env::current_exe().expect("the path of this test");
    let beside = tests.ancestors().skip(1).map(|dir| dir.join("tiebreak/lanes.json"));
    let mut candidates = beside.chain([target().join("tiebreak/lanes.json")]);
    let found = candidates.find(|file| file.is_file());
    found
        .unwrap_or_else(|| panic!("no lanes file: run `cargo xtask test`, which builds the lanes and then these tests"))
}

/// Time limit that stops an endless test. A sound test never comes near it, even on a busy machine.
pub(crate) const GUARD: Duration = Duration::from_secs(120);

/// Returns the seed for random values of tests: the seed of property tests.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("PROPTEST_RNG_SEED").ok();
    given.map_or(1, |seed| seed.parse().expect("PROPTEST_RNG_SEED is a number"))
}

/// Waits until `there` returns a value.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut there: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = there() {
            return found;
        }
        assert!(begun.elapsed() < GUARD, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// True if a program of this name starts here.
pub(crate) fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Reports that a test cannot run on this machine. The text is shown even if the test passes, unlike its standard output.
pub(crate) fn not_run(reason: &str) {
    writeln!(std::io::stderr(), "not run: {reason}").expect("standard error can be written");
}

/// Output of a run that several tests use.
pub(crate) struct Shared {
    /// Standard output.
    pub(crate) stdout: String,
    /// Ledger.
    pub(crate) ledger: Value,
    /// Text of `mismatches.csv`.
    pub(crate) mismatches: String,
    /// Text of `details.md`.
    pub(crate) details: String,
}

impl Shared {
    fn of(run: &Run) -> Self {
        let (mismatches, details) = (run.file("mismatches.csv"), run.file("details.md"));
        Self { stdout: run.stdout.clone(), ledger: run.ledger(), mismatches, details }
    }
}

/// Returns a quick run of everything on the host and on aarch64, which holds. It runs once for all tests.
pub(crate) fn whole() -> &'static Shared {
    static RUN: LazyLock<Shared> =
        LazyLock::new(|| Shared::of(&verify(&["--effort=quick", "--lane=host", "--lane", aarch64()]).exits(0)));
    &RUN
}

/// Returns a run of every kernel and mutant of an operation, on the host with quick effort. It runs once for all tests.
pub(crate) fn everything(op: &str) -> &'static Shared {
    static RUNS: LazyLock<Vec<(&str, OnceLock<Shared>)>> =
        LazyLock::new(|| OPS.iter().map(|op| (*op, OnceLock::new())).collect());
    let (_, run) = RUNS.iter().find(|(known, _)| *known == op).expect("an operation");
    run.get_or_init(|| {
        let mut arguments = vec!["--op", op, "--lane=host", "--effort=quick"];
        let names = names(op);
        arguments.extend(names.iter().flat_map(|name| ["--kernel", name]));
        Shared::of(&verify(&arguments).exits(1))
    })
}

/// Returns the kernels and mutants of an operation on the host.
fn names(op: &str) -> Vec<&'static str> {
    match op {
        "fpm" => {
            fpm::kernels().iter().map(|k| k.name).chain(mutants::fpm::mutants().iter().map(|m| m.kernel.name)).collect()
        }
        // Kernels of the compiler are only in lanes of compiled modules.
        _ => kernel_names(&[op.to_owned()]).into_iter().filter(|name| !name.starts_with("mlir-opt")).collect(),
    }
}

/// Returns the root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().expect("suites lies in the workspace").to_owned()
}

pub(crate) fn target() -> PathBuf {
    workspace().join("target")
}

/// Content of the lanes file.
pub(crate) static LANES: LazyLock<Lanes> = LazyLock::new(|| Lanes::read(&lanes_file()).expect("the lanes file is one"));

/// Returns the lane with real aarch64 instructions: emulated, or native on an aarch64 host.
pub(crate) fn aarch64() -> &'static str {
    let runs = |name: &&str| LANES.lanes.iter().any(|lane| lane.name == *name && lane.command.is_some());
    ["aarch64-qemu", "aarch64-native"].into_iter().find(runs).unwrap_or_else(|| {
        let reasons: Vec<_> =
            LANES.lanes.iter().filter_map(|l| Some(format!("{}: {}", l.name, l.not_run.as_ref()?))).collect();
        panic!("no aarch64 lane, run `cargo xtask test`: {}", reasons.join("; "))
    })
}

/// Returns the lanes in which every kernel must pass: this process, a process of the host, aarch64.
pub(crate) fn all_lanes() -> [&'static str; 3] {
    ["host", "host-worker", aarch64()]
}

/// Opens the lane of this name.
pub(crate) fn lane(name: &str) -> Lane {
    let opened = Lane::open(name, &LANES).expect("a known lane");
    opened.unwrap_or_else(|reason| panic!("lane {name} does not run ({reason}): run `cargo xtask test`"))
}

/// Returns the command of a lane's worker.
pub(crate) fn worker(name: &str) -> Vec<String> {
    let entry = LANES.lanes.iter().find(|lane| lane.name == name);
    let command = entry.and_then(|lane| lane.command.clone());
    command.unwrap_or_else(|| panic!("lane {name} has no worker: run `cargo xtask test`"))
}

/// Writes a lanes file with one lane.
pub(crate) fn lanes_with(dir: &Path, name: &str, command: &[String]) -> PathBuf {
    let file = dir.join("lanes.json");
    let lanes = serde_json::json!({"lanes": [{"name": name, "command": command, "patience_seconds": 2}]});
    std::fs::write(&file, lanes.to_string()).expect("the temporary directory can be written");
    file
}

/// Returns the command of a worker with replaced results for some inputs of a kernel: `(input, result)`, one word each.
pub(crate) fn corrupted(dir: &Path, command: &[String], kernel: &str, lies: &[(i32, i32)]) -> Vec<String> {
    let results: serde_json::Map<String, Value> =
        lies.iter().map(|(at, lie)| (at.to_string(), (*lie).into())).collect();
    corruptor(dir, command, &serde_json::json!([{"kernel": kernel, "results": results}]))
}

/// Returns the command of a worker with the faults in `rows`; `workers/corruptor.rs` defines their kinds.
pub(crate) fn corruptor(dir: &Path, command: &[String], rows: &Value) -> Vec<String> {
    let table = dir.join("lies.json");
    std::fs::write(&table, rows.to_string()).expect("the temporary directory can be written");
    let corruptor = [env!("CARGO_BIN_EXE_tiebreak-corruptor").to_owned(), table.to_string_lossy().into_owned()];
    [&corruptor[..], command].concat()
}

/// Returns a kernel, mutant or process mutant.
pub(crate) fn kernel(name: &str) -> &'static Kernel {
    fpm::find(name)
        .or_else(|| mutants::fpm::find(name).map(|m| &m.kernel))
        .or_else(|| mutants::process().iter().find(|k| k.name == name))
        .unwrap_or_else(|| panic!("no kernel {name}"))
}

/// Returns one channel with a multiplier in Q0.31.
pub(crate) fn channel(multiplier: i32, shift: i32) -> Channel {
    Channel { multiplier, shift }
}

/// Returns parameters of one channel.
pub(crate) fn params(channel: Channel) -> Params {
    Params { q: 31, channels: vec![channel] }
}

/// Returns a case with the expected results of a kernel's contract and of a reference.
pub(crate) fn posed(kernel: &erased::Kernel, reference: Option<&erased::Scheme>, case: Case<Batch>) -> ExpectedCase {
    let case = AnyCase::of::<FixedPointMultiply>(case);
    let expected = |scheme: &erased::Scheme| scheme.expected(&case).expect("a value");
    let contract = expected(&kernel.scheme().expect("known schemes"));
    let reference = reference.map(|scheme| mask_undefined(kernel.op(), &contract, expected(scheme)));
    ExpectedCase::new(case, contract, reference)
}

/// Returns the scheme of this name.
pub(crate) fn scheme(name: &str) -> Promised {
    scheme_named::<FixedPointMultiply>(name).expect("a known scheme")
}

/// Ended call of `tiebreak`.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    dir: TempDir,
}

impl Run {
    /// Returns the output directory.
    pub(crate) fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// Returns the text of a file in the output directory.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.out().join(name)).unwrap_or_else(|e| panic!("{name}: {e}\n{}", self.printed()))
    }

    /// Reads `ledger.json`.
    pub(crate) fn ledger(&self) -> Value {
        // A run never writes a contradictory ledger, whatever its findings.
        read_ledger(&self.out().join(LEDGER)).unwrap_or_else(|e| panic!("{e}\n{}", self.printed()));
        serde_json::from_str(&self.file("ledger.json")).expect("the ledger is JSON")
    }

    /// Returns the exit code and all output.
    pub(crate) fn printed(&self) -> String {
        format!("exit code {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.printed());
        self
    }
}

/// Returns a command that starts the program.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiebreak"));
    command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    command
}

/// Returns the output of a process, with its exit code. A process that a signal ended has no exit code, so the test fails.
pub(crate) fn ended(output: Output, dir: TempDir) -> Run {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("{}\n{stderr}", output.status));
    assert!(!stderr.contains("panicked"), "{stderr}");
    Run { code, stdout, stderr, dir }
}

/// Runs `tiebreak` with exactly these arguments.
pub(crate) fn tiebreak(arguments: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = program().args(arguments).current_dir(dir.path()).output().expect("tiebreak starts");
    ended(output, dir)
}

/// Runs `tiebreak verify` with these arguments, the lanes of this machine, and a separate output directory.
pub(crate) fn verify(arguments: &[&str]) -> Run {
    verify_in(&lanes_file(), arguments)
}

/// Runs `tiebreak verify` with another lanes file.
pub(crate) fn verify_in(lanes: &Path, arguments: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut command = program();
    command.arg("verify").arg("--lanes").arg(lanes).arg("--out").arg(dir.path().join("out")).args(arguments);
    let output = command.current_dir(dir.path()).output().expect("tiebreak starts");
    ended(output, dir)
}

/// Returns the items of an array in the ledger.
pub(crate) fn items<'a>(ledger: &'a Value, name: &str) -> &'a [Value] {
    ledger[name].as_array().unwrap_or_else(|| panic!("no array {name}"))
}

/// Returns the classes of the findings, in order.
pub(crate) fn finding_classes(ledger: &Value) -> Vec<&str> {
    items(ledger, "findings").iter().map(|f| f["class"].as_str().expect("a class")).collect()
}

/// Checks that the first ten lines have this kernel with the class, the smallest witness and the command of a finding.
#[track_caller]
pub(crate) fn in_the_first_ten_lines(run: &Run, kernel: &str) {
    let first: Vec<_> = run.stdout.lines().take(10).collect();
    let ledger = run.ledger();
    let named = |finding: &&Value| {
        let witness = &finding["witness"];
        let words = |key: &str| witness[key].as_str().unwrap_or("without a witness").to_owned();
        let got = format!("got {}", witness["got"].as_i64().unwrap_or_default());
        let line = |line: &&str| [kernel, &words("class"), &got].iter().all(|word| line.contains(word));
        let command = words("command");
        first.iter().any(line) && first.iter().any(|line| line.trim() == command)
    };
    let about = items(&ledger, "findings").iter().filter(|finding| finding["kernel"] == kernel);
    assert!(about.into_iter().any(|finding| named(&finding)), "{}", run.printed());
}

/// Runs a command that a report prints, with quotes as in a shell.
pub(crate) fn again(command: &str) -> Run {
    let described = command.strip_prefix("cargo xtask verify ").unwrap_or_else(|| panic!("another program: {command}"));
    let pieces = described.split('\'').enumerate();
    // Quoted text is one word.
    let words =
        pieces.flat_map(|(at, piece)| if at % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() });
    verify(&words.collect::<Vec<_>>())
}
