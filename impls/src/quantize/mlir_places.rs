//! Conversion of each element of a row, in the code that opt and llc 22.1.8 make of the lowering's loops at -O2.
//!
//! Read in that code, loop by loop. The innermost loop has a body of whole vectors, on aarch64 often a second body of shorter vectors, and a
//! remainder of single elements. Each part has its own instructions, which differ only on poison:
//!
//! | | body | vectors after it | one by one |
//! | --- | --- | --- | --- |
//! | x86, f32, f16, bf16 | 8: cvttps2dq, packs | | cvttss2si |
//! | x86, bf16 to u32; f32 and f16 by constant scales | 4: the same | | cvttss2si |
//! | x86, f64; by constant scales | 4; 2: cvttpd2dq, packs or shuffles | | cvttsd2si |
//! | aarch64, u8 of f32 | 32: fcvtzu | fcvtzs | fcvtzs |
//! | aarch64, u16 of f32, f16, bf16 | 4: fcvtzu | | fcvtzs |
//! | aarch64, f64 to 8 and 16 bits | 4: fcvtzs to 64 bits | | fcvtzs to 32 bits |
//! | aarch64, f64 to 32 bits | 8: fcvtzs or fcvtzu to 64 bits | | the same to 32 bits |
//! | aarch64 +fullfp16, f16 to i8, i16 | 4: fcvtzs to 16 bits | | fcvtzs to 32 bits |
//! | aarch64 +fullfp16, f16 to u8 | 32: fcvtzu to 16 bits | 4: fcvtzs to 16 bits | fcvtzs to 32 bits |
//! | aarch64 +fullfp16, f16 to u16 | 4: fcvtzu to 16 bits | | fcvtzs to 32 bits |
//! | aarch64 +fullfp16, f16 to 9 to 15 bits | 8: fcvtzs to 16 bits | | fcvtzs to 32 bits |
//! | aarch64 +fullfp16, f16 to 1 to 7 bits, by constant scales | 4: fcvtzs to 16 bits | | fcvtzs to 32 bits |
//!
//! Everything else is converted by the instruction of the last column, or by an equivalent instruction. A vector loop may need a check once per call
//! for overlapping buffers. The code then enters the loop only from the length at which the check pays.
//!
//! Rows in which each element has its own scale are converted element by element. Rows of up to three channels are unrolled, and the vectors are
//! those of the next outer loop: of four rows on x86 (f32 to i8), of eight on aarch64 (f16 to u16, with +fullfp16 also to bytes and i16). There the
//! vectorizer weighs costs and also vectorizes some other rows. Their results follow no model.

use super::conversion::{self, Convert};
use super::mlir_loops::Row;
use crate::quantized::{Container, Expressed, Granularity, Params, Storage};

/// Conversion of the elements of a row.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    /// End of each part, in elements, and its conversion; in order.
    vectors: [(usize, Convert); 2],
    rest: Convert,
}

impl Parts {
    /// Makes a row with one conversion for all elements.
    pub(crate) const fn all(rest: Convert) -> Self {
        Self { vectors: [(0, rest); 2], rest }
    }

    /// Makes a row of whole vectors of `width`, and a remainder.
    fn whole(row: &Row<'_>, width: usize, body: Convert, rest: Convert) -> Self {
        let end = multiple(row, width);
        Self { vectors: [(end, body); 2], rest }
    }

    /// Returns the conversion of the element at a place.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> Convert {
        let part = self.vectors.iter().find(|(end, _)| place < *end);
        part.map_or(self.rest, |(_, convert)| *convert)
    }

    /// True if the element at a place is converted singly.
    pub(crate) fn is_single(&self, place: usize) -> bool {
        place >= self.vectors[1].0
    }
}

/// True if rows of up to three channels are vectorized, `width` iterations of the outer loop at a time, and this row is part of a whole vector.
fn is_in_rows(params: &Params, row: &Row<'_>, width: usize) -> bool {
    let (turn, turns) = row.turn;
    let few = row.elements.len() <= 3 && !row.has_one_scale();
    few && matches!(params.quantized.granularity, Granularity::Channel { .. }) && turn < turns - turns % width
}

