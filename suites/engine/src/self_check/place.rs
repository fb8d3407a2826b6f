//! Where a fault strikes: a batch by its parameters, its length and its place in the run, and in it words by their place and value. All that is
//! named must hold; what is not named, does.

use crate::operation::names;
use crate::self_check::history::{News, Since};
use crate::self_check::slices::{Operand, Slices};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::iter::StepBy;
use std::ops::Range;

/// A predicate of batches and words. Ranges hold both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Place {
    /// Parameters by name, such as `k`, `lhs.zero_point` or `channels.len`, each in a range.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, [f64; 2]>,
    /// Parameters by name, each of which modulo the first number is the second.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters_mod: BTreeMap<String, [u64; 2]>,
    /// Names of parameters that are all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<String>,
    /// The quotient of two parameters is nearly a power of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_a_power: Option<Near>,
    /// All words that the batch reads of its first operand, of which there are at least so many, are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<usize>,
    /// Slices of an operand are of one value, or alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slices: Option<Slices>,
    /// How the batch follows those of the kernel before it in this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    /// The number of words modulo the first is the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_mod: Option<[usize; 2]>,
    /// The batches of the kernel in this process, the first of which is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<[u64; 2]>,
    /// The number of the batch modulo the first is the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches_mod: Option<[u64; 2]>,
    /// Elements past the boundary of 64 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misalign: Option<[usize; 2]>,
    /// The index modulo the first is the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_mod: Option<[usize; 2]>,
    /// In the last vector of so many words, which is not full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_vector: Option<usize>,
    /// Indices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<[usize; 2]>,
    /// Indices along the last axis: channels, columns, depths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<[usize; 2]>,
    /// The same along all others together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<[usize; 2]>,
    /// The index modulo a parameter, such as the number of channels that lie one after another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_each: Option<(String, [usize; 2])>,
    /// The word that stands at the index in what the batch reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<[i32; 2]>,
    /// The right word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<[i32; 2]>,
    /// The parameter that the right word is equal to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
}

/// Two parameters whose quotient is nearly a power of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// Their names.
    pub of: [String; 2],
    /// The relative distance of the quotient from the power.
    pub distance: [f64; 2],
}

impl Near {
    fn holds(&self, parameter: impl Fn(&str) -> Option<f64>) -> bool {
        let [Some(one), Some(other)] = [0, 1].map(|at| parameter(&self.of[at])) else { return false };
        let quotient = one / other;
        if !quotient.is_normal() || quotient < 0.0 {
            return false;
        }
        let power = 2f64.powi(quotient.log2().round() as i32);
        within(&Some(self.distance), &(quotient / power - 1.0).abs())
    }
}

/// What is done at a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strike {
    /// Where.
    pub place: Place,
    /// Words take the value of the one so many places before; otherwise they are one higher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<usize>,
    /// Words take the value that the call before left at their place, where it had as many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

/// A fault in the results of a kernel, or in what it reads of its first operand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Results are struck.
    Where(Strike),
    /// Elements of the first operand are.
    Reads(Strike),
}

/// A batch, as far as a predicate asks for it.
pub struct Seen<'a> {
    /// Its request.
    pub request: &'a Value,
    /// Its number in this process.
    pub number: u64,
    /// What is new in its parameters.
    pub news: &'a News,
    /// The results of the batch before.
    pub last: &'a [i32],
    /// What it reads, operand by operand.
    pub operands: &'a [Operand<'a>],
    /// Words that it reads.
    pub payload: &'a [i32],
    /// Elements of the last axis of the words that are looked at.
    pub columns: usize,
    /// All of them.
    pub len: usize,
}

fn within<T: PartialOrd>(range: &Option<[T; 2]>, v: &T) -> bool {
    range.as_ref().is_none_or(|[first, last]| first <= v && v <= last)
}

