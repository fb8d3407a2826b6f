//! Products of int4 weights that read the wrong half of a byte, or decode the right half wrongly.

use super::tensor::{Mutant, mutant};
use crate::contract;
use crate::element::Element::I8;
use crate::fpm::gemmlowp::double_rounding;
use crate::qmatmul::i4::symmetric;
use crate::qmatmul::loops::each;
use crate::qmatmul::tflite::end;
use crate::qmatmul::{Domain, Params, Run};

type Nibbles = Mutant<Run, Domain>;

const DOMAIN: Domain =
    symmetric(contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=0, ..contract::Domain::PER_CHANNEL });

pub(super) const EXCHANGED: Nibbles = mutant!(
    "mutant-qmatmul-nibbles-exchanged", "layout", "the first weight of a byte is read from its high half",
    claims "gemmlowp-double" Wrap on DOMAIN,
    from "of our own: weights that are packed high half first, as other formats have them",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |at| nibble(rhs, at ^ 1))
);

pub(super) const UNSIGNED: Nibbles = mutant!(
    "mutant-qmatmul-nibbles-unsigned", "signedness", "weights of 4 bits are read without their sign",
    claims "gemmlowp-double" Wrap on DOMAIN,
    from "of our own: byte & 15 and byte >> 4 in place of shifts that keep the sign",
    |params, lhs, rhs, out| layer(params, lhs, rhs, out, |at| nibble(rhs, at) & 15)
);

pub(super) const FRESH_BYTES: Nibbles = mutant!(
    "mutant-qmatmul-nibbles-of-rows", "layout", "each row of weights is read from a byte of its own",
    claims "gemmlowp-double" Wrap on DOMAIN,
    from "of our own: rows of an odd number of weights, whose length in bytes is rounded up",
    |params, lhs, rhs, out| {
        let n = params.shape.n;
        layer(params, lhs, rhs, out, |at| nibble(rhs, at / n * n.next_multiple_of(2) + at % n));
    }
);

/// Returns a sign-extended weight; 0 after the last byte.
#[inline(always)]
fn nibble(packed: &[u8], at: usize) -> i8 {
    packed.get(at / 2).map_or(0, |byte| if at.is_multiple_of(2) { (byte << 4) as i8 >> 4 } else { *byte as i8 >> 4 })
}

/// Computes the layer with `weight(at)` instead of the weight at each index.
#[inline(always)]
fn layer(params: &Params, lhs: &[u8], _: &[u8], out: &mut [i32], weight: impl Fn(usize) -> i8) {
    let Some(layer) = params.layer() else { return };
    let weights: Vec<u8> = (0..params.shape.k * params.shape.n).map(|at| weight(at) as u8).collect();
    each(params, (I8, lhs), (I8, &weights), out, |sum, [_, j]| end(&layer, sum, j, double_rounding));
}
