//! Structural fact that separates differing cases from equal cases.
//!
//! The cases are the evidence of the difference and the printed witness. A fact is printed only if the witness and every differing case have it, and
//! no equal case has it. Only equal cases that could show the difference count: cases with a result at the index of the witness and, with several
//! results, more than one expected value.

use super::MODULI;
use crate::erased::Params;
use crate::explain::cause::differing;
use crate::operation::case::Case;
use crate::operation::meaning::{Meaning, are_interchangeable, meaning};
use crate::operation::names;
use crate::operation::observed::{Observed, Witness};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_reports::text;

/// Number of differing, and of equal, cases below which a fact is chance.
const FEWEST: usize = 4;

/// Largest probability that sizes which have nothing to do with the difference separate the cases by their remainders.
const MOST_CHANCE: f64 = 1e-6;

/// Parameters of a case, by name.
type Named = BTreeMap<String, Value>;

/// Fact: description, and test of parameters.
type Fact = (String, Box<dyn Fn(&Named) -> bool>);

/// Returns the simplest fact that separates the cases, if any.
pub(super) fn described(evidence: &[&Observed<Params>], witness: &Witness<Params>) -> Option<String> {
    let mut differ: Vec<Named> = vec![parameters(&witness.case)];
    let mut equal = Vec::new();
    for seen in evidence.iter().filter(|seen| seen.expected.iter().any(Option::is_some)) {
        if !differing(seen).is_empty() {
            differ.push(parameters(&seen.case));
        } else if seen.differ == 0 && could_show(seen, witness) {
            equal.push(parameters(&seen.case));
        }
    }
    let words = separating(&differ, &equal)?;
    let [differ, equal] = [differ.len() - 1, equal.len()].map(|n| text::count(n as u64));
    Some(format!("only where {words} (all {differ} cases kept that differ, none of {equal} that do not)"))
}

/// True if an equal case could show the difference of the witness.
fn could_show(seen: &Observed<Params>, witness: &Witness<Params>) -> bool {
    let values: BTreeSet<i32> = seen.expected.iter().flatten().copied().collect();
    seen.outs.len() > witness.index && (values.len() > 1 || seen.outs.len() == 1)
}

/// Returns the first fact of all differing and no equal cases.
fn separating(differ: &[Named], equal: &[Named]) -> Option<String> {
    if differ.len() <= FEWEST || equal.len() < FEWEST {
        return None;
    }
    let separates = |(_, holds): &Fact| differ.iter().all(holds) && !equal.iter().any(holds);
    facts(differ, equal).into_iter().find(separates).map(|(words, _)| words)
}

/// Returns the parameters of a case and the misalignment, without elements of lists.
fn parameters(case: &Case<Params>) -> Named {
    named(&case.params.json().unwrap_or_default(), case.misalign)
}

fn named(params: &Value, misalign: usize) -> Named {
    let is_element = |name: &str| name.split('.').any(|key| key.parse::<usize>().is_ok());
    let mut out: Named = names::all(params).into_iter().filter(|(name, _)| !is_element(name)).collect();
    out.insert("misalign".to_owned(), misalign.into());
    out
}

