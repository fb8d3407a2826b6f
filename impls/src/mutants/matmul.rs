//! Matrix products with one wrong step: the sums of the micro-kernel, the packing, or the terms of the offsets.

use super::tensor::{Mutant, mutants};
use crate::element::Element::{self, I8, U8};
use crate::matmul::arm_offsets::{self, micro_kernel, padded_in_loop};
use crate::matmul::blocks::{DEPTH, ROWS, interleave, padded};
use crate::matmul::driver::{MicroKernel, Steps, Terms, expand, product};
use crate::matmul::{Domain, Params, Run, tvm_int16};
use crate::simd::Portable;

/// Correct steps, in scalar code.
const UNSIGNED: Steps = Steps::new(U8, U8, |_, a, b, c| blocks([U8, U8], a, b, c, sum));
const SIGNED: Steps = Steps::new(I8, I8, |_, a, b, c| blocks([I8, I8], a, b, c, sum));

/// Code of a mutant: a product with these steps.
macro_rules! steps {
    ($steps:expr) => {
        |params, lhs, rhs, out| {
            const STEPS: Steps = $steps;
            product(&STEPS, params, lhs, rhs, out);
        }
    };
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = mutants![
    "mutant-s8-pair-wrap", "16-bit-wrap", "smull, smlal2, sadalp: pair sums wrap in signed 16 bits",
        claims "exact" Wrap on Domain::all(I8, I8), from "microsoft/onnxruntime issue 31573, google/gemmlowp pull request 71",
        steps!(Steps { micro_kernel: S8_PAIRS, ..SIGNED });
    "mutant-u8-pair-wrap", "16-bit-wrap", "umull, umlal2, uadalp: pair sums wrap in unsigned 16 bits",
        claims "exact" Wrap on Domain::all(U8, U8),
        from "RFC on int8 convolution for Arm, core algorithm: umull, umlal2, uadalp without its assumption on weights",
        steps!(Steps { micro_kernel: U8_PAIRS, ..UNSIGNED });
    "mutant-maddubs", "16-bit-saturation", "vpmaddubsw: adjacent pair sums saturate in signed 16 bits",
        claims "exact" Wrap on Domain::all(U8, I8), from "pytorch/pytorch issue 44939",
        steps!(Steps::new(U8, I8, MADDUBS));
    // The depth keeps the product of raw elements within int32: 32768 * 255 * 255 < 2^31.
    "mutant-saturating-accumulator", "saturation", "the result saturates in int32",
        claims "exact" Wrap on Domain { depth: 1..=32768, ..Domain::all(U8, U8) }, from "of our own: a saturating last addition",
        steps!(Steps { expand: saturating, ..UNSIGNED });
    "mutant-swapped-rows", "layout", "rows 1 and 2 of each packed block of rhs change places, with their sums",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: a transposed index in the block",
        |params, lhs, rhs, out| product(&UNSIGNED, params, lhs, &exchanged(params, rhs), out);
    "mutant-k-tail-dropped", "truncated-tail", "products after the last whole block of 16 along K are left out",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: K / 16 blocks for ceil(K / 16)",
        steps!(Steps { interleave: interleave_tail, ..UNSIGNED });
    "mutant-n-tail-dropped", "truncated-tail", "columns after the last whole block of 4 along N are left 0",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: N / 4 blocks for ceil(N / 4)",
        |params, lhs, rhs, out| {
            product(&UNSIGNED, params, lhs, rhs, out);
            let whole = params.n / ROWS * ROWS;
            out.chunks_exact_mut(params.n).for_each(|row| row[whole..].fill(0));
        };
    "mutant-no-lhs-sums", "offset-term", "rhs_offset * (sum of a row of lhs) is left out",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: one of the four terms missing",
        steps!(Steps { expand: |params, terms| expand(params, Terms { lhs_sum: 0, ..terms }), ..UNSIGNED });
    "mutant-no-rhs-sums", "offset-term", "lhs_offset * (sum of a column of rhs) is left out",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: one of the four terms missing",
        steps!(Steps { expand: |params, terms| expand(params, Terms { rhs_sum: 0, ..terms }), ..UNSIGNED });
    "mutant-no-depth-term", "offset-term", "lhs_offset * rhs_offset * depth is left out",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: one of the four terms missing",
        steps!(Steps { expand: |params, terms| expand(&Params { k: 0, ..*params }, terms), ..UNSIGNED });
    "mutant-offset-sign", "offset-sign", "lhs_offset is subtracted",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: a zero point passed for an offset",
        steps!(Steps {
            expand: |params, terms| {
                expand(&Params { lhs_offset: params.lhs_offset.wrapping_neg(), ..*params }, terms)
            },
            ..UNSIGNED
        });
    "mutant-padded-depth", "padded-depth", "the depth of the last term is that of the padded panels",
        claims "exact" Wrap on Domain::all(U8, U8), from "of our own: K rounded up to 16 in lhs_offset * rhs_offset * depth",
        steps!(Steps {
            expand: |params, terms| expand(&Params { k: padded(params.k, DEPTH), ..*params }, terms),
            ..UNSIGNED
        });
    "mutant-padding-gets-offset", "padded-depth", "the padding of the depth is 0 before offsets are added to it",
        claims "exact" Wrap on arm_offsets::DOMAIN, from "of our own: packing by zeros in front of a loop that adds offsets",
        |params, lhs, rhs, out| {
            padded_in_loop(micro_kernel::<Portable>, |_| 0, (params, lhs, rhs), out);
        };
    "mutant-f32-accumulator", "f32-step", "products with offsets are added up in f32",
        claims "exact" Wrap on Domain::all(U8, U8), from "uxlfoundation/oneDNN issue 3435",
        in_f32;
    "mutant-sum-through-f32", "f32-step", "sums of int32 are converted to f32 and back when they are stored",
        claims "exact" Wrap on Domain::all(I8, I8), from "oneDNN 2.6.3 and 3.13.2: s8 x s8 to s32 on AVX-512 VNNI (finding 49)",
        |params, lhs, rhs, out| {
            product(&SIGNED, params, lhs, rhs, out);
            through_f32(out);
        };
    "mutant-u8-sign-extended", "signedness", "lhs, unsigned, is sign-extended",
        claims "exact" Wrap on Domain::all(U8, U8), from "llvm/llvm-project pull request 138313",
        steps!(Steps::new(I8, U8, |_, a, b, c| blocks([I8, U8], a, b, c, sum)));
    "mutant-out-int16-saturates", "16-bit-saturation", "sums of int32 saturate when they become int16",
        claims "sum-s16-wrap" Wrap on tvm_int16::I8.contract.domain, from "of our own: `sqxtn` for the conversion to out_dtype int16, which wraps",
        |params, lhs, rhs, out| {
            product(&SIGNED, params, lhs, rhs, out);
            out.iter_mut().for_each(|sum| *sum = (*sum).clamp(i16::MIN.into(), i16::MAX.into()));
        };
    "mutant-out-int16-in-int32", "16-bit-wrap", "sums stay in int32",
        claims "sum-s16-wrap" Wrap on tvm_int16::I8.contract.domain, from "of our own: out_dtype is read after the sum has become int32",
        |params, lhs, rhs, out| product(&SIGNED, params, lhs, rhs, out);
    "mutant-core-as-printed", "layout", "sums of the fourth column go to v11, which umull2 overwrites; v19, which is read, is never written",
        claims "exact" Wrap on Domain::all(U8, U8), from "RFC on int8 convolution for Arm, core algorithm: `v11.4s = uadalp(v11.8h)`",
        steps!(Steps { micro_kernel: AS_PRINTED, ..UNSIGNED });
];

/// Pseudocode as printed: v19 keeps its initial value, 0.
const AS_PRINTED: MicroKernel = |_, a, b, c| {
    blocks([U8, U8], a, b, c, sum);
    c.iter_mut().skip(ROWS - 1).step_by(ROWS).for_each(|sum| *sum = 0);
};

const S8_PAIRS: MicroKernel = |_, a, b, c| {
    blocks([I8, I8], a, b, c, |p| (0..8).map(|k| i32::from((p[k] + p[k + 8]) as i16)).sum());
};

const U8_PAIRS: MicroKernel = |_, a, b, c| {
    blocks([U8, U8], a, b, c, |p| (0..8).map(|k| i32::from((p[k] + p[k + 8]) as u16)).sum());
};

const MADDUBS: MicroKernel = |_, a, b, c| {
    blocks([U8, I8], a, b, c, |p| p.as_chunks().0.iter().map(|[p, q]| (p + q).clamp(-32768, 32767)).sum());
};

/// Returns the exact sum of 16 products.
fn sum(products: &[i32; DEPTH]) -> i32 {
    products.iter().sum()
}

/// Micro-kernel in scalar code: applies `sum` to the 16 products of each block, and adds the blocks modulo 2^32.
fn blocks(types: [Element; 2], a: &[u8], b: &[u8], c: &mut [i32; ROWS * ROWS], sum: fn(&[i32; DEPTH]) -> i32) {
    for (at, c) in c.iter_mut().enumerate() {
        let rows = (a.chunks_exact(DEPTH).skip(at / ROWS), b.chunks_exact(DEPTH).skip(at % ROWS));
        *c = rows.0.step_by(ROWS).zip(rows.1.step_by(ROWS)).fold(0, |c, (a, b)| {
            c.wrapping_add(sum(&std::array::from_fn(|k| types[0].read(&a[k..]) * types[1].read(&b[k..]))))
        });
    }
}

/// Adds the four terms in wide integers, and saturates the total.
fn saturating(params: &Params, terms: Terms) -> i32 {
    let [lhs_offset, rhs_offset] = [params.lhs_offset, params.rhs_offset].map(i128::from);
    let wide = i128::from(terms.product)
        + lhs_offset * i128::from(terms.rhs_sum)
        + rhs_offset * i128::from(terms.lhs_sum)
        + lhs_offset * rhs_offset * params.k as i128;
    wide.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Returns rhs with columns 1 and 2 of every four exchanged, padding included. A packed block then has its rows 1 and 2 exchanged.
fn exchanged(params: &Params, rhs: &[u8]) -> Vec<u8> {
    let row = |row: &[u8]| -> Vec<u8> {
        let from = |j: usize| j - j % ROWS + [0, 2, 1, 3][j % ROWS];
        (0..params.n).map(|j| row.get(from(j)).copied().unwrap_or(0)).collect()
    };
    rhs.chunks_exact(params.n).flat_map(row).collect()
}

/// Accumulates in f32, with one rounding to nearest, ties to even, after each product along the depth.
fn in_f32(params: &Params, lhs: &[u8], rhs: &[u8], out: &mut [i32]) {
    for (at, out) in out.iter_mut().enumerate() {
        let (i, j) = (at / params.n, at % params.n);
        let product = |k: usize| {
            let (a, b) = (i64::from(lhs[i * params.k + k]), i64::from(rhs[k * params.n + j]));
            i128::from(a + i64::from(params.lhs_offset)) * i128::from(b + i64::from(params.rhs_offset))
        };
        *out = (0..params.k).fold(0f32, |sum, k| (sum as i128 + product(k)) as f32) as i32;
    }
}

/// Rounds each sum to 24 significant bits, ties to even, as a conversion to f32 and back does.
pub(super) fn through_f32(sums: &mut [i32]) {
    sums.iter_mut().for_each(|sum| *sum = *sum as f32 as i32);
}

/// Runs `interleave`, and zeroes the columns after the last whole block of 16.
pub(super) fn interleave_tail<T: Copy + Default>(rows: usize, columns: usize, input: &[T], out: &mut [T]) {
    interleave(rows, columns, input, out);
    let tail = columns % DEPTH;
    if tail == 0 {
        return;
    }
    let panel = columns.div_ceil(DEPTH) * DEPTH * ROWS;
    for panel in out.chunks_exact_mut(panel) {
        panel[columns / DEPTH * DEPTH * ROWS..].fill(T::default());
    }
}
