//! Location of a difference, if a short description fits: elements, columns, or a fact about the parameters that separates differing from equal
//! cases.
//!
//! A fact is about named parameters: a size of at least 2, two different sizes along two axes, an end of a clamp inside its type, a type, a remainder
//! by the length of a vector. Elements of a list are no parameters, and a single value of a number that is no size is no fact. `facts.rs` compares
//! the cases.

mod facts;

use crate::erased::{Domain, Params};
use crate::explain::cause::differing;
use crate::operation::observed::{Observed, Witness};
use std::collections::BTreeSet;

/// Lengths of vectors and blocks for remainders, the longest last.
const MODULI: [u64; 5] = [4, 8, 16, 32, 64];

/// Least threshold of a condition; lower thresholds leave out too little.
const LEAST: u64 = 8;

/// Places of results, each with a flag for a difference.
type Places = Vec<(u64, bool)>;

/// Condition with a description, and counts of results: left out, held, and differing.
struct Condition {
    words: String,
    left_out: usize,
    held: usize,
    differing: usize,
}

/// Describes the location of the differences: `only where batches >= 2 (...)`, `only elements i mod 16 = 3`; `None` if no simple condition fits.
pub(crate) fn described(domain: &Domain, evidence: &[&Observed<Params>], witness: &Witness<Params>) -> Option<String> {
    let parameter = facts::described(evidence, witness);
    let [mut places, mut columns, mut channels] = results(domain, evidence);
    // The printed result is a differing result, too.
    places.push((witness.index as u64, true));
    columns.extend(last(domain, &witness.case.params).map(|last| ((witness.index % last) as u64, true)));
    channels.extend(channel(domain, &witness.case.params, witness.index).map(|channel| (channel as u64, true)));
    let elements = best("elements i", &places);
    let columns = best("positions along the last axis", &columns);
    let channels = best("channels", &channels);
    let all = [columns, elements, channels].into_iter().flatten();
    let element = all.max_by_key(rank).map(|condition| condition.words);
    let words: Vec<String> = [parameter, element].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn rank(condition: &Condition) -> (usize, usize) {
    // Differing results per mille of the held results, then the results left out.
    (condition.differing * 1000 / condition.held.max(1), condition.left_out)
}

/// Returns the length of the last of several axes of the results.
fn last(domain: &Domain, params: &Params) -> Option<usize> {
    let dimensions = domain.dimensions(params, domain.op().tensors().len());
    dimensions.last().copied().filter(|last| dimensions.len() > 1 && *last > 0)
}

/// Returns the channel of a result, if the results have several channels.
fn channel(domain: &Domain, params: &Params, index: usize) -> Option<usize> {
    (domain.capabilities().witnesses.channels)(params, index + 1).get(index).copied()
}

/// Returns the results of differing cases: by place, by place along the last axis, and by channel.
fn results(domain: &Domain, evidence: &[&Observed<Params>]) -> [Places; 3] {
    let (mut places, mut columns, mut channels) = (Vec::new(), Vec::new(), Vec::new());
    for seen in evidence {
        let differ: BTreeSet<usize> = differing(seen).into_iter().collect();
        if differ.is_empty() {
            continue;
        }
        let words = domain.result_element(&seen.case.params).words();
        let last = last(domain, &seen.case.params).unwrap_or(0);
        let results = seen.outs.len() / words;
        let of_channel = (domain.capabilities().witnesses.channels)(&seen.case.params, results);
        for index in 0..results {
            let at = index * words..(index + 1) * words;
            if seen.expected[at.clone()].iter().any(Option::is_none) {
                continue;
            }
            let differs = at.clone().any(|word| differ.contains(&word));
            places.push((index as u64, differs));
            columns.extend((last > 0).then(|| ((index % last) as u64, differs)));
            channels.extend(of_channel.get(index).map(|channel| (*channel as u64, differs)));
        }
    }
    [places, columns, channels]
}

/// Returns the tightest condition that holds all differing results, including the printed result. At least half of the held results must differ, and
/// enough results must be left out. Not every result that the condition holds needs to differ, because some are equal by chance.
fn best(what: &str, places: &Places) -> Option<Condition> {
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
    if least >= LEAST {
        all.push(condition(format!("only {what} >= {least}"), &|at| at >= least));
    }
    for modulus in MODULI {
        // Small values fall into few remainders by chance.
        if greatest < 2 * modulus {
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
    // Tie break: the first condition, which is the simpler.
    all.into_iter().filter(fits).rev().max_by_key(rank)
}

#[cfg(test)]
mod tests {
    use super::best;

    fn words(differs: impl Fn(u64) -> bool) -> Option<String> {
        let places = (0..512).map(|at| (at, differs(at))).collect();
        best("elements i", &places).map(|condition| condition.words)
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
