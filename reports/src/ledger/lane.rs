//! Lanes of a run, and the files that their code comes from.

use crate::named::named;
use serde::{Deserialize, Serialize};

/// Lane of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lane {
    /// `host`, `aarch64-qemu`, `aarch64-native`, or a name from the lanes file.
    pub name: String,
    /// Status of the lane.
    #[serde(flatten)]
    pub status: LaneStatus,
    /// Files that the code of the kernels comes from, by content; empty if the lane did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Content>,
}

/// File that takes part in the code of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Content {
    /// Role.
    pub role: Role,
    /// Name, without directories.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal, as `sha256sum` prints it.
    pub sha256: String,
}

named! {
    /// Role of a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Role {
        /// Runs the kernels: this program, a worker, its emulator or interpreter, or a module of it.
        Worker = "worker",
        /// Compiled or linked the modules.
        Tool = "tool",
        /// Linked into the modules.
        Linked = "linked",
        /// Library that a file of another role loads.
        Library = "library",
    }
    /// Name of the role in the ledger.
    pub fn name;
}

/// Status of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum LaneStatus {
    /// The lane ran.
    Ran {
        /// Architecture that the kernels ran on.
        arch: String,
        /// Connection: `in process`, or the command of the worker.
        via: String,
    },
    /// The lane did not run.
    NotRun {
        /// Reason.
        reason: String,
        /// True if the caller allowed the absence by name; otherwise the run is broken.
        allowed: bool,
    },
}
