//! The commands of `tiebreak` as commands of xtask: builds tools and lanes first, and then becomes `tiebreak`, with the same arguments,
//! its exit code and its standard output.

use crate::cargo;
use crate::lanes;
use crate::process;
use crate::setup;
use crate::tools::Tool;
use crate::workspace::Workspace;
use anyhow::Result;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// A command of `tiebreak`.
#[derive(Debug)]
pub(crate) struct Forwarded {
    /// Its name there and here.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) about: &'static str,
    /// When lanes are built for it and passed with `--lanes FILE`.
    lanes: Wants,
}

/// When a command needs other lanes than the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// Never: it takes no `--lanes`.
    Never,
    /// If the caller names one.
    Named,
    /// Unless the caller names only the host.
    Usually,
}

/// Every command that is forwarded. A new command of `tiebreak` is one line here.
pub(crate) const FORWARDED: &[Forwarded] = &[
    Forwarded {
        name: "verify",
        about: "Verify kernels against the exact oracle, in every lane",
        lanes: Wants::Usually,
    },
    Forwarded {
        name: "case",
        about: "Evaluate one case: the exact value, and the result of each scheme",
        lanes: Wants::Never,
    },
    Forwarded {
        name: "explain",
        about: "Explain one input: every step of each scheme or kernel, and the reason of a difference",
        lanes: Wants::Never,
    },
    Forwarded { name: "mutants", about: "List the part of a plan that detects each known bug", lanes: Wants::Named },
    Forwarded {
        name: "corrupt",
        about: "Inject localized faults into results, and count those that the plan detects",
        lanes: Wants::Named,
    },
    Forwarded { name: "fingerprint", about: "Identify a library's rounding from sample outputs", lanes: Wants::Never },
    Forwarded {
        name: "audit",
        about: "Audit a model: do its results change if the runtime changes, where, and by how much?",
        lanes: Wants::Never,
    },
    Forwarded { name: "atlas", about: "Compare every two schemes, and show where they agree", lanes: Wants::Never },
    Forwarded {
        name: "prove",
        about: "Prove that two schemes are identical, or find a difference, over all accumulators and multipliers of a shift",
        lanes: Wants::Never,
    },
    Forwarded { name: "census", about: "Count the accumulators on which two schemes differ", lanes: Wants::Never },
    Forwarded { name: "merge", about: "Merge the ledgers of the shards of a space into one", lanes: Wants::Never },
    Forwarded { name: "show", about: "Print a run again from its ledger", lanes: Wants::Never },
    Forwarded {
        name: "diff",
        about: "Compare two runs by their ledgers: worse, better, new and gone results",
        lanes: Wants::Never,
    },
    Forwarded { name: "report", about: "Draw a run as one page of HTML, from its ledger", lanes: Wants::Never },
    Forwarded {
        name: "check-type",
        about: "Verify and explain a type or an op of MLIR's quant dialect",
        lanes: Wants::Never,
    },
    Forwarded {
        name: "bounds",
        about: "Derive the largest safe depth and weight of each kernel, and run the kernel there and one past it",
        lanes: Wants::Named,
    },
    Forwarded {
        name: "rewrites",
        about: "Count the values that rewrites of MLIR's quant dialect change",
        lanes: Wants::Never,
    },
    Forwarded { name: "kernels", about: "List the kernels with their contracts", lanes: Wants::Never },
    Forwarded { name: "schemes", about: "List the schemes", lanes: Wants::Never },
];

/// The forwarded command that a command line names, and the arguments after it.
pub(crate) fn select(arguments: &[OsString]) -> Option<(&'static Forwarded, &[OsString])> {
    let (name, rest) = arguments.get(1..)?.split_first()?;
    FORWARDED.iter().find(|forwarded| name == forwarded.name).map(|forwarded| (forwarded, rest))
}

/// Builds what the command needs and becomes `tiebreak`.
pub(crate) fn run(forwarded: &Forwarded, arguments: &[OsString]) -> Result<ExitCode> {
    let workspace = Workspace::locate()?;
    let lanes = wants_lanes(forwarded.lanes, arguments);
    let mut command = if lanes { with_lanes(&workspace, forwarded)? } else { without_lanes(&workspace, forwarded)? };
    process::become_program(command.args(arguments))
}

/// Whether lanes must be built. A call that names only the host, or its own lanes file, needs none.
fn wants_lanes(wants: Wants, arguments: &[OsString]) -> bool {
    let values = |option: &str| -> Vec<String> {
        let text: Vec<_> = arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
        let joined = text.iter().filter_map(|a| a.strip_prefix(&format!("{option}=")).map(str::to_owned));
        let apart = text.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].clone());
        joined.chain(apart).collect()
    };
    let lanes = values("--lane");
    let others = lanes.iter().any(|lane| lane != "host");
    let wanted = match wants {
        Wants::Never => false,
        Wants::Named => others,
        Wants::Usually => others || lanes.is_empty(),
    };
    wanted && values("--lanes").is_empty()
}

fn with_lanes(workspace: &Workspace, forwarded: &Forwarded) -> Result<Command> {
    let probe = setup::provision(workspace, &Tool::needed(crate::workspace::Host::CURRENT))?;
    setup::require(&probe, &Tool::BASE)?;
    let built = lanes::build(workspace, &probe)?;
    let mut command = Command::new(built.tiebreak);
    command.arg(forwarded.name).arg("--lanes").arg(built.file);
    Ok(command)
}

fn without_lanes(workspace: &Workspace, forwarded: &Forwarded) -> Result<Command> {
    setup::require(&setup::provision(workspace, &Tool::BASE)?, &Tool::BASE)?;
    let built = cargo::build(workspace, &[cargo::TIEBREAK])?;
    let mut command = Command::new(&built[cargo::TIEBREAK.1]);
    command.arg(forwarded.name);
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

    #[test]
    fn what_is_not_forwarded_is_left_alone() {
        for line in [&["xtask"][..], &["xtask", "doctor"], &["xtask", "--help", "verify"], &[]] {
            assert!(select(&words(line)).is_none(), "{line:?}");
        }
    }
}
