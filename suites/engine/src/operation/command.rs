//! Commands that reports print beside their statements.

use std::collections::BTreeMap;
use tiebreak_common::called;
use tiebreak_shards::shell::quoted;

/// Command of a run, with a form for a single kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Arguments as given.
    pub arguments: Vec<String>,
    /// Option, as text, that chooses the reference of an operation, unless it is the default.
    pub references: BTreeMap<String, String>,
    /// Options, as text, that name the caller's own lanes.
    pub lanes: Option<String>,
}

impl Command {
    /// Returns the command of the whole run.
    pub fn whole(&self) -> String {
        let quoted = self.arguments.iter().map(|a| quoted(a));
        std::iter::once(format!("{} verify", called::program())).chain(quoted).collect::<Vec<_>>().join(" ")
    }

    /// Returns the command for a single kernel in a lane.
    pub fn kernel(&self, op: &str, kernel: &str, lane: &str) -> String {
        let reference = self.references.get(op).map(|option| format!(" {option}")).unwrap_or_default();
        let lanes = self.lanes.as_ref().map(|options| format!(" {options}")).unwrap_or_default();
        format!("{} verify{lanes} --op {op} --kernel {kernel} --lane {lane}{reference}", called::program())
    }
}
