//! Text of the bit-for-bit comparisons: kernels that equal another kernel even when the contract gives no value, and lanes that
//! differ from each other.

use crate::ledger::{Agreement, AgreementWitness, Ledger};
use crate::text::{classes, count, plural};
use crate::view::label;

/// Number of types that a line names before it counts the rest.
const MOST: usize = 3;

/// Line of the section, with an input that shows the comparison.
pub(crate) struct Comparison<'a> {
    /// Kernel, and its lane or lanes.
    pub(crate) names: Vec<String>,
    /// Sentence with the observed counts.
    pub(crate) prose: String,
    /// Results of both sides on the witness: `mlir-x86 0, mlir-aarch64 127`.
    pub(crate) witness: Option<&'a AgreementWitness>,
    /// The values there: `mlir-x86 0, mlir-aarch64 127`.
    pub(crate) values: String,
}

/// One line for each kernel and lane, and one for each pair of lanes.
pub(crate) fn lines(ledger: &Ledger) -> Vec<Comparison<'_>> {
    let mut out = Vec::new();
    for group in ledger.agreements.chunk_by(|a, b| (&a.op, &a.kernel, &a.lane) == (&b.op, &b.kernel, &b.lane)) {
        let (lanes, others): (Vec<_>, Vec<_>) = group.iter().partition(|a| a.kernel == a.other);
        out.extend(kernels(ledger, &others));
        out.extend(lanes.into_iter().map(|a| two(ledger, a, format!("{} and {}", a.lane, a.other_lane), None)));
    }
    together(out)
}

/// Merges the lines of lanes that compare alike.
fn together(all: Vec<Comparison<'_>>) -> Vec<Comparison<'_>> {
    let mut out: Vec<Comparison<'_>> = Vec::new();
    for one in all {
        match out.iter_mut().find(|known| known.names[0] == one.names[0] && known.prose == one.prose) {
            Some(known) => known.names[1] += &format!(", {}", one.names[1]),
            None => out.push(one),
        }
    }
    out
}

/// Lists the kernels that equal this one everywhere, or else the most similar kernel. Kernels of the same lane are all listed.
fn kernels<'a>(ledger: &Ledger, others: &[&'a Agreement]) -> Vec<Comparison<'a>> {
    let (same, mut rest): (Vec<&Agreement>, Vec<&Agreement>) =
        others.iter().copied().partition(|a| a.differ + a.differ_open == 0);
    let mut out = Vec::new();
    if let [first, ..] = same[..] {
        let names: Vec<_> = same.iter().map(|a| a.other.as_str()).collect();
        out.push(Comparison {
            names: names_of(ledger, first, first.lane.clone()),
            prose: format!("as {} in all {}", names.join(", "), results(first)),
            witness: None,
            values: String::new(),
        });
    }
    rest.sort_by_key(|a| a.differ + a.differ_open);
    let near = rest.first().is_some_and(|a| a.lane != a.other_lane);
    let shown = if near { usize::from(same.is_empty()) } else { rest.len() };
    out.extend(rest.into_iter().take(shown).map(|a| two(ledger, a, a.lane.clone(), Some(&a.other))));
    out
}

fn two<'a>(ledger: &Ledger, a: &'a Agreement, lanes: String, other: Option<&str>) -> Comparison<'a> {
    let as_other = other.map_or("the same".to_owned(), |other| format!("as {other}"));
    let prose = match (a.differ, a.differ_open) {
        (0, 0) => format!("{as_other} in all {}", results(a)),
        (inside, open) => {
            let inside = if inside == 0 { "none".to_owned() } else { count(inside) };
            let types = match a.types.len() {
                1 => a.types.keys().cloned().collect(),
                _ => classes(&a.types, MOST, "other type").join(", "),
            };
            let (open, of) = (count(open), count(a.open));
            format!("{as_other} except {open} of {of} poison results and {inside} in range ({types})")
        }
    };
    let [ours, theirs] = match other {
        None => [&a.lane, &a.other_lane],
        Some(_) => [&a.kernel, &a.other],
    };
    let values = a.witness.as_ref().map_or(String::new(), |w| format!("{ours} {}, {theirs} {}", w.got, w.other));
    Comparison { names: names_of(ledger, a, lanes), prose, witness: a.witness.as_ref(), values }
}

fn names_of(ledger: &Ledger, a: &Agreement, lanes: String) -> Vec<String> {
    vec![label(ledger, &a.op, &a.kernel), lanes]
}

fn results(a: &Agreement) -> String {
    let poison = if a.open == 0 { "none".to_owned() } else { count(a.open) };
    let others = match a.not_compared {
        0 => String::new(),
        n => format!("; {} more are outside the domain", count(n)),
    };
    format!("{}, {poison} of them poison{others}", plural(a.results as usize, "result"))
}
