//! Builds the lanes: a worker for each way to run it on this machine, and the lanes file for `tiebreak`.

use crate::cargo;
use crate::mlir::{self, Target, Toolchain};
use crate::probe::Probe;
use crate::setup;
use crate::tools::Tool;
use crate::workspace::{Host, Workspace};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// Lanes file.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Lanes {
    lanes: Vec<Lane>,
    /// Directory in which `tiebreak` stores hashes of programs and libraries.
    #[serde(skip_serializing_if = "Option::is_none")]
    hashes: Option<String>,
}

/// Lane: the command of its worker, or the reason why it does not run.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Lane {
    pub(crate) name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) objdump: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modules: Option<Toolchain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) not_run: Option<String>,
}

/// Files that were built for the lanes.
#[derive(Debug)]
pub(crate) struct Built {
    /// Lanes file.
    pub(crate) file: PathBuf,
    /// Program `tiebreak`.
    pub(crate) tiebreak: PathBuf,
}

/// Built programs by name; empty if none were built.
type Programs = BTreeMap<String, PathBuf>;

/// Builds the workers and `tiebreak`, installs meanwhile what only the lanes of this host need, and writes the lanes file.
pub(crate) fn build(workspace: &Workspace) -> Result<Built> {
    let emulated = || {
        let further = Tool::needed(Host::CURRENT).into_iter().filter(|tool| !Tool::BASE.contains(tool));
        let probe = setup::provision(workspace, &further.collect::<Vec<_>>());
        let built = build_emulated(workspace, &probe)?;
        Ok::<_, anyhow::Error>((probe, built))
    };
    // Both builds run in parallel, because the build for the host leaves a core idle at its beginning.
    let (emulated, native) = thread::scope(|scope| {
        let emulated = scope.spawn(emulated);
        let native = cargo::build(workspace, &[cargo::WORKER, cargo::TIEBREAK]);
        (emulated.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), native)
    });
    let ((probe, emulated), native) = (emulated?, native?);
    let workers =
        Workers { native: &native[cargo::WORKER.1], emulated: emulated.get(cargo::WORKER.1).map(PathBuf::as_path) };
    let mut lanes = describe(&probe, workers);
    lanes.lanes.extend(Target::ALL.map(|target| Compiled::of(workspace, &probe, target).lane(&probe, target, workers)));
    let file = workspace.target.join("tiebreak/lanes.json");
    lanes.hashes = file.parent().map(text);
    write(&file, &(serde_json::to_string_pretty(&lanes)? + "\n"))?;
    Ok(Built { file, tiebreak: native[cargo::TIEBREAK.1].clone() })
}

/// Writes a second lanes file with further lanes. `tiebreak` recognises both project files by the end of their paths.
pub(crate) fn with(workspace: &Workspace, built: Option<&Path>, further: &[Lane]) -> Result<PathBuf> {
    let mut lanes = match built {
        Some(file) => read(file)?,
        None => serde_json::json!({"lanes": [], "hashes": text(&workspace.target.join("tiebreak"))}),
    };
    let all = lanes["lanes"].as_array_mut().context("the lanes file has no lanes")?;
    for lane in further {
        all.push(serde_json::to_value(lane)?);
    }
    let file = workspace.target.join("tiebreak/shipped/tiebreak/lanes.json");
    write(&file, &(serde_json::to_string_pretty(&lanes)? + "\n"))?;
    Ok(file)
}

fn read(file: &Path) -> Result<serde_json::Value> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a lanes file", file.display()))
}

