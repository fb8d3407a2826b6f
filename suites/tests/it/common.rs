//! Lanes, the program `tiebreak`, and what it leaves.

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
use tiebreak_suites::engine::run::subject::{ExpectedCase, mask_undefined};
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::fpm::promised::Promised;
use tiebreak_suites::lane::Lane;
use tiebreak_suites::lane::config::Lanes;
use tiebreak_suites::operation::{Case, Operation, scheme_named};
use tiebreak_suites::verify::{OPS, kernel_names};

/// The lanes file: beside what this test was built into, otherwise that of the workspace.
pub(crate) fn lanes_file() -> PathBuf {
    let tests = std::env::current_exe().expect("the path of this test");
    let beside = tests.ancestors().skip(1).map(|dir| dir.join("tiebreak/lanes.json"));
    let mut candidates = beside.chain([target().join("tiebreak/lanes.json")]);
    let found = candidates.find(|file| file.is_file());
    found
        .unwrap_or_else(|| panic!("no lanes file: run `cargo xtask test`, which builds the lanes and then these tests"))
}

/// A guard against what never ends, or ends after many minutes: nothing that is sound comes near it, on a busy machine either.
pub(crate) const GUARD: Duration = Duration::from_secs(120);

/// What tests that draw something for themselves draw it from: the seed of property tests.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("PROPTEST_RNG_SEED").ok();
    given.map_or(1, |seed| seed.parse().expect("PROPTEST_RNG_SEED is a number"))
}

/// Waits until there is something.
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

/// Whether a program of that name starts here.
pub(crate) fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Says that a test has nothing to run on this machine. What is printed by a test that passes is not shown; this is.
pub(crate) fn not_run(reason: &str) {
    writeln!(std::io::stderr(), "not run: {reason}").expect("standard error can be written");
}

/// What a run leaves that several tests look at.
pub(crate) struct Shared {
    /// What it printed.
    pub(crate) stdout: String,
    /// The ledger.
    pub(crate) ledger: Value,
    /// The text of `mismatches.csv`.
    pub(crate) mismatches: String,
    /// The text of `details.md`.
    pub(crate) details: String,
}

impl Shared {
    fn of(run: &Run) -> Self {
        let (mismatches, details) = (run.file("mismatches.csv"), run.file("details.md"));
        Self { stdout: run.stdout.clone(), ledger: run.ledger(), mismatches, details }
    }
}

/// A quick run of everything on the host and on aarch64, which holds: run once for all tests that look at it.
pub(crate) fn whole() -> &'static Shared {
    static RUN: LazyLock<Shared> =
        LazyLock::new(|| Shared::of(&verify(&["--effort=quick", "--lane=host", "--lane", aarch64()]).exits(0)));
    &RUN
}

/// Every kernel and every mutant of an operation, on the host with quick effort: run once for all tests that look at it.
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

/// The kernels and mutants of an operation that the host has.
fn names(op: &str) -> Vec<&'static str> {
    match op {
        "fpm" => {
            fpm::kernels().iter().map(|k| k.name).chain(mutants::fpm::mutants().iter().map(|m| m.kernel.name)).collect()
        }
        // Lanes of compiled modules have those of the compiler.
        _ => kernel_names(&[op.to_owned()]).into_iter().filter(|name| !name.starts_with("mlir-opt")).collect(),
    }
}

/// The workspace.
pub(crate) fn workspace() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().expect("suites lies in the workspace").to_owned()
}

pub(crate) fn target() -> PathBuf {
    workspace().join("target")
}

/// Everything in the lanes file.
pub(crate) static LANES: LazyLock<Lanes> = LazyLock::new(|| Lanes::read(&lanes_file()).expect("the lanes file is one"));

/// The lane with real aarch64 instructions: emulated, or native where the host is aarch64.
pub(crate) fn aarch64() -> &'static str {
    let runs = |name: &&str| LANES.lanes.iter().any(|lane| lane.name == *name && lane.command.is_some());
    ["aarch64-qemu", "aarch64-native"].into_iter().find(runs).unwrap_or_else(|| {
        let reasons: Vec<_> =
            LANES.lanes.iter().filter_map(|l| Some(format!("{}: {}", l.name, l.not_run.as_ref()?))).collect();
        panic!("no aarch64 lane, run `cargo xtask test`: {}", reasons.join("; "))
    })
}

/// The lanes that every kernel must pass in: this process, a process of the host, aarch64.
pub(crate) fn all_lanes() -> [&'static str; 3] {
    ["host", "host-worker", aarch64()]
}

/// The lane of that name.
pub(crate) fn lane(name: &str) -> Lane {
    let opened = Lane::open(name, &LANES).expect("a known lane");
    opened.unwrap_or_else(|reason| panic!("lane {name} does not run ({reason}): run `cargo xtask test`"))
}

/// The command of a lane's worker.
pub(crate) fn worker(name: &str) -> Vec<String> {
    let entry = LANES.lanes.iter().find(|lane| lane.name == name);
    let command = entry.and_then(|lane| lane.command.clone());
    command.unwrap_or_else(|| panic!("lane {name} has no worker: run `cargo xtask test`"))
}

/// A lanes file with one lane.
pub(crate) fn lanes_with(dir: &Path, name: &str, command: &[String]) -> PathBuf {
    let file = dir.join("lanes.json");
    let lanes = serde_json::json!({"lanes": [{"name": name, "command": command, "patience_seconds": 2}]});
    std::fs::write(&file, lanes.to_string()).expect("the temporary directory can be written");
    file
}

