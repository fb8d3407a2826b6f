//! Changes that a kernel may make to a quantization.

mod single;

use super::parts::{Part, PartChange, Parts, RULES};
use super::{Promised, Quantize, each, each_of};
use crate::quantized::places::SCALE_CONFUSIONS;
use std::iter;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Expressed, Params};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::steps::Step;
use tiebreak_oracle::quantize::{Quantization, Scheme, Storage};
use tiebreak_oracle::rounding::RoundingRule::{self, *};

/// Vector lengths after which the tail may be processed in another way.
const VECTORS: [usize; 5] = [4, 8, 16, 32, 64];
/// Rounding rules that a tail may have.
const TAILS: [RoundingRule; 4] = [TiesAway, TiesEven, TowardZero, TiesUp];

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme) -> Vec<Change<Quantize>> {
    let scheme = *scheme;
    let mut out = not_numbers(scheme);
    let Some(own) = Parts::of(scheme.definition.steps) else { return out };
    // Comes first: a sum without its wrap is clamped, but not in another order of clamps.
    out.extend(single::unwrapped(scheme));
    out.extend(narrowing(scheme, own));
    out.extend(signs(scheme, own, &[own.rule]));
    out.extend(converted(scheme, own));
    let changes = own.changes();
    let (steps, parts): (Vec<&PartChange>, Vec<_>) = changes.iter().partition(|change| change.part == Part::Steps);
    out.extend(parts.into_iter().flat_map(|change| changed(scheme, *change)));
    // Changes of a single step come before changes of all steps.
    out.extend(single::changes(scheme));
    out.extend(steps.into_iter().flat_map(|change| changed(scheme, *change)));
    out.extend(others(scheme));
    out.extend(positions(scheme, own));
    out.extend(VECTORS.map(|vector| lost(scheme, vector)));
    out.extend(halves(scheme));
    // Of two combined changes the first gives the class.
    let others: Vec<RoundingRule> = RULES.into_iter().filter(|rule| *rule != own.rule).collect();
    out.extend(signs(scheme, own, &others));
    for first in changes.iter().filter(|change| change.part == Part::Rule) {
        for second in first.to.changes().into_iter().filter(|change| change.part == Part::ZeroPoint) {
            let [class, because] = [first, &second].map(|change| (change.class(ANY), change.because(ANY)));
            let because = format!("{}, and {}", class.1, because.1);
            out.extend(variant(class.0, because, scheme, second.to));
        }
    }
    out
}

/// Returns the changes to the scheme of a group. If the kernel keeps its contract, its own values come first.
pub(super) fn in_group(
    group: usize,
    contract: &Promised,
    scheme: &Promised,
    _: &Domain,
    kept: bool,
) -> Vec<Change<Quantize>> {
    let stale = contract.stale(scheme, group);
    let own = kept.then(|| Change::own("values", &Promised::plain(*contract.at(group))));
    stale.into_iter().chain(own).chain(changes(scheme.at(group))).collect()
}

fn is_nan(format: Format, x: u64) -> bool {
    format.decode(x) == Float::Nan
}

/// Returns changes of the result of NaN only.
fn not_numbers(scheme: Scheme) -> Vec<Change<Quantize>> {
    let to = |because: &'static str, value: fn(&Quantization) -> i64| {
        Change::predicts(Class::NanPolicy, because, move |case| {
            let one = |q: &Quantization, x: u64| {
                if is_nan(q.format, x) { Some(value(q)) } else { scheme.expected(q, x).value() }
            };
            each(case, one).ok()
        })
    };
    vec![
        to("NaN becomes 0", |_| 0),
        to("NaN becomes the zero point", |q| q.zero_point),
        to("NaN becomes the smallest stored value", |q| q.min),
        to("NaN becomes the largest stored value", |q| q.max),
        to("NaN becomes 0, clamped", |q| 0.clamp(q.min, q.max)),
    ]
}

/// Scheme of given parts, without its clamp.
#[derive(Clone, Copy)]
struct Wide {
    /// Scheme that adds the zero point before the rounding.
    scheme: Scheme,
    after: bool,
}

impl Wide {
    fn of(parts: Parts) -> Option<Self> {
        Some(Self { scheme: Parts { after: false, ..parts }.scheme()?, after: parts.after })
    }