/// Returns each lane of the project with its status, description and build command, as of the last build.
pub(crate) fn described(workspace: &Workspace) -> Vec<[String; 4]> {
    let built = read(&workspace.target.join("tiebreak/lanes.json")).unwrap_or_default();
    let row = |name: &str, about: &str, command: &str| {
        let lane = built["lanes"].as_array().into_iter().flatten().find(|lane| lane["name"] == name);
        let status = match lane {
            None if name == "host" => "installed".to_owned(),
            None => "not built".to_owned(),
            Some(lane) => lane["not_run"].as_str().map_or("installed".to_owned(), |why| format!("not here ({why})")),
        };
        [name.to_owned(), status, about.to_owned(), command.to_owned()]
    };
    let (verify, mlir) = ("cargo xtask verify", "cargo xtask setup --with mlir");
    vec![
        row("host", "this process", verify),
        row("host-worker", "the kernels of this machine in a worker process", verify),
        row("aarch64-qemu", "aarch64 instructions under qemu-user", verify),
        row("aarch64-native", "aarch64 instructions on an aarch64 machine", verify),
        row("mlir-x86", "casts lowered by mlir-opt and compiled for x86-64", mlir),
        row("mlir-aarch64", "casts lowered by mlir-opt and compiled for aarch64", mlir),
        row("mlir-aarch64-bf16", "the same with the instructions of bf16", mlir),
    ]
}

/// Builds the worker of the emulated lanes, if the tools are installed.
fn build_emulated(workspace: &Workspace, probe: &Probe) -> Result<Programs> {
    if !probe.host.emulates_aarch64() || !probe.missing(&Tool::EMULATION_BUILD).is_empty() {
        return Ok(Programs::new());
    }
    cargo::build_aarch64(workspace, probe, &[cargo::WORKER])
}

/// Programs of the workers, for this machine and for the emulator.
#[derive(Clone, Copy)]
struct Workers<'a> {
    native: &'a Path,
    emulated: Option<&'a Path>,
}

/// Returns all lanes of a machine; a lane that cannot run has a reason.
fn describe(probe: &Probe, workers: Workers<'_>) -> Lanes {
    let native = vec![text(workers.native)];
    Lanes {
        lanes: vec![
            emulated_lane(probe, workers.emulated),
            Lane { name: "host-worker", command: Some(native.clone()), ..Lane::default() },
            native_lane(probe, native),
        ],
        hashes: None,
    }
}

fn emulated_lane(probe: &Probe, worker: Option<&Path>) -> Lane {
    let lane = Lane { name: "aarch64-qemu", ..Lane::default() };
    match (worker, probe.path(Tool::Qemu)) {
        (Some(worker), Some(qemu)) => Lane {
            command: Some(emulated_command(probe, qemu, worker)),
            objdump: probe.path(Tool::Objdump).map(text),
            ..lane
        },
        _ => Lane { not_run: Some(why_not_emulated(probe)), ..lane },
    }
}

fn why_not_emulated(probe: &Probe) -> String {
    if probe.host.is_aarch64() {
        return "the host is aarch64: aarch64-native runs there without emulation".to_owned();
    }
    if !probe.host.emulates_aarch64() {
        return format!("qemu-user runs on Linux; this host is {}", probe.host.os);
    }
    let complaints: Vec<String> =
        probe.missing(&Tool::EMULATION_RUN).into_iter().map(|tool| probe.complaint(tool)).collect();
    complaints.join("; ")
}

fn native_lane(probe: &Probe, command: Vec<String>) -> Lane {
    let lane = Lane { name: "aarch64-native", ..Lane::default() };
    if probe.host.is_aarch64() {
        return Lane { command: Some(command), objdump: probe.path(Tool::Objdump).map(text), ..lane };
    }
    Lane { not_run: Some(format!("the host is {}; this lane needs an aarch64 host", probe.host.arch)), ..lane }
}

/// Returns the command that starts a program for aarch64.
fn emulated_command(probe: &Probe, qemu: &Path, program: &Path) -> Vec<String> {
    cargo::emulator(probe, qemu).into_iter().chain([text(program)]).collect()
}

/// Compiler of a lane of compiled modules.
enum Compiled {
    By(Toolchain),
    /// Reason why the lane cannot run here.
    NotHere(String),
}