impl Place {
    /// Whether anything in this batch may be struck.
    pub fn of_batch(&self, seen: &Seen<'_>) -> bool {
        let parameter = |name: &str| names::number(&seen.request["params"], name);
        let misalign = seen.request["misalign"].as_u64().unwrap_or(0) as usize;
        self.parameters.iter().all(|(name, range)| parameter(name).is_some_and(|v| within(&Some(*range), &v)))
            && self
                .parameters_mod
                .iter()
                .all(|(name, [by, rest])| parameter(name).is_some_and(|v| v >= 0.0 && v as u64 % (*by).max(1) == *rest))
            && self
                .equal
                .windows(2)
                .all(|pair| parameter(&pair[0]).is_some() && parameter(&pair[0]) == parameter(&pair[1]))
            && self.near_a_power.as_ref().is_none_or(|near| near.holds(parameter))
            && self.constant.is_none_or(|least| {
                seen.payload.len() >= least && seen.payload.iter().all(|word| *word == seen.payload[0])
            })
            && self.since.as_ref().is_none_or(|since| seen.news.is(since))
            && self.slices.is_none_or(|slices| slices.hold(seen.operands))
            && self.length_mod.is_none_or(|[by, rest]| seen.len % by == rest)
            && within(&self.batches, &seen.number)
            && self.batches_mod.is_none_or(|[by, rest]| seen.number % by == rest)
            && within(&self.misalign, &misalign)
    }

    /// Where words may be struck, in such a batch: no other index needs to be looked at.
    fn indices(&self, seen: &Seen<'_>, words: usize) -> StepBy<Range<usize>> {
        let in_last = |vector: usize| if seen.len.is_multiple_of(vector) { words } else { seen.len / vector * vector };
        let [first, last] = self.index.unwrap_or([0, usize::MAX]);
        let first = first.max(self.last_vector.map_or(0, in_last));
        let [by, rest] = self.position_mod.unwrap_or([1, 0]);
        let first = first + (rest + by - first % by) % by;
        (first..last.saturating_add(1).min(words)).step_by(by)
    }

    /// Whether the word at one of these indices is struck.
    fn of_word(&self, seen: &Seen<'_>, index: usize, value: i32) -> bool {
        let columns = seen.columns.max(1);
        let input = || seen.payload.get(index).copied().unwrap_or_default();
        let of_each =
            |name: &str| names::number(&seen.request["params"], name).map(|count| index % (count as usize).max(1));
        self.position_mod.is_none_or(|[by, rest]| index % by == rest)
            && (self.column.is_none() || within(&self.column, &(index % columns)))
            && (self.row.is_none() || within(&self.row, &(index / columns)))
            && self
                .of_each
                .as_ref()
                .is_none_or(|(name, range)| of_each(name).is_some_and(|at| within(&Some(*range), &at)))
            && (self.input.is_none() || within(&self.input, &input()))
            && within(&self.value, &value)
            && self.bound.as_ref().is_none_or(|name| {
                // A word of 32 bits may have no sign.
                let bound = names::number(&seen.request["params"], name);
                bound == Some(value.into()) || bound == Some((value as u32).into())
            })
    }
}

impl Strike {
    /// The words that are struck, each with what replaces it: one more, the word so many places before, or what the call before left there.
    pub fn changes(&self, seen: &Seen<'_>, words: &[i32]) -> impl Iterator<Item = (usize, i32)> {
        let Self { place, moved, left } = self;
        let indices = place.of_batch(seen).then(|| place.indices(seen, words.len()));
        let struck = indices.into_iter().flatten().filter(move |index| place.of_word(seen, *index, words[*index]));
        struck.map(move |index| {
            let changed = match moved {
                None if *left => seen.last.get(index).copied().unwrap_or(words[index]),
                None => words[index].wrapping_add(1),
                Some(places) => words[index.checked_sub(*places).unwrap_or(index)],
            };
            (index, changed)
        })
    }

    /// Replaces the words that are struck: how many.
    pub fn strike(&self, seen: &Seen<'_>, words: &mut [i32]) -> u64 {
        let changes: Vec<(usize, i32)> = self.changes(seen, words).collect();
        changes.iter().for_each(|(index, changed)| words[*index] = *changed);
        changes.len() as u64
    }
}
