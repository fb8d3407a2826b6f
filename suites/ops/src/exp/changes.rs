//! Changes that a kernel may make to an exponential.

use super::Exp;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change};
use tiebreak_impls::exp::Params;
use tiebreak_oracle::exp::{INTEGER_BITS, Printed, Scheme};
use tiebreak_oracle::rounding::RoundingRule::{self, *};
use tiebreak_oracle::scheme::Registered;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: Scheme) -> Vec<Change<Exp>> {
    let mut out = if scheme.is_printed() { printed() } else { Vec::new() };
    out.extend(tails(scheme));
    for integer_bits in INTEGER_BITS {
        let because = format!("the input is taken for one of {integer_bits} integer bits");
        out.push(Change::of_case(Class::FixedPointFormat, because, scheme, move |case: &mut Case<Params>| {
            case.params.integer_bits = integer_bits;
        }));
    }
    let others = Scheme::every().filter(|other| other.definition.name() != scheme.definition.name());
    for other in others.filter(|other| other.overflow == scheme.overflow) {
        let class = match scheme.is_printed() || other.is_printed() {
            true => Class::OtherScheme,
            false => Class::DirectedRounding,
        };
        out.push(Change::scheme(class, format!("the results are those of {}", other.definition.name), other));
    }
    // Results that differ from the real exponential may come from the composition with a bug.
    if !scheme.is_printed() {
        out.extend(printed());
    }
    out
}

/// Returns changes of a single step of the printed composition.
fn printed() -> Vec<Change<Exp>> {
    let own = Printed::AS_PRINTED;
    let of = |class, because: String, printed: Printed| {
        Change::predicts(class, because, move |case: &Case<Params>| {
            Some(case.tensors[0].iter().map(|x| Some(printed.at(*x, case.params.integer_bits))).collect())
        })
    };
    let mut out = vec![
        of(Class::MissingSaturation, "inputs below -32 are not 0".to_owned(), Printed { clamp: false, ..own }),
        of(Class::SpecialValue, "0 is computed as other inputs are".to_owned(), Printed { one: false, ..own }),
        of(
            Class::SpecialValue,
            "0 is computed as other inputs are, and inputs below -32 are not 0".to_owned(),
            Printed { one: false, clamp: false, ..own },
        ),
    ];
    for factors in (0..own.factors).rev() {
        let because = format!("of the factors e^(-2^k) those from k = {} on are left out", factors as i32 - 2);
        out.push(of(Class::LostFactor, because, Printed { factors, ..own }));
    }
    for bits in [16, 24, 30, 31] {
        let because = format!("the factors have {bits} bits");
        out.push(of(Class::MultiplierNarrowed, because, Printed { bits, ..own }));
    }
    let rules: [RoundingRule; 7] =
        [TowardNegative, TowardZero, TowardPositive, TiesAway, TiesEven, TiesDown, TiesToZero];
    for product in rules {
        let because = format!("high products are rounded {}", product.name());
        out.push(of(Class::rounding(TiesUp, product), because, Printed { product, ..own }));
    }
    out
}

/// Returns changes that lose the elements after the last whole vector: their results are 0.
fn tails(scheme: Scheme) -> Vec<Change<Exp>> {
    let of = |vector: usize| {
        let because = format!("elements after the last whole {vector} are lost");
        Change::lost(because, scheme, |p: &Params| p.len, vector)
    };
    [4, 8, 16].map(of).into()
}
