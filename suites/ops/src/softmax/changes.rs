//! Changes that a kernel may make to a softmax.

use super::{Softmax, to_oracle};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::softmax::Params;
use tiebreak_oracle::exp::Printed;
use tiebreak_oracle::rounding::RoundingRule::*;
use tiebreak_oracle::scheme::Registered;
use tiebreak_oracle::softmax::{Composed, Scheme};

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: Scheme) -> Vec<Change<Softmax>> {
    let mut out = if scheme.is_composed() { composed() } else { Vec::new() };
    out.extend(parameters(scheme));
    out.extend(tails(scheme));
    let others = Scheme::every().filter(|other| other.definition.name() != scheme.definition.name());
    for other in others.filter(|other| other.overflow == scheme.overflow) {
        let because = format!("the results are those of {}", other.definition.name);
        out.push(Change::scheme(Class::OtherScheme, because, other));
    }
    // Results that differ from the real softmax may come from the composition with a bug.
    if !scheme.is_composed() {
        out.extend(composed());
    }
    out
}

/// Returns changes of a single step of the composition.
fn composed() -> Vec<Change<Softmax>> {
    let own = Composed::AS_PRINTED;
    let of = |class, because: String, composed: Composed| {
        Change::predicts(class, because, move |case: &Case<Params>| {
            let p = to_oracle(&case.params);
            Some(case.tensors[0].chunks(p.depth).flat_map(|row| composed.row(&p, row)).map(Some).collect())
        })
    };
    let because = str::to_owned;
    let floor = |first| Composed { floor: Some(first), ..own };
    let exp = |exp: Printed| Composed { exp, ..own };
    let printed = Printed::AS_PRINTED;
    let mut out = vec![
        of(Class::MissingSaturation, because("a result beyond the type wraps"), Composed { clamp: false, ..own }),
        of(Class::RowMaximum, because("the maximum of a row begins with 0"), floor(0)),
        of(Class::RowMaximum, because("the largest value of the type is taken for the maximum"), floor(127)),
        of(Class::CutOff, because("diff_min is held in eight bits"), Composed { narrow_cut: true, ..own }),
        of(Class::CutOff, because("differences and diff_min are held in eight bits"), Composed { narrow: true, ..own }),
        of(Class::CutOff, because("the difference diff_min itself is left out"), Composed { strict: true, ..own }),
        of(Class::CutOff, because("diff_min is not read"), Composed { cut: false, ..own }),
        of(Class::DirectedRounding, because("terms of the sum are truncated"), Composed { rounds_terms: false, ..own }),
        of(Class::DirectedRounding, because("the last division truncates"), Composed { rounds_result: false, ..own }),
        of(
            Class::SpecialValue,
            because("the exponential of 0 is computed as others are"),
            exp(Printed { one: false, ..printed }),
        ),
        of(
            Class::DirectedRounding,
            because("high products of the exponential are not rounded"),
            exp(Printed { product: TowardNegative, ..printed }),
        ),
    ];
    for factors in (0..printed.factors).rev() {
        let because = format!("of the factors e^(-2^k) those from k = {} on are left out", factors as i32 - 2);
        out.push(of(Class::LostFactor, because, exp(Printed { factors, ..printed })));
    }
    for newton in [0, 1, 2, 4] {
        let because = format!("the reciprocal has {newton} steps of Newton-Raphson");
        out.push(of(Class::Iteration, because, Composed { newton, ..own }));
    }
    for accumulated in [8, 9, 10, 11, 13, 14, 15, 16] {
        let because = format!("the sum has {accumulated} integer bits, of which its reciprocal takes 12");
        out.push(of(Class::FixedPointFormat, because, Composed { accumulated, ..own }));
    }
    for exponent_off in [-8, -2, -1, 1, 2, 8] {
        let because = format!("results are too large by 2^{exponent_off}");
        out.push(of(Class::FixedPointFormat, because, Composed { exponent_off, ..own }));
    }
    out
}

type Swap = fn(&mut Params);

/// Returns changes to the parameters of the case.
fn parameters(scheme: Scheme) -> Vec<Change<Softmax>> {
    let swaps: [(Class, &str, Swap); 4] = [
        (Class::LeftShift, "differences are shifted left by one bit less", |p| {
            p.left_shift = (p.left_shift - 1).max(0)
        }),
        (Class::MultiplierNarrowed, "the multiplier has 16 bits", |p| p.multiplier &= !0xffff),
        (Class::MultiplierNarrowed, "the multiplier is a power of two", |p| p.multiplier = 1 << 30),
        (Class::Layout, "all rows are taken for one", |p| (p.rows, p.depth) = (1, p.rows * p.depth)),
    ];
    swaps.map(|(class, because, swap)| Change::of_params(class, because, scheme, swap)).into()
}

/// Returns changes that lose the elements of each row after the last whole vector: their results are 0.
fn tails(scheme: Scheme) -> Vec<Change<Softmax>> {
    let of = |vector: usize| {
        let because = format!("elements of a row after the last whole {vector} are lost");
        Change::lost(because, scheme, |p: &Params| p.depth, vector)
    };
    [4, 8, 16].map(of).into()
}
