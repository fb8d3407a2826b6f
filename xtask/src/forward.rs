//! Commands of `tiebreak` as commands of xtask. Tools and lanes are built first. Then `tiebreak` replaces this program, with the same arguments,
//! exit code and standard output.

use crate::cargo;
use crate::elements;
use crate::lanes::{self, Lane};
use crate::process;
use crate::setup;
use crate::shipped;
use crate::tools::Tool;
use crate::workspace::{Host, Workspace};
use anyhow::Result;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::process::{Command, ExitCode};

/// Forwarded command of `tiebreak`.
#[derive(Debug)]
pub(crate) struct Forwarded {
    /// Name in `tiebreak` and in xtask.
    pub(crate) name: &'static str,
    /// Condition for building lanes and passing them with `--lanes FILE`.
    lanes: Wants,
}

/// Condition under which a command needs other lanes than the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// Never, because the command has no `--lanes`.
    Never,
    /// If the caller names another lane.
    Named,
    /// Unless the caller names only the host.
    Usually,
}

const fn forwarded(name: &'static str, lanes: Wants) -> Forwarded {
    Forwarded { name, lanes }
}

/// Forwarded commands. A new command of `tiebreak` needs one line here, and its help in `xtask/help`.
pub(crate) const FORWARDED: &[Forwarded] = &[
    forwarded("verify", Wants::Usually),
    forwarded("case", Wants::Never),
    forwarded("eval", Wants::Never),
    forwarded("judge", Wants::Never),
    forwarded("vectors", Wants::Never),
    forwarded("explain", Wants::Never),
    forwarded("mutants", Wants::Named),
    forwarded("corrupt", Wants::Named),
    forwarded("fingerprint", Wants::Never),
    forwarded("identify", Wants::Usually),
    forwarded("audit", Wants::Never),
    forwarded("atlas", Wants::Never),
    forwarded("prove", Wants::Never),
    forwarded("census", Wants::Never),
    forwarded("merge", Wants::Never),
    forwarded("plan", Wants::Usually),
    forwarded("show", Wants::Never),
    forwarded("diff", Wants::Never),
    forwarded("report", Wants::Never),
    forwarded("check-type", Wants::Never),
    forwarded("check-worker", Wants::Never),
    forwarded("bounds", Wants::Named),
    forwarded("rewrites", Wants::Never),
    forwarded("header", Wants::Never),
    forwarded("schema", Wants::Never),
    forwarded("kernels", Wants::Never),
    forwarded("schemes", Wants::Never),
];

/// Machines in the header of an ELF file.
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

/// Returns the forwarded command that a command line names, and the arguments after it.
pub(crate) fn select(arguments: &[OsString]) -> Option<(&'static Forwarded, &[OsString])> {
    let (name, rest) = arguments.get(1..)?.split_first()?;
    FORWARDED.iter().find(|forwarded| name == forwarded.name).map(|forwarded| (forwarded, rest))
}

/// Builds the programs and lanes that the command needs, and runs `tiebreak` in place of this program.
pub(crate) fn run(forwarded: &Forwarded, arguments: &[OsString]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let shipped = shipped_lanes(&workspace, forwarded.lanes, arguments)?;
    let lanes = wants_lanes(forwarded.lanes, arguments);
    let mut command = match lanes {
        true => with_lanes(&workspace, forwarded, &shipped)?,
        false => without_lanes(&workspace, forwarded, &shipped)?,
    };
    if wants_elements(forwarded, arguments) {
        command.args(elements::options(&workspace)?);
    }
    process::become_program(command.args(arguments))
}

/// True if a call proves kernels without LLVM IR of the caller.
fn wants_elements(forwarded: &Forwarded, arguments: &[OsString]) -> bool {
    let helped = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    let asked = arguments.iter().any(|argument| argument == "--kernels");
    forwarded.name == "prove" && asked && !helped && values(arguments, "--elements").is_empty()
}

/// Returns the values of an option.
fn values(arguments: &[OsString], option: &str) -> Vec<String> {
    let text: Vec<_> = arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let joined = text.iter().filter_map(|a| a.strip_prefix(&format!("{option}=")).map(str::to_owned));
    let apart = text.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].clone());
    joined.chain(apart).collect()
}

/// Returns the lanes of libraries that a call names; none if the caller has a lanes file.
fn shipped_lanes(workspace: &Workspace, wants: Wants, arguments: &[OsString]) -> Result<Vec<Lane>> {
    match wants != Wants::Never && values(arguments, "--lanes").is_empty() {
        true => shipped::named(workspace, &values(arguments, "--lane")),
        false => Ok(Vec::new()),
    }
}