    /// Returns the result before the clamp; `None` for NaN.
    fn at(self, q: &Quantization, x: u64) -> Option<i64> {
        let zero_point = if self.after { 0 } else { q.zero_point };
        // Storage narrower than a register is converted as an int32.
        let signed = q.storage.signed || q.storage.bits < 32;
        let storage = Storage { bits: 32, signed };
        let all = Quantization { zero_point, ..Quantization::whole(q.format, q.scale, zero_point, storage) };
        if is_nan(q.format, x) {
            return None;
        }
        self.scheme.expected(&all, x).value().map(|v| v + q.zero_point - zero_point)
    }

    /// Returns the result in place of the promised scheme's. `None` if the promised scheme has no value (NaN, poison).
    fn instead_of(self, promised: Scheme, q: &Quantization, x: u64) -> Option<i64> {
        let own = promised.expected(q, x).value()?;
        Some(self.at(q, x).map_or(own, |v| wrapped(promised, v).clamp(q.min, q.max)))
    }
}

/// Wraps the sum of an int32 and the zero point to the word of the scheme.
fn wrapped(scheme: Scheme, sum: i64) -> i64 {
    let word = scheme.definition.steps.iter().find_map(|(_, step)| match step {
        Step::Wrap(bits) => Some(Storage { bits: *bits, signed: true }),
        _ => None,
    });
    word.map_or(sum, |word| word.wrap(sum))
}

fn variant(class: Class, because: String, scheme: Scheme, other: Parts) -> Option<Change<Quantize>> {
    let other = Wide::of(other)?;
    Some(Change::predicts(class, because, move |case| each(case, |q, x| other.instead_of(scheme, q, x)).ok()))
}

/// Type for changes that are the same for all types.
const ANY: Expressed = Expressed::F32;

/// Returns one change of a part; one for each type if the class depends on the type.
fn changed(scheme: Scheme, change: PartChange) -> Vec<Change<Quantize>> {
    if change.part == Part::Reciprocal && change.to.reciprocal {
        return reciprocals(scheme, change);
    }
    if change.part != Part::Steps {
        let variant = variant(change.class(ANY), change.because(ANY), scheme, change.to);
        return variant.map(|variant| variant.leading(move |target| change.lead(target))).into_iter().collect();
    }
    let Some(other) = Wide::of(change.to) else { return Vec::new() };
    let one = |expressed: Expressed| {
        Change::predicts(change.class(expressed), change.because(expressed), move |case: &Case<Params>| {
            each(case, |q, x| other.instead_of(scheme, q, x)).ok()
        })
        .at(move |params: &Params| params.quantized.expressed == expressed)
        .leading(move |target| change.lead(target))
    };
    Expressed::ALL.into_iter().map(one).collect()
}

/// Returns changes that multiply by the reciprocal of the scale instead of dividing. If the reciprocal is infinite, every product is infinite, and
/// the product with 0 is NaN, for which clamps have different results.
fn reciprocals(scheme: Scheme, change: PartChange) -> Vec<Change<Quantize>> {
    let Some(other) = Wide::of(change.to) else { return Vec::new() };
    type OfNan = fn(&Quantization) -> i64;
    let policies: [OfNan; 5] =
        [|q| q.min, |q| 0.clamp(q.min, q.max), |q| q.zero_point.clamp(q.min, q.max), |q| q.max, |_| 0];
    let cause = |of_nan: OfNan| {
        Change::predicts(change.class(ANY), change.because(ANY), move |case| {
            let one = |q: &Quantization, x: u64| {
                let own = other.instead_of(scheme, q, x)?;
                if q.format.nearest(&q.exact_scale().recip()) != q.format.infinity() || is_nan(q.format, x) {
                    return Some(own);
                }
                let (zero, negative) = (x & (q.format.sign() - 1) == 0, x & q.format.sign() != 0);
                Some(if zero { of_nan(q) } else { if negative { q.min } else { q.max } })
            };
            each(case, one).ok()
        })
        .leading(move |target| change.lead(target))
    };
    policies.into_iter().map(cause).collect()
}

