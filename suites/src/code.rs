//! Files with the code of kernels, for findings.
//!
//! `code.txt` has a line for each kernel and mutant of the project: operation, name, file. A test writes `code.txt` from the place of the name in
//! the sources.

use std::collections::BTreeMap;
use std::path::Path;
use tiebreak_reports::ledger::Ledger;

/// Lines for kernels: operation, name, and file below the root of the project.
pub const TABLE: &str = include_str!("code.txt");

/// Returns the files of kernels with findings, by operation and kernel. For findings in the lane of the caller's library, the file is the library.
/// `is_own` is true for a lane that runs the code of this project.
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
