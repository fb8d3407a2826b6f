//! Which tests of the oracle can see a change of one of its parts: those that name the part, and those of parts that are made of it.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What the code of each part, and each module of the tests, names: parts of the oracle.
#[derive(Debug, Default)]
pub(crate) struct Reach(BTreeMap<String, BTreeSet<String>>);

impl Reach {
    /// Reads `src` and `tests/it` of the oracle.
    pub(crate) fn read(oracle: &Path) -> Result<Self> {
        let parts = texts(&oracle.join("src"))?;
        let known: BTreeSet<String> = parts.keys().cloned().collect();
        let named = |texts: BTreeMap<String, String>, from: &str| {
            let named = |(name, text): (String, String)| (name, named(&text, from, &known));
            texts.into_iter().map(named).collect::<BTreeMap<_, _>>()
        };
        let mut all = named(texts(&oracle.join("tests/it"))?, "tiebreak_oracle::");
        for (part, uses) in named(parts, "crate::") {
            // Tests beside the code, and those of a module of the same name.
            all.entry(part).or_default().extend(uses);
        }
        Ok(Self(all))
    }

    /// Parts and modules whose tests see a change of a part: itself and what names it, and all others that reach it.
    pub(crate) fn of(&self, part: &str) -> [Vec<String>; 2] {
        let names =
            |uses: &BTreeSet<String>, reached: &BTreeSet<String>| uses.iter().any(|used| reached.contains(used));
        let first = BTreeSet::from([part.to_owned()]);
        let direct: BTreeSet<String> =
            self.0.iter().filter(|(_, uses)| names(uses, &first)).map(|(name, _)| name.clone()).collect();
        let direct = &direct | &first;
        let mut all = direct.clone();
        loop {
            let more: Vec<String> = self
                .0
                .iter()
                .filter(|(name, uses)| !all.contains(*name) && names(uses, &all))
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        let others = &all - &direct;
        [direct, others].map(|names| names.into_iter().collect())
    }
}

/// The texts of a folder's files and folders, by their names.
fn texts(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().context("an entry has a name")?.to_string_lossy().into_owned();
        let text = if path.is_dir() {
            texts_of(&path)?
        } else {
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?
        };
        texts.insert(name, text);
    }
    Ok(texts)
}

/// All texts of a folder.
fn texts_of(folder: &Path) -> Result<String> {
    Ok(texts(folder)?.into_values().collect::<Vec<_>>().join("\n"))
}

/// The parts that paths begin with after `from`: one, or those in braces.
fn named(text: &str, from: &str, parts: &BTreeSet<String>) -> BTreeSet<String> {
    let word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let after = text.split(from).skip(1);
    let words = after.flat_map(|rest| match rest.strip_prefix('{') {
        Some(group) => group.split(';').next().unwrap_or(group).split(word).collect(),
        None => Vec::from_iter(rest.split(word).next()),
    });
    words.filter(|word| parts.contains(*word)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn paths_name_parts_one_by_one_or_in_braces() {
        let parts = BTreeSet::from(["add", "mul", "word"].map(str::to_owned));
        let text = "use crate::{add::{self, Scheme}, word};\nlet x = crate::mul::f(word); // crate::sub";
        assert_eq!(named(text, "crate::", &parts), parts);
        assert_eq!(
            named("use crate::add::Scheme; let mul = 1;", "crate::", &parts),
            BTreeSet::from(["add".to_owned()])
        );
    }

    #[test]
    fn tests_of_what_is_made_of_a_part_see_its_changes() {
        let root = Workspace::locate().expect("the workspace").root;
        let reach = Reach::read(&root.join("oracle")).expect("it is there");
        let has = |names: &[String], wanted: &str| names.iter().any(|name| name == wanted);
        let [direct, others] = reach.of("fpm");
        assert!(has(&direct, "fpm_forms") && has(&direct, "census") && has(&direct, "requantize"), "{direct:?}");
        // By way of `census`.
        assert!(has(&others, "staircases") || has(&direct, "staircases"), "{others:?}");
        let [direct, others] = reach.of("transform");
        assert!(
            has(&direct, "transforms") && !has(&direct, "census") && !has(&others, "census"),
            "{direct:?} {others:?}"
        );
    }
}