fn multiple(row: &Row<'_>, width: usize) -> usize {
    let len = row.elements.len();
    len - len % width
}

/// Returns the conversions of a row on x86-64.
pub(crate) fn x86(params: &Params, row: &Row<'_>) -> Parts {
    let Storage { bits, signed } = params.quantized.storage;
    let expressed = params.quantized.expressed;
    let rest = conversion::x86_optimized;
    if expressed == Expressed::F32 && (bits, signed) == (8, true) && is_in_rows(params, row, 4) {
        return Parts::all(|x, storage| conversion::x86_vector(x, storage, Expressed::F32));
    }
    let vectors = matches!(bits, 8 | 16 | 32) && row.has_one_scale();
    let fused = params.quantized.granularity != Granularity::Layer;
    let width = match expressed {
        // Constant scales keep all steps in one loop, which has shorter vectors.
        Expressed::F32 | Expressed::F16 if fused => 4,
        Expressed::F64 if fused => 2,
        Expressed::Bf16 if (bits, signed) == (32, false) => 4,
        Expressed::F64 => 4,
        _ => 8,
    };
    // Vectors of eight f16 become i16 by shuffles, which do not saturate, so the result is that of single elements.
    let shuffled = (expressed, bits, signed, fused) == (Expressed::F16, 16, true, false);
    if !vectors || shuffled || row.elements.len() < least(params, width) {
        return Parts::all(rest);
    }
    let body: Convert = match expressed {
        Expressed::F16 if !fused => |x, storage| conversion::x86_vector(x, storage, Expressed::F16),
        Expressed::Bf16 => |x, storage| conversion::x86_vector(x, storage, Expressed::Bf16),
        Expressed::F16 | Expressed::F32 => |x, storage| conversion::x86_vector(x, storage, Expressed::F32),
        Expressed::F64 => |x, storage| conversion::x86_vector(x, storage, Expressed::F64),
    };
    Parts::whole(row, width, body, rest)
}

/// Returns the number of elements from which x86 code enters the vector loop. With one loop per call, the elements must pay for the check of the
/// buffers.
fn least(params: &Params, width: usize) -> usize {
    let quantized = &params.quantized;
    let one_loop = params.container == Container::Unranked || params.shape.len() == 1;
    match (&quantized.granularity, quantized.expressed, quantized.storage.bits) {
        (Granularity::Layer, Expressed::F64, 8) if one_loop => 6,
        (Granularity::Layer, Expressed::F64 | Expressed::Bf16, 32) if one_loop => 8,
        (Granularity::Layer, Expressed::F16, 32) if one_loop => 12,
        (Granularity::Layer, ..) | (_, Expressed::F64, _) => width,
        _ => 8,
    }
}

/// Returns the conversions of a row on aarch64.
pub(crate) fn aarch64(params: &Params, row: &Row<'_>) -> Parts {
    let rest: Convert = conversion::aarch64_register;
    let Storage { bits, signed } = params.quantized.storage;
    if params.quantized.expressed == Expressed::F16 && (bits, signed) == (16, false) && is_in_rows(params, row, 8) {
        return Parts::all(conversion::aarch64);
    }
    if params.container == Container::Scalar || !row.has_one_scale() {
        return Parts::all(rest);
    }
    match (params.quantized.expressed, bits) {
        (Expressed::F64, 8 | 16) => Parts::whole(row, 4, conversion::aarch64_doubles, rest),
        (Expressed::F64, 32) => Parts::whole(row, 8, conversion::aarch64_doubles, rest),
        (Expressed::F32, 8) if !signed => Parts::whole(row, 32, conversion::aarch64, rest),
        (Expressed::F16 | Expressed::Bf16 | Expressed::F32, 16) if !signed => {
            Parts::whole(row, 4, conversion::aarch64, rest)
        }
        _ => Parts::all(rest),
    }
}

