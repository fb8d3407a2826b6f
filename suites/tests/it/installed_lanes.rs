//! The code of a lane is identified by content, and an installed lane must run. A replaced compiler is called, a damaged object is made again, and a
//! crashed worker is a finding. `cargo xtask test` installs the tools.

use crate::common::*;
use crate::installed_program::{installed, shell, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const TYPE: &str = "!quant.uniform<i8:f32, 0.3:1>";

/// Lane of compiled modules that runs on this host without an emulator.
const NATIVE: &str = if cfg!(target_arch = "aarch64") { "mlir-aarch64" } else { "mlir-x86" };

/// This lane, as in the lanes file, and a directory for a test's own files.
struct Installed {
    dir: TempDir,
    lane: Value,
}

impl Installed {
    /// Uses a separate cache, and a separate link to `mlir-opt`.
    fn new() -> Self {
        let text = fs::read_to_string(lanes_file()).expect("the lanes file");
        let lanes: Value = serde_json::from_str(&text).expect("it is JSON");
        let lane = items(&lanes, "lanes").iter().find(|lane| lane["name"] == NATIVE).expect("a known lane");
        let installed = Self { dir: tempfile::tempdir().expect("a temporary directory"), lane: lane.clone() };
        let mut lane = installed.lane.clone();
        lane["modules"]["mlir_opt"] = json!(installed.path("mlir-opt"));
        lane["modules"]["cache"] = json!(installed.path("cache"));
        std::os::unix::fs::symlink(installed.real(), installed.path("mlir-opt")).expect("a link");
        Self { lane, ..installed }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the path of the shipped `mlir-opt`.
    fn real(&self) -> PathBuf {
        let text = fs::read_to_string(lanes_file()).expect("the lanes file");
        let lanes: Value = serde_json::from_str(&text).expect("it is JSON");
        let lane = items(&lanes, "lanes").iter().find(|lane| lane["name"] == NATIVE).expect("a known lane");
        lane["modules"]["mlir_opt"].as_str().expect("run `cargo xtask test`, which installs the tools").into()
    }

    /// Replaces `mlir-opt` by a script that turns additions into subtractions, and is otherwise the shipped program.
    fn replace(&self) {
        let (link, real) = (self.path("mlir-opt"), self.real());
        let body = format!(
            "#!/bin/sh\nreal='{}'\ncase \"$1\" in --pass-pipeline=*) ;; *) exec \"$real\" \"$@\" ;; esac\n\
             \"$real\" \"$1\" \"$2\" | sed s/llvm.fadd/llvm.fsub/ | \"$real\" --emit-bytecode -o \"$5\" -\n",
            real.display()
        );
        fs::remove_file(&link).expect("the link is there");
        fs::write(&link, body).expect("a script");
        let made = Command::new("chmod").arg("+x").arg(&link).status().expect("chmod is there");
        assert!(made.success());
    }

    fn put_back(&self) {
        fs::remove_file(self.path("mlir-opt")).expect("it is there");
        std::os::unix::fs::symlink(self.real(), self.path("mlir-opt")).expect("a link");
    }

    fn run(&self) -> Run {
        let kernel = "--kernel=mlir-opt-qcast-o0";
        verify_in(
            &lanes(self.dir.path(), std::slice::from_ref(&self.lane)),
            &["--op=quantize", kernel, "--lane", NATIVE, "--effort=quick", "--type", TYPE],
        )
    }

    /// Returns the objects in the cache.
    fn objects(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path("cache")).expect("the cache").map(|entry| entry.expect("a file").path());
        files.filter(|file| file.extension().is_some_and(|extension| extension == "so")).collect()
    }
}

/// Writes a lanes file of these lanes.
fn lanes(dir: &Path, lanes: &[Value]) -> PathBuf {
    let file = dir.join("lanes.json");
    fs::write(&file, json!({ "lanes": lanes }).to_string()).expect("a file");
    file
}

/// Equal path and version, but another program. The cache key was once the version, so the new program was never called.
#[test]
fn a_replaced_compiler_is_called_with_a_warm_cache() {
    let fresh = Installed::new();
    fresh.replace();
    let detected = fresh.run().exits(1).ledger();
    assert!(items(&detected, "findings").iter().any(|finding| finding["kernel"] == "mlir-opt-qcast-o0"), "{detected}");

    let warm = Installed::new();
    let shipped = warm.run().exits(0).ledger();
    let objects = warm.objects();
    warm.replace();
    let replaced = warm.run().exits(1).ledger();
    assert_eq!(finding_classes(&replaced), finding_classes(&detected));
    // A program that a script starts may change while the script stays the same.
    let again = warm.run().exits(1).ledger();
    assert_eq!(finding_classes(&again), finding_classes(&detected));
    let file = |ledger: &Value| {
        let files = items(&ledger["lanes"][0], "files");
        files.iter().find(|file| file["name"] == "mlir-opt").cloned().expect("the tool is in the ledger")
    };
    assert_ne!(file(&shipped)["sha256"], file(&replaced)["sha256"]);

    warm.put_back();
    let made = |file: &PathBuf| file.metadata().and_then(|m| m.modified()).expect("it is there");
    let times: Vec<_> = objects.iter().map(made).collect();
    warm.run().exits(0);
    assert_eq!(objects.iter().map(made).collect::<Vec<_>>(), times, "what the shipped tools made is still kept");
}

/// J: a compiler on the command line is called even if the cache has results of the shipped one, and the printed command names it.
#[test]
fn a_compiler_of_the_command_line_is_called_with_a_warm_cache() {
    let warm = Installed::new();
    warm.run().exits(0);
    let real = warm.real();
    warm.replace();
    let own = warm.path("mlir-opt");
    let file = lanes(
        warm.dir.path(),
        &[{
            let mut lane = warm.lane.clone();
            lane["modules"]["mlir_opt"] = json!(real);
            lane
        }],
    );
    let named = ["--mlir-opt", &own.to_string_lossy()].map(str::to_owned);
    let arguments = ["--op=quantize", "--kernel=mlir-opt-qcast-o0", "--lane", NATIVE, "--effort=quick", "--type", TYPE];
    verify_in(&file, &arguments).exits(0);
    let all: Vec<&str> = arguments.into_iter().chain(named.iter().map(String::as_str)).collect();
    let run = verify_in(&file, &all).exits(1);
    let ledger = run.ledger();
    let findings = items(&ledger, "findings");
    assert!(findings.iter().all(|finding| finding["kernel"] == "mlir-opt-qcast-o0"), "{ledger}");
    let command = findings[0]["witness"]["command"].as_str().expect("a command");
    assert!(command.contains(&named.join(" ")), "{command}");
    let absent = verify_in(&file, &["--op=quantize", "--mlir-opt", "/nowhere/mlir-opt"]).exits(2);
    assert!(absent.stderr.contains("--mlir-opt /nowhere/mlir-opt: the program does not start"), "{}", absent.printed());
}

/// Invariant 11: compiler, libraries and worker, with the hash that `sha256sum` prints.
#[test]
fn the_ledger_says_what_made_a_lane() {
    let installed = Installed::new();
    let ledger = installed.run().exits(0).ledger();
    let files = items(&ledger["lanes"][0], "files");
    let has = |role: &str, name: &str| {
        let found = files.iter().find(|f| f["role"] == role && f["name"].as_str().is_some_and(|n| n.starts_with(name)));
        found.unwrap_or_else(|| panic!("no {role} {name}: {files:#?}"))
    };
    for (role, name) in [
        ("worker", "tiebreak-worker"),
        ("tool", "mlir-translate"),
        ("tool", "opt"),
        ("tool", "llc"),
        ("tool", "ld"),
        ("linked", "crti.o"),
        ("library", "libMLIR.so"),
        ("library", "libLLVM.so"),
        ("library", "libc.so"),
    ] {
        has(role, name);
    }
    let described = Command::new("sha256sum").arg(installed.real()).output().expect("sha256sum is there");
    let described = String::from_utf8(described.stdout).expect("text");
    assert_eq!(has("tool", "mlir-opt")["sha256"].as_str(), described.split_whitespace().next());
    let host = verify(&["--op=transform", "--lane=host", "--effort=quick"]).exits(0).ledger();
    assert_eq!(host["lanes"][0]["files"][0]["name"], "tiebreak");
}

/// The stored hash of the host lane's program is used without reading the program, but only for the file that it belongs to.
#[test]
fn hashes_are_kept_from_run_to_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let kept = dir.path().join("hashes.json");
    let files = |lanes: &Value| {
        let file = dir.path().join("lanes.json");
        fs::write(&file, lanes.to_string()).expect("the temporary directory can be written");
        let one = ["--op=fpm", "--kernel=tvm-relay", "--lane=host", "--multiplier=3", "--shift=0", "--x=1"];
        verify_in(&file, &one).exits(0).ledger()["lanes"][0]["files"].clone()
    };
    let read = files(&json!({"lanes": []}));
    assert!(read.as_array().is_some_and(|files| files.len() > 1) && !kept.exists(), "{read}");
    let keeping = json!({"lanes": [], "hashes": dir.path()});
    assert_eq!(files(&keeping), read);
    let text = fs::read_to_string(&kept).expect("the hashes are kept");
    let hash = read[0]["sha256"].as_str().expect("a hash");
    let known = |text: &str| text.matches("/tiebreak ").count();
    assert!(text.contains(hash) && known(&text) == 1, "{text}");
    let other = "0".repeat(64);
    fs::write(&kept, text.replace(hash, &other)).expect("the temporary directory can be written");
    assert_eq!(files(&keeping)[0]["sha256"], *other);
    // The entry does not apply to a file of another size, and is then removed.
    let bytes = read[0]["bytes"].as_u64().expect("a size");
    let larger = text.replace(&format!(" {bytes} "), &format!(" {} ", bytes + 1)).replace(hash, &other);
    assert_eq!(larger.matches(&other).count(), 1, "{larger}");
    fs::write(&kept, &larger).expect("the temporary directory can be written");
    assert_eq!(files(&keeping), read);
    let text = fs::read_to_string(&kept).expect("the hashes are kept");
    assert!(text.contains(hash) && !text.contains(&other) && known(&text) == 1, "{text}");
}