/// True if lanes must be built. A call with only the host and libraries, with a program or a library of this machine, or with a lanes file needs
/// none.
fn wants_lanes(wants: Wants, arguments: &[OsString]) -> bool {
    let lanes = values(arguments, "--lane");
    let library = values(arguments, "--library");
    let is_local = !values(arguments, "--program").is_empty() || library.first().is_some_and(|file| !is_foreign(file));
    if lanes.is_empty() && is_local {
        return false;
    }
    let others = lanes.iter().any(|lane| lane != "host" && shipped::Library::find(lane).is_none());
    let wanted = match wants {
        Wants::Never => false,
        Wants::Named => others,
        Wants::Usually => others || lanes.is_empty(),
    };
    wanted && values(arguments, "--lanes").is_empty()
}

/// True if a library is an ELF file for another machine. A file that cannot be read needs no lane: `tiebreak` reports the error.
fn is_foreign(file: &str) -> bool {
    let mut header = [0; 20];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    let own: u16 = if Host::CURRENT.is_aarch64() { EM_AARCH64 } else { EM_X86_64 };
    // ELF specification, header: `e_machine` is the half word at byte 18.
    read.is_ok() && header.starts_with(b"\x7fELF") && header[18..] != own.to_le_bytes()
}

fn with_lanes(workspace: &Workspace, forwarded: &Forwarded, shipped: &[Lane]) -> Result<Command> {
    setup::provide(workspace, &Tool::BASE)?;
    let built = lanes::build(workspace)?;
    let file = if shipped.is_empty() { built.file } else { lanes::with(workspace, Some(&built.file), shipped)? };
    let mut command = Command::new(built.tiebreak);
    command.arg(forwarded.name).arg("--lanes").arg(file);
    Ok(command)
}

fn without_lanes(workspace: &Workspace, forwarded: &Forwarded, shipped: &[Lane]) -> Result<Command> {
    setup::provide(workspace, &Tool::BASE)?;
    let built = cargo::build(workspace, &[cargo::TIEBREAK])?;
    let mut command = Command::new(&built[cargo::TIEBREAK.1]);
    command.arg(forwarded.name);
    if !shipped.is_empty() {
        command.arg("--lanes").arg(lanes::with(workspace, None, shipped)?);
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn arguments_pass_unparsed() {
        let line = words(&["xtask", "verify", "--shift=-8", "--help", "--", "--format", "json"]);
        let (forwarded, rest) = select(&line).expect("verify is forwarded");
        assert_eq!(forwarded.name, "verify");
        assert_eq!(rest, &line[2..]);
    }

    #[test]
    fn lanes_are_built_where_one_may_be_asked_for() {
        let wants = |line: &[&str]| wants_lanes(Wants::Usually, &words(line));
        assert!(wants(&[]) && wants(&["--lane", "host", "--lane=aarch64-qemu"]) && wants(&["--kernel", "host"]));
        assert!(!wants(&["--op", "fpm", "--lane", "host"]) && !wants(&["--lane=host", "--seed", "3"]));
        assert!(!wants(&["--lanes", "mine.json", "--lane", "mylib"]) && !wants(&["--lanes=mine.json"]));
        let named = |line: &[&str]| wants_lanes(Wants::Named, &words(line));
        assert!(!named(&[]) && !named(&["--lane", "host"]) && named(&["--lane", "aarch64-qemu"]));
        assert!(!wants_lanes(Wants::Never, &words(&["--lane", "aarch64-qemu"])));
    }

    /// A library of this machine needs no worker for another: every such call built the worker for aarch64.
    #[test]
    fn a_library_of_another_machine_needs_lanes() {
        let directory = std::env::temp_dir().join(format!("tiebreak-forward-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let file = |name: &str, machine: u16| {
            let path = directory.join(name);
            let header = [&b"\x7fELF"[..], &[0; 14], &machine.to_le_bytes()].concat();
            std::fs::write(&path, header).expect("it can be written");
            path.display().to_string()
        };
        let (own, other) = if Host::CURRENT.is_aarch64() { (EM_AARCH64, EM_X86_64) } else { (EM_X86_64, EM_AARCH64) };
        let wants = |line: &[&str]| wants_lanes(Wants::Usually, &words(line));
        assert!(wants(&["--library", &file("other.so", other)]) && !wants(&["--library", &file("own.so", own)]));
        assert!(wants(&["--library", &file("own.so", own), "--lane", "aarch64-qemu"]));
        assert!(!wants(&["--library=missing.so"]) && !wants(&["--program", "python3 k.py"]));
        std::fs::remove_dir_all(&directory).expect("it can be removed");
    }

    #[test]
    fn what_is_not_forwarded_is_left_alone() {
        for line in [&["xtask"][..], &["xtask", "doctor"], &["xtask", "--help", "verify"], &[]] {
            assert!(select(&words(line)).is_none(), "{line:?}");
        }
    }
}
