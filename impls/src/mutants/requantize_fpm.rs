//! Known bugs of fixed point multiply inside a requantization, each with its contract, its class and the inputs of its report.

use super::tensor::Mutant;
use super::{Witness, fpm};
use crate::contract;
use crate::element::Element;
use crate::fpm::{Channel, Params as Multiply};
use crate::kernel::Kernel;
use crate::requantize::{Domain, Params, Run};

/// Upper bound on the witnesses of a bug.
const MOST: usize = 4;
/// Smallest and largest int8 result.
const RANGE: [i32; 2] = [i8::MIN as i32, i8::MAX as i32];

/// Requantization with the `I`th known bug of fixed point multiply.
pub(super) struct Inside<const I: usize>;

impl<const I: usize> Inside<I> {
    const MULTIPLY: &'static super::Mutant = &fpm::ALL[I];

    /// Bias, multiplication with the bug, zero point, clamp; int8, one channel.
    pub(super) const MUTANT: Mutant<Run, Domain> = {
        let contract = &Self::MULTIPLY.kernel.contract;
        Mutant {
            kernel: Kernel::scalar(
                Self::MULTIPLY.kernel.name,
                Self::MULTIPLY.kernel.summary,
                contract.promise,
                Domain::all(Element::I8, copied(&contract.domain)),
                contract.source,
                Self::run,
            ),
            class: Self::MULTIPLY.class,
            origin: Self::MULTIPLY.origin,
            witnesses: Self::WITNESSES.split_at(Self::MULTIPLY.witnesses.len()).0,
        }
    };

    /// Witnesses of the multiplication, clamped.
    const WITNESSES: &'static [Witness] = &{
        let mut out = [Witness { x: 0, m: 0, s: 0, got: 0, expected: 0 }; MOST];
        let mut at = 0;
        while at < Self::MULTIPLY.witnesses.len() {
            let Witness { x, m, s, got, expected } = Self::MULTIPLY.witnesses[at];
            out[at] = Witness { x, m, s, got: clamped(got), expected: clamped(expected) };
            at += 1;
        }
        out
    };

    fn run(params: &Params, acc: &[i32], out: &mut [i32]) {
        let Channel { multiplier, shift } = params.channels[0];
        let biased: Vec<i32> = acc.iter().map(|acc| acc.wrapping_add(params.bias[0])).collect();
        (Self::MULTIPLY.kernel.portable)(&Multiply::single(multiplier, shift), &biased, out);
        for scaled in out {
            *scaled = scaled.wrapping_add(params.zero_point).max(params.min).min(params.max);
        }
    }
}

const fn clamped(x: i32) -> i32 {
    if x < RANGE[0] {
        RANGE[0]
    } else if x > RANGE[1] {
        RANGE[1]
    } else {
        x
    }
}

/// Copies a domain field by field, since a constant cannot call `clone`.
const fn copied(domain: &contract::Domain) -> contract::Domain {
    contract::Domain {
        multipliers: *domain.multipliers.start()..=*domain.multipliers.end(),
        multiple_of: domain.multiple_of,
        shifts: *domain.shifts.start()..=*domain.shifts.end(),
        q: *domain.q.start()..=*domain.q.end(),
        right_shifts: *domain.right_shifts.start()..=*domain.right_shifts.end(),
        per_channel: false,
    }
}
