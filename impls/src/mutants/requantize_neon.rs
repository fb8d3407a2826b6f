//! Requantizations by the intrinsic rule for Armv8-A that break the contract of the rule: in the body, or after the last whole vector.

use super::tensor::Mutant;
use crate::contract::{Contract, Overflow, Promise};
use crate::element::Element;
use crate::fpm::tvm_neon::biased;
use crate::kernel::Kernel;
use crate::requantize::{Domain, Params, Run, tvm_neon};
use crate::simd::{LANES, Portable};

const RFC: &str = "sqrdmulh-srshl";
const FIXUP: &str = "sqrdmulh-fixup-srshl";

/// Makes a mutant to int8, with the deviation that the kernels declare.
const fn mutant(
    name: &'static str,
    [class, summary]: [&'static str; 2],
    scheme: &'static str,
    origin: &'static str,
    run: Run,
) -> Mutant<Run, Domain> {
    Mutant {
        kernel: Kernel {
            name,
            summary,
            contract: Contract {
                promise: Promise { scheme, overflow: Overflow::Wrap },
                domain: tvm_neon::domain(Element::I8),
                deviations: tvm_neon::DEVIATIONS,
                source: origin,
            },
            portable: run,
            native: None,
        },
        class,
        origin,
        witnesses: &[],
    }
}

/// The vectoriser pads the last vector, as [`crate::simd::every_lane`] does.
pub(super) const TAIL_BY_RULE: Mutant<Run, Domain> = mutant(
    "mutant-requantize-tail-by-rule",
    ["stale-deviation", "the elements after the last whole vector are padded to one and take the rule"],
    RFC,
    "TVM RFC on fixed point multiplication, \"default\" of data that is no int32x4, with a loop whose extent is padded to a multiple of four",
    |params, acc, out| {
        let whole = acc.len() - acc.len() % LANES;
        let (mut lanes, mut padded) = ([0; LANES], [0; LANES]);
        lanes[..acc.len() - whole].copy_from_slice(&acc[whole..]);
        multiplied::<false>(params, &acc[..whole], &mut out[..whole]);
        multiplied::<false>(params, &lanes, &mut padded);
        out[whole..].copy_from_slice(&padded[..acc.len() - whole]);
        finish(params, out);
    },
);

/// The rule as printed in the RFC, although the RFC's text is promised.
pub(super) const FIXUP_UNUSED: Mutant<Run, Domain> = mutant(
    "mutant-requantize-fixup-unused",
    ["tie-direction", "the fixup of the rounding shift is computed and not used"],
    FIXUP,
    "TVM RFC on fixed point multiplication, the printed rule: `fixup_y` is computed and `y` is shifted",
    |params, acc, out| {
        multiplied::<false>(params, acc, out);
        finish(params, out);
    },
);

/// The output zero point is added only in the vector body.
pub(super) const TAIL_WITHOUT_ZERO_POINT: Mutant<Run, Domain> = mutant(
    "mutant-requantize-tail-without-zero-point",
    ["offset-term", "the output zero point is added in whole vectors only"],
    RFC,
    "of our own: the addition is fused with the vector body and left out of its tail",
    |params, acc, out| {
        let whole = acc.len() - acc.len() % LANES;
        multiplied::<false>(params, acc, out);
        let (body, tail) = out.split_at_mut(whole);
        finish(params, body);
        finish(&Params { zero_point: 0, ..params.clone() }, tail);
    },
);

/// Adds the bias and applies the rule.
#[inline(always)]
fn multiplied<const APPLIES_FIXUP: bool>(params: &Params, acc: &[i32], out: &mut [i32]) {
    biased::<Portable, APPLIES_FIXUP>(params.channels[0], params.bias[0], acc, out);
}

/// Adds the zero point and clamps.
#[inline(always)]
fn finish(params: &Params, out: &mut [i32]) {
    out.iter_mut().for_each(|v| *v = v.wrapping_add(params.zero_point).max(params.min).min(params.max));
}
