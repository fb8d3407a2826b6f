//! Packing of few bits into words, and unpacking: bit planes as for TVM's bit-serial operators, and two nibbles in a byte in both orders.
//!
//! Source: apache/tvm `python/tvm/topi/nn/bitserial_util.py` (bitpack), which has no unpacking; microsoft/onnxruntime
//! `include/onnxruntime/core/framework/int4.h` (the first nibble in the low bits); pytorch/ao `torchao/dtypes/uintx/uint4_layout.py` (pack_uint4, the
//! first nibble in the high bits).

use super::{Kernel, Kind, Params as Any, from};
use crate::shape::{self, ShapeError, Sizes, broken, positive};
use crate::simd::{LANES, Portable, Vector};
use serde::{Deserialize, Serialize};

/// Elements and words of a packing or of an unpacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Params {
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row.
    pub columns: usize,
    /// Bits of an element: 1 to 4 for bit planes, 4 for nibbles.
    pub bits: usize,
    /// Bits of a word: 8, 16 or 32 for bit planes, 8 for nibbles.
    pub word: usize,
    /// True if unpacked elements are sign extended; otherwise they are zero extended.
    pub signed: bool,
}

impl Params {
    /// Returns the sizes of the input and of the output for a kind. An error names the invalid argument.
    pub(super) fn sizes(&self, kind: Kind) -> Result<Sizes, ShapeError> {
        let (rows, columns) = (positive("rows", self.rows)?, positive("columns", self.columns)?);
        let planes = matches!(kind, Kind::BitPack | Kind::BitUnpack);
        let (bits, words) = if planes { (1..=4, &[8, 16, 32][..]) } else { (4..=4, &[8][..]) };
        if !bits.contains(&self.bits) {
            return Err(broken("bits", format!("{} is none of {bits:?}", self.bits)));
        }
        if !words.contains(&self.word) {
            return Err(broken("word", format!("{} is none of {words:?}", self.word)));
        }
        if planes && !columns.is_multiple_of(self.word) {
            return Err(broken("columns", format!("{columns} is no multiple of word, {}", self.word)));
        }
        let elements = shape::elements("elements", &[rows, columns])?;
        let words = if planes { columns / self.word * self.bits } else { columns.div_ceil(2) };
        let words = shape::elements("words", &[rows, words])?;
        let unpacks = matches!(kind, Kind::BitUnpack | Kind::NibbleUnpackLow | Kind::NibbleUnpackHigh);
        let (input, outputs) = if unpacks { (words, elements) } else { (elements, words) };
        Ok(Sizes { inputs: [input, 0, 0], outputs })
    }
}

pub(super) const BIT_PACK: Kernel = from(
    "tvm-bitpack",
    "TVM bitpack: each bit of so many elements shifted into a word, the first element highest",
    Kind::BitPack,
    "apache/tvm python/tvm/topi/nn/bitserial_util.py, bitpack",
    |params, input, out| params.packed(|p| bit_pack(p, input, out, |word, bit| word << 1 | bit)),
);

pub(super) const BIT_UNPACK: Kernel = from(
    "bit-planes-unpack",
    "the reverse of TVM bitpack: the bits of an element gathered from its planes",
    Kind::BitUnpack,
    "none: the reverse of apache/tvm python/tvm/topi/nn/bitserial_util.py, bitpack",
    |params, input, out| params.packed(|p| bit_unpack(p, input, out)),
);

const INT4: &str = "microsoft/onnxruntime include/onnxruntime/core/framework/int4.h, Int4x2Base";
const AO: &str = "pytorch/ao torchao/dtypes/uintx/uint4_layout.py, pack_uint4 and unpack_uint4";

pub(super) const PACK_LOW: Kernel = from(
    "onnx-int4-pack",
    "ONNX Runtime Int4x2: two nibbles in a byte, the first one low",
    Kind::NibblePackLow,
    INT4,
    |params, input, out| params.packed(|p| nibble_pack(p, input, out, |first, second| first + (second << 4))),
);

pub(super) const PACK_HIGH: Kernel = from(
    "torchao-uint4-pack",
    "torchao pack_uint4: two nibbles in a byte, the first one high",
    Kind::NibblePackHigh,
    AO,
    |params, input, out| params.packed(|p| nibble_pack(p, input, out, |first, second| (first << 4) + second)),
);

pub(super) const UNPACK_LOW: Kernel = from(
    "onnx-int4-unpack",
    "ONNX Runtime Int4x2 and UInt4x2: the low nibble of a byte first",
    Kind::NibbleUnpackLow,
    INT4,
    |params, input, out| {
        let Any::Packed(p) = params else { return };
        nibble_unpack(p, input, out, |byte| [byte, byte >> 4].map(|nibble| extended(nibble, p.signed)));
    },
);

pub(super) const UNPACK_HIGH: Kernel = from(
    "torchao-uint4-unpack",
    "torchao unpack_uint4: the high nibble of a byte first",
    Kind::NibbleUnpackHigh,
    AO,
    |params, input, out| {
        let Any::Packed(p) = params else { return };
        nibble_unpack(p, input, out, |byte| [byte >> 4, byte].map(|nibble| extended(nibble, p.signed)));
    },
);

