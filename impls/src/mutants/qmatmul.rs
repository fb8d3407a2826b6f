//! Products with correct output stages in a wrong combination: terms of the offsets, places of parameters, order of stages, casts.

use super::tensor::{Mutant, mutants};
use super::{qmatmul_nibbles as nibbles, qmatmul_sums as sums_of};
use crate::contract;
use crate::element::Element::I8;
use crate::fpm::Channel;
use crate::fpm::gemmlowp::double_rounding;
use crate::matmul::driver::{Terms, expand};
use crate::qmatmul::gemmlowp::{ANY, LEGACY, stages, sums};
use crate::qmatmul::loops::{Operand, each, raw};
use crate::qmatmul::stage::{Arithmetic, SATURATING};
use crate::qmatmul::tflite::end;
use crate::qmatmul::{Along, Domain, Layer, Params, Run, Stage};

/// Domain of int8, per channel, with scales below 1.
const DOMAIN: Domain = Domain::layer(
    [I8; 3],
    contract::Domain { multipliers: 0..=i32::MAX, shifts: -31..=0, ..contract::Domain::PER_CHANNEL },
);

/// Columns in a block.
const BLOCK: usize = 8;

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-qmatmul-bias-after", "bias", "the bias is added to the results, not to the sums",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: a bias in the scale of the sums is added in the scale of the output",
        |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, [_, j]| {
            let Channel { multiplier, shift } = layer.channel(j);
            layer.finish(double_rounding(sum, multiplier, shift).wrapping_add(layer.bias(j)))
        });
    "mutant-qmatmul-offset-product-lost", "offset-term", "the product of both offsets with the depth is left out",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: of the four terms of the expansion one is forgotten",
        |params, lhs, rhs, out| expanded(params, lhs, rhs, out, |terms| {
            let shape = &params.shape;
            let constant = shape.lhs_offset.wrapping_mul(shape.rhs_offset).wrapping_mul(shape.k as i32);
            expand(shape, terms).wrapping_sub(constant)
        });
    "mutant-qmatmul-sums-exchanged", "operand-order", "each offset is multiplied by the sum of its own operand",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: sums of rows are taken where those of columns belong",
        |params, lhs, rhs, out| expanded(params, lhs, rhs, out, |terms| {
            expand(&params.shape, Terms { lhs_sum: terms.rhs_sum, rhs_sum: terms.lhs_sum, ..terms })
        });
    "mutant-qmatmul-stale-column-sums", "block", "columns after the first eight have the sums of those eight",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: sums of columns that are not computed again for the next block",
        |params, lhs, rhs, out| {
            let Some(layer) = params.layer() else { return };
            raw(params, (I8, lhs), (I8, rhs), out, |product, slices, [i, j]| {
                let sum = expand(&params.shape, slices.terms(product, [i, j % BLOCK]));
                end(&layer, sum, j, double_rounding)
            });
        };
    "mutant-qmatmul-multiplier-of-row", "channel", "multiplier and shift of a column are indexed by the row",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: a result that is transposed, with parameters that are not",
        |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, [i, j]| {
            let Channel { multiplier, shift } = layer.channel(i % params.shape.n);
            layer.finish(double_rounding(sum.wrapping_add(layer.bias(j)), multiplier, shift))
        });
    "mutant-qmatmul-clamp-before-zero-point", "clamp-order", "clamped to int8 before the zero point is added",
        claims "gemmlowp-double" Wrap on DOMAIN, from "llvm/torch-mlir pull request 4487",
        |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, [_, j]| {
            let Channel { multiplier, shift } = layer.channel(j);
            let scaled = double_rounding(sum.wrapping_add(layer.bias(j)), multiplier, shift);
            layer.finish(scaled.clamp(-128, 127))
        });
    "mutant-qmatmul-relu6-unquantized", "clamp-order", "the activation's bounds are applied before the zero point is added",
        claims "gemmlowp-double" Wrap on DOMAIN, from "of our own: ReLU6 on the scaled sum, with the bounds of stored values",
        |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, [_, j]| {
            let Channel { multiplier, shift } = layer.channel(j);
            let scaled = double_rounding(sum.wrapping_add(layer.bias(j)), multiplier, shift);
            (scaled.clamp(layer.min, layer.max) + layer.zero_point).clamp(-128, 127)
        });
    "mutant-qmatmul-double-rounding", "double-rounding", "two roundings where one is promised",
        claims "ties-up" Wrap on DOMAIN,
        from "google/ruy ruy/apply_multiplier.cc: \"double rounding and symmetric rounding are removed compared to reference\"",
        |params, lhs, rhs, out| layer(params, lhs, rhs, out, |layer, sum, [_, j]| end(layer, sum, j, double_rounding));
    "mutant-qmatmul-bias-along-rows", "layout", "a bias of each column is added to the rows, and one of each row to the columns",
        claims "gemmlowp-double" Saturate on ANY, from "of our own: VectorShape::Row and VectorShape::Col exchanged",
        |params, lhs, rhs, out| {
            let turned = |stage: &Stage| match stage {
                Stage::Bias { along, values } if values.len() > 1 => {
                    let other = if *along == Along::Rows { Along::Columns } else { Along::Rows };
                    let values = values.iter().copied().cycle().take(other.size(params)).collect();
                    Stage::Bias { along: other, values }
                }
                stage => stage.clone(),
            };
            run(params, params.stages.iter().map(turned).collect(), (lhs, rhs), out, &SATURATING);
        };
    "mutant-qmatmul-stages-exchanged", "stage-order", "the first two stages change places",
        claims "gemmlowp-double" Saturate on ANY, from "of our own: a tuple of output stages in the reverse order",
        |params, lhs, rhs, out| {
            let mut order = params.stages.clone();
            if order.len() > 1 && !matches!(order[1], Stage::Cast { .. }) {
                order.swap(0, 1);
            }
            run(params, order, (lhs, rhs), out, &SATURATING);
        };
    "mutant-qmatmul-cast-wraps", "missing-saturation", "the cast keeps the low bits",
        claims "gemmlowp-double" Saturate on ANY, from "of our own: a pipeline that ends without Clamp and SaturatingCast, stored as bytes",
        |params, lhs, rhs, out| {
            let kept = params.stages.iter().filter(|stage| !matches!(stage, Stage::Cast { .. })).cloned();
            run(params, kept.collect(), (lhs, rhs), out, &SATURATING);
            if let Some(Stage::Cast { to }) = params.stages.last() {
                out.iter_mut().for_each(|v| {
                    let unused = 32 - to.bits();
                    let low = (*v as u32) << unused;
                    *v = if *to.range().start() < 0 { low as i32 >> unused } else { (low >> unused) as i32 };
                });
            }
        };
    "mutant-qmatmul-tanh-wraps", "wrap", "the left shift of tanh wraps at its largest input",
        claims "gemmlowp-double" Saturate on ANY, from "google/gemmlowp internal/output.h OutputStageTanh on int32x4_t: vshlq does not saturate",
        |params, lhs, rhs, out| {
            let wraps = Arithmetic { shift_left: |v, s| v.wrapping_shl(s), ..SATURATING };
            run(params, params.stages.clone(), (lhs, rhs), out, &wraps);
        };
    "mutant-qmatmul-down-floors", "directed-rounding", "result_shift is a shift without rounding",
        claims "legacy" Wrap on LEGACY, from "google/gemmlowp before 2015: result_shift without the rounding term",
        |params, lhs, rhs, out| {
            sums(params, lhs, rhs, out);
            if let Some(Stage::Down { offset, multiplier, shift }) = params.stages.first() {
                out.iter_mut().for_each(|v| {
                    let product = v.wrapping_add(*offset).wrapping_mul(*multiplier);
                    *v = (product >> shift.unsigned_abs()).clamp(0, 255);
                });
            }
        };
    also nibbles::EXCHANGED, nibbles::UNSIGNED, nibbles::FRESH_BYTES, sums_of::SUM_IN_32_BITS,
        sums_of::BIAS_IN_32_BITS, sums_of::WIDE_BIAS_AFTER, sums_of::MULTIPLIER_CUT, sums_of::MULTIPLIER_WRAPS,
        sums_of::PRODUCTS_512, sums_of::F32_TIES_AWAY, sums_of::F32_ZERO_POINT_FIRST, sums_of::IN_F64;
];

/// Computes a layer of int8, with `result` after the sums.
#[inline(always)]
fn layer(
    params: &Params,
    lhs: &[u8],
    rhs: &[u8],
    out: &mut [i32],
    result: impl Fn(&Layer<'_>, i32, [usize; 2]) -> i32,
) {
    let Some(layer) = params.layer() else { return };
    each(params, (I8, lhs), (I8, rhs), out, |sum, place| result(&layer, sum, place));
}

/// Computes a layer of int8, with `sum` as the expansion of the offsets.
#[inline(always)]
fn expanded(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32], sum: impl Fn(Terms) -> i32) {
    let Some(layer) = params.layer() else { return };
    let operands: [Operand<'_>; 2] = [(I8, lhs), (I8, rhs)];
    raw(params, operands[0], operands[1], out, |product, slices, place| {
        end(&layer, sum(slices.terms(product, place)), place[1], double_rounding)
    });
}

/// Computes gemmlowp's product with the stages of `list`.
fn run(params: &Params, list: Vec<Stage>, (lhs, rhs): (&[u8], &[u8]), out: &mut [i32], arithmetic: &Arithmetic) {
    sums(params, lhs, rhs, out);
    stages(&list, params.shape.n, out, arithmetic);
}
