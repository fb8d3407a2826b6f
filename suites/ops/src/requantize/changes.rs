//! Changes that a kernel may make to a requantization.

use super::{Promised, Requantize, everyday, plain};
use crate::fpm::changes::class_of;
use crate::fpm::hypotheses::{Hypothesis, hypotheses};
use crate::matmul::round_24;
use std::ops::RangeInclusive;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Domain, Params};
use tiebreak_oracle::fpm;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::requantize::{Definition, Scheme};
use tiebreak_oracle::scheme::Registered;
use tiebreak_oracle::word::{INT32, Overflow};

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Requantize>> {
    let mut out = Vec::new();
    for (class, because, overflow) in [
        (Class::MissingSaturation, "a 32-bit intermediate wraps", Overflow::Wrap),
        (Class::Saturation, "a 32-bit intermediate saturates", Overflow::Saturate),
    ] {
        out.push(Change::scheme(class, because, Promised::plain(Scheme { overflow, ..*scheme })));
    }
    let saturates = scheme.overflow == Overflow::Saturate;
    let base = Scheme { overflow: if saturates { Overflow::Saturate } else { Overflow::Wrap }, ..*scheme };
    out.extend(multiplications(base));
    out.push(Change::predicts(Class::DirectedRounding, "the shift drops what it shifts out", |case| {
        Some(legacy(case, |v, shift| v >> shift))
    }));
    out.push(Change::predicts(Class::LogicalShift, "the shift is a logical one", |case| {
        Some(legacy(case, |v, shift| i64::from(((v as i32) as u32) >> shift)))
    }));
    out.push(Change::predicts(
        Class::LogicalShift,
        "the shift is a logical one, after the rounding term is added",
        |case| {
            Some(legacy(case, |v, shift| {
                let half = if shift == 0 { 0 } else { 1i64 << (shift - 1) };
                i64::from(((v + half) as i32 as u32) >> shift)
            }))
        },
    ));
    out.extend(zero_point_first(base));
    out.extend(orders(base, domain));
    out.extend(narrowed_multipliers(base));
    out.push(Change::predicts(Class::F32Step, "the product with the scale is taken in f32", |case| Some(in_f32(case))));
    out.extend(positions(base));
    out.extend(everyday::changes(base, domain));
    out
}

/// Returns the changes to the scheme of a group. If the kernel keeps its contract, its own multiplication comes first.
pub(super) fn in_group(
    group: usize,
    contract: &Promised,
    scheme: &Promised,
    domain: &Domain,
    kept: bool,
) -> Vec<Change<Requantize>> {
    let stale = contract.stale(scheme, group);
    let (contract, scheme) = (contract.at(group), scheme.at(group));
    let own = kept.then(|| multiplication(scheme, contract));
    stale.into_iter().chain(own).chain(changes(scheme, domain)).collect()
}

/// Returns the change to another scheme's multiplication.
pub(crate) fn multiplication(promised: &Scheme, other: &Scheme) -> Change<Requantize> {
    let class = match (multiply(promised), multiply(other)) {
        (Some(promised), Some(other)) => class_of(&promised, &other),
        (None, None) => Class::TieDirection,
        _ => Class::OtherScheme,
    };
    Change::scheme(class, format!("the multiplication is {}", other.definition.name()), Promised::plain(*other))
}

/// Returns the scheme of the fixed point multiply inside; `None` for the legacy pipeline.
pub(crate) fn multiply(scheme: &Scheme) -> Option<fpm::Scheme> {
    match scheme.definition {
        Definition::Fpm(definition) => Some(fpm::Scheme { definition, overflow: scheme.overflow }),
        Definition::Legacy | Definition::LegacyTiesAway => None,
    }
}

/// Returns changes of the multiplication: the hypotheses of fixed point multiply, or the other legacy schemes.
fn multiplications(base: Scheme) -> Vec<Change<Requantize>> {
    if let Some(promised) = multiply(&base) {
        return hypotheses(&promised).into_iter().map(changed).collect();
    }
    let legacy = [Definition::Legacy, Definition::LegacyTiesAway].map(|definition| Scheme { definition, ..base });
    let others = legacy.iter().filter(|other| other.label() != base.label());
    others.map(|other| multiplication(&base, other)).collect()
}

