//! Acceptance 4: breaks a kernel on purpose in a scratch copy of `impls`, builds its worker, and verifies it.
//!
//! The copy is below the target directory and has a separate target directory, so that only the first run builds dependencies. A worker is kept under
//! the name of its change and a hash of its sources.

use crate::common::*;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Change of the kernels' sources: a file below `impls/src`, the old text, and the new text.
pub(crate) struct Change {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

/// Returns the directory of the scratch copies, which `cargo clean` removes, too.
fn home() -> PathBuf {
    lanes_file().parent().expect("a file lies in a directory").join("scratch")
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("a directory")).expect("the target directory can be written");
    fs::write(path, text).expect("the target directory can be written");
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("sources can be listed") {
        let path = entry.expect("sources can be listed").path();
        if path.is_dir() { sources(&path, found) } else { found.push(path) }
    }
}

/// Sources of the worker.
const FOLDERS: [&str; 2] = ["impls/src", "impls/worker/src"];

/// Returns the files of a workspace with only the packages of the worker, after the change, by path.
fn files(change: &Change) -> BTreeMap<PathBuf, String> {
    let from = workspace();
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let manifest = read(&from.join("Cargo.toml"));
    let members = manifest.lines().find(|l| l.starts_with("members = [")).expect("the workspace lists its members");
    let alone = manifest.replace(members, "members = [\"impls\", \"impls/worker\"]");
    let ours = |line: &&str| {
        !line.starts_with("tiebreak-")
            || ["tiebreak-impls ", "tiebreak-worker "].iter().any(|name| line.starts_with(name))
    };
    let manifest = alone.lines().filter(ours).collect::<Vec<_>>().join("\n") + "\n";
    let mut files = BTreeMap::from([(PathBuf::from("Cargo.toml"), manifest)]);
    let mut paths = vec![from.join("impls/Cargo.toml"), from.join("impls/worker/Cargo.toml")];
    FOLDERS.iter().for_each(|folder| sources(&from.join(folder), &mut paths));
    for path in paths {
        let below = path.strip_prefix(&from).expect("below the workspace").to_owned();
        // The copy has neither the build scripts nor their dependency.
        files.insert(below, read(&path).replace("tiebreak-sources.workspace = true\n", ""));
    }
    let broken = files.get_mut(&Path::new("impls/src").join(change.file)).expect("the file to be broken is there");
    let times = broken.matches(change.from).count();
    assert_eq!(times, 1, "{}: the text to be broken is there {times} times: {}", change.file, change.from);
    *broken = broken.replace(change.from, change.to);
    files
}

/// Returns the worker of a scratch copy; a worker built from equal sources is reused.
pub(crate) fn broken_worker(change: &Change) -> PathBuf {
    let (home, files) = (home(), files(change));
    fs::create_dir_all(&home).expect("the target directory can be written");
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let worker = home.join(format!("{}-{:016x}", change.name, hasher.finish()));
    // The changes share one copy and its target directory, so only one builds at a time.
    let lock = File::create(home.join("lock")).expect("the target directory can be written");
    lock.lock().expect("it can be locked");
    if worker.is_file() {
        return worker;
    }
    let copy = home.join("copy");
    // A file that has moved since an earlier copy would exist twice.
    let mut old = Vec::new();
    FOLDERS.map(|folder| copy.join(folder)).iter().filter(|folder| folder.is_dir()).for_each(|f| sources(f, &mut old));
    let gone = |path: &&PathBuf| path.strip_prefix(&copy).is_ok_and(|below| !files.contains_key(below));
    old.iter().filter(gone).for_each(|path| fs::remove_file(path).expect("the target directory can be written"));
    for (path, text) in &files {
        write_if_changed(&copy.join(path), text);
    }
    // Cargo removes unneeded packages from the lock file.
    fs::copy(workspace().join("Cargo.lock"), copy.join("Cargo.lock")).expect("the workspace has one");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--offline", "--release", "--package=tiebreak-worker", "--bin=tiebreak-worker"]);
    // The dependencies of the worker need no optimisation. The changes differ in one line each, so an incremental build serves the next one.
    cargo.args(["--config", "profile.release.opt-level=0"]);
    cargo.args(["--config", "profile.release.package.tiebreak-impls.incremental=true"]);
    cargo.args(["--config", "profile.release.package.tiebreak-impls.codegen-units=256"]);
    cargo.args(["--config", "profile.release.package.tiebreak-impls.opt-level=1"]);
    cargo.current_dir(&copy).env("CARGO_TARGET_DIR", home.join("target")).env_remove("CARGO_BUILD_TARGET");
    let built = cargo.output().expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let fresh = home.join("fresh");
    fs::copy(home.join("target/release/tiebreak-worker"), &fresh).expect("cargo built it");
    fs::rename(&fresh, &worker).expect("the target directory can be written");
    worker
}

