//! Quantized subtraction in the harness: all pairs of 8-bit operands with each set of parameters, against the exact difference.
//!
//! Scales, schemes and their relations are the same as in [`super::add`].

mod changes;

use super::add::parts::{self, Kind};
use super::add::{self, EXCHANGES, SCALES, of_sums};
use super::{Arithmetic, Binades, Definition, Elementwise, Exchange, Schemes};
use crate::types;
use tiebreak_common::Class;
use tiebreak_engine::operation::Change;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::Params;
use tiebreak_impls::elementwise::sub::{self as impls, Domain, Scales};
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::add::{self as oracle, LeftShift, left_shift};
use tiebreak_oracle::elementwise::sub::{self, Scheme};

/// The operation.
pub type Sub = Elementwise<Subtraction>;

/// Subtraction of two elements.
pub enum Subtraction {}

impl Arithmetic for Subtraction {
    type Impl = impls::Sub;
    type Oracle = sub::Subtraction;
    const NOUN: &'static str = "subtraction";
    const ABOUT: &'static str = "Subtraction of two quantized tensors: one result of a case";
    const SHOWN: &'static str = "tflite-sub-i8";
    const CATALOGUE: &'static str = include_str!("../../../catalogue/sub.txt");
    const EXCHANGES: &'static [Exchange] = &[
        EXCHANGES[0],
        EXCHANGES[1],
        (Class::OperandOrder, "both operands have the left operand's scale", |[a, b, out]| {
            [a, Operand { scale: a.scale, ..b }, out]
        }),
        (Class::OperandOrder, "both operands have the right operand's scale", |[a, b, out]| {
            [Operand { scale: b.scale, ..a }, b, out]
        }),
    ];
    of_sums!();

    fn changes(scheme: Scheme) -> Vec<Change<Sub>> {
        let own = [changes::exchanged(scheme), changes::added(scheme), changes::negated_in_the_type(scheme)];
        own.into_iter().chain(add::changes::of_sums(scheme)).collect()
    }

    fn real([lhs, rhs, out]: [f64; 3], [a, b]: [f64; 2]) -> f64 {
        (a * lhs - b * rhs) / out
    }
}
