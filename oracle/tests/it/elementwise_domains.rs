//! Valid scales and batches of additions and multiplications, compared with machine floats: f64 compares f32 numbers times powers of two
//! exactly, and the machine computes the f32 steps of the sources.

use std::ops::RangeInclusive;
use tiebreak_oracle::elementwise::{Operand, add, mul};
use tiebreak_oracle::quantize::Storage;

const I8: Storage = Storage { bits: 8, signed: true };
const U8: Storage = Storage { bits: 8, signed: false };
const I16: Storage = Storage { bits: 16, signed: true };

fn of(scale: f32) -> Operand {
    at(scale.to_bits())
}

fn at(scale: u32) -> Operand {
    Operand { scale, zero_point: 0 }
}

fn sum(scales: [u32; 3], left_shift: u32) -> add::Parameters {
    let [lhs, rhs, out] = scales.map(at);
    add::Parameters { lhs, rhs, out, storage: I8, own: add::LeftShift(left_shift), min: -128, max: 127 }
}

fn product(scales: [u32; 3], storage: Storage) -> mul::Parameters {
    let [lhs, rhs, out] = scales.map(at);
    let (min, max) = (storage.min() as i32, storage.max() as i32);
    mul::Parameters { lhs, rhs, out, storage, own: mul::PRODUCT_BITS, min, max }
}

/// Returns `2^e` as a double.
fn power(e: i32) -> f64 {
    2f64.powi(e)
}

/// True if the pattern is a number from 2 to the first exponent up to 2 to the last exponent.
fn in_range(scale: u32, exponents: &RangeInclusive<i32>) -> bool {
    let value = f64::from(f32::from_bits(scale));
    value >= power(*exponents.start()) && value <= power(*exponents.end())
}

/// Evaluates `add::Scales` for three scales within the exponents.
fn sum_takes(scales: add::Scales, [lhs, rhs, out]: [u32; 3], left_shift: u32) -> bool {
    let [lhs, rhs, out] = [lhs, rhs, out].map(f32::from_bits);
    let (smaller, larger) = (lhs.min(rhs), lhs.max(rhs));
    let wide = f64::from;
    if wide(larger.max(out)) > power(add::APART) * wide(smaller.min(out)) {
        return false;
    }
    let ratios = |least: i32| {
        wide(smaller) >= power(least) * wide(out)
            && wide(larger) >= power(-10) * wide(out)
            && wide(larger) < power(8) * wide(out)
    };
    match scales {
        add::Scales::Any => true,
        add::Scales::Rescaled => 2.0 * wide(larger) < power(left_shift as i32) * wide(out),
        add::Scales::Ratios => ratios(-10),
        add::Scales::Wide => {
            // Two of the 24 bits of the quotient's significand are rounded away, ties to even.
            let significand = ((larger / out).to_bits() & 0x7f_ffff) | 0x80_0000;
            let rounded = (significand >> 2) + [0, 0, (significand >> 2) & 1, 1][significand as usize % 4];
            ratios(-14) && rounded < 1 << 22
        }
    }
}

/// Scales on both sides of every bound: the ends of the exponents, and quotients around every power of two in the sources' comparisons.
fn triples(exponents: &RangeInclusive<i32>, quotients: &[i32]) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    let nudges = -4i32..=4;
    for significand in [1.0f32, 1.5, 1.999_999_9, 1.234_567_8] {
        for (e, nudge) in quotients.iter().flat_map(|e| nudges.clone().map(move |nudge| (*e, nudge))) {
            let larger = (significand * 2f32.powi(e)).to_bits().wrapping_add_signed(nudge);
            for smaller in [larger, larger - (3 << 23), significand.to_bits(), (significand * 2f32.powi(-14)).to_bits()]
            {
                all.extend([[larger, smaller, significand.to_bits()], [smaller, larger, significand.to_bits()]]);
            }
        }
    }
    for (end, nudge) in
        [exponents.start(), exponents.end()].into_iter().flat_map(|e| nudges.clone().map(move |n| (*e, n)))
    {
        let scale = 2f32.powi(end).to_bits().wrapping_add_signed(nudge);
        let near = 2f32.powi(end - end.signum()).to_bits();
        all.extend([[scale, near, near], [near, scale, near], [near, near, scale], [scale; 3]]);
    }
    all
}

