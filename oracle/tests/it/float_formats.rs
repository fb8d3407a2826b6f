//! Formats compared with the hardware's f32 and f64 and the crate `half`: every pattern of 16 bits, and directed and random wider
//! patterns.

use half::{bf16, f16};
use proptest::prelude::*;
use rug::Rational;
use rug::ops::Pow;
use tiebreak_oracle::float::{Float, Format, decimal};
use tiebreak_oracle::rounding::RoundingRule;

/// Returns the value as an f64, which holds the values of all formats.
fn double(format: Format, bits: u64) -> f64 {
    match format {
        Format::F16 => f16::from_bits(bits as u16).to_f64(),
        Format::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        Format::F32 => f32::from_bits(bits as u32).into(),
        Format::F64 => f64::from_bits(bits),
    }
}

fn means(format: Format, bits: u64) {
    let number = double(format, bits);
    match format.decode(bits) {
        Float::Nan => assert!(number.is_nan()),
        Float::Infinite { negative } => assert!(number.is_infinite() && number.is_sign_negative() == negative),
        Float::Finite { value, negative } => {
            assert_eq!(Rational::from_f64(number), Some(value), "{} {bits:#x}", format.name());
            assert_eq!(number.is_sign_negative(), negative);
        }
    }
}

/// Checks that a number rounds to itself by every rule, and values between neighbours to one of the neighbours.
fn rounds(format: Format, bits: u64) {
    let Some(value) = format.decode(bits).finite().cloned() else { return };
    let Some(above) = format.decode(format.from_key(format.key(bits).unwrap() + 1)).finite().cloned() else { return };
    let zero = if value == 0 { 0 } else { bits };
    for rule in RoundingRule::ALL {
        assert_eq!(format.round(&value, rule), zero, "{} {bits:#x} {}", format.name(), rule.name());
    }
    if value == above {
        return;
    }
    let at = |numer: i32| &value + Rational::from((numer, 8)) * Rational::from(&above - &value);
    let upper = Rational::from(&above);
    for (eighths, nearest) in [(1, &value), (3, &value), (5, &upper), (7, &upper)] {
        let x = at(eighths);
        for rule in RoundingRule::ALL {
            let expected = match rule {
                RoundingRule::TowardNegative => &value,
                RoundingRule::TowardPositive => &upper,
                RoundingRule::TowardZero if value < 0 => &upper,
                RoundingRule::TowardZero => &value,
                _ => nearest,
            };
            let got = format.round(&x, rule);
            assert_eq!(format.decode(got).finite(), Some(expected), "{} {x} {}", format.name(), rule.name());
            assert_eq!(got & format.sign() != 0, x < 0);
        }
    }
    let even = if bits & 1 == 0 { &value } else { &upper };
    assert_eq!(format.decode(format.nearest(&at(4))).finite(), Some(even));
    assert_eq!(format.decode(format.round(&at(4), RoundingRule::TiesUp)).finite(), Some(&upper));
    assert_eq!(format.decode(format.round(&at(4), RoundingRule::TiesDown)).finite(), Some(&value));
}

#[test]
fn every_16_bit_pattern_means_what_half_says_and_rounds_to_itself() {
    for format in [Format::F16, Format::Bf16] {
        for bits in 0..=0xFFFF {
            means(format, bits);
            rounds(format, bits);
        }
    }
}

/// Compares the integer form with the rational form.
fn rounds_doubles(double: f64) {
    for format in Format::ALL {
        let expected = Rational::from_f64(double).map(|exact| format.nearest(&exact));
        assert_eq!(format.nearest_to(double), expected, "{} {double:e}", format.name());
    }
}

/// For every pattern of 16 bits: its value, the midpoint to the next value, and the doubles next to both.
#[test]
fn doubles_round_as_rationals_do_at_every_tie_of_16_bits() {
    for format in [Format::F16, Format::Bf16] {
        for bits in 0..format.infinity() {
            let (this, next) = (double(format, bits), double(format, bits + 1));
            for middle in [this, this.midpoint(next)].into_iter().filter(|x| x.is_finite()) {
                for x in [middle, middle.next_up(), middle.next_down()] {
                    rounds_doubles(x);
                    rounds_doubles(-x);
                }
            }
        }
    }
    for x in [f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::INFINITY, f64::NAN, f64::from(f32::MAX).next_up()] {
        rounds_doubles(x);
        rounds_doubles(-x);
    }
}

#[test]
fn keys_follow_the_order_of_values_and_come_back() {
    for format in [Format::F16, Format::Bf16] {
        let (first, last) =
            (format.key(format.infinity() | format.sign()).unwrap(), format.key(format.infinity()).unwrap());
        assert_eq!((last - first + 1) as u128, format.numbers());
        for key in first..last {
            assert_eq!(format.key(format.from_key(key)), Some(key));
            let [below, above] = [key, key + 1].map(|k| double(format, format.from_key(k)));
            assert!(below < above || (key == -1 && below == above && below.is_sign_negative()));
        }
        assert_eq!(format.key(format.infinity() + 1), None);
    }
    assert_eq!(Format::F32.numbers(), 4_278_190_082);
    let lowest = Format::F64.infinity() | Format::F64.sign();
    assert_eq!(Format::F64.from_key(Format::F64.key(lowest).unwrap()), lowest);
}

