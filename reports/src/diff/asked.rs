//! Options in the command of a run, and the reason why a second run may lack a result.

use crate::ledger::{Ledger, Row};
use std::collections::BTreeSet;

/// Options with the values that kernels run on.
const PARAMETERS: [&str; 9] =
    ["--case", "--multiplier", "--shift", "--x", "--q", "--params", "--type", "--model", "--rounding"];

/// Command of a run, as words.
pub(super) struct RunCommand {
    words: Vec<String>,
}

impl RunCommand {
    pub(super) fn of(ledger: &Ledger) -> Self {
        Self { words: words(&ledger.command) }
    }

    /// Returns the values of an option, `--option VALUE` or `--option=VALUE`.
    fn values(&self, option: &str) -> BTreeSet<&str> {
        let joined = self.words.iter().filter_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        let apart = self.words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].as_str());
        joined.chain(apart).collect()
    }

    /// Returns the parameters that the caller gave, as options.
    pub(super) fn parameters(&self) -> String {
        let option =
            |option: &&str| self.values(option).into_iter().map(|v| format!("{option} {v}")).collect::<Vec<_>>();
        let given: Vec<String> = PARAMETERS.iter().flat_map(option).collect();
        if given.is_empty() { "no parameters".to_owned() } else { given.join(" ") }
    }

    /// Returns a sentence on the option if the caller gave other values than `name`.
    fn leaves_out(&self, option: &str, name: &str) -> Option<String> {
        let values = self.values(option);
        let all = values.is_empty() || values.contains(name) || (option == "--op" && values.contains("all"));
        (!all).then(|| format!("the second run has {option} {}", values.into_iter().collect::<Vec<_>>().join(", ")))
    }
}

/// Returns the reason why the second run lacks this row by request; `None` if the row is missing without a reason.
pub(super) fn why_not(old: &Ledger, new: &Ledger, row: &Row) -> Option<String> {
    let (before, after) = (RunCommand::of(old), RunCommand::of(new));
    let narrowed = [("--op", &row.op), ("--kernel", &row.kernel), ("--lane", &row.lane)];
    let narrowed = narrowed.into_iter().find_map(|(option, name)| after.leaves_out(option, name));
    let allowed = after.values("--allow-not-run").contains(row.lane.as_str());
    let has_file = |asked: &RunCommand| !asked.values("--lanes").is_empty();
    let same = |other: &&Row| (&other.op, &other.kernel, &other.lane) == (&row.op, &row.kernel, &row.lane);
    let is_there = new.rows.iter().any(|other| same(&other));
    match () {
        () if narrowed.is_some() => narrowed,
        () if before.parameters() != after.parameters() => {
            Some(format!("{} in the first run, {} in the second", before.parameters(), after.parameters()))
        }
        () if allowed => Some(format!("the second run has --allow-not-run {}", row.lane)),
        () if has_file(&before) != has_file(&after) => Some("only one of the runs has --lanes".to_owned()),
        () if is_there && old.effort != new.effort => {
            Some(format!("--effort {} in the first run, {} in the second", old.effort, new.effort))
        }
        () => None,
    }
}

/// Options with a value that set the output, speed or display of a run. They do not affect its findings.
const WITHOUT_EFFECT: [&str; 4] = ["--out", "--base", "--jobs", "--format"];
/// Flags (options without a value) that do not affect the findings.
const FLAGS: [&str; 2] = ["--verbose", "-v"];

/// True if two commands request the same run; the name of the program does not count.
pub fn is_same_request(one: &str, other: &str) -> bool {
    request(one) == request(other)
}

/// Returns the words of a command, from `verify` on, that decide the results of the run.
fn request(command: &str) -> Vec<String> {
    let words = words(command);
    let begins = words.iter().position(|word| word == "verify").unwrap_or(0);
    let mut out = Vec::new();
    let mut rest = words.into_iter().skip(begins);
    while let Some(word) = rest.next() {
        let joined = |option: &&str| word.strip_prefix(*option).is_some_and(|rest| rest.starts_with('='));
        match word.as_str() {
            apart if WITHOUT_EFFECT.contains(&apart) => drop(rest.next()),
            flag if FLAGS.contains(&flag) || WITHOUT_EFFECT.iter().any(joined) => {}
            _ => out.push(word),
        }
    }
    out
}

/// Splits a command into words as a shell does; single or double quotes keep spaces.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (quote, c) {
            (None, ' ' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_what_decides_the_results() {
        let same = |one, other| is_same_request(one, other);
        assert!(same("cargo xtask verify --op fpm --out a --jobs=2", "tiebreak verify --base b -v --op fpm"));
        assert!(!same("cargo xtask verify --op fpm", "cargo xtask verify --op dot"));
        assert!(!same("cargo xtask verify", "cargo xtask verify --seed 2"));
    }

    #[test]
    fn words_are_those_of_a_shell() {
        assert_eq!(words("a  --case='x=1 m=2' --type \"b c\" ''"), ["a", "--case=x=1 m=2", "--type", "b c", ""]);
        let asked = RunCommand { words: words("verify --op fpm --op=add --case 'x=1 m=2'") };
        assert_eq!(asked.values("--op"), ["add", "fpm"].into());
        assert_eq!(asked.parameters(), "--case x=1 m=2");
        assert!(asked.leaves_out("--op", "dot").is_some() && asked.leaves_out("--op", "add").is_none());
        assert!(asked.leaves_out("--kernel", "any").is_none());
    }
}