/// Patterns that are not positive numbers.
const NO_SCALES: [u32; 6] = [0, 0x8000_0000, 0xbf80_0000, 0x7f80_0000, 0x7fc0_0000, 1];

#[test]
fn scales_that_additions_take() {
    let quotients = [-41, -40, -39, -15, -14, -13, -11, -10, -9, 0, 6, 7, 8, 9, 18, 19, 20, 39, 40, 41];
    let mut taken = 0;
    for scales in triples(&add::EXPONENTS, &quotients) {
        for (system, left_shift) in [add::Scales::Any, add::Scales::Rescaled, add::Scales::Ratios, add::Scales::Wide]
            .into_iter()
            .flat_map(|s| [(s, 20), (s, 15)])
        {
            let within = scales.iter().all(|scale| in_range(*scale, &add::EXPONENTS));
            let expected = within && sum_takes(system, scales, left_shift);
            assert_eq!(sum(scales, left_shift).takes(system), expected, "{system:?} {left_shift} {scales:x?}");
            taken += u32::from(expected);
        }
    }
    assert!(taken > 1000, "{taken}");
    let one = 1f32.to_bits();
    for scale in NO_SCALES {
        for scales in [[scale, one, one], [one, scale, one], [one, one, scale]] {
            assert!(!sum(scales, 20).takes(add::Scales::Any), "{scale:#x}");
        }
    }
}

#[test]
fn scales_that_multiplications_take() {
    let mut taken = 0;
    for scales in triples(&mul::EXPONENTS, &[-17, -16, -15, -2, -1, 0, 1, 6, 7, 8, 9, 13, 14, 15]) {
        let [lhs, rhs, out] = scales.map(f32::from_bits);
        for (lhs, rhs) in [(lhs, rhs), (lhs, 1.0)] {
            let quotient = lhs * rhs / out;
            let patterns = [lhs, rhs, out].map(f32::to_bits);
            let within = patterns.iter().all(|scale| in_range(*scale, &mul::EXPONENTS));
            for (system, storage, expected) in [
                (mul::Scales::Rescaled, I8, quotient < 16384.0),
                (mul::Scales::Rescaled, I16, quotient < 1.0),
                (mul::Scales::Ratio, U8, (1.0 / 65536.0..256.0).contains(&quotient)),
            ] {
                assert_eq!(
                    product(patterns, storage).takes(system),
                    within && expected,
                    "{system:?} {storage:?} {patterns:x?}"
                );
                taken += u32::from(within && expected);
            }
        }
    }
    assert!(taken > 1000, "{taken}");
    let one = 1f32.to_bits();
    for scale in NO_SCALES {
        for scales in [[scale, one, one], [one, scale, one], [one, one, scale]] {
            assert!(!product(scales, I8).takes(mul::Scales::Rescaled), "{scale:#x}");
        }
    }
}

/// Regression, found by fuzzing: an i16 case with a zero point counted as covered, but the kernel rejected it.
#[test]
fn zero_points_of_sixteen_bits_are_0_where_tensors_are_multiplied() {
    let quarter = 0.25f32.to_bits();
    let placed = |storage: Storage, zero_points: [i32; 3]| {
        let p = product([quarter; 3], storage);
        let [lhs, rhs, out] = zero_points.map(|zero_point| Operand { scale: quarter, zero_point });
        mul::Parameters { lhs, rhs, out, ..p }
    };
    for zero_points in [[0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 0, 127], [5, 6, 7]] {
        let all_0 = zero_points == [0; 3];
        assert_eq!(placed(I16, zero_points).takes(mul::Scales::Rescaled), all_0, "{zero_points:?}");
        assert!(placed(I8, zero_points).takes(mul::Scales::Rescaled), "{zero_points:?}");
    }
}