/// Lists every fact, in the order of preference, about parameters of all cases.
fn facts(differ: &[Named], equal: &[Named]) -> Vec<Fact> {
    let all = || differ.iter().chain(equal);
    let everywhere = |name: &&String| all().all(|named| named.contains_key(*name));
    let names: Vec<&String> = differ[0].keys().filter(everywhere).collect();
    let integers = |name: &String| -> Option<Vec<i64>> { all().map(|named| named[name].as_i64()).collect() };
    let numbers: Vec<(&String, Vec<i64>)> = names.iter().filter_map(|name| Some((*name, integers(name)?))).collect();
    let (sizes, values): (Vec<_>, Vec<_>) =
        numbers.into_iter().partition(|(name, all)| is_size(name, all.iter().copied().min().unwrap_or(0)));
    let spelled = |name: &str| spelled(name, &names);
    let mut out = Vec::new();
    for (name, all) in &sizes {
        let least = all[..differ.len()].iter().copied().min().unwrap_or(0);
        if (1..=4).contains(&least) {
            out.push(of_integer(name, format!("{} >= {least}", spelled(name)), move |v| v >= least));
        }
    }
    for (at, (one, _)) in sizes.iter().enumerate() {
        for (other, _) in sizes[at + 1..].iter().filter(|(other, _)| are_interchangeable(one, other)) {
            let words = format!("{} != {}", spelled(one), spelled(other));
            let (one, other) = ((*one).clone(), (*other).clone());
            out.push((words, Box::new(move |named: &Named| named[&one] != named[&other])));
        }
    }
    for (name, all) in &values {
        let [least, greatest] = [all.iter().min(), all.iter().max()].map(|end| end.copied().unwrap_or(0));
        let name_of = spelled(name);
        out.push(of_integer(name, format!("{name_of} < {greatest}"), move |v| v < greatest));
        out.push(of_integer(name, format!("{name_of} > {least}"), move |v| v > least));
        if least < 0 && greatest > 0 {
            out.push(of_integer(name, format!("{name_of} != 0"), |v| v != 0));
            out.push(of_integer(name, format!("{name_of} < 0"), |v| v < 0));
            out.push(of_integer(name, format!("{name_of} > 0"), |v| v > 0));
        }
    }
    out.extend(names.iter().flat_map(|name| of_text(name, &spelled(name), &differ[0], equal)));
    for (name, all) in &sizes {
        out.extend(remainders(name, &spelled(name), all.split_at(differ.len())));
        let least = all[..differ.len()].iter().copied().min().unwrap_or(0);
        let greatest = all[..differ.len()].iter().copied().max().unwrap_or(0);
        out.push(of_integer(name, format!("{} >= {least}", spelled(name)), move |v| v >= least));
        out.push(of_integer(name, format!("{} <= {greatest}", spelled(name)), move |v| v <= greatest));
    }
    out
}

fn is_size(name: &str, least: i64) -> bool {
    meaning(name, least as f64) == Meaning::Size
}

fn of_integer(name: &str, words: String, holds: impl Fn(i64) -> bool + 'static) -> Fact {
    let name = name.to_owned();
    (words, Box::new(move |named: &Named| named[&name].as_i64().is_some_and(&holds)))
}

/// Lists facts about flags and names: `count_padding`, `type is u8`, `type is not i8`.
fn of_text(name: &str, spelled: &str, first: &Named, equal: &[Named]) -> Vec<Fact> {
    let is = |value: &Value| {
        let (name, value) = (name.to_owned(), value.clone());
        move |named: &Named| named[&name] == value
    };
    match (&first[name], equal.first().map(|named| &named[name])) {
        (Value::Bool(true), _) => vec![(spelled.to_owned(), Box::new(is(&Value::Bool(true))) as _)],
        (Value::Bool(false), _) => vec![(format!("not {spelled}"), Box::new(is(&Value::Bool(false))) as _)],
        (own @ Value::String(text), other) => {
            let mut out: Vec<Fact> = vec![(format!("{spelled} is {text}"), Box::new(is(own)))];
            if let Some(other @ Value::String(text)) = other {
                let other = is(other);
                out.push((format!("{spelled} is not {text}"), Box::new(move |named: &Named| !other(named))));
            }
            out
        }
        _ => Vec::new(),
    }
}

