//! Padding of a tensor: its cases, and the changes that a kernel may make.

use super::Transform;
use crate::fuzzing::Numbers;
use tiebreak_common::{Budget, Class, below, stream};
use tiebreak_engine::operation::{Arguments, Case, CaseError, Change, Field, fields};
use tiebreak_impls::transform::Params as Any;
use tiebreak_impls::transform::pad::Params;
use tiebreak_oracle::transform::Transform as Exact;
use tiebreak_oracle::transform::pad::Pad;
use tiebreak_reports::ledger::Value;

/// Converts the parameters to the oracle's.
pub(super) fn exact(p: &Params) -> Pad {
    Pad {
        sizes: [p.batches, p.height, p.width, p.channels],
        before: [p.batches_before, p.top, p.left, p.channels_before],
        after: [p.batches_after, p.bottom, p.right, p.channels_after],
        zero_point: p.zero_point,
    }
}

const FIELDS: [Field<Params>; 13] = fields![
    Params; int32 zero_point always; size batches; size height; size width; size channels; size batches_before;
    size batches_after; size top; size bottom; size left; size right; size channels_before; size channels_after
];

/// Formats the parameters as arguments of a case.
pub(super) fn arguments(p: &Params) -> Vec<(String, Value)> {
    fields::written(&FIELDS, p, &Params::default())
}

/// Parses the parameters from the arguments of a case.
pub(super) fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
    fields::read_all(&FIELDS, Params::default(), arguments, &["input"])
}

/// Returns parameters with one field at its default, or smaller.
pub(super) fn smaller(p: &Params) -> Vec<Params> {
    let usual = Params::default();
    let with = |field: &Field<Params>| {
        let (value, least) = (field.value(p), field.value(&usual));
        let values = [least, least + (value - least) / 2, value - 1];
        values.into_iter().filter(move |v| *v != value && *v >= least).map(|v| field.with(p, v)).collect::<Vec<_>>()
    };
    FIELDS[1..].iter().flat_map(with).chain([Params { zero_point: 0, ..*p }]).collect()
}

/// Number of random tensors, for each effort.
const RANDOM: [usize; 2] = [96, 400];

/// Zero points at both ends of 8 bits, and within.
const ZERO_POINTS: [i32; 6] = [-128, -1, 0, 3, 127, 255];

/// Returns each side alone and each pair of sides; long images and rows; random shapes.
pub(super) fn plan(budget: &Budget, seed: u64) -> Vec<Any> {
    let plain = Params { batches: 2, height: 3, width: 4, channels: 3, ..Params::default() };
    let sides = &FIELDS[5..];
    let mut out = vec![plain];
    for (i, one) in sides.iter().enumerate() {
        for (j, other) in sides.iter().enumerate().skip(i) {
            out.push(other.with(&one.with(&plain, 1 + (i + j) as i64 % 3), 1 + (i * j) as i64 % 4));
        }
    }
    let image = Params { height: 5, width: 7, channels: 1, top: 1, bottom: 2, left: 3, right: 1, ..Params::default() };
    out.extend((1..=66).map(|channels| Params { channels, ..image }));
    out.extend((1..=33).map(|width| Params { width, left: width % 5, right: width % 3, ..image }));
    out.extend([Params { width: 4_099, ..image }, Params { height: 1_025, bottom: 70, ..image }]);
    out.push(Params { left: 300, right: 70, top: 33, ..image });
    // All sizes and sides equal, and all sizes large together.
    out.push(FIELDS[1..].iter().fold(Params::default(), |p, field| field.with(&p, 2)));
    out.extend([3, 5, 9, 17].map(|n| Params {
        height: n,
        width: n + 1,
        channels: n + 2,
        top: n,
        bottom: n + 1,
        left: n + 2,
        right: n,
        ..Params::default()
    }));
    let mut rng = stream(seed, "transform/pad");
    for _ in 0..RANDOM[usize::from(budget.every_tail)] {
        let mut size = |most| below(&mut rng, most) as usize;
        out.push(Params {
            batches: 1 + size(3),
            height: 1 + size(6),
            width: 1 + size(9),
            channels: 1 + size(9),
            batches_before: size(4) / 3,
            batches_after: size(4) / 3,
            top: size(5),
            bottom: size(5),
            left: size(6),
            right: size(6),
            channels_before: size(6) / 4,
            channels_after: size(6) / 4,
            zero_point: 0,
        });
    }
    let pointed = |(i, p): (usize, Params)| Any::Pad(Params { zero_point: ZERO_POINTS[i % ZERO_POINTS.len()], ..p });
    out.into_iter().enumerate().map(pointed).collect()
}

/// Draws a padding from a fuzzer's numbers.
pub(super) fn fuzzed(numbers: &mut Numbers<'_>) -> Params {
    let usual = Params { zero_point: numbers.of(-128..=255), ..Params::default() };
    FIELDS[1..].iter().enumerate().fold(usual, |p, (i, field)| {
        // Sizes start at 1, sides at 0.
        let size = numbers.size(5) as i64;
        field.with(&p, if i < 4 { size } else { size - 1 })
    })
}

/// Returns every change, in the order of preference.
pub(super) fn changes() -> [Change<Transform>; 2] {
    let with = |because: &'static str, changed: fn(Pad) -> Pad| {
        Change::predicts(Class::Layout, because, move |case: &Case<Any>| {
            let Any::Pad(p) = &case.params else { return None };
            let out = Exact::Pad(changed(exact(p))).expected(&case.tensors[0]).ok()?;
            Some(out.into_iter().map(Some).collect())
        })
    };
    [
        with("padding before and after an axis change places", |p| Pad { before: p.after, after: p.before, ..p }),
        with("an image is moved down by the columns on its left, and right by the rows above it", |p| {
            let both = |axis: usize| p.before[axis] + p.after[axis];
            let (top, left) = (p.before[2].min(both(1)), p.before[1].min(both(2)));
            let [b, _, _, c] = p.before;
            let [b_after, _, _, c_after] = p.after;
            Pad { before: [b, top, left, c], after: [b_after, both(1) - top, both(2) - left, c_after], ..p }
        }),
    ]
}