impl Compiled {
    fn of(workspace: &Workspace, probe: &Probe, target: Target) -> Self {
        match (mlir::why_not(probe, target), mlir::toolchain(workspace, probe, target)) {
            (None, Some(tools)) => Self::By(tools),
            (reason, _) => Self::NotHere(reason.unwrap_or_else(|| "no C compiler links for it".to_owned())),
        }
    }

    fn lane(self, probe: &Probe, target: Target, workers: Workers<'_>) -> Lane {
        let lane = Lane { name: target.lane(), ..Lane::default() };
        let modules = match self {
            Self::By(tools) => tools,
            Self::NotHere(reason) => return Lane { not_run: Some(reason), ..lane },
        };
        let command = match (probe.path(Tool::Qemu), workers.emulated) {
            (Some(qemu), Some(worker)) if target.emulated(probe.host) => emulated_command(probe, qemu, worker),
            _ => vec![text(workers.native)],
        };
        Lane { command: Some(command), modules: Some(modules), ..lane }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Writes a changed file atomically, because other processes may be reading it.
fn write(file: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let directory = file.parent().context("the lanes file has no directory")?;
    fs::create_dir_all(directory).with_context(|| format!("creating {}", directory.display()))?;
    let draft = file.with_extension(format!("json.{}", std::process::id()));
    fs::write(&draft, text).with_context(|| format!("writing {}", draft.display()))?;
    fs::rename(&draft, file).with_context(|| format!("writing {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::{aarch64, complete};
    use crate::workspace::Host;
    use serde_json::{Value, json};

    fn lanes(probe: &Probe, emulated: Option<&str>) -> Value {
        let native = Path::new("/t/release/tiebreak-worker");
        serde_json::to_value(describe(probe, Workers { native, emulated: emulated.map(Path::new) }))
            .expect("it is JSON")
    }

    #[test]
    fn an_x86_host_emulates() {
        let expected = json!({"lanes": [
            {
                "name": "aarch64-qemu",
                "command": [
                    "/t/cross/qemu/qemu-aarch64", "-cpu", "max,sve=off", "-L", "/usr/aarch64-linux-gnu",
                    "/t/aarch64/tiebreak-worker"
                ],
                "objdump": "/usr/bin/aarch64-linux-gnu-objdump",
            },
            {"name": "host-worker", "command": ["/t/release/tiebreak-worker"]},
            {"name": "aarch64-native", "not_run": "the host is x86_64; this lane needs an aarch64 host"},
        ]});
        assert_eq!(lanes(&complete(), Some("/t/aarch64/tiebreak-worker")), expected);
    }

    #[test]
    fn an_aarch64_host_runs_natively() {
        for os in ["linux", "macos"] {
            let probe = Probe { host: Host { arch: "aarch64", os }, ..aarch64() };
            let lanes = lanes(&probe, None);
            assert_eq!(lanes["lanes"][2]["command"], json!(["/t/release/tiebreak-worker"]));
            assert_eq!(
                lanes["lanes"][0]["not_run"],
                "the host is aarch64: aarch64-native runs there without emulation"
            );
        }
    }

    #[test]
    fn a_lane_without_its_tools_says_how_to_get_them() {
        let probe = complete().without(&[Tool::Aarch64Cc, Tool::Aarch64Rust]);
        let reason = lanes(&probe, None)["lanes"][0]["not_run"].as_str().expect("a reason").to_owned();
        assert!(reason.contains("`rustup target add aarch64-unknown-linux-gnu`"), "{reason}");
        assert!(reason.contains("gcc-aarch64-linux-gnu libc6-dev-arm64-cross`"), "{reason}");
    }

    #[test]
    fn a_missing_disassembler_stops_no_lane() {
        let lanes = lanes(&complete().without(&[Tool::Objdump]), Some("/w"));
        assert!(lanes["lanes"][0]["command"].is_array() && lanes["lanes"][0]["objdump"].is_null());
    }
}
