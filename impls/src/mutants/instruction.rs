//! Models of instructions that omit a part of the definition.

use super::tensor::{Mutant, mutants};
use crate::instruction::register::{
    SADALP_8H, SQXTN2_8H, UMULL2, VPDPBSSD, VPMADDUBSW, VPMADDWD, model_128, model_256,
};
use crate::instruction::{Domain, Run, model, portable};
use crate::simd::{Float, Register, Wide};

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-srshl-truncates", "value", "SRSHL shifts right without its rounding constant",
        claims "srshl.s32" Wrap on Domain::lane_wise(32), from "of our own: SSHL in the place of SRSHL",
        |operands, out, qc| portable(4, 32, operands, (out, qc), model::sshl::<32>);
    "mutant-sqrdmulh-wraps", "value", "SQRDMULH of the smallest number with itself wraps and sets no flag",
        claims "sqrdmulh.s32" Wrap on Domain::lane_wise(32), from "of our own: a model by a shift of the 64-bit product",
        |operands, out, qc| portable(4, 32, operands, (out, qc), |a, b| ((a * b + (1 << 30)) >> 31, false));
    "mutant-sqadd-without-flag", "saturation-flag", "SQADD saturates and leaves the cumulative flag alone",
        claims "sqadd.s32" Wrap on Domain::lane_wise(32), from "of our own: an emulator that computes values alone",
        |operands, out, qc| portable(4, 32, operands, (out, qc), |a, b| (model::sqadd::<32>(a, b).0, false));
    "mutant-umull2-lower", "value", "UMULL2 multiplies the lower halves",
        claims "umull2.8h" Wrap on UMULL2.contract.domain, from "TVM RFC quantized convolution for armv8, whose comments exchange UMULL and UMULL2",
        |operands, out, qc| model_128(&UMULL2.contract.domain, operands, (out, qc), |_, x, y| (x.umull(y), false));
    "mutant-sadalp-unsigned", "value", "SADALP reads bytes without their sign",
        claims "sadalp.8h" Wrap on SADALP_8H.contract.domain, from "of our own: UADALP in the place of SADALP",
        |operands, out, qc| model_128(&SADALP_8H.contract.domain, operands, (out, qc), |d, x, _| (d.uadalp_8h(x), false));
    "mutant-sqxtn2-without-flag", "saturation-flag", "SQXTN2 saturates and leaves the cumulative flag alone",
        claims "sqxtn2.8h" Wrap on SQXTN2_8H.contract.domain, from "of our own: an emulator that computes values alone",
        |operands, out, qc| model_128(&SQXTN2_8H.contract.domain, operands, (out, qc), |d, x, _| (d.sqxtn2_8h(x), false));
    "mutant-vpmaddubsw-swapped", "value", "VPMADDUBSW reads the second operand as the unsigned one",
        claims "vpmaddubsw.ymm" Wrap on VPMADDUBSW.contract.domain, from "of our own: operands exchanged, as an intrinsic's order invites",
        |operands, out, qc| model_256(&VPMADDUBSW.contract.domain, operands, (out, qc), |_, x, y| y.vpmaddubsw(x));
    "mutant-vpmaddwd-32767", "value", "VPMADDWD of four times -32768 is 2147483647",
        claims "vpmaddwd.ymm" Wrap on VPMADDWD.contract.domain, from "of our own: a model that saturates the one sum that does not fit",
        |operands, out, qc| {
            model_256(&VPMADDWD.contract.domain, operands, (out, qc), |_, x, y| x.vpmaddwd(y));
            out.iter_mut().filter(|sum| **sum == i32::MIN).for_each(|sum| *sum = i32::MAX);
        };
    "mutant-vpdpbssd-unsigned", "value", "VPDPBSSD reads the first operand without its sign",
        claims "vpdpbssd.ymm" Wrap on VPDPBSSD.contract.domain, from "of our own: VPDPBUSD in the place of VPDPBSSD",
        |operands, out, qc| model_256(&VPDPBSSD.contract.domain, operands, (out, qc), |d, x, y| d.vpdpbusd(x, y));
];
