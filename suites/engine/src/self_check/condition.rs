//! Place of a fault: conditions on a batch (parameters, length, place in the run) and on its words (place, value). All given conditions must hold.

use crate::operation::names;
use crate::self_check::history::{ParamChange, Since};
use crate::self_check::slices::{Operand, Slices};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::iter::StepBy;
use std::ops::Range;

/// Predicate of batches and words. Ranges include both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FaultCondition {
    /// Ranges of parameters by name: `k`, `lhs.zero_point`, `channels.len`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, [f64; 2]>,
    /// Remainders of parameters by name: modulus, remainder.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters_mod: BTreeMap<String, [u64; 2]>,
    /// Names of parameters with equal values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<String>,
    /// Two parameters with a quotient close to a power of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_a_power: Option<Near>,
    /// Least number of words read from the first operand, all with the same value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<usize>,
    /// Slices of an operand that are constant or equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slices: Option<Slices>,
    /// Relation of the batch to the kernel's earlier batches in the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
    /// Remainder of the number of words: modulus, remainder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length_mod: Option<[usize; 2]>,
    /// Range of the kernel's batches in the process, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<[u64; 2]>,
    /// Remainder of the number of the batch: modulus, remainder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches_mod: Option<[u64; 2]>,
    /// Range of misalignment, in elements past a boundary of 64 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misalign: Option<[usize; 2]>,
    /// Remainder of the index: modulus, remainder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_mod: Option<[usize; 2]>,
    /// Width of vectors; the word must be in the last vector, which is not full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_vector: Option<usize>,
    /// Range of indices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<[usize; 2]>,
    /// Range of indices along the last axis: channels, columns, depths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<[usize; 2]>,
    /// Range of indices along all other axes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<[usize; 2]>,
    /// Name of a parameter, for example the number of alternating channels, and a range for the index modulo the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_each: Option<(String, [usize; 2])>,
    /// Range of the word at the same index in the first operand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<[i32; 2]>,
    /// Range of the right word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<[i32; 2]>,
    /// Name of a parameter with the value of the right word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
}

/// Condition with these fields and no others: `place!(index: [4, 7])`.
macro_rules! place {
    ($($field:ident: $value:expr),+) => {
        FaultCondition { $($field: Into::into($value),)+ ..FaultCondition::default() }
    };
}
pub(crate) use place;

/// Two parameters with a quotient close to a power of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// Names of the parameters.
    pub of: [String; 2],
    /// Range of the relative distance between the quotient and the power.
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

/// Change of words at a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strike {
    /// Affected words.
    pub place: FaultCondition,
    /// Distance in words: an affected word takes the value at this distance before. `None`: the word is incremented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<usize>,
    /// True if affected words take the previous call's values at their index, if available.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

/// Fault in the results of a kernel, or in the kernel's reads of the first operand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Results are affected.
    #[serde(rename = "where")]
    InResults(Strike),
    /// Elements of the first operand are affected.
    #[serde(rename = "reads")]
    InOperand(Strike),
}

/// Batch, with the facts that predicates need.
pub struct Seen<'a> {
    /// Request of the batch.
    pub request: &'a Value,
    /// Number of the batch in the process.
    pub number: u64,
    /// Changes of parameters.
    pub change: &'a ParamChange,
    /// Results of the previous batch.
    pub last: &'a [i32],
    /// Operands of the batch.
    pub operands: &'a [Operand<'a>],
    /// Words of the first operand.
    pub payload: &'a [i32],
    /// Length of the last axis of the words concerned.
    pub columns: usize,
    /// Number of the words concerned.
    pub len: usize,
}

fn within<T: PartialOrd>(range: &Option<[T; 2]>, v: &T) -> bool {
    range.as_ref().is_none_or(|[first, last]| first <= v && v <= last)
}

impl FaultCondition {
    /// True if the conditions on the batch hold.
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
            && self.since.as_ref().is_none_or(|since| seen.change.is(since))
            && self.slices.is_none_or(|slices| slices.hold(seen.operands))
            && self.length_mod.is_none_or(|[by, rest]| seen.len % by == rest)
            && within(&self.batches, &seen.number)
            && self.batches_mod.is_none_or(|[by, rest]| seen.number % by == rest)
            && within(&self.misalign, &misalign)
    }

    /// Returns the indices that may be affected in a matching batch, so that other indices are skipped.
    fn indices(&self, seen: &Seen<'_>, words: usize) -> StepBy<Range<usize>> {
        let in_last = |vector: usize| if seen.len.is_multiple_of(vector) { words } else { seen.len / vector * vector };
        let [first, last] = self.index.unwrap_or([0, usize::MAX]);
        let first = first.max(self.last_vector.map_or(0, in_last));
        let [by, rest] = self.position_mod.unwrap_or([1, 0]);
        let first = first + (rest + by - first % by) % by;
        (first..last.saturating_add(1).min(words)).step_by(by)
    }

    /// True if the word is affected, for an index from `indices`.
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
                // A word of 32 bits may be unsigned.
                let bound = names::number(&seen.request["params"], name);
                bound == Some(value.into()) || bound == Some((value as u32).into())
            })
    }
}

impl Strike {
    /// Returns the affected words, each with the new value: incremented, taken from an earlier index, or from the previous call.
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

    /// Replaces the affected words, and returns their number.
    pub fn apply(&self, seen: &Seen<'_>, words: &mut [i32]) -> u64 {
        let changes: Vec<(usize, i32)> = self.changes(seen, words).collect();
        changes.iter().for_each(|(index, changed)| words[*index] = *changed);
        changes.len() as u64
    }
}