/// Predicts that the zero point is added in f32, before the last rounding; `None` for a scheme without f32 steps.
fn zero_point_first(base: Scheme) -> Option<Change<Requantize>> {
    let definition = multiply(&base)?.definition;
    let steps: Vec<Step> = definition.steps.iter().map(|(_, step)| *step).collect();
    let last = steps.iter().rposition(|step| matches!(step, Step::Round(_)))?;
    steps.contains(&Step::F32).then_some(())?;
    let because = "the zero point is added in f32, before the rounding";
    Some(Change::predicts(Class::ZeroPointPlacement, because, move |case: &Case<Params>| {
        let p = &case.params;
        let mut moved = steps.clone();
        moved.splice(last..last, [Step::Offset(p.zero_point.into()), Step::F32]);
        let multiply = Hypothesis {
            class: Class::ZeroPointPlacement,
            because: String::new(),
            steps: moved,
            overflow: base.overflow,
        };
        let plain = Params { zero_point: 0, ..p.clone() };
        Some(multiplied(&multiply, &Case { params: plain, ..case.clone() }))
    }))
}

/// Predicts the multiplication of a hypothesis, with bias, zero point and clamp as promised.
fn changed(multiply: Hypothesis) -> Change<Requantize> {
    Change::predicts(multiply.class, multiply.because.clone(), move |case| Some(multiplied(&multiply, case)))
}

fn multiplied(multiply: &Hypothesis, case: &Case<Params>) -> Expected {
    let fit = |v: i64| multiply.overflow.fit(INT32, v.into()).map(|v| v as i64);
    each(case, |p, channel, x| {
        let Channel { multiplier, shift } = p.channels[channel];
        let sum = fit(i64::from(x) + i64::from(p.bias[channel]))?;
        let scaled = multiply.predicts(sum, &fpm::Parameters::q31(multiplier, shift))?;
        Some((fit(scaled + i64::from(p.zero_point))? as i32).clamp(p.min, p.max))
    })
}

/// Vector lengths in elements; whole vectors and the following elements may be rounded by different rules.
const VECTORS: [usize; 4] = [4, 8, 16, 32];

/// Returns changes that round whole vectors, or the following elements, by another rule than promised.
fn positions(base: Scheme) -> Vec<Change<Requantize>> {
    let rounds = |multiply: &Hypothesis| {
        matches!(multiply.class, Class::DoubleRounding | Class::TieDirection | Class::DirectedRounding)
    };
    let others: Vec<Hypothesis> = multiply(&base).iter().flat_map(hypotheses).filter(rounds).collect();
    let part = |vector: usize, in_body: bool, multiply: Hypothesis| {
        let place = if in_body { "whole vectors" } else { "elements after the last whole vector" };
        let because = format!("{place} of {vector}: {}", multiply.because);
        Change::predicts(Class::Position, because, move |case: &Case<Params>| {
            let mut out = plain(&base, case).ok()?;
            let whole = out.len() - out.len() % vector;
            let changed = if in_body { 0..whole } else { whole..out.len() };
            out[changed.clone()].copy_from_slice(&multiplied(&multiply, case)[changed]);
            Some(out)
        })
    };
    let of_part = |(vector, in_body)| others.iter().cloned().map(move |other| part(vector, in_body, other));
    let parts = [false, true].into_iter().flat_map(|in_body| VECTORS.map(|vector| (vector, in_body)));
    parts.flat_map(of_part).collect()
}

/// Numbers of low bits of the multiplier, up to and beyond those that are insignificant in a Q0.31 multiplier made from a float.
const LOW_BITS: RangeInclusive<u32> = 1..=24;

/// Returns changes that truncate or round the low bits of the multiplier.
fn narrowed_multipliers(base: Scheme) -> Vec<Change<Requantize>> {
    let cause = |(bits, rounds): (u32, bool)| {
        let how = if rounds { "rounded away" } else { "cut off" };
        let because = format!("the low {bits} bits of the multiplier are {how}");
        Change::predicts(Class::MultiplierNarrowed, because, move |case| {
            plain(&base, &with_narrowed(case, bits, rounds)).ok()
        })
    };
    LOW_BITS.flat_map(|bits| [(bits, false), (bits, true)]).map(cause).collect()
}

/// Returns the case with every multiplier narrowed.
pub fn with_narrowed(case: &Case<Params>, bits: u32, rounds: bool) -> Case<Params> {
    let mut case = case.clone();
    for channel in &mut case.params.channels {
        let half = if rounds { 1i64 << (bits - 1) } else { 0 };
        let kept = (i64::from(channel.multiplier) + half) >> bits;
        channel.multiplier = (kept.min(i64::from(i32::MAX >> bits)) << bits) as i32;
    }
    case
}

