//! Simple mistakes in a requantization: a sign, another channel's parameters, a missing bound, a lost tail, and one half added in f32.

use super::{Promised, Requantize, plain};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Domain, Params};
use tiebreak_oracle::requantize::Scheme;
use tiebreak_oracle::word::Overflow;

/// Vector lengths in elements; elements after the last whole vector may be lost.
const VECTORS: [usize; 5] = [4, 8, 16, 32, 64];

/// Returns every change, in the order of preference.
pub(super) fn changes(base: Scheme, domain: &Domain) -> Vec<Change<Requantize>> {
    let mut out: Vec<_> = exact_sum(base).into_iter().collect();
    out.extend(signs(base));
    out.extend(neighbours(base));
    out.push(rows_of_channels(base));
    out.extend(bounds(base, domain));
    out.extend(VECTORS.map(|vector| lost(base, vector)));
    out.extend(halves());
    out
}

/// Predicts that the sum with the zero point keeps its value; `None` if the promised sum does not wrap. The change comes before changes that
/// include the exact sum, because they would also reproduce its results.
fn exact_sum(base: Scheme) -> Option<Change<Requantize>> {
    let because = "the sum with the zero point does not wrap";
    (base.overflow == Overflow::Wrap).then(|| {
        Change::predicts(Class::Saturation, because, move |case: &Case<Params>| {
            placed_in_64_bits(&base, case, case.params.zero_point.into())
        })
    })
}

/// Change of the parameters.
type Slip = fn(&mut Params);

