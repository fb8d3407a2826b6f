//! Both forms of the exponential agree, the printed constants follow from `e`, and the printed composition is near the real value.

use rug::{Integer, Rational};
use tiebreak_oracle::exp::{INTEGER_BITS, Printed, Scheme, enclosed};

/// Returns ends, powers of two and whole quarters, each with its neighbours, and unrelated numbers.
fn inputs(integer_bits: i32) -> Vec<i32> {
    let quarter = 1i64 << (29 - integer_bits);
    let powers = (0..=31).map(|bit| -(1i64 << bit));
    let quarters = (0..=140).map(|n| -n * quarter);
    let near = powers.chain(quarters).flat_map(|at| [at - 1, at, at + 1]);
    let mut word = 12_345u64;
    let random = (0..300).map(|i| {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        -((word >> 33) as i64 >> (i % 31))
    });
    near.chain(random).filter(|x| (i64::from(i32::MIN)..=0).contains(x)).map(|x| x as i32).collect()
}

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).expect(name)
}

#[test]
fn both_forms_agree_at_every_number_of_integer_bits() {
    for scheme in ["nearest", "toward-negative", "gemmlowp"].map(scheme) {
        for integer_bits in INTEGER_BITS {
            let x = inputs(integer_bits);
            let (exact, fast) = (scheme.exact(integer_bits, &x).expect("a domain"), scheme.expected(integer_bits, &x));
            for ((x, exact), fast) in x.iter().zip(exact).zip(fast.expect("a domain")) {
                assert_eq!(exact, fast, "{} of {x} with {integer_bits} integer bits", scheme.label());
            }
        }
    }
}

/// 1/e to 40 digits, from a table.
#[test]
fn the_enclosure_holds_one_over_e_and_is_narrow() {
    let table: Integer = "3678794411714423215955237701614608674458".parse().expect("digits");
    let table = Rational::from((table, Integer::from(10).pow_40()));
    let (low, high) = enclosed(&Integer::from(1), 0, 60);
    let off = Rational::from((Integer::from(1), Integer::from(10).pow_40()));
    assert!(low < Rational::from(&table + &off) && high > Rational::from(&table - &off));
    assert!(Rational::from(&high - &low) < Rational::from(1) >> 200);
}

trait Power {
    fn pow_40(self) -> Integer;
}

impl Power for Integer {
    fn pow_40(self) -> Integer {
        (0..40).fold(Self::from(1), |product, _| product * &self)
    }
}

/// fixedpoint.h: constants of its barrel shifter, each e^(-2^k).
#[test]
fn the_printed_constants_are_powers_of_e() {
    let printed = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];
    for (k, printed) in (-2..).zip(printed) {
        let x = [-(1 << (26 + k))];
        assert_eq!(scheme("nearest").expected(5, &x).expect("a domain"), [printed], "k = {k}");
    }
    assert_eq!(scheme("nearest").expected(5, &[-(1 << 23)]).expect("a domain"), [1_895_147_668]);
}

/// The tolerance of gemmlowp's own test is 3e-7, which is 644 units.
#[test]
fn the_composition_is_within_the_tolerance_of_its_test() {
    for integer_bits in INTEGER_BITS {
        let x = inputs(integer_bits);
        let [real, printed] = ["nearest", "gemmlowp"].map(|name| scheme(name).expected(integer_bits, &x).expect(name));
        let most = real.iter().zip(&printed).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most.is_some_and(|most| most <= 644), "{integer_bits}: {most:?}");
    }
}

/// Without the clamp, a bit of the quarters below -32 is lost; without the special case, 0 counts one quarter too many.
#[test]
fn what_is_left_out_shows() {
    let printed = Printed::AS_PRINTED;
    let x = -(1 << 30) - 1;
    assert_eq!((printed.at(x, 6), Printed { clamp: false, ..printed }.at(x, 6)), (0, printed.at(-1, 6)));
    assert_eq!(printed.at(0, 5), i32::MAX);
    assert!(Printed { one: false, ..printed }.at(0, 5) < 1 << 10);
}

#[test]
fn what_is_no_input_is_named() {
    let argument = |bits: i32, x: i32| scheme("gemmlowp").expected(bits, &[x]).expect_err("refused").argument;
    assert_eq!([argument(30, 0), argument(-1, 0), argument(5, 1)], ["integer_bits", "integer_bits", "x"]);
}