/// Computes the legacy pipeline with another shift; all other steps but the clamp wrap.
fn legacy(case: &Case<Params>, shift: impl Fn(i64, u32) -> i64) -> Expected {
    each(case, |p, channel, x| {
        let sum = x.wrapping_add(p.bias[channel]);
        let c = p.channels[channel];
        let product = i64::from(sum.wrapping_mul(c.multiplier));
        let scaled = shift(product, c.shift.unsigned_abs()) as i32;
        Some(scaled.wrapping_add(p.zero_point).clamp(p.min, p.max))
    })
}

fn each(case: &Case<Params>, f: impl Fn(&Params, usize, i32) -> Option<i32>) -> Expected {
    let p = &case.params;
    case.tensors[0].iter().enumerate().map(|(i, x)| f(p, i % p.channels.len(), *x)).collect()
}

/// Returns changes that clamp or cast before the zero point is added.
fn orders(base: Scheme, domain: &Domain) -> Vec<Change<Requantize>> {
    let range = domain.output.range();
    let (lo, hi) = (*range.start(), *range.end());
    let width = i64::from(hi) - i64::from(lo) + 1;
    let cast = move |v: i32| ((i64::from(v) - i64::from(lo)).rem_euclid(width) + i64::from(lo)) as i32;
    let scaled = move |case: &Case<Params>| {
        let wide = Params { zero_point: 0, min: i32::MIN, max: i32::MAX, ..case.params.clone() };
        plain(&base, &Case { params: wide, ..case.clone() }).ok()
    };
    let placed = move |because: &str, narrow: fn(i32, i32, i32) -> i32, by_cast: bool, end: u8| {
        Change::predicts(Class::ClampOrder, because.to_owned(), move |case: &Case<Params>| {
            let p = &case.params;
            let finish = |v: i32| {
                let narrowed = if by_cast { cast(v) } else { narrow(v, lo, hi) };
                let sum = narrowed.wrapping_add(p.zero_point);
                match end {
                    0 => cast(sum),
                    1 => sum.clamp(p.min, p.max),
                    _ => sum,
                }
            };
            Some(scaled(case)?.into_iter().map(|v| v.map(finish)).collect())
        })
    };
    let mut out = vec![Change::predicts(
        Class::ClampOrder,
        "the sum with the zero point is cast, and then clamped",
        move |case: &Case<Params>| {
            let p = &case.params;
            let finish = |v: i32| cast(v.wrapping_add(p.zero_point)).clamp(p.min, p.max);
            Some(scaled(case)?.into_iter().map(|v| v.map(finish)).collect())
        },
    )];
    for (cuts, then) in [(false, "saturated"), (true, "cast")] {
        let because =
            format!("the activation's bounds are applied before the zero point is added, and the sum is {then}");
        out.push(Change::predicts(Class::ClampOrder, because, move |case: &Case<Params>| {
            let p = &case.params;
            let finish = |v: i32| {
                let sum = v.clamp(p.min, p.max).wrapping_add(p.zero_point);
                if cuts { cast(sum) } else { sum.clamp(lo, hi) }
            };
            Some(scaled(case)?.into_iter().map(|v| v.map(finish)).collect())
        }));
    }
    for (end, then) in [(1, "clamped"), (0, "cast"), (2, "left as it is")] {
        out.push(placed(
            &format!("the zero point is added after the cast, and the sum {then}"),
            |v, _, _| v,
            true,
            end,
        ));
        out.push(placed(
            &format!("the zero point is added after the clamp, and the sum {then}"),
            |v, lo, hi| v.clamp(lo, hi),
            false,
            end,
        ));
    }
    out
}

/// Computes in f32, modelled with integers: accumulator and scale are rounded to 24 bits, then their product, which is then rounded to the nearest
/// integer, ties to even. The scale `m * 2^(s-31)` needs only the rounding of `m`.
fn in_f32(case: &Case<Params>) -> Expected {
    each(case, |p, channel, x| {
        let c = p.channels[channel];
        let sum = round_24(x.wrapping_add(p.bias[channel]).into());
        let product = round_24(sum * round_24(c.multiplier.into()));
        let right = 31 - c.shift;
        let rounded = if right <= 0 { product << -right } else { nearest_even(product, right as u32) };
        let rounded = rounded.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        Some(rounded.saturating_add(p.zero_point).clamp(p.min, p.max))
    })
}

fn nearest_even(v: i128, shift: u32) -> i128 {
    let (unit, half) = (1i128 << shift, 1i128 << (shift - 1));
    let (floor, rest) = (v.div_euclid(unit), v.rem_euclid(unit));
    floor + i128::from(rest > half || (rest == half && floor % 2 != 0))
}