/// Each bound of a valid batch: the last value that passes, and the first that does not.
#[test]
fn batches_of_additions_end_where_they_say() {
    let one = 1f32.to_bits();
    let sound = sum([one; 3], 20);
    let accepts = |p: add::Parameters, lhs: &[i32], rhs: &[i32]| p.check(lhs, rhs).is_ok();
    for (e, accepted) in [(100, true), (101, false), (-100, true), (-101, false)] {
        let all = of(2f32.powi(e));
        assert_eq!(accepts(add::Parameters { lhs: all, rhs: all, out: all, ..sound }, &[], &[]), accepted, "2^{e}");
    }
    for (e, accepted) in [(add::APART, true), (-add::APART, true), (add::APART + 1, false), (-add::APART - 1, false)] {
        let far = of(2f32.powi(e));
        for p in [
            add::Parameters { lhs: far, ..sound },
            add::Parameters { rhs: far, ..sound },
            add::Parameters { out: far, ..sound },
        ] {
            assert_eq!(accepts(p, &[], &[]), accepted, "{e} binades apart");
        }
    }
    // 128 * 2^23 is 2^30, 128 * 2^24 is 2^31; without operands no difference exists.
    for (left_shift, stored, accepted) in [
        (23, &[-128][..], true),
        (24, &[-128], false),
        (24, &[127], true),
        (30, &[1], true),
        (30, &[2], false),
        (30, &[], true),
        (31, &[], false),
    ] {
        let p = add::Parameters { own: add::LeftShift(left_shift), ..sound };
        let zeros = vec![0; stored.len()];
        assert_eq!(
            [accepts(p, stored, &zeros), accepts(p, &zeros, stored)],
            [accepted; 2],
            "{stored:?} << {left_shift}"
        );
    }
    let zero_point = |storage: Storage, zero_point: i32| {
        let ends = (storage.min() as i32, storage.max() as i32);
        let p = add::Parameters { storage, min: ends.0, max: ends.1, own: add::LeftShift(0), ..sound };
        accepts(add::Parameters { rhs: Operand { zero_point, ..p.rhs }, ..p }, &[], &[])
    };
    // For 8 bits, the negatives of zero points are valid, too.
    for (storage, least, most) in [(I8, -128, 128), (U8, -255, 255), (I16, -32768, 32767)] {
        let accepted = [least - 1, least, most, most + 1].map(|point| zero_point(storage, point));
        assert_eq!(accepted, [false, true, true, false], "{storage:?}");
    }
    for (p, lhs, accepted) in [
        (add::Parameters { min: 3, max: 3, ..sound }, &[-128, 127][..], true),
        (add::Parameters { min: -129, ..sound }, &[], false),
        (add::Parameters { max: 128, ..sound }, &[], false),
        (sound, &[-129], false),
        (sound, &[128], false),
    ] {
        assert_eq!(accepts(p, lhs, &vec![0; lhs.len()]), accepted, "{lhs:?} {p:?}");
        assert_eq!(accepts(p, &vec![0; lhs.len()], lhs), accepted, "{lhs:?} {p:?}");
    }
}

#[test]
fn batches_of_multiplications_end_where_they_say() {
    let sound = product([1f32.to_bits(); 3], I16);
    let accepts = |p: mul::Parameters, lhs: &[i32], rhs: &[i32]| p.check(lhs, rhs).is_ok();
    for (product_bits, accepted) in [(7, false), (8, true), (32, true), (33, false)] {
        assert_eq!(
            accepts(mul::Parameters { own: mul::ProductBits(product_bits), ..sound }, &[], &[]),
            accepted,
            "{product_bits}"
        );
    }
    for (e, accepted) in [(30, true), (31, false), (-30, true), (-31, false)] {
        assert_eq!(accepts(mul::Parameters { out: of(2f32.powi(e)), ..sound }, &[], &[]), accepted, "2^{e}");
    }
    let wide = Storage { bits: 32, signed: true };
    for (a, b, accepted) in [
        (65535, 32768, true),
        (65536, 32768, false),
        (-65536, 32768, false),
        (46340, -46340, true),
        (46341, -46341, false),
    ] {
        assert_eq!(accepts(product([1f32.to_bits(); 3], wide), &[0, a], &[b, 0]), accepted, "{a} {b}");
        // The bound counts from the zero points.
        let moved = |zero_point| Operand { zero_point, scale: 1f32.to_bits() };
        let p = mul::Parameters { lhs: moved(7), rhs: moved(-7), ..product([1f32.to_bits(); 3], wide) };
        assert_eq!(accepts(p, &[a + 7], &[b - 7]), accepted, "{a} {b}");
    }
}
