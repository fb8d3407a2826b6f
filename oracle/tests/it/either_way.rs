//! Rounding of exact ties in both directions, compared with neighbours among all numbers of a format. These are the results that a fault may give.

use rug::Rational;
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::{AllowedDeviations, Quantization, Storage, Stored};
use tiebreak_oracle::{dequantize, quantize};

/// Returns every number of a 16-bit format in order. The last entry represents infinity as the number after the largest.
fn numbers(format: Format) -> Vec<Rational> {
    let finite = |bits: u64| match format.decode(bits) {
        Float::Finite { value, .. } => Some(value),
        Float::Infinite { .. } | Float::Nan => None,
    };
    let mut all: Vec<Rational> = (0..1 << 16).filter_map(finite).collect();
    all.sort();
    all.dedup();
    let (last, before) = (all[all.len() - 1].clone(), all[all.len() - 2].clone());
    let next: Rational = last.clone() * 2u32 - before;
    all.insert(0, -next.clone());
    all.push(next);
    all
}

/// Returns the numbers nearest to a value: one, or two for a tie.
fn nearest(numbers: &[Rational], value: &Rational) -> Vec<Rational> {
    let above = numbers.partition_point(|number| number < value).clamp(1, numbers.len() - 1);
    let (low, high) = (&numbers[above - 1], &numbers[above]);
    match (value.clone() - low).cmp(&(high.clone() - value)) {
        std::cmp::Ordering::Less => vec![low.clone()],
        std::cmp::Ordering::Greater => vec![high.clone()],
        std::cmp::Ordering::Equal => vec![low.clone(), high.clone()],
    }
}

/// Returns the number of a pattern; for an infinity, the entry at that end.
fn number(format: Format, numbers: &[Rational], bits: u64) -> Rational {
    match format.decode(bits) {
        Float::Finite { value, .. } => value,
        Float::Infinite { negative: true } => numbers[0].clone(),
        Float::Infinite { negative: false } => numbers[numbers.len() - 1].clone(),
        Float::Nan => panic!("{bits:#x} is no number"),
    }
}

#[test]
fn only_what_is_exactly_between_two_numbers_goes_either_way() {
    for format in [Format::F16, Format::Bf16] {
        let all = numbers(format);
        let tiny = Rational::from((1, 1_000_003)) >> 160;
        for pair in all.windows(2) {
            let middle = (pair[0].clone() + &pair[1]) / 2u32;
            let beside = [middle.clone() - &tiny, middle.clone() + &tiny];
            for value in [middle, pair[0].clone()].into_iter().chain(beside) {
                let mut given = format.nearest_either_way(&value).map(|bits| number(format, &all, bits)).to_vec();
                given.dedup();
                assert_eq!(given, nearest(&all, &value), "{} {value}", format.name());
            }
        }
    }
}

fn bf16(scale: &str, zero_point: i64, storage: Storage) -> Quantization {
    let scale = Format::Bf16.from_decimal(scale).expect("a number");
    Quantization { format: Format::Bf16, scale, zero_point, storage, min: storage.min(), max: storage.max() }
}

/// Rounds ties to even, like a correct operation.
fn even(format: Format, all: &[Rational], value: &Rational) -> Rational {
    number(format, all, format.nearest(value))
}

const TYPES: [(&str, i64); 5] = [("0.3", 1), ("1", 0), ("0.1", -3), ("1.5", 257), ("0.0078125", 30000)];

/// `(q - z) * s` with correct conversions, and with ties of the difference and the product in both directions.
#[test]
fn dequantization_goes_either_way_at_each_operation() {
    let scheme = dequantize::Scheme::parse("mlir-dcast").expect("a scheme");
    let all = numbers(Format::Bf16);
    let mut several = 0;
    for (scale, zero_point) in TYPES {
        let q = bf16(scale, zero_point, Storage { bits: 16, signed: true });
        let of = |bits| number(q.format, &all, bits);
        let (s, z) = (of(q.scale), even(q.format, &all, &zero_point.into()));
        for stored in (q.min..=q.max).step_by(7).chain(-600..=600) {
            let converted = even(q.format, &all, &stored.into());
            let mut expected: Vec<Rational> = Vec::new();
            for difference in nearest(&all, &(converted - &z)) {
                expected.extend(nearest(&all, &(difference * &s)));
            }
            expected.sort();
            expected.dedup();
            let mut given: Vec<Rational> = scheme.either_way(&q, stored).into_iter().map(of).collect();
            given.sort();
            assert_eq!(given, expected, "{scale}:{zero_point} {stored}");
            assert!(given.contains(&of(scheme.exact(&q, stored))), "what is right is one of them");
            several += usize::from(given.len() > 1);
        }
    }
    assert!(several > 1000, "{several} ties are no test");
}

/// `x / s + z` with ties of the quotient and the sum in both directions, then truncated and clamped.
#[test]
fn quantization_goes_either_way_at_each_operation() {
    let scheme = quantize::Scheme::parse("mlir-qcast").expect("a scheme");
    let all = numbers(Format::Bf16);
    let (mut several, mut poison) = (0, 0);
    for (scale, zero_point) in TYPES {
        let q = bf16(scale, zero_point, Storage { bits: 16, signed: true });
        let of = |bits| number(q.format, &all, bits);
        let (s, z) = (of(q.scale), even(q.format, &all, &zero_point.into()));
        for bits in (0..1u64 << 16).step_by(5) {
            let Float::Finite { value: x, .. } = q.format.decode(bits) else { continue };
            let mut expected = Vec::new();
            for quotient in nearest(&all, &(x / &s)) {
                for sum in nearest(&all, &(quotient + &z)) {
                    let integer = sum.trunc().numer().to_i64().filter(|v| (q.min..=q.max).contains(v));
                    expected.push(integer.map_or(Stored::Poison, Stored::Value));
                }
            }
            expected.sort_unstable();
            expected.dedup();
            let given = scheme.either_way(&q, bits);
            assert_eq!(given, expected, "{scale}:{zero_point} {bits:#x}");
            assert!(given.contains(&scheme.exact(&q, bits)), "what is right is one of them");
            several += usize::from(given.len() > 1);
            poison += usize::from(given == [Stored::Poison]);
        }
    }
    assert!(several > 20 && poison > 1000, "{several} ties and {poison} of poison are no test");
}

/// A target with its own conversion and the usual rounding: only numbers beyond the type have other results.
#[test]
fn a_conversion_of_ones_own_takes_no_liberty_with_ties() {
    let scheme = quantize::Scheme::parse("mlir-qcast").expect("a scheme");
    let allowed = AllowedDeviations { conversion: Some(|_, _| vec![7, -7]), ..AllowedDeviations::default() };
    let (mut tied, mut beyond) = (0, 0);
    for (scale, zero_point) in TYPES {
        let q = bf16(scale, zero_point, Storage { bits: 16, signed: true });
        for bits in (0..1u64 << 16).step_by(5) {
            let Float::Finite { .. } = q.format.decode(bits) else { continue };
            let (exact, given) = (scheme.exact(&q, bits), scheme.results(&q, bits, &allowed));
            tied += usize::from(exact != Stored::Poison && scheme.either_way(&q, bits).len() > 1);
            beyond += usize::from(given.len() == 2);
            // A quotient beyond the format is not a number, and is not converted.
            let own = exact == Stored::Poison && given == [-7, 7].map(Stored::Value);
            assert!(own || given == [exact], "{scale}:{zero_point} {bits:#x}: {exact:?} {given:?}");
        }
    }
    assert!(tied > 10 && beyond > 1000, "{tied} ties and {beyond} numbers beyond the type are no test");
}
