//! Equivalent changes, each with the reason: the file `equivalent-mutants.txt` of a package.

use super::sample::file;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Reasons, by the change without its line and column, because these move.
#[derive(Debug)]
pub(crate) struct List(BTreeMap<String, String>);

impl List {
    /// Reads a file of lines `CHANGE = because REASON`; lines that begin with `#` are comments.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut list = BTreeMap::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let Some((change, reason)) = line.split_once(" = because ") else {
                bail!("{}:{}: a line is `FILE: CHANGE = because REASON`", path.display(), i + 1);
            };
            list.insert(change.trim().to_owned(), reason.trim().to_owned());
        }
        Ok(Self(list))
    }

    /// Returns the listed reasons for the changes of some files. A reason covers one place only, not another place with the same change.
    ///
    /// # Errors
    /// If the list names a change that its file does not have, or has at several places.
    pub(crate) fn of(&self, every: &[String]) -> Result<Known> {
        let listed = listed(every);
        let files: BTreeSet<&str> = every.iter().map(|name| file(name)).collect();
        let changes: BTreeSet<&String> = listed.values().collect();
        if let Some(stale) = self.0.keys().find(|change| files.contains(file(change)) && !changes.contains(change)) {
            bail!(
                "`{stale}` is listed in equivalent-mutants.txt, and no change of the code is called so: remove the line, or say which place it \
                 is, such as `(2 of 3)`, where the file is changed in these words at several"
            );
        }
        let reason = |(name, listed): (String, String)| Some((name, self.0.get(&listed)?.clone()));
        Ok(Known(listed.into_iter().filter_map(reason).collect()))
    }
}

/// Reasons, by the name that cargo-mutants gives the change.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<String, String>);

impl Known {
    /// Returns the reason why a change is equivalent, if listed.
    pub(crate) fn reason(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Returns the list's name of each change: `FILE: CHANGE`, with ` (I of N)` if the file has it at N places.
fn listed(every: &[String]) -> BTreeMap<String, String> {
    let mut places: BTreeMap<String, Vec<([u32; 2], &String)>> = BTreeMap::new();
    for name in every {
        let (place, change) = split(name);
        places.entry(change).or_default().push((place, name));
    }
    let mut listed = BTreeMap::new();
    for (change, mut names) in places {
        names.sort_unstable();
        let n = names.len();
        for (i, (_, name)) in names.into_iter().enumerate() {
            let number = if n == 1 { String::new() } else { format!(" ({} of {n})", i + 1) };
            listed.insert(name.clone(), format!("{change}{number}"));
        }
    }
    listed
}

/// Splits `FILE:LINE:COLUMN: CHANGE` into line and column, and the rest.
fn split(name: &str) -> ([u32; 2], String) {
    let Some((place, change)) = name.split_once(": ") else { return ([0; 2], name.to_owned()) };
    let mut parts = place.split(':');
    let file = parts.next().unwrap_or(place);
    let mut number = || parts.next().and_then(|number| number.parse().ok()).unwrap_or(0);
    ([number(), number()], format!("{file}: {change}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_of_one_place_and_lines_and_columns_are_left_out() {
        let at = |place: &str| format!("impls/src/elementwise/add/tflite.rs:{place}: replace + with - in sum");
        let every =
            [at("12:5"), at("9:15"), "impls/src/elementwise/add/tflite.rs:9:1: replace sum -> i32 with 0".to_owned()];
        let names = |every: &[String]| every.iter().map(|name| listed(every)[name].clone()).collect::<Vec<_>>();
        let file = "impls/src/elementwise/add/tflite.rs: replace";
        let numbered = |i: u32| format!("{file} + with - in sum ({i} of 2)");
        assert_eq!(names(&every), [numbered(2), numbered(1), format!("{file} sum -> i32 with 0")]);
        assert_eq!(names(&every[..1]), [format!("{file} + with - in sum")]);

        let list = |change: String| List([(change, "it is".to_owned())].into());
        let known = list(numbered(2)).of(&every).expect("it is there");
        assert_eq!(every.each_ref().map(|name| known.reason(name)), [Some("it is"), None, None]);
        for stale in [format!("{file} + with - in sum"), numbered(3), format!("{file} sum -> i32 with 1")] {
            let error = list(stale.clone()).of(&every).expect_err("no change is called so").to_string();
            assert!(error.starts_with(&format!("`{stale}` is listed")), "{error}");
        }
        list("impls/src/elementwise/mul/tflite.rs: replace + with - in sum".to_owned())
            .of(&every)
            .expect("a file of another part");
    }

    #[test]
    fn the_lists_of_the_project_are_read() {
        let root = crate::workspace::Workspace::locate().expect("the workspace").root;
        for package in ["impls", "oracle"] {
            List::read(&root.join(package).join("equivalent-mutants.txt")).expect("every line has a reason");
        }
    }
}