/// Returns the conversions of a row on aarch64 with +bf16 and +fullfp16.
pub(crate) fn aarch64_half(params: &Params, row: &Row<'_>) -> Parts {
    let Storage { bits, signed } = params.quantized.storage;
    let rest: Convert = conversion::aarch64_register;
    let (halves, unsigned) = (conversion::aarch64_halves, conversion::aarch64_unsigned_halves);
    if params.quantized.expressed != Expressed::F16 {
        return aarch64(params, row);
    }
    if matches!(bits, 8 | 16) && is_in_rows(params, row, 8) {
        return Parts::all(if signed { halves } else { unsigned });
    }
    if params.container == Container::Scalar || !row.has_one_scale() {
        return Parts::all(rest);
    }
    match (bits, signed) {
        (1..=7, _) if params.quantized.granularity != Granularity::Layer => Parts::whole(row, 4, halves, rest),
        (8, false) => Parts { vectors: [(multiple(row, 32), unsigned), (multiple(row, 4), halves)], rest },
        (8 | 16, true) => Parts::whole(row, 4, halves, rest),
        (16, false) => Parts::whole(row, 4, unsigned, rest),
        (9..=15, _) => Parts::whole(row, 8, halves, rest),
        _ => Parts::all(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{layer, quantize};
    use super::*;
    use crate::Form;
    use crate::quantize::find;
    use crate::quantized::{I8, I16, I32, Scale, U8, U16};

    /// Values, each with the number of its consecutive repetitions.
    type Runs = &'static [(i32, usize)];

    const U32: Storage = Storage { bits: 32, signed: false };

    /// Returns the stored values of a repeated quotient as runs `(value, number)`.
    fn runs(kernel: &str, params: &Params, quotient: f64) -> Vec<(i32, usize)> {
        let kernel = find(kernel).expect("a kernel");
        let values = vec![quotient * params.quantized.scales[0].0; params.elements().expect("a shape")];
        let mut out: Vec<(i32, usize)> = Vec::new();
        for value in quantize(kernel, Form::Portable, params, &values) {
            match out.last_mut().filter(|(known, _)| *known == value) {
                Some((_, count)) => *count += 1,
                None => out.push((value, 1)),
            }
        }
        out
    }

    /// Issue 30, item 8: bodies and tails in the code of llc 22.1.8, at lengths on both sides of each boundary.
    #[test]
    fn bodies_and_tails_are_those_of_the_code() {
        use Expressed::{Bf16, F16, F32, F64};
        let (vector, neon, halves) = ("mlir-qcast-vector", "mlir-qcast-neon", "mlir-qcast-neon-f16");
        let table: [(&str, Expressed, Storage, f64, usize, Runs); 23] = [
            (vector, F32, I8, 130.0, 7, &[(-126, 7)]),
            (vector, F32, I8, 130.0, 17, &[(127, 16), (-126, 1)]),
            (vector, F32, U8, 40_000.0, 9, &[(0, 8), (64, 1)]),
            (vector, Bf16, U8, 512.0, 9, &[(255, 8), (0, 1)]),
            (vector, F16, U8, 512.0, 9, &[(255, 8), (0, 1)]),
            (vector, Bf16, I16, 40_960.0, 9, &[(32_767, 8), (-24_576, 1)]),
            (vector, F16, I16, 40_960.0, 9, &[(-24_576, 9)]),
            (vector, F64, I8, 300.0, 5, &[(44, 5)]),
            (vector, F64, I8, 300.0, 7, &[(127, 4), (44, 3)]),
            (vector, F64, I8, 40_000.0, 9, &[(-128, 8), (64, 1)]),
            (vector, F64, U32, 5e9, 7, &[(705_032_704, 7)]),
            (vector, Bf16, U32, 8_589_934_592.0, 13, &[(i32::MIN, 12), (0, 1)]),
            (vector, F16, U32, f64::INFINITY, 11, &[(0, 11)]),
            (vector, F16, U32, f64::INFINITY, 12, &[(i32::MIN, 8), (0, 4)]),
            (neon, F32, U8, -5.0, 35, &[(0, 32), (251, 3)]),
            (neon, Bf16, U8, -5.0, 35, &[(251, 35)]),
            (neon, F16, U16, -5.0, 7, &[(0, 4), (65_531, 3)]),
            (neon, F64, I8, 5e9, 6, &[(0, 4), (-1, 2)]),
            (neon, F64, I32, 5e9, 9, &[(705_032_704, 8), (i32::MAX, 1)]),
            (halves, F16, I8, 40_960.0, 6, &[(-1, 4), (0, 2)]),
            (halves, F16, U8, -5.0, 39, &[(0, 32), (251, 7)]),
            (halves, F16, Storage { bits: 12, signed: true }, 40_960.0, 9, &[(-1, 8), (0, 1)]),
            (halves, F16, Storage { bits: 4, signed: true }, 40_960.0, 9, &[(0, 9)]),
        ];
        for (kernel, expressed, storage, quotient, len, expected) in table {
            let params = layer(expressed, storage, 1.0, 0, len);
            assert_eq!(runs(kernel, &params, quotient), expected, "{kernel} {expressed:?} {storage:?} {len}");
        }
    }

    /// Issue 30, item 8: results of `mlir-opt-qcast` at -O0 and -O2 for `u4<1:15>` and, at -O0 on x86, for `i4<-7:7>` by channels followed no model.
    #[test]
    fn values_of_narrow_types_keep_the_bits_of_their_word() {
        let (u4, i4) = (Storage { bits: 4, signed: false }, Storage { bits: 4, signed: true });
        let mut params = layer(Expressed::F16, u4, 1.0, 1, 3);
        params.quantized.min = 1;
        for kernel in ["mlir-qcast", "mlir-qcast-vector", "mlir-qcast-neon", "mlir-qcast-neon-f16"] {
            assert_eq!(runs(kernel, &params, -3.0), [(15, 3)], "{kernel}: 254 in a byte, and the upper bound");
        }
        assert_eq!(runs("mlir-qcast-arm", &params, -3.0), [(1, 3)], "fcvtzu gives 0");
        let mut params = layer(Expressed::F32, i4, 1.0, 0, 2);
        params.quantized.min = -7;
        assert_eq!(runs("mlir-qcast", &params, -20.0), [(-4, 2)], "the low four bits, and the bounds");
        params.quantized.granularity = Granularity::Channel { axis: 0 };
        params.quantized.scales = vec![Scale(1.0); 2];
        params.quantized.zero_points = vec![0; 2];
        assert_eq!(runs("mlir-qcast", &params, -20.0), [(-7, 2)], "-20 in a register, and the bounds");
        assert_eq!(runs("mlir-qcast-arm", &params, -20.0), [(-4, 2)]);
    }

    /// A single loop per call pays for the check of its buffers; nested loops do not.
    #[test]
    fn short_rows_of_one_loop_stay_out_of_its_vectors() {
        let mut params = layer(Expressed::F64, I8, 1.0, 0, 5);
        let at = |params: &Params| runs("mlir-qcast-vector", params, 300.0);
        assert_eq!(at(&params), [(44, 5)]);
        params.shape = vec![1, 5];
        assert_eq!(at(&params), [(127, 4), (44, 1)]);
        params.container = Container::Unranked;
        assert_eq!(at(&params), [(44, 5)]);
    }

    /// Rows with one constant scale are vectorized, by shorter vectors than rows with a scale in a buffer. Rows with several scales are not
    /// vectorized.
    #[test]
    fn scales_that_are_constants_change_the_vectors() {
        let mut params = layer(Expressed::F32, I8, 1.0, 0, 13);
        let at = |params: &Params| runs("mlir-qcast-vector", params, 130.0);
        assert_eq!(at(&params), [(127, 8), (-126, 5)]);
        params.shape = vec![2, 13];
        (params.quantized.scales, params.quantized.zero_points) = (vec![Scale(1.0); 2], vec![0; 2]);
        params.quantized.granularity = Granularity::Channel { axis: 0 };
        assert_eq!(at(&params), [(127, 12), (-126, 1), (127, 12), (-126, 1)]);
        params.shape = vec![13, 2];
        params.quantized.granularity = Granularity::Channel { axis: 1 };
        params.quantized.storage = U8;
        (params.quantized.min, params.quantized.max) = (0, 255);
        assert_eq!(runs("mlir-qcast-vector", &params, 300.0), [(44, 26)]);
    }

    /// Few channels along the last axis: rows in whole vectors of the outer loop, and the remaining rows.
    #[test]
    fn rows_of_few_channels_are_vectors_of_the_loop_around_them() {
        let of = |kernel, expressed, storage, channels, quotient| {
            let mut params = layer(expressed, storage, 1.0, 0, 1);
            params.shape = vec![2, 13, channels];
            let scales = vec![Scale(1.0); channels];
            (params.quantized.scales, params.quantized.zero_points) = (scales, vec![0; channels]);
            params.quantized.granularity = Granularity::Channel { axis: 2 };
            runs(kernel, &params, quotient)
        };
        let x86 = |channels| of("mlir-qcast-vector", Expressed::F32, I8, channels, 130.0);
        assert_eq!(x86(3), [(127, 36), (-126, 3), (127, 36), (-126, 3)]);
        assert_eq!(x86(4), [(-126, 104)]);
        let half = |kernel, storage| of(kernel, Expressed::F16, storage, 3, -5.0);
        assert_eq!(half("mlir-qcast-neon", U16), [(0, 24), (65_531, 15), (0, 24), (65_531, 15)]);
        assert_eq!(half("mlir-qcast-neon", U8), [(251, 78)]);
        assert_eq!(half("mlir-qcast-neon-f16", U8), [(0, 24), (251, 15), (0, 24), (251, 15)]);
    }

    /// Clamps of a scalar in its register: aarch64 clamps 32 bits, `fptosi.sat` saturates on x86, and a bound that no finite f16 reaches is folded
    /// away.
    #[test]
    fn scalars_are_clamped_in_registers() {
        let one = |kernel, expressed, storage, (min, max): (i64, i64), quotient| {
            let mut params = layer(expressed, storage, 1.0, 0, 1);
            (params.container, params.quantized.min, params.quantized.max) = (Container::Scalar, min, max);
            runs(kernel, &params, quotient)[0].0
        };
        let clamped = |bounds| {
            ["mlir-qcast", "mlir-qcast-vector", "mlir-qcast-neon"].map(|k| one(k, Expressed::F32, I8, bounds, 200.0))
        };
        assert_eq!((clamped((-8, 7)), clamped((-8, 6))), ([-8, 7, 7], [-8, -8, 6]));
        assert_eq!(one("mlir-qcast-vector", Expressed::F32, I8, (-8, 7), f64::NAN), 0);
        // No `fptosi.sat` for f16.
        assert_eq!(one("mlir-qcast-vector", Expressed::F16, I8, (-8, 7), 200.0), -8);
        let half = |bounds, quotient| one("mlir-qcast-neon", Expressed::F16, U32, bounds, quotient);
        assert_eq!([half((70_000, 80_000), 3.0), half((70_000, 80_000), f64::INFINITY)], [70_000; 2]);
        assert_eq!(half((0, 80_000), f64::INFINITY), -1);
        assert_eq!(half((0, 60_000), f64::INFINITY), 60_000);
    }

    /// For a constant scale, a product with 16 and the conversion are one instruction, so 40960 * 16 does not become infinity.
    #[test]
    fn products_with_powers_of_two_are_no_infinity_on_the_way() {
        let of = |kernel, scale, zero_point, container| {
            let mut params = layer(Expressed::F16, I32, scale, zero_point, 1);
            params.container = container;
            runs(kernel, &params, 40_960.0 / scale)[0].0
        };
        let with = |scale, zero_point, container| of("mlir-qcast-neon-f16", scale, zero_point, container);
        assert_eq!(with(0.0625, 0, Container::Scalar), 655_360);
        assert_eq!(with(0.0625, 1, Container::Scalar), i32::MAX);
        assert_eq!(with(0.0625, 0, Container::Ranked), i32::MAX);
        assert_eq!(with(0.3, 0, Container::Scalar), i32::MAX);
        assert_eq!(of("mlir-qcast-neon", 0.0625, 0, Container::Scalar), i32::MAX);
    }
}