/// Returns changes of the steps between the integer and the stored value: another order, or steps left out.
fn narrowing(scheme: Scheme, own: Parts) -> Vec<Change<Quantize>> {
    let Some(own) = Wide::of(own) else { return Vec::new() };
    type Narrow = fn(&Quantization, i64) -> i64;
    let orders: [(Class, &'static str, Narrow); 7] = [
        (Class::ClampOrder, "the low bits are taken, then clamped", |q, v| q.storage.wrap(v).clamp(q.min, q.max)),
        (Class::MissingSaturation, "the low bits are taken, without a clamp", |q, v| q.storage.wrap(v)),
        (Class::MissingSaturation, "clamped to the storage and not to the bounds", |q, v| {
            v.clamp(q.storage.min(), q.storage.max())
        }),
        (Class::ClampOrder, "the low bits are taken before the zero point is added", |q, v| {
            (q.storage.wrap(v - q.zero_point) + q.zero_point).clamp(q.min, q.max)
        }),
        (Class::ClampOrder, "the low bits are taken before and after the zero point is added", |q, v| {
            q.storage.wrap(q.storage.wrap(v - q.zero_point) + q.zero_point).clamp(q.min, q.max)
        }),
        (Class::ClampOrder, "clamped before the zero point is added, and again", |q, v| {
            ((v - q.zero_point).clamp(q.min, q.max) + q.zero_point).clamp(q.min, q.max)
        }),
        (Class::ClampOrder, "clamped before the zero point is added, and the low bits taken", |q, v| {
            q.storage.wrap((v - q.zero_point).clamp(q.min, q.max) + q.zero_point)
        }),
    ];
    let cause = |(class, because, narrow): (Class, &'static str, Narrow)| {
        Change::predicts(class, because, move |case| {
            let one = |q: &Quantization, x: u64| {
                let kept = scheme.expected(q, x).value()?;
                Some(own.at(q, x).map_or(kept, |v| narrow(q, v)))
            };
            each(case, one).ok()
        })
    };
    orders.into_iter().map(cause).collect()
}

/// Returns changes that subtract the zero point or do not add it, before and after the rounding and for each rule. A negative sign before the
/// rounding reverses ties and truncations, so each place and each rule is a change of its own.
fn signs(scheme: Scheme, own: Parts, rules: &[RoundingRule]) -> Vec<Change<Quantize>> {
    let ways: [(Class, &str, i64); 2] = [
        (Class::OffsetSign, "the zero point is subtracted", -1),
        (Class::OffsetTerm, "the zero point is not added", 0),
    ];
    let mut out = Vec::new();
    for (rule, (class, what, sign)) in rules.iter().copied().flat_map(|rule| ways.map(|way| (rule, way))) {
        for after in [own.after, !own.after] {
            // A zero point that is not added has no place.
            if sign == 0 && after != own.after {
                continue;
            }
            let place = if after == own.after {
                ""
            } else if after {
                ", after the rounding"
            } else {
                ", before the rounding"
            };
            let rounded = if rule == own.rule { String::new() } else { format!(", and rounded by {}", rule.name()) };
            let Some(other) = Wide::of(Parts { rule, after, ..own }) else { continue };
            out.push(Change::predicts(class, format!("{what}{place}{rounded}"), move |case: &Case<Params>| {
                let one = |q: &Quantization, x: u64| {
                    let kept = scheme.expected(q, x).value()?;
                    let signed = Quantization { zero_point: sign * q.zero_point, ..*q };
                    Some(other.at(&signed, x).map_or(kept, |v| v.clamp(q.min, q.max)))
                };
                each(case, one).ok()
            }));
        }
    }
    out
}

/// Predicts the conversion of x86 (`cvttss2si`): a quotient beyond int32 becomes the least int32, and the zero point is added with wrap.
fn converted(scheme: Scheme, own: Parts) -> Option<Change<Quantize>> {
    let own = Wide::of(own).filter(|own| own.after)?;
    let because = "a quotient beyond int32 becomes the least int32, and the zero point is added with wrap";
    Some(Change::predicts(Class::Wrap, because, move |case: &Case<Params>| {
        let one = |q: &Quantization, x: u64| {
            let kept = scheme.expected(q, x).value()?;
            let Some(rounded) = own.at(q, x).filter(|_| q.format == Format::F32) else { return Some(kept) };
            // An f32 never equals the greatest int32, so that value marks clamped larger quotients.
            let converted = match i32::try_from(rounded - q.zero_point) {
                Ok(v) if v != i32::MAX => v,
                _ => i32::MIN,
            };
            Some(i64::from(converted.wrapping_add(q.zero_point as i32)).clamp(q.min, q.max))
        };
        each(case, one).ok()
    }))
}

/// Returns changes that use the parameters of other elements, or another type.
fn others(scheme: Scheme) -> Vec<Change<Quantize>> {
    let sign = Change::predicts(Class::Signedness, "the zero point is read with a sign", move |case| {
        let one = |q: &Quantization, x: u64| {
            let unused = 64 - q.storage.bits;
            // A zero point below an unsigned type fits the signed type with one more bit, which schemes accept.
            let storage = tiebreak_oracle::quantize::Storage { bits: (q.storage.bits + 1).min(32), signed: true };
            let read = Quantization { zero_point: q.zero_point << unused >> unused, ..*q };
            let read = if read.zero_point < q.storage.min() { Quantization { storage, ..read } } else { read };
            scheme.expected(&read, x).value()
        };
        each(case, one).ok()
    });
    let mistaken = SCALE_CONFUSIONS.iter().map(|confusion| {
        Change::predicts(confusion.class, confusion.because, move |case: &Case<Params>| {
            each_of(case, &(confusion.scales)(&case.params), |q, x| scheme.expected(q, x).value()).ok()
        })
    });
    let float =
        Change::predicts(Class::F32Step, "f64 is rounded to f32, and every step in f32", move |case: &Case<Params>| {
            let one = |q: &Quantization, x: u64| {
                let [scale, x] = [q.scale, x].map(|bits| narrowed(q.format, bits));
                let narrow = Quantization { format: Format::F32, scale, ..*q };
                // A scale that is 0 or infinite in f32 gives no numbers, and their conversion is poison.
                narrow.check().ok().and_then(|()| scheme.expected(&narrow, x).value())
            };
            (case.params.quantized.expressed == Expressed::F64).then(|| each(case, one).ok()).flatten()
        });
    iter::once(sign).chain(mistaken).chain([float]).collect()
}

/// Rounds a bit pattern to f32.
fn narrowed(format: Format, bits: u64) -> u64 {
    match format.decode(bits) {
        Float::Nan => Format::F32.nan(),
        Float::Infinite { negative } => Format::F32.infinity() | if negative { Format::F32.sign() } else { 0 },
        Float::Finite { value, .. } => Format::F32.nearest(&value),
    }
}

/// Returns changes that round whole vectors, or the following elements, by another rule than promised.
fn positions(scheme: Scheme, own: Parts) -> Vec<Change<Quantize>> {
    let mut out = Vec::new();
    for (vector, in_body) in [false, true].into_iter().flat_map(|in_body| VECTORS.map(|vector| (vector, in_body))) {
        for rule in TAILS.into_iter().filter(|rule| *rule != own.rule) {
            let Some(other) = Wide::of(Parts { rule, ..own }) else { continue };
            let place = if in_body { "whole vectors" } else { "elements after the last whole vector" };
            let because = format!("{place} of {vector} are rounded by {}", rule.name());
            out.push(Change::predicts(Class::Position, because, move |case: &Case<Params>| {
                let promised = each(case, |q, x| scheme.expected(q, x).value()).ok()?;
                let changed = each(case, |q, x| other.instead_of(scheme, q, x)).ok()?;
                Some(if in_body { joined(changed, &promised, vector) } else { joined(promised, &changed, vector) })
            }));
        }
    }
    out
}

/// Predicts a tail of 0.
fn lost(scheme: Scheme, vector: usize) -> Change<Quantize> {
    let because = format!("elements after the last whole vector of {vector} are 0");
    Change::lost(because, Promised::plain(scheme), |p: &Params| p.shape.iter().product(), vector)
}

/// Returns changes that add one half in f32 and round the sum down, for quotients and for products with the reciprocal.
fn halves(scheme: Scheme) -> Vec<Change<Quantize>> {
    type Scaling = (&'static str, fn(f32, f32) -> f32);
    type Rounding = (&'static str, fn(f32) -> f32);
    let scaled: [Scaling; 2] =
        [("quotient", |x, scale| x / scale), ("product with the reciprocal", |x, scale| x * (1.0 / scale))];
    let rounded: [Rounding; 2] = [
        ("", |scaled| (scaled + 0.5).floor()),
        ("the magnitude of ", |scaled| (scaled.abs() + 0.5).floor().copysign(scaled)),
    ];
    let mut out = Vec::new();
    for ((of, scale), (what, round)) in scaled.into_iter().flat_map(|one| rounded.map(|other| (one, other))) {
        let because = format!("one half is added to {what}the {of} in f32, and the sum rounded down");
        out.push(Change::predicts(Class::F32Step, because, move |case: &Case<Params>| {
            let one = |q: &Quantization, x: u64| {
                let own = scheme.expected(q, x).value()?;
                if q.format != Format::F32 || is_nan(q.format, x) {
                    return Some(own);
                }
                let [x, factor] = [x, q.scale].map(|bits| f32::from_bits(bits as u32));
                let rounded = f64::from(round(scale(x, factor)));
                Some((rounded as i64).saturating_add(q.zero_point).clamp(q.min, q.max))
            };
            each(case, one).ok()
        }));
    }
    out
}

fn joined(mut body: Expected, tail: &Expected, vector: usize) -> Expected {
    let from = body.len() - body.len() % vector;
    body[from..].copy_from_slice(&tail[from..]);
    body
}