/// Neither half an object nor an object with a changed byte is taken from the cache.
#[test]
fn a_damaged_object_is_compiled_again() {
    let installed = Installed::new();
    installed.run().exits(0);
    for damage in [|bytes: &mut Vec<u8>| bytes.truncate(bytes.len() / 2), |bytes: &mut Vec<u8>| bytes[2000] ^= 1] {
        for object in installed.objects() {
            let mut bytes = fs::read(&object).expect("an object");
            damage(&mut bytes);
            fs::write(&object, bytes).expect("damaged");
        }
        installed.run().exits(0);
    }
}

/// Returns the exit code and the messages of a run with this lane installed but not requested.
fn unasked(lane: Value, allowed: &[&str]) -> (i32, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = lanes(dir.path(), &[lane]);
    let arguments = ["--op=quantize", "--kernel=mlir-qcast", "--effort=quick", "--allow-not-run=aarch64-qemu"];
    let run = verify_in(&file, &[&arguments[..], allowed].concat());
    let ledger = run.ledger();
    let messages = items(&ledger, "findings").iter().filter_map(|finding| finding["message"].as_str());
    (run.code, messages.collect::<Vec<_>>().join("\n"))
}

/// A lane of compiled modules may be absent, as stated in the lanes file. A crashed lane is not absent.
#[test]
fn an_installed_lane_that_dies_is_not_allowed() {
    let absent = json!({"name": NATIVE, "not_run": "mlir-opt-22 is missing"});
    assert_eq!(unasked(absent, &[]), (0, String::new()));
    let dies = json!({"name": NATIVE, "command": ["false"]});
    let allow = format!("--allow-not-run={NATIVE}");
    for allowed in [&[][..], &[allow.as_str()]] {
        let (code, described) = unasked(dies.clone(), allowed);
        assert_eq!(code, 1, "{described}");
        assert!(
            described.contains("it is installed and does not start") && described.contains("`false`"),
            "{described}"
        );
    }
    let gone = json!({"name": NATIVE, "command": ["/nowhere/tiebreak-worker"]});
    let (code, described) = unasked(gone.clone(), &[]);
    assert!(code == 1 && described.contains("/nowhere/tiebreak-worker"), "{described}");
    assert_eq!(unasked(gone, &[&allow]), (0, String::new()));
}

