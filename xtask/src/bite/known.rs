//! Changes that change nothing, each with the reason: the file `equivalent-mutants.txt` of a package.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reasons, by the change without its line and column, which move.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<String, String>);

impl Known {
    /// Reads a file of lines `CHANGE = REASON`; lines that begin with `#` are comments.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut known = BTreeMap::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let Some((change, reason)) = line.split_once(" = because ") else {
                bail!("{}:{}: a line is `FILE: CHANGE = because REASON`", path.display(), i + 1);
            };
            known.insert(change.trim().to_owned(), reason.trim().to_owned());
        }
        Ok(Self(known))
    }

    /// Why a change is equivalent, if it is listed.
    pub(crate) fn reason(&self, name: &str) -> Option<&str> {
        self.0.get(&unplaced(name)).map(String::as_str)
    }
}

/// `FILE: CHANGE` of `FILE:LINE:COLUMN: CHANGE`.
pub(crate) fn unplaced(name: &str) -> String {
    match name.split_once(": ") {
        Some((place, change)) => format!("{}: {change}", place.split(':').next().unwrap_or(place)),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_left_out() {
        let name = "impls/src/add/tflite.rs:12:5: replace + with - in sum";
        assert_eq!(unplaced(name), "impls/src/add/tflite.rs: replace + with - in sum");
    }

    #[test]
    fn the_lists_of_the_project_are_read() {
        let root = crate::workspace::Workspace::locate().expect("the workspace").root;
        for package in ["impls", "oracle"] {
            Known::read(&root.join(package).join("equivalent-mutants.txt")).expect("every line has a reason");
        }
    }
}