/// Lists facts about remainders by the length of a vector, for the values of differing and of equal cases.
fn remainders(name: &str, spelled: &str, (differ, equal): (&[i64], &[i64])) -> Vec<Fact> {
    let mut out = Vec::new();
    let [several, others] = [differ, equal].map(|values| values.iter().collect::<BTreeSet<_>>().len() as i32);
    // Cases of equal size are one observation.
    let is_chance =
        |rests: f64, modulus: f64| (rests / modulus).powi(several) * (1.0 - rests / modulus).powi(others) > MOST_CHANCE;
    for modulus in MODULI.map(|modulus| modulus as i64) {
        // Small values fall into few remainders by chance.
        if differ.iter().copied().max().unwrap_or(0) < 2 * modulus {
            continue;
        }
        if !is_chance((modulus - 1) as f64, modulus as f64) {
            out.push(of_integer(name, format!("{spelled} mod {modulus} != 0"), move |v| v.rem_euclid(modulus) != 0));
        }
        let rests: BTreeSet<i64> = differ.iter().map(|v| v.rem_euclid(modulus)).collect();
        let (Some(lo), Some(hi)) = (rests.first().copied(), rests.last().copied()) else { continue };
        let is_range = rests.len() as i64 == hi - lo + 1 && hi - lo + 1 < modulus;
        if is_range && !is_chance(rests.len() as f64, modulus as f64) {
            let range = if lo == hi { lo.to_string() } else { format!("{lo}..{hi}") };
            let holds = move |v: i64| (lo..=hi).contains(&v.rem_euclid(modulus));
            out.push(of_integer(name, format!("{spelled} mod {modulus} = {range}"), holds));
        }
    }
    out
}

/// Returns a name as in the text of a case: the last part, unless another parameter has the same last part.
fn spelled(name: &str, all: &[&String]) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let alike = all.iter().filter(|other| last(other) == last(name)).count();
    if alike > 1 || last(name) == "len" { name.to_owned() } else { last(name) }
}

#[cfg(test)]
mod tests {
    use super::{Named, separating};
    use serde_json::{Value, json};

    /// Describes forty cases, of which `differs` selects the differing cases.
    fn words(case: impl Fn(i64) -> Value, differs: impl Fn(i64) -> bool) -> Option<String> {
        let named = |i: i64| -> Named { case(i).as_object().expect("an object").clone().into_iter().collect() };
        let (differ, equal): (Vec<i64>, Vec<i64>) = (0..40).partition(|i| differs(*i));
        let [differ, equal] = [differ, equal].map(|all| all.into_iter().map(named).collect::<Vec<_>>());
        separating(&differ, &equal)
    }

    #[test]
    fn a_fact_that_separates_the_cases_is_said() {
        let said = |case: fn(i64) -> Value, differs: fn(i64) -> bool| words(case, differs).unwrap_or_default();
        assert_eq!(said(|i| json!({"batches": 1 + i % 3, "min": -i}), |i| i % 3 > 0), "batches >= 2");
        assert_eq!(
            said(|i| json!({"stride_h": 1 + i % 2, "stride_w": 1 + i % 3}), |i| i % 2 != i % 3),
            "stride_h != stride_w"
        );
        assert_eq!(said(|i| json!({"max": 127.min(60 + 10 * i), "min": -128}), |i| i < 7), "max < 127");
        assert_eq!(said(|i| json!({"type": if i % 4 > 1 { "i8" } else { "u8" }}), |i| i % 4 < 2), "type is u8");
        assert_eq!(said(|i| json!({"k": 1 + i}), |i| (1 + i) % 8 != 0), "k mod 8 != 0");
    }

    /// Facts are not printed if a case contradicts them, if few cases show them, or if they state a single value of a number other than a size.
    #[test]
    fn what_does_not_separate_the_cases_is_not_said() {
        assert_eq!(words(|i| json!({"batches": 1 + i % 3}), |i| i % 3 > 0 && i != 10), None);
        assert_eq!(words(|i| json!({"batches": 1 + i % 3}), |i| i % 3 > 0 || i == 9), None);
        assert_eq!(words(|i| json!({"batches": 1 + i / 38}), |i| i >= 38), None);
        assert_eq!(words(|i| json!({"min": i % 5}), |i| i % 5 == 2), None);
        // Five sizes that are divisible by four differ, and a few others do not: the sizes of a plan are often around vectors.
        let sizes = [256, 280, 512, 1024, 2048, 263, 518, 71];
        let of = |i: i64| sizes[i as usize % sizes.len()];
        assert_eq!(words(|i| json!({ "k": of(i) }), |i| of(i) % 4 == 0), None);
    }
}
