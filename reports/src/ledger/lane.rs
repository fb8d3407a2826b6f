//! The lanes of a run, and the files that their code comes from.

use serde::{Deserialize, Serialize};

/// One lane of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lane {
    /// `host`, `aarch64-qemu`, `aarch64-native`, or a name from the lanes file.
    pub name: String,
    /// Status of the lane.
    #[serde(flatten)]
    pub status: LaneStatus,
    /// The files that its kernels' code comes from, by content; none where it did not run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Content>,
}

/// A file that takes part in what a lane runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Content {
    /// Its purpose.
    pub role: Role,
    /// Its name, without directories.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal, as `sha256sum` prints it.
    pub sha256: String,
}

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs the kernels: this program, a worker, an emulator or interpreter of one, a module of it.
    Worker,
    /// Compiled or linked the modules.
    Tool,
    /// Is linked into the modules.
    Linked,
    /// Is loaded by one of those.
    Library,
}

impl Role {
    /// Name of the role in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Tool => "tool",
            Self::Linked => "linked",
            Self::Library => "library",
        }
    }
}

/// Status of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum LaneStatus {
    /// The lane ran.
    Ran {
        /// Architecture the kernels ran on.
        arch: String,
        /// Connection: `in process`, or the command of the worker.
        via: String,
    },
    /// The lane did not run.
    NotRun {
        /// Why.
        reason: String,
        /// True if the caller allowed it by name; otherwise the run is broken.
        allowed: bool,
    },
}
