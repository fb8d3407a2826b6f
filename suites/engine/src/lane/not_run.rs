//! Reasons for which a lane cannot run: not installed, which a caller may allow; or installed and unable to start, which is a finding.
//!
//! A worker that is installed and dies, hangs or speaks another protocol is a finding, and `--allow-not-run` does not accept it. Only a lane that the
//! lanes file marks `not_run` counts as absent. To find the module that ends a worker, the worker is started with each module alone.

use super::Failure;
use super::process::Worker;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;
use tiebreak_common::called::in_clone;
use tiebreak_common::identity::find_program;
use tiebreak_mlir::MODULE;
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::drawable::escaped;

/// Reason for which a lane cannot run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotRun {
    /// The lane is not installed: the lanes file marks the lane as absent, or its program is not built.
    #[error("{0}")]
    Absent(String),
    /// The command names a missing program.
    #[error("cannot start `{0}`: there is no such program")]
    NoProgram(String),
    /// The worker runs on another architecture than the lane's name promises.
    #[error(
        "its worker runs on `{says}`, and a lane of this name is one of {promised}; {command}; give a lane of your own another name"
    )]
    OtherArch {
        /// Architecture promised by the name.
        promised: &'static str,
        /// Architecture stated by the worker.
        says: String,
        /// Description of the lane's command.
        command: String,
    },
    /// The lane is installed and does not start.
    #[error("it is installed and does not start: {failure}; {file}")]
    Broken {
        /// Failure at the start.
        failure: Failure,
        /// Description of the file that causes the failure.
        file: String,
    },
}

/// Error of a call with an unusable lane, regardless of the lane's state.
#[derive(Debug, Error)]
pub enum OpenError {
    /// No lane has the name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The worker of the project was built from other sources than the program.
    #[error(
        "the worker of lane {lane} ({via}) was built from other sources of `impls` ({theirs}) than this program ({ours}), so that its kernels are not \
         the program's; call it as {}, which builds both, or build the worker again from the program's sources",
        in_clone("verify")
    )]
    OtherSources {
        /// Name of the lane.
        lane: String,
        /// Description of the lane's command.
        via: String,
        /// Hash of the worker's sources.
        theirs: String,
        /// Hash of the program's sources.
        ours: String,
    },
}

impl NotRun {
    /// Creates the error for a worker that states another architecture.
    pub(super) fn other_arch(command: &[String], promised: &'static str, says: String) -> Self {
        Self::OtherArch { promised, says, command: described(command) }
    }

    /// Creates the error for a command that failed at its start.
    pub(super) fn broken(command: &[String], failure: Failure, patience: Duration) -> Self {
        let Some(program) = command.first() else { return Self::Absent(failure.to_string()) };
        if find_program(Path::new(program)).is_none() {
            return Self::NoProgram(escaped(&command.join(" ")).into_owned());
        }
        let file = match culprit(command, &failure, patience) {
            Some(module) => format!("the module {module} does that by itself"),
            None => described(command),
        };
        Self::Broken { failure, file }
    }
}

fn described(command: &[String]) -> String {
    format!("its command is `{}`", escaped(&without_modules(command).join(" ")))
}

fn without_modules(command: &[String]) -> Vec<String> {
    let first = command.iter().position(|argument| argument == MODULE);
    command[..first.unwrap_or(command.len())].to_vec()
}

/// Finds the module that ends a worker; `None` if the worker also ends without modules.
fn culprit(command: &[String], failure: &Failure, patience: Duration) -> Option<String> {
    let bare = without_modules(command);
    let starts = |command: &[String]| Worker::start(command, patience).is_ok();
    if bare.len() == command.len() || matches!(failure, Failure::Hung(_)) || !starts(&bare) {
        return None;
    }
    let modules = command[bare.len()..].chunks(2).filter_map(|pair| pair.get(1));
    let with = |module: &String| [&bare[..], &[MODULE.to_owned(), module.clone()]].concat();
    modules.into_iter().find(|module| !starts(&with(module))).cloned()
}