/// Returns each change with the sum of result and zero point in a word, and in 64 bits, because the sum may exceed int32.
fn slips<const N: usize>(base: Scheme, class: Class, slips: [(&'static str, Slip); N]) -> Vec<Change<Requantize>> {
    let change = |(because, slip): (&'static str, Slip)| {
        let in_word = Change::of_case(class, because, Promised::plain(base), move |case: &mut Case<Params>| {
            slip(&mut case.params)
        });
        let wide = Change::predicts(class, because, move |case: &Case<Params>| {
            let mut case = case.clone();
            slip(&mut case.params);
            placed_in_64_bits(&base, &case, case.params.zero_point.into())
        });
        [in_word, wide]
    };
    slips.into_iter().flat_map(change).collect()
}

/// Computes the results with a zero point that is added in 64 bits.
fn placed_in_64_bits(base: &Scheme, case: &Case<Params>, zero_point: i64) -> Option<Expected> {
    let p = &case.params;
    let wide = Params { zero_point: 0, min: i32::MIN, max: i32::MAX, ..p.clone() };
    let scaled = plain(base, &Case { params: wide, ..case.clone() }).ok()?;
    let placed = |v: i32| (i64::from(v) + zero_point).clamp(p.min.into(), p.max.into()) as i32;
    Some(scaled.into_iter().map(|v| v.map(placed)).collect())
}

/// Returns changes to the sign of biases and zero points, and changes that leave them out.
fn signs(base: Scheme) -> Vec<Change<Requantize>> {
    let placed = |class: Class, because: &'static str, zero_point: fn(i64) -> i64| {
        Change::predicts(class, because, move |case: &Case<Params>| {
            placed_in_64_bits(&base, case, zero_point(case.params.zero_point.into()))
        })
    };
    let mut out = vec![
        placed(Class::OffsetSign, "the zero point is subtracted", |zero_point| -zero_point),
        placed(Class::OffsetTerm, "the zero point is not added", |_| 0),
    ];
    let signed: Slip = |p| p.zero_point -= if (128..=255).contains(&p.zero_point) { 256 } else { 0 };
    out.extend(slips(base, Class::Signedness, [("the zero point, a byte, is read with a sign", signed)]));
    let negated: Slip = |p| p.bias.iter_mut().for_each(|bias| *bias = bias.wrapping_neg());
    out.extend(slips(base, Class::OffsetSign, [("the bias is subtracted", negated)]));
    out.extend(slips(base, Class::OffsetTerm, [("the bias is not added", |p| p.bias.fill(0))]));
    out
}

/// Returns changes to the parameters of the previous or the next channel.
fn neighbours(base: Scheme) -> Vec<Change<Requantize>> {
    slips(
        base,
        Class::Channel,
        [
            ("multiplier, shift and bias are those of the next channel", |p| {
                p.channels.rotate_left(1);
                p.bias.rotate_left(1);
            }),
            ("multiplier, shift and bias are those of the channel before", |p| {
                p.channels.rotate_right(1);
                p.bias.rotate_right(1);
            }),
            ("multiplier and shift are those of the next channel", |p| p.channels.rotate_left(1)),
            ("multiplier and shift are those of the channel before", |p| p.channels.rotate_right(1)),
            ("the bias is that of the next channel", |p| p.bias.rotate_left(1)),
            ("the bias is that of the channel before", |p| p.bias.rotate_right(1)),
            ("the bias is that of the first channel", |p| {
                let first = p.bias[0];
                p.bias.fill(first);
            }),
            ("the multiplier is that of the first channel", |p| {
                let first = p.channels[0].multiplier;
                p.channels.iter_mut().for_each(|channel| channel.multiplier = first);
            }),
            ("the shift is that of the first channel", |p| {
                let first = p.channels[0].shift;
                p.channels.iter_mut().for_each(|channel| channel.shift = first);
            }),
            ("multiplier and shift are those of the first channel", |p| {
                let first = p.channels[0];
                p.channels.fill(first);
            }),
            ("all channels have the parameters of the first", |p| {
                let (channel, bias) = (p.channels[0], p.bias[0]);
                p.channels.fill(channel);
                p.bias.fill(bias);
            }),
        ],
    )
}

/// Predicts that channels are the first axis of the elements, although they are the last.
fn rows_of_channels(base: Scheme) -> Change<Requantize> {
    let because = "channels are taken along the first axis: element i has channel i / (length / channels)";
    Change::predicts(Class::Channel, because, move |case: &Case<Params>| {
        let mut case = case.clone();
        let (p, len) = (&mut case.params, case.tensors[0].len().max(1));
        let channels = p.channels.len();
        let from = |i: usize| i / (len / channels).max(1) % channels;
        p.bias = (0..len).map(|i| p.bias[from(i)]).collect();
        p.channels = (0..len).map(|i| p.channels[from(i)]).collect();
        placed_in_64_bits(&base, &case, case.params.zero_point.into())
    })
}

/// Returns changes that leave out one or both bounds of the clamp. The result is then clamped to the type, or its low bits are taken.
fn bounds(base: Scheme, domain: &Domain) -> Vec<Change<Requantize>> {
    type Bound = fn(&Params, i32) -> i32;
    let kept: [(&str, Bound); 3] = [
        ("the upper bound is left out", |p, v| v.max(p.min)),
        ("the lower bound is left out", |p, v| v.min(p.max)),
        ("both bounds are left out", |_, v| v),
    ];
    let (lo, hi) = domain.output.range().into_inner();
    let change = |((what, bound), casts): ((&str, Bound), bool)| {
        let then = if casts { "the low bits of the result are taken" } else { "the result is clamped to its type" };
        Change::predicts(Class::MissingSaturation, format!("{what}, and {then}"), move |case: &Case<Params>| {
            let wide = Params { min: i32::MIN, max: i32::MAX, ..case.params.clone() };
            let placed = plain(&base, &Case { params: wide, ..case.clone() }).ok()?;
            let fit = |v: i32| {
                let width = i64::from(hi) - i64::from(lo) + 1;
                let cast = (i64::from(v) - i64::from(lo)).rem_euclid(width) + i64::from(lo);
                if casts { cast as i32 } else { v.clamp(lo, hi) }
            };
            Some(placed.into_iter().map(|v| v.map(|v| fit(bound(&case.params, v)))).collect())
        })
    };
    kept.into_iter().flat_map(|kept| [(kept, false), (kept, true)]).map(change).collect()
}

fn lost(base: Scheme, vector: usize) -> Change<Requantize> {
    let because = format!("elements after the last whole vector of {vector} are 0");
    Change::lost(because, Promised::plain(base), |p: &Params| p.len, vector)
}

/// Returns changes that multiply by the scale in f32, and round the product in f32.
fn halves() -> Vec<Change<Requantize>> {
    type Rounding = (&'static str, fn(f32) -> f32);
    let roundings: [Rounding; 3] = [
        ("one half is added to the product in f32, and the sum rounded down", |q| (q + 0.5).floor()),
        ("one half is added to the magnitude of the product in f32, and the sum rounded down", |q| {
            (q.abs() + 0.5).floor().copysign(q)
        }),
        ("the product with the scale is taken in f32, and its ties go away from zero", f32::round),
    ];
    let change = |(because, round): Rounding| {
        Change::predicts(Class::F32Step, because, move |case: &Case<Params>| Some(in_f32(case, round)))
    };
    roundings.into_iter().map(change).collect()
}

fn in_f32(case: &Case<Params>, round: fn(f32) -> f32) -> Expected {
    let p = &case.params;
    let one = |(i, x): (usize, &i32)| {
        let at = i % p.channels.len();
        let Channel { multiplier, shift } = p.channels[at];
        // The power of two is exact.
        let scale = multiplier as f32 * 2f32.powi(shift - 31);
        let rounded = round(x.wrapping_add(p.bias[at]) as f32 * scale);
        Some((rounded as i64).saturating_add(p.zero_point.into()).clamp(p.min.into(), p.max.into()) as i32)
    };
    case.tensors[0].iter().enumerate().map(one).collect()
}