/// The module that crashes the worker is named, whichever it is.
#[test]
fn a_truncated_module_is_named() {
    let installed = Installed::new();
    installed.run().exits(0);
    let objects = installed.objects();
    let half = installed.path("half.so");
    let bytes = fs::read(&objects[0]).expect("an object");
    fs::write(&half, &bytes[..bytes.len() / 2]).expect("half of it");
    let mut command = worker(NATIVE);
    for module in [&objects[1], &half] {
        command.extend(["--module".to_owned(), module.to_string_lossy().into_owned()]);
    }
    let (code, described) = unasked(json!({"name": NATIVE, "command": command}), &[]);
    assert!(code == 1 && described.contains("half.so does that by itself"), "{described}");
}

/// J: `--mlir-opt` needed a lanes file, which only a clone of the project writes.
#[test]
fn an_installed_program_judges_a_compiler_of_the_command_line() {
    let own = Installed::new();
    let (bin, work) = installed();
    let run = |code: i32| {
        let line = format!(
            "tiebreak verify --mlir-opt {} --kernel mlir-opt-qcast-o0 --effort quick --type '{TYPE}' --format json",
            own.path("mlir-opt").display()
        );
        let run = shell(bin.path(), work.path(), &line);
        assert_eq!(run.status.code(), Some(code), "{}", text(&run.stderr));
        serde_json::from_slice::<Value>(&run.stdout).expect("JSON")
    };
    let inputs = items(&run(0), "rows").iter().filter_map(|row| row["inputs"].as_u64()).sum::<u64>();
    assert!(inputs > 10_000, "{inputs} inputs");
    own.replace();
    let ledger = run(1);
    let command = items(&ledger, "findings")[0]["witness"]["command"].as_str().expect("a command").to_owned();
    assert_eq!(shell(bin.path(), work.path(), &command).status.code(), Some(1), "{command}");
}

/// J: a compiler on the command line was ignored if no lane of the run called it; a directory gave `Permission denied`.
#[test]
fn a_compiler_that_is_not_called_is_refused() {
    let own = Installed::new();
    let named = |program: &str, lane: &str| {
        verify_in(
            &lanes(own.dir.path(), std::slice::from_ref(&own.lane)),
            &["--op=quantize", "--mlir-opt", program, "--lane", lane],
        )
    };
    let mlir_opt = own.path("mlir-opt").to_string_lossy().into_owned();
    for (run, said) in [
        (named(&mlir_opt, "host"), "no lane of this run calls the compilers that are named"),
        (named("/usr", NATIVE), "--mlir-opt /usr: it is a directory"),
    ] {
        assert!(run.exits(2).stderr.contains(said), "{said}");
    }
}