/// The command of a worker whose results for some inputs of a kernel are replaced: `(input, result)`, each a word.
pub(crate) fn corrupted(dir: &Path, command: &[String], kernel: &str, lies: &[(i32, i32)]) -> Vec<String> {
    let results: serde_json::Map<String, Value> =
        lies.iter().map(|(at, lie)| (at.to_string(), (*lie).into())).collect();
    corruptor(dir, command, &serde_json::json!([{"kernel": kernel, "results": results}]))
}

/// The command of a worker that lies as `rows` say; `workers/corruptor.rs` has the kinds.
pub(crate) fn corruptor(dir: &Path, command: &[String], rows: &Value) -> Vec<String> {
    let table = dir.join("lies.json");
    std::fs::write(&table, rows.to_string()).expect("the temporary directory can be written");
    let corruptor = [env!("CARGO_BIN_EXE_tiebreak-corruptor").to_owned(), table.to_string_lossy().into_owned()];
    [&corruptor[..], command].concat()
}

/// A kernel, mutant or process mutant.
pub(crate) fn kernel(name: &str) -> &'static Kernel {
    fpm::find(name)
        .or_else(|| mutants::fpm::find(name).map(|m| &m.kernel))
        .or_else(|| mutants::process().iter().find(|k| k.name == name))
        .unwrap_or_else(|| panic!("no kernel {name}"))
}

/// One channel with a multiplier of Q0.31.
pub(crate) fn channel(multiplier: i32, shift: i32) -> Channel {
    Channel { multiplier, shift }
}

/// Parameters of one channel.
pub(crate) fn params(channel: Channel) -> Params {
    Params { q: 31, channels: vec![channel] }
}

/// A case as a kernel of fixed point multiply is held against its contract and a reference.
pub(crate) fn posed(kernel: &Kernel, reference: Option<&Promised>, case: Case<Batch>) -> ExpectedCase<Batch> {
    let contract = FixedPointMultiply::contract(kernel).expect("known schemes");
    let expected = |scheme: &Promised| FixedPointMultiply::expected(scheme, &case).expect("a value");
    let contract = expected(&contract);
    let reference = reference.map(|scheme| mask_undefined::<FixedPointMultiply>(&contract, expected(scheme)));
    ExpectedCase::new(case, contract, reference)
}

/// The scheme of that name.
pub(crate) fn scheme(name: &str) -> Promised {
    scheme_named::<FixedPointMultiply>(name).expect("a known scheme")
}

/// A call of `tiebreak` that has ended.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    dir: TempDir,
}

impl Run {
    /// The output directory.
    pub(crate) fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// A file of the output directory.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.out().join(name)).unwrap_or_else(|e| panic!("{name}: {e}\n{}", self.printed()))
    }

    /// `ledger.json`.
    pub(crate) fn ledger(&self) -> Value {
        // What a run writes contradicts nothing, whatever it found.
        read_ledger(&self.out().join(LEDGER)).unwrap_or_else(|e| panic!("{e}\n{}", self.printed()));
        serde_json::from_str(&self.file("ledger.json")).expect("the ledger is JSON")
    }

    /// Everything it said.
    pub(crate) fn printed(&self) -> String {
        format!("exit code {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.printed());
        self
    }
}

/// The program, to be started.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tiebreak"));
    command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    command
}

/// What a process left, with its exit code; a process that a signal ended has none, and that is never right.
pub(crate) fn ended(output: Output, dir: TempDir) -> Run {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("{}\n{stderr}", output.status));
    assert!(!stderr.contains("panicked"), "{stderr}");
    Run { code, stdout, stderr, dir }
}

/// `tiebreak` with these arguments as they are.
pub(crate) fn tiebreak(arguments: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = program().args(arguments).current_dir(dir.path()).output().expect("tiebreak starts");
    ended(output, dir)
}

/// `tiebreak verify` with these arguments, the lanes of this machine, and an output directory of its own.
pub(crate) fn verify(arguments: &[&str]) -> Run {
    verify_in(&lanes_file(), arguments)
}

/// The same with a lanes file of one's own.
pub(crate) fn verify_in(lanes: &Path, arguments: &[&str]) -> Run {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut command = program();
    command.arg("verify").arg("--lanes").arg(lanes).arg("--out").arg(dir.path().join("out")).args(arguments);
    let output = command.current_dir(dir.path()).output().expect("tiebreak starts");
    ended(output, dir)
}

/// The items of an array of the ledger.
pub(crate) fn items<'a>(ledger: &'a Value, name: &str) -> &'a [Value] {
    ledger[name].as_array().unwrap_or_else(|| panic!("no array {name}"))
}

/// The classes of the findings, in order.
pub(crate) fn finding_classes(ledger: &Value) -> Vec<&str> {
    items(ledger, "findings").iter().map(|f| f["class"].as_str().expect("a class")).collect()
}

/// The first ten lines name this kernel with the class, the smallest witness and the command of a finding about it.
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

/// Runs a command that a report prints, which quotes as a shell does.
pub(crate) fn again(command: &str) -> Run {
    let described = command.strip_prefix("cargo xtask verify ").unwrap_or_else(|| panic!("another program: {command}"));
    let pieces = described.split('\'').enumerate();
    // What stands between quotes is one word.
    let words =
        pieces.flat_map(|(at, piece)| if at % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() });
    verify(&words.collect::<Vec<_>>())
}