#[test]
fn what_is_too_large_goes_where_each_rule_says() {
    for format in Format::ALL {
        let largest = format.decode(format.largest()).finite().unwrap().clone();
        let below = format.decode(format.largest() - 1).finite().unwrap().clone();
        let step = Rational::from(&largest - &below);
        let half = &largest + Rational::from(&step >> 1);
        let just_below_half = &largest + step * Rational::from((499, 1000));
        let huge = Rational::from(1) << 5000;
        for rule in RoundingRule::ALL {
            let inwards = matches!(rule, RoundingRule::TowardZero | RoundingRule::TowardNegative);
            let tied = inwards || matches!(rule, RoundingRule::TiesDown | RoundingRule::TiesToZero);
            let to = |stays: bool| if stays { format.largest() } else { format.infinity() };
            assert_eq!(format.round(&huge, rule), to(inwards), "{} {}", format.name(), rule.name());
            assert_eq!(format.round(&half, rule), to(tied), "{} {}", format.name(), rule.name());
            let stays = rule != RoundingRule::TowardPositive;
            assert_eq!(format.round(&just_below_half, rule), to(stays), "{} {}", format.name(), rule.name());
            let outwards = !matches!(rule, RoundingRule::TowardZero | RoundingRule::TowardPositive);
            assert_eq!(format.round(&-huge.clone(), rule), to(!outwards) | format.sign());
        }
        let tiny = Rational::from(1) >> 5000;
        assert_eq!(format.nearest(&tiny), 0);
        assert_eq!(format.nearest(&-tiny.clone()), format.sign());
        assert_eq!(format.round(&tiny, RoundingRule::TowardPositive), 1);
        assert_eq!(format.round(&-tiny, RoundingRule::TowardNegative), format.sign() | 1);
    }
}

#[test]
fn decimals_round_to_f64_and_then_to_the_format() {
    for text in ["0.3", "1e-5", "-2.5E3", "1028.02", "3.4501", ".5", "5.", "340282346638528859811704183484516925440"] {
        let double: f64 = text.parse().unwrap();
        assert_eq!(Format::F64.from_decimal(text), Some(double.to_bits()), "{text}");
        assert_eq!(Format::F32.from_decimal(text), Some((double as f32).to_bits().into()), "{text}");
        assert_eq!(Format::F16.from_decimal(text), Some(f16::from_f64(double).to_bits().into()), "{text}");
    }
    for text in ["", "-", ".", "e5", "1e", "0x1", "1_0", "1e99999", "nan", "1e400", "--1"] {
        assert_eq!(Format::F64.from_decimal(text), None, "{text}");
    }
}

/// The largest number of digits and the largest exponent, and one more.
#[test]
fn decimals_have_a_greatest_length() {
    let zeros = |n: usize| "0".repeat(n);
    assert_eq!(decimal(&format!("{}1", zeros(9998))), Some(Rational::from(1)));
    assert_eq!(decimal(&format!("{}1", zeros(9999))), None);
    assert_eq!(decimal(&format!("-2.{}", zeros(9998))), Some(Rational::from(-2)));
    assert_eq!(decimal(&format!("-2.{}", zeros(9999))), None);
    for (text, power) in [("1e9999", 9999), ("1e-9999", -9999)] {
        let ten = Rational::from(10).pow(power);
        assert_eq!(decimal(text), Some(ten), "{text}");
    }
    for text in ["1e10000", "1e-10000"] {
        assert_eq!(decimal(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_double_rounds_as_its_rational_does(bits: u64, single: u32) {
        rounds_doubles(f64::from_bits(bits));
        // Values near ties of f32.
        let one = f64::from(f32::from_bits(single));
        rounds_doubles(one.midpoint(f64::from(f32::from_bits(single ^ 1))));
    }

    #[test]
    fn wide_patterns_mean_what_the_hardware_says(bits in any::<u64>()) {
        means(Format::F64, bits);
        rounds(Format::F64, bits);
        means(Format::F32, bits & 0xFFFF_FFFF);
        rounds(Format::F32, bits & 0xFFFF_FFFF);
    }

    #[test]
    fn arithmetic_rounded_once_is_the_hardwares(a in any::<f32>(), b in any::<f32>(), c in any::<f64>(), d in any::<f64>()) {
        // Results of 0 are compared without their sign, which a rational does not have.
        let same = |format: Format, value: Rational, native: u64| {
            let got = format.nearest(&value);
            assert!(got == native || got | format.sign() == native | format.sign() && value == 0, "{value} {native:#x}");
        };
        let f32_bits = |x: f32| u64::from(x.to_bits());
        if let (Some(x), Some(y)) = (Rational::from_f64(a.into()), Rational::from_f64(b.into())) {
            same(Format::F32, Rational::from(&x * &y), f32_bits(a * b));
            same(Format::F32, Rational::from(&x + &y), f32_bits(a + b));
            if y != 0 {
                same(Format::F32, x / y, f32_bits(a / b));
            }
        }
        if let (Some(x), Some(y)) = (Rational::from_f64(c), Rational::from_f64(d)) {
            same(Format::F64, x.clone(), c.to_bits());
            same(Format::F32, x.clone(), f32_bits(c as f32));
            same(Format::F16, x.clone(), f16::from_f64(c).to_bits().into());
            same(Format::F64, Rational::from(&x * &y), (c * d).to_bits());
            if y != 0 {
                same(Format::F64, x / y, (c / d).to_bits());
            }
        }
    }
}

#[test]
fn a_float_is_infinite_from_half_a_spacing_above_the_largest() {
    assert_eq!(Format::F16.infinite_from(), 65_520);
    for format in Format::ALL {
        let edge = format.infinite_from();
        assert_eq!(format.nearest(&edge), format.infinity());
        assert_eq!(format.nearest(&(edge - Rational::from((1, 1000)))), format.largest());
    }
}
