//! The commands printed beside what a report states.

use std::collections::BTreeMap;
use tiebreak_common::called;
use tiebreak_shards::shell::quoted;

/// The command of a run, and how to narrow it down to one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Arguments as given.
    pub arguments: Vec<String>,
    /// The option that chooses the reference of an operation, as a text, where it is not the usual one.
    pub references: BTreeMap<String, String>,
    /// The options that name the caller's own lanes, as a text.
    pub lanes: Option<String>,
}

impl Command {
    /// The whole run.
    pub fn whole(&self) -> String {
        let quoted = self.arguments.iter().map(|a| quoted(a));
        std::iter::once(format!("{} verify", called::program())).chain(quoted).collect::<Vec<_>>().join(" ")
    }

    /// One kernel in one lane.
    pub fn kernel(&self, op: &str, kernel: &str, lane: &str) -> String {
        let reference = self.references.get(op).map(|option| format!(" {option}")).unwrap_or_default();
        let lanes = self.lanes.as_ref().map(|options| format!(" {options}")).unwrap_or_default();
        format!("{} verify{lanes} --op {op} --kernel {kernel} --lane {lane}{reference}", called::program())
    }
}