/// Verifies `kernel` after the change: exit code 1, one class, the smallest witness in a line, and the cause as text.
fn broken(change: &Change, kernel: &str, witness: &str, class: &str, because: &str) {
    let worker = broken_worker(change);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes_with(dir.path(), "scratch", &[worker.to_string_lossy().into_owned()]);
    let run = verify_in(&file, &["--lane=scratch", "--effort=quick", "--kernel", kernel]).exits(1);
    let line = format!("fpm {kernel} scratch {witness}, class {class}");
    assert!(run.stdout.contains(&line), "no `{line}` in\n{}", run.printed());
    assert!(run.stdout.contains(because), "no `{because}` in\n{}", run.printed());
    in_the_first_ten_lines(&run, kernel);
    let ledger = run.ledger();
    let classes = finding_classes(&ledger);
    assert!(!classes.is_empty() && classes.iter().all(|c| *c == class), "{}", run.printed());
}

#[test]
fn no_saturation_in_srdhm() {
    let change = Change {
        name: "no-saturation",
        file: "fpm/gemmlowp.rs",
        from: "    if a == i32::MIN && b == i32::MIN {\n        return i32::MAX;\n    }\n",
        to: "",
    };
    // 1 << 31 is the smallest accumulator whose left shift is i32::MIN.
    let witness = "x=1 m=-2147483648 s=31: got -2147483648, gemmlowp-double 2147483647";
    broken(
        &change,
        "gemmlowp-scalar",
        witness,
        "missing-saturation",
        "wraps where \"doubling high multiply saturates\"",
    );
}

#[test]
fn ties_the_other_way_in_rounding_divide_by_pot() {
    let change = Change {
        name: "ties-the-other-way",
        file: "fpm/gemmlowp.rs",
        from: "let threshold = (mask >> 1) + i32::from(x < 0);",
        to: "let threshold = (mask >> 1) + i32::from(x >= 0);",
    };
    let witness = "x=1 m=1073741824 s=-1: got 0, gemmlowp-double 1";
    broken(&change, "gemmlowp-scalar", witness, "tie-direction", "ties-to-zero where ties-away is promised");
}

#[test]
fn fixup_dropped_from_the_intrinsic_rule() {
    let change = Change {
        name: "fixup-dropped-tvm",
        file: "fpm/tvm_neon.rs",
        from: "return fixed.srshl(shift);",
        to: "fixed.keep();\n        return y.srshl(shift);",
    };
    let witness = "x=-1 m=1073741825 s=-1: got 0, sqrdmulh-fixup-srshl -1";
    broken(&change, "tvm-neon-fixup", witness, "tie-direction", "\"fixup\" is dropped");
}

/// The scalar tail keeps its ties, so the class is the position, and the cause is the tie rule in the body.
#[test]
fn fixup_dropped_from_the_vector_form_of_gemmlowp() {
    let change = Change {
        name: "fixup-dropped-gemmlowp",
        file: "fpm/gemmlowp.rs",
        from: "y.sqadd(fixup).srshl(right)",
        to: "y.sqadd(fixup).keep();\n        y.srshl(right)",
    };
    let witness = "x=-1 m=1073741825 s=-1 index=0 len=16: got 0, gemmlowp-double -1";
    let because = "vectors of 4, body: ties-up where ties-away is promised";
    broken(&change, "gemmlowp-neon", witness, "position", because);
}
