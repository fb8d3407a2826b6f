//! The file with the code of a kernel: a finding is shown beside it.
//!
//! `code.txt` has a line for each kernel and mutant of the project: operation, name, file. A test writes it, from the place in the sources where the
//! name stands.

use std::collections::BTreeMap;
use std::path::Path;
use tiebreak_reports::ledger::Ledger;

/// A line for each kernel: operation, name, file below the root of the project.
pub const TABLE: &str = include_str!("code.txt");

/// The files of the kernels with a finding, by operation and kernel. A finding in the lane of the caller's library is about the library; `is_own` says
/// of a lane whether it runs the code of this project.
pub fn of(ledger: &Ledger, library: Option<(&str, &Path)>, is_own: impl Fn(&str) -> bool) -> BTreeMap<String, String> {
    let known: BTreeMap<&str, &str> = TABLE.lines().filter_map(|line| line.rsplit_once(' ')).collect();
    let about = ledger.findings.iter().filter(|finding| !finding.kernel.is_empty());
    let file = |finding: &tiebreak_reports::ledger::Finding| {
        let kernel = format!("{} {}", finding.op, finding.kernel);
        let file = match library {
            Some((lane, file)) if lane == finding.lane => file.display().to_string(),
            _ if is_own(&finding.lane) => (*known.get(kernel.as_str())?).to_owned(),
            _ => return None,
        };
        Some((kernel, file))
    };
    about.filter_map(file).collect()
}