/// Four bytes at a time on NEON. The tail is padded to a whole vector.
pub(super) const UNPACK_LOW_NEON: Kernel = Kernel {
    native: Some(crate::simd::form::neon_form!(
        NEON,
        "tiebreak_transform_int4_unpack",
        ["sshl", "and"],
        super::Run,
        vectors::<Neon>(params: &Any, input: &[i32], out: &mut [i32])
    )),
    ..from(
        "int4-unpack-neon",
        "the low nibble of a byte first, on NEON: shifted to the top of a lane and back, or masked",
        Kind::NibbleUnpackLow,
        "none: ARM-software/CMSIS-NN Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s4.c shifts each nibble so, in bytes",
        vectors::<Portable>,
    )
};

/// Extends the four low bits, by sign or by zero.
pub(crate) fn extended(nibble: i32, signed: bool) -> i32 {
    if signed { nibble << 28 >> 28 } else { nibble & 15 }
}

/// Packs `[rows, columns]` to `[rows, bits, columns/word]`; `shifted` puts the next bit into a word.
pub(crate) fn bit_pack(p: &Params, input: &[i32], out: &mut [i32], shifted: impl Fn(u32, u32) -> u32) {
    for (row, planes) in input.chunks_exact(p.columns).zip(out.chunks_exact_mut(p.columns / p.word * p.bits)) {
        for (bit, plane) in planes.chunks_exact_mut(p.columns / p.word).enumerate() {
            for (run, word) in row.chunks_exact(p.word).zip(plane) {
                *word = run.iter().fold(0, |word, element| shifted(word, (*element as u32 >> bit) & 1)) as i32;
            }
        }
    }
}

/// Unpacks `[rows, bits, columns/word]` to `[rows, columns]`.
pub(crate) fn bit_unpack(p: &Params, input: &[i32], out: &mut [i32]) {
    let words = p.columns / p.word;
    for (planes, row) in input.chunks_exact(words * p.bits).zip(out.chunks_exact_mut(p.columns)) {
        for (column, element) in row.iter_mut().enumerate() {
            let bit = |plane: usize| {
                let word = planes[plane * words + column / p.word] as u32;
                ((word >> (p.word - 1 - column % p.word)) & 1) << plane
            };
            let value = (0..p.bits).map(bit).sum::<u32>();
            let top = 32 - p.bits;
            *element = if p.signed { (value << top) as i32 >> top } else { value as i32 };
        }
    }
}

/// Packs `[rows, columns]` to `[rows, columns'/2]`; `byte` makes a byte from two nibbles.
pub(crate) fn nibble_pack(p: &Params, input: &[i32], out: &mut [i32], byte: impl Fn(i32, i32) -> i32) {
    for (row, bytes) in input.chunks_exact(p.columns).zip(out.chunks_exact_mut(p.columns.div_ceil(2))) {
        for (pair, place) in row.chunks(2).zip(bytes) {
            *place = byte(pair[0] & 15, pair.get(1).map_or(0, |second| second & 15));
        }
    }
}

/// Unpacks `[rows, columns'/2]` to `[rows, columns]`; `nibbles` splits a byte into two.
pub(crate) fn nibble_unpack(p: &Params, input: &[i32], out: &mut [i32], nibbles: impl Fn(i32) -> [i32; 2]) {
    for (bytes, row) in input.chunks_exact(p.columns.div_ceil(2)).zip(out.chunks_exact_mut(p.columns)) {
        for (byte, pair) in bytes.iter().zip(row.chunks_mut(2)) {
            let both = nibbles(*byte);
            pair.copy_from_slice(&both[..pair.len()]);
        }
    }
}

/// Unpacks bytes in lanes, four at a time.
#[inline(always)]
fn vectors<V: Vector>(params: &Any, input: &[i32], out: &mut [i32]) {
    let Any::Packed(p) = params else { return };
    for (bytes, row) in input.chunks_exact(p.columns.div_ceil(2)).zip(out.chunks_exact_mut(p.columns)) {
        for (bytes, elements) in bytes.chunks(LANES).zip(row.chunks_mut(2 * LANES)) {
            let lanes = std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0));
            let [low, high] = nibbles::<V>(V::load(&lanes), p.signed);
            for (i, element) in elements.iter_mut().enumerate() {
                *element = if i % 2 == 0 { low[i / 2] } else { high[i / 2] };
            }
        }
    }
}

/// Returns the low and the high nibble of the byte in each lane.
#[inline(always)]
fn nibbles<V: Vector>(bytes: V, signed: bool) -> [[i32; LANES]; 2] {
    let parts = if signed {
        [28, 24].map(|left| bytes.sshl(V::splat(left)).sshl(V::splat(-28)))
    } else {
        [bytes, bytes.sshl(V::splat(-4))].map(|nibble| nibble.and(V::splat(15)))
    };
    parts.map(|part| {
        let mut lanes = [0; LANES];
        part.store(&mut lanes);
        lanes
    })
}
