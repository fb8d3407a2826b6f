//! Changes of a product with requantization that neither part has alone: a bias in the wrong scale, an activation before the zero point, and the
//! columns of a row after its last whole vector.

use super::Fused;
use super::part_changes::{Sums, requantized, total};
use crate::requantize::{multiply, plain};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::requantize;
use tiebreak_oracle::requantize::{Definition, Scheme};
use tiebreak_oracle::scheme::Registered;

/// Vector lengths in columns.
const VECTORS: [usize; 3] = [4, 8, 16];

type RequantizeCase = Case<requantize::Params>;

/// Builds a change to the results of given sums.
fn change<F: Fused>(
    sums: &Sums<F::Params>,
    class: Class,
    because: impl Into<String>,
    predict: impl Fn(RequantizeCase) -> Option<Expected> + Send + Sync + 'static,
) -> Change<F> {
    let sums = sums.clone();
    Change::predicts(class, because, move |case: &Case<F::Params>| {
        predict(requantized::<F>(&case.params, &sums.of::<F>(case)?)?)
    })
}

fn results(scheme: &Scheme, posed: &RequantizeCase) -> Option<Expected> {
    plain(scheme, posed).ok()
}

/// Returns the results before zero point and clamp.
fn scaled(base: &Scheme, posed: &RequantizeCase) -> Option<Expected> {
    let mut plain = posed.clone();
    plain.params = requantize::Params { zero_point: 0, min: i32::MIN, max: i32::MAX, ..plain.params };
    results(base, &plain)
}

/// Returns changes that add the bias after the multiplication, or read the bias with fewer bits.
pub(crate) fn biases<F: Fused>(sums: &Sums<F::Params>, scheme: &Scheme) -> Vec<Change<F>> {
    let base = total(scheme);
    let after = change(sums, Class::Bias, "the bias is added after the multiplication", move |posed| {
        let p = &posed.params;
        let mut without = posed.clone();
        without.params.bias = vec![0; p.bias.len()];
        let one = |(at, v): (usize, i32)| {
            v.wrapping_add(p.bias[at % p.bias.len()]).wrapping_add(p.zero_point).clamp(p.min, p.max)
        };
        Some(scaled(&base, &without)?.into_iter().enumerate().map(|(at, v)| v.map(|v| one((at, v)))).collect())
    });
    let narrowed = |bits: u32, signed: bool| {
        let kind = if signed { "signed" } else { "unsigned" };
        let because = format!("the bias is read as {kind}, of {bits} bits");
        change(sums, Class::Bias, because, move |mut posed| {
            let low = 32 - bits;
            let read = |bias: &i32| if signed { (bias << low) >> low } else { ((*bias as u32) << low >> low) as i32 };
            posed.params.bias = posed.params.bias.iter().map(read).collect();
            results(&base, &posed)
        })
    };
    let widths = [(16, true), (16, false), (8, true), (24, true)];
    std::iter::once(after).chain(widths.map(|(bits, signed)| narrowed(bits, signed))).collect()
}

/// Predicts that the bounds of the activation are applied before the zero point is added.
pub(crate) fn activation<F: Fused>(sums: &Sums<F::Params>, scheme: &Scheme, domain: &F::Domain) -> Change<F> {
    let (base, range) = (total(scheme), F::requantize_domain(domain).output.range());
    let because = "the activation's bounds are applied before the zero point is added";
    change(sums, Class::ClampOrder, because, move |posed| {
        let p = &posed.params;
        let one = |v: i32| (v.clamp(p.min, p.max) + p.zero_point).clamp(*range.start(), *range.end());
        Some(scaled(&base, &posed)?.into_iter().map(|v| v.map(one)).collect())
    })
}

/// Returns changes to the columns of a row after its last whole vector: another multiplication, or results of 0. `row` names a row.
pub(crate) fn tails<F: Fused>(sums: &Sums<F::Params>, scheme: &Scheme, row: &str) -> Vec<Change<F>> {
    let base = total(scheme);
    let tail = |vector: usize, class: Class, what: String, of: Option<Scheme>| {
        let because = format!("output channels after the last whole vector of {vector} of {row}: {what}");
        change(sums, class, because, move |posed| {
            with_tail(|scheme| results(scheme, &posed), &base, of.as_ref(), posed.params.channels.len(), vector)
        })
    };
    each_tail(if multiply(&base).is_some() { others(base) } else { Vec::new() }, tail)
}

/// Computes results, of which those after the last whole vector of each row are by another scheme, or 0.
pub(super) fn with_tail(
    results: impl Fn(&Scheme) -> Option<Expected>,
    base: &Scheme,
    other: Option<&Scheme>,
    columns: usize,
    vector: usize,
) -> Option<Expected> {
    let mut out = results(base)?;
    let others = other.map_or_else(|| Some(vec![Some(0); out.len()]), results)?;
    let tail = out.iter_mut().zip(others).enumerate().filter(|(at, _)| at % columns >= columns / vector * vector);
    tail.for_each(|(_, (out, other))| *out = other);
    Some(out)
}

/// Returns the scheme with each other multiplication.
pub(super) fn others(base: Scheme) -> Vec<Scheme> {
    let others = Definition::all().filter(|definition| definition.name() != base.definition.name());
    others.map(|definition| Scheme { definition, ..base }).filter(|other| multiply(other).is_some()).collect()
}

/// Lists the changes after the last whole vector of each length: to each of the other schemes, and to 0.
pub(super) fn each_tail<F: Fused>(
    others: Vec<Scheme>,
    tail: impl Fn(usize, Class, String, Option<Scheme>) -> Change<F>,
) -> Vec<Change<F>> {
    let mut out = Vec::new();
    for vector in VECTORS {
        for other in &others {
            out.push(tail(vector, Class::Position, format!("{} is computed", other.definition.name()), Some(*other)));
        }
        out.push(tail(vector, Class::TruncatedTail, "results are 0".to_owned(), None));
    }
    out
}
