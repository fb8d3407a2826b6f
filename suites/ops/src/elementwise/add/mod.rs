//! Quantized addition in the harness: all pairs of 8-bit operands with each set of parameters, against the exact sum.

pub(super) mod changes;
pub(super) mod parts;

use super::{Arithmetic, Binades, Definition, Elementwise, Exchange, Schemes};
use crate::types;
use parts::Kind;
use tiebreak_common::Class;
use tiebreak_engine::operation::Change;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::Params;
use tiebreak_impls::elementwise::add::{self as impls, Domain, Scales};
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::add::{self as oracle, LeftShift, Scheme, left_shift};

/// The operation.
pub type Add = Elementwise<Addition>;

/// Addition of two elements.
pub enum Addition {}

/// Defines what addition and subtraction have alike.
macro_rules! of_sums {
    () => {
        type Domain = Domain;
        type Kind = Kind;
        const SCALES: [[f32; 3]; 12] = SCALES;
        const AS_SMALL: &'static [usize] = &[0, 1, 2];
        const SCHEMES: Schemes<Definition<Self>, Kind> =
            Schemes { parts: parts::parts, class: parts::class, next: parts::next };
        const UNIT: [f64; 2] = [1.0, 0.0];

        fn limits(domain: &Domain) -> (Element, bool) {
            (domain.element, domain.clamp)
        }

        fn open(element: Element) -> Domain {
            Domain { element, scales: Scales::Any, clamp: true }
        }

        fn stated(domain: &Domain) -> oracle::Scales {
            match domain.scales {
                Scales::Any => oracle::Scales::Any,
                Scales::Rescaled => oracle::Scales::Rescaled,
                Scales::Ratios => oracle::Scales::Ratios,
                Scales::Wide => oracle::Scales::Wide,
            }
        }

        fn scales(domain: &Domain) -> &'static str {
            match domain.scales {
                Scales::Any => "any scales",
                Scales::Rescaled => "2 max(lhs, rhs) < out << left_shift",
                Scales::Ratios => "lhs/out, rhs/out in [2^-10, 2^8)",
                Scales::Wide => "lhs/out, rhs/out in [2^-14, 2^8), the larger from 2^-10",
            }
        }

        fn own(p: &Params) -> LeftShift {
            left_shift(types::storage(p.element))
        }

        /// Returns operands of equal scale, or a right operand whose scale is so much smaller that the left operand is nearly the result.
        fn identity([lhs, rhs, _]: [f64; 3], factor: f64) -> [f64; 3] {
            if rhs < lhs { [lhs, lhs / 256.0, lhs * factor] } else { [lhs, lhs, lhs * factor] }
        }

        fn binades(between: Binades<'_>) -> [i32; 3] {
            let common = between(-14, 3);
            [common + between(-4, 4), common + between(-4, 4), common + between(-2, 2)]
        }
    };
}

pub(super) use of_sums;

impl Arithmetic for Addition {
    type Impl = impls::Add;
    type Oracle = oracle::Addition;
    const NOUN: &'static str = "addition";
    const ABOUT: &'static str = "Addition of two quantized tensors: one result of a case";
    const SHOWN: &'static str = "tflite-add-i8";
    const CATALOGUE: &'static str = include_str!("../../../catalogue/add.txt");
    const EXCHANGES: &'static [Exchange] = &EXCHANGES;
    of_sums!();

    fn changes(scheme: Scheme) -> Vec<Change<Add>> {
        changes::of_sums(scheme)
    }

    fn real([lhs, rhs, out]: [f64; 3], [a, b]: [f64; 2]) -> f64 {
        (a * lhs + b * rhs) / out
    }
}

/// Directed scales of a sum.
pub(super) const SCALES: [[f32; 3]; 12] = [
    // Quotients that are powers of two: every second sum is a tie.
    [0.5, 0.5, 1.0],
    [0.25, 1.0, 0.5],
    // Equal scales.
    [0.1, 0.1, 0.2],
    // Scales of one magnitude.
    [0.0235, 0.3, 0.31],
    [0.0386, 0.0179, 0.1667],
    // The result saturates.
    [0.05, 0.04, 0.03],
    [0.007, 3.0, 0.02],
    // Scales far apart.
    [0.001, 1.0, 1.0],
    [0.9, 0.000_06, 0.7],
    [1.0, 0.000_000_01, 1.0],
    // An output scale far smaller than the operands' scales, and one far larger.
    [0.5, 0.3, 0.000_008],
    [0.02, 0.03, 17.0],
];

/// Exchanges of a sum's operands.
pub(super) const EXCHANGES: [Exchange; 2] = [
    (Class::OperandOrder, "each operand has the other's scale", |[a, b, out]| {
        [Operand { scale: b.scale, ..a }, Operand { scale: a.scale, ..b }, out]
    }),
    (Class::OperandOrder, "each operand has the other's scale and zero point", |[a, b, out]| [b, a, out]),
];
