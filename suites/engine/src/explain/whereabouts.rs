//! Where a difference lies, where few words say it: at which elements, in which columns, at which values of a parameter.

use crate::explain::cause::differing;
use crate::operation::case::Case;
use crate::operation::meaning::{Meaning, meaning};
use crate::operation::observed::{Observed, Witness};
use crate::operation::{Operation, names};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Lengths of vectors and blocks of which remainders are looked at, the longest last.
const MODULI: [u64; 5] = [4, 8, 16, 32, 64];

/// Thresholds below this say nothing: they leave out too little.
const LEAST: u64 = 8;

/// A place with whether there is a difference: a result at a place of its case, or a case at a value of a parameter.
type Places = Vec<(u64, bool)>;

/// A condition in words, with how much of what it leaves out is right, and how much of what it holds differs.
struct Condition {
    words: String,
    left_out: usize,
    held: usize,
    differing: usize,
}

/// Where the differences of some cases lie: `only where k mod 32 = 5..31, only elements i mod 16 = 3`; nothing where no simple condition fits.
pub(crate) fn described<O: Operation>(
    domain: &O::Domain,
    evidence: &[&Observed<O::Params>],
    witness: &Witness<O::Params>,
) -> Option<String> {
    let mut cases = of_cases::<O>(evidence);
    // The smallest case that differs is none of the plan's.
    for (name, value) in parameters(&witness.case) {
        cases.entry(name).or_default().push((value, true));
    }
    let of = |(name, places): (&String, &Places)| {
        // Only sizes are large or small, and have remainders.
        let kind = if meaning(name, 0.0) == Meaning::Size { Kind::Size } else { Kind::Value };
        best(&format!("where {name}"), places, kind)
    };
    let parameter = cases.iter().filter_map(of).max_by_key(rank);
    let inside = results::<O>(domain, evidence);
    let elements = best("elements i", &inside[0], Kind::Place);
    let columns = best("positions along the last axis", &inside[1], Kind::Place);
    let element = [columns, elements].into_iter().flatten().max_by_key(rank);
    let words: Vec<String> = [parameter, element].into_iter().flatten().map(|condition| condition.words).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What numbers are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Places of results.
    Place,
    /// Sizes.
    Size,
    /// Other parameters.
    Value,
}

fn rank(condition: &Condition) -> (usize, usize) {
    // Per mille of what it holds that differs, then what it leaves out.
    (condition.differing * 1000 / condition.held.max(1), condition.left_out)
}

/// Of each parameter that is a whole number its value in each case.
fn of_cases<O: Operation>(evidence: &[&Observed<O::Params>]) -> BTreeMap<String, Places> {
    let mut out: BTreeMap<String, Places> = BTreeMap::new();
    for seen in evidence.iter().filter(|seen| seen.expected.iter().any(Option::is_some)) {
        for (name, value) in parameters(&seen.case) {
            out.entry(name).or_default().push((value, !differing(seen).is_empty()));
        }
    }
    out
}

/// The parameters of a case that are whole numbers, with where its operands lie.
fn parameters<P: Serialize>(case: &Case<P>) -> impl Iterator<Item = (String, u64)> {
    let params = serde_json::to_value(&case.params).unwrap_or_default();
    let numbers = names::all(&params).into_iter().filter_map(|(name, value)| Some((name, value.as_u64()?)));
    numbers.chain([("misalign".to_owned(), case.misalign as u64)])
}

/// Of the results of cases that differ: by their place, and by that along the last axis.
fn results<O: Operation>(domain: &O::Domain, evidence: &[&Observed<O::Params>]) -> [Places; 2] {
    let (mut places, mut columns) = (Vec::new(), Vec::new());
    for seen in evidence {
        let differ: BTreeSet<usize> = differing(seen).into_iter().collect();
        if differ.is_empty() {
            continue;
        }
        let words = O::element(domain, &seen.case.params, O::TENSORS.len()).words();
        let dimensions = O::dimensions(domain, &seen.case.params, O::TENSORS.len());
        let last = dimensions.last().copied().filter(|_| dimensions.len() > 1).unwrap_or(0);
        for index in 0..seen.outs.len() / words {
            let at = index * words..(index + 1) * words;
            if seen.expected[at.clone()].iter().any(Option::is_none) {
                continue;
            }
            let differs = at.clone().any(|word| differ.contains(&word));
            places.push((index as u64, differs));
            columns.extend((last > 0).then(|| ((index % last) as u64, differs)));
        }
    }
    [places, columns]
}

/// The condition that holds all that differs, and of what is right as little as possible: at least half of what it holds differs, and it leaves something out.
fn best(what: &str, places: &Places, kind: Kind) -> Option<Condition> {
    let differ: BTreeSet<u64> = places.iter().filter(|(_, differs)| *differs).map(|(at, _)| *at).collect();
    let (least, greatest) = (*differ.first()?, *differ.last()?);
    let condition = |words: String, holds: &dyn Fn(u64) -> bool| {
        let held = places.iter().filter(|(at, _)| holds(*at)).count();
        let differing = places.iter().filter(|(_, differs)| *differs).count();
        Condition { words, left_out: places.len() - held, held, differing }
    };
    let mut all = Vec::new();
    if least == greatest {
        all.push(condition(format!("only {what} = {least}"), &|at| at == least));
    }
    if kind != Kind::Value && least >= LEAST {
        all.push(condition(format!("only {what} >= {least}"), &|at| at >= least));
    }
    if kind == Kind::Size && greatest > 0 {
        all.push(condition(format!("only {what} <= {greatest}"), &|at| at <= greatest));
    }
    for modulus in MODULI {
        // Fewer values than a modulus has remainders fall into some of them by themselves.
        if kind == Kind::Value || greatest < 2 * modulus {
            continue;
        }
        let rests: BTreeSet<u64> = differ.iter().map(|at| at % modulus).collect();
        let (lo, hi) = (*rests.first()?, *rests.last()?);
        if rests.len() as u64 == hi - lo + 1 && (rests.len() as u64) < modulus {
            let range = if lo == hi { lo.to_string() } else { format!("{lo}..{hi}") };
            let words = format!("only {what} mod {modulus} = {range}");
            all.push(condition(words, &|at| (lo..=hi).contains(&(at % modulus))));
        }
    }
    let fits = |c: &Condition| c.left_out > 0 && 2 * c.differing >= c.held && c.left_out * 8 >= c.held.min(c.differing);
    // Of two that are as good the first, which is the simpler one.
    all.into_iter().filter(fits).rev().max_by_key(rank)
}

#[cfg(test)]
mod tests {
    use super::{Kind, best};

    fn words(differs: impl Fn(u64) -> bool) -> Option<String> {
        let places = (0..512).map(|at| (at, differs(at))).collect();
        best("elements i", &places, Kind::Place).map(|condition| condition.words)
    }

    #[test]
    fn a_place_is_said_in_the_simplest_words_that_fit() {
        assert_eq!(words(|at| at >= 256).as_deref(), Some("only elements i >= 256"));
        assert_eq!(words(|at| at % 16 == 3).as_deref(), Some("only elements i mod 16 = 3"));
        assert_eq!(words(|at| at % 32 >= 5).as_deref(), Some("only elements i mod 32 = 5..31"));
        assert_eq!(words(|at| at == 77).as_deref(), Some("only elements i = 77"));
    }

    #[test]
    fn what_no_simple_condition_holds_is_not_said() {
        assert_eq!(words(|_| true), None);
        assert_eq!(words(|_| false), None);
        assert_eq!(words(|at| at % 7 == 1 || at % 5 == 2), None);
    }
}
