//! Where a fault strikes: a batch by its parameters, its length and its place in the run, and in it words by their place and value. All that is
//! named must hold; what is not named, does.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A predicate of batches and words. Ranges hold both ends.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Place {
    /// Parameters by name, such as `k` or `lhs.zero_point`, each in a range.
    parameters: BTreeMap<String, [f64; 2]>,
    /// The number of words modulo the first is the second.
    length_mod: Option<[usize; 2]>,
    /// The batches of the kernel in this process, the first of which is 1.
    batches: Option<[u64; 2]>,
    /// Elements past the boundary of 64 bytes.
    misalign: Option<[usize; 2]>,
    /// The index modulo the first is the second.
    position_mod: Option<[usize; 2]>,
    /// In the last vector of so many words, which is not full.
    last_vector: Option<usize>,
    /// Indices.
    index: Option<[usize; 2]>,
    /// Indices along the last axis: channels, columns, depths.
    column: Option<[usize; 2]>,
    /// The same along all others together.
    row: Option<[usize; 2]>,
    /// The word that stands at the index in what the batch reads.
    input: Option<[i32; 2]>,
    /// The right word.
    value: Option<[i32; 2]>,
}

/// A batch, as far as a predicate asks for it.
pub(crate) struct Seen<'a> {
    /// Its request.
    pub(crate) request: &'a Value,
    /// Its number in this process.
    pub(crate) number: u64,
    /// Words that it reads.
    pub(crate) payload: &'a [i32],
    /// Elements of the last axis of the words that are looked at.
    pub(crate) columns: usize,
    /// All of them.
    pub(crate) len: usize,
}

fn within<T: PartialOrd>(range: &Option<[T; 2]>, v: &T) -> bool {
    range.as_ref().is_none_or(|[first, last]| first <= v && v <= last)
}

impl Place {
    /// Whether anything in this batch may be struck.
    pub(crate) fn of_batch(&self, seen: &Seen<'_>) -> bool {
        let parameter = |name: &str| {
            let at = name.split('.').try_fold(&seen.request["params"], |value, key| value.get(key));
            at.and_then(Value::as_f64)
        };
        let misalign = seen.request["misalign"].as_u64().unwrap_or(0) as usize;
        self.parameters.iter().all(|(name, range)| parameter(name).is_some_and(|v| within(&Some(*range), &v)))
            && self.length_mod.is_none_or(|[by, rest]| seen.len % by == rest)
            && within(&self.batches, &seen.number)
            && within(&self.misalign, &misalign)
    }

    /// Whether this word is struck, in such a batch.
    pub(crate) fn of_word(&self, seen: &Seen<'_>, index: usize, value: i32) -> bool {
        let columns = seen.columns.max(1);
        let in_last = |vector: usize| !seen.len.is_multiple_of(vector) && index >= seen.len / vector * vector;
        let input = || seen.payload.get(index).copied().unwrap_or_default();
        self.position_mod.is_none_or(|[by, rest]| index % by == rest)
            && self.last_vector.is_none_or(in_last)
            && within(&self.index, &index)
            && within(&self.column, &(index % columns))
            && within(&self.row, &(index / columns))
            && (self.input.is_none() || within(&self.input, &input()))
            && within(&self.value, &value)
    }

    /// The words with those struck replaced: by one more, or by the word so many places before it in its row.
    pub(crate) fn strike(&self, seen: &Seen<'_>, moved: Option<usize>, words: &mut [i32]) {
        if !self.of_batch(seen) {
            return;
        }
        let right = words.to_vec();
        for (index, word) in words.iter_mut().enumerate().filter(|(index, word)| self.of_word(seen, *index, **word)) {
            *word = match moved {
                None => word.wrapping_add(1),
                Some(places) => index.checked_sub(places).map_or(*word, |from| right[from]),
            };
        }
    }
}
