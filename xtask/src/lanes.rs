//! Builds the lanes: a worker for each way to run it here, and the lanes file, which `tiebreak` reads.

use crate::cargo;
use crate::mlir::{self, Target, Toolchain};
use crate::probe::Probe;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

/// Where the cross compiler's packages put the C library of aarch64, which a dynamic program needs under qemu.
const AARCH64_LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// The lanes file.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Lanes {
    lanes: Vec<Lane>,
}

/// One lane: how to start its worker, or why it is not run.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Lane {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objdump: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modules: Option<Toolchain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_run: Option<String>,
}

/// What was built for the lanes.
#[derive(Debug)]
pub(crate) struct Built {
    /// The lanes file.
    pub(crate) file: PathBuf,
    /// The program `tiebreak`.
    pub(crate) tiebreak: PathBuf,
}

/// Builds the workers and `tiebreak`, and writes the lanes file.
pub(crate) fn build(workspace: &Workspace, probe: &Probe) -> Result<Built> {
    // Side by side: the oracle's GMP, on the host, leaves cores idle for minutes.
    let (emulated, native) = thread::scope(|scope| {
        let emulated = scope.spawn(|| build_emulated(workspace, probe));
        let native = cargo::build(workspace, &[cargo::WORKER, cargo::TIEBREAK]);
        (emulated.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), native)
    });
    let (emulated, native) = (emulated?, native?);
    let mut lanes = describe(probe, &program(&native, cargo::WORKER), emulated.as_deref());
    for target in Target::ALL {
        lanes.lanes.push(compiled_lane(workspace, probe, target)?);
    }
    let file = workspace.target.join("tiebreak/lanes.json");
    write(&file, &(serde_json::to_string_pretty(&lanes)? + "\n"))?;
    Ok(Built { file, tiebreak: program(&native, cargo::TIEBREAK) })
}

/// The worker of the emulated lane, if the tools to build it are there.
fn build_emulated(workspace: &Workspace, probe: &Probe) -> Result<Option<PathBuf>> {
    if !probe.host.emulates_aarch64() || !probe.missing(&Tool::EMULATION_BUILD).is_empty() {
        return Ok(None);
    }
    let built = cargo::build_aarch64(workspace, probe, &[cargo::WORKER])?;
    Ok(Some(program(&built, cargo::WORKER)))
}

/// The path of one of the built programs.
fn program(built: &BTreeMap<String, PathBuf>, (_, name): (&str, &str)) -> PathBuf {
    built[name].clone()
}

/// The lanes of a machine. Every lane is listed; one that cannot run says why.
fn describe(probe: &Probe, native: &Path, emulated: Option<&Path>) -> Lanes {
    let native = vec![text(native)];
    Lanes {
        lanes: vec![
            emulated_lane(probe, emulated),
            Lane { name: "host-worker", command: Some(native.clone()), ..Lane::default() },
            native_lane(probe, native),
        ],
    }
}

fn emulated_lane(probe: &Probe, worker: Option<&Path>) -> Lane {
    let lane = Lane { name: "aarch64-qemu", ..Lane::default() };
    match (worker, &probe.qemu) {
        (Some(worker), Some(qemu)) => Lane {
            command: Some(vec![text(&qemu.path), "-cpu".to_owned(), "max".to_owned(), text(worker)]),
            objdump: probe.objdump.as_deref().map(text),
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
        return Lane { command: Some(command), objdump: probe.objdump.as_deref().map(text), ..lane };
    }
    Lane { not_run: Some(format!("the host is {}; this lane needs an aarch64 host", probe.host.arch)), ..lane }
}

/// A lane of compiled modules, with its worker if the tools are there.
fn compiled_lane(workspace: &Workspace, probe: &Probe, target: Target) -> Result<Lane> {
    let lane = Lane { name: target.lane(), ..Lane::default() };
    let modules = match (mlir::why_not(probe, target), mlir::toolchain(workspace, probe, target)) {
        (None, Some(modules)) => modules,
        (reason, _) => {
            let not_run = reason.or_else(|| Some("no C compiler links for it".to_owned()));
            return Ok(Lane { not_run, ..lane });
        }
    };
    let emulated = probe.host.arch != target.arch();
    let worker = text(&cargo::build_module_worker(workspace, probe, emulated)?);
    let command = match &probe.qemu {
        Some(qemu) if emulated => {
            [&text(&qemu.path), "-cpu", "max", "-L", AARCH64_LIBRARIES, &worker].map(str::to_owned).to_vec()
        }
        _ => vec![worker],
    };
    Ok(Lane { command: Some(command), modules: Some(modules), ..lane })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Writes a file atomically, because other processes may be reading it, and only if it changed.
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
        serde_json::to_value(describe(probe, Path::new("/t/release/tiebreak-worker"), emulated.map(Path::new)))
            .expect("it is JSON")
    }

    #[test]
    fn an_x86_host_emulates() {
        let expected = json!({"lanes": [
            {
                "name": "aarch64-qemu",
                "command": ["/t/cross/qemu/qemu-aarch64", "-cpu", "max", "/t/aarch64/tiebreak-worker"],
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
        let probe = Probe { aarch64_cc: None, rust: None, ..complete() };
        let reason = lanes(&probe, None)["lanes"][0]["not_run"].as_str().expect("a reason").to_owned();
        assert!(reason.contains("`rustup target add aarch64-unknown-linux-gnu`"), "{reason}");
        assert!(reason.contains("gcc-aarch64-linux-gnu libc6-dev-arm64-cross`"), "{reason}");
    }

    #[test]
    fn a_missing_disassembler_stops_no_lane() {
        let lanes = lanes(&Probe { objdump: None, ..complete() }, Some("/w"));
        assert!(lanes["lanes"][0]["command"].is_array() && lanes["lanes"][0]["objdump"].is_null());
    }
}
