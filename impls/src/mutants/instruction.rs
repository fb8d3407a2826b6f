//! Models of instructions that leave a part of the definition out.

use super::tensor::{Mutant, mutant};
use crate::instruction::{Domain, Run, model, portable};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = &[
    mutant!(
        "mutant-srshl-truncates", "value", "SRSHL shifts right without its rounding constant",
        claims "srshl.s32" Wrap on Domain { bits: 32 },
        from "of our own: SSHL in the place of SRSHL",
        |a, b, out, qc| portable(4, 32, (a, b), (out, qc), model::sshl::<32>)
    ),
    mutant!(
        "mutant-sqrdmulh-wraps", "value", "SQRDMULH of the smallest number with itself wraps and sets no flag",
        claims "sqrdmulh.s32" Wrap on Domain { bits: 32 },
        from "of our own: a model by a shift of the 64-bit product",
        |a, b, out, qc| portable(4, 32, (a, b), (out, qc), |a, b| ((a * b + (1 << 30)) >> 31, false))
    ),
    mutant!(
        "mutant-sqadd-without-flag", "saturation-flag", "SQADD saturates and leaves the cumulative flag alone",
        claims "sqadd.s32" Wrap on Domain { bits: 32 },
        from "of our own: an emulator that computes values alone",
        |a, b, out, qc| portable(4, 32, (a, b), (out, qc), |a, b| (model::sqadd::<32>(a, b).0, false))
    ),
];
