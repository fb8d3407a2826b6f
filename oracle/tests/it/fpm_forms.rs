//! Invariant 2: the big-rational form of every scheme, its machine-integer form, the interpreted step list and the folded
//! pieces give the same results. Exhaustive at small widths, directed and random at 32 bits.

use proptest::prelude::*;
use tiebreak_oracle::fpm::pieces::fold;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::sweep::{Expected, Sweep};
use tiebreak_oracle::fpm::{Parameters, Scheme, fpm, integer};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

fn steps(scheme: &Scheme) -> Vec<Step> {
    scheme.definition.steps.iter().map(|(_, s)| *s).collect()
}

/// Checks all forms except the pieces at one input.
fn check(scheme: &Scheme, x: i64, p: &Parameters) {
    let exact = scheme.exact(x, p);
    assert_eq!(scheme.fast(x, p), exact, "fast form of {} at x={x} {p:?}", scheme.label());
    let interpreted = integer::run(&steps(scheme), x, p).and_then(|v| scheme.overflow.fit(p.word, v));
    assert_eq!(interpreted.map(|v| v as i64), exact, "interpreted {} at x={x} {p:?}", scheme.label());
}

#[test]
fn every_form_agrees_on_every_input_at_small_widths() {
    let (mut inputs, mut folded) = (0u64, 0u64);
    for bits in 3..=5u32 {
        let half = 1i64 << (bits - 1);
        for m in -half..half {
            for s in 1 - bits as i32..bits as i32 {
                let p = Parameters::narrow(m, s, bits);
                for scheme in Scheme::every() {
                    let pieces = fold(&scheme, &p);
                    folded += u64::from(pieces.is_some());
                    for x in -half..half {
                        check(&scheme, x, &p);
                        inputs += 1;
                        if let Some(pieces) = &pieces {
                            let piece = pieces.iter().find(|q| q.lo <= x && x <= q.hi);
                            let value = piece.map(|q| q.at(x) as i64);
                            assert_eq!(value, scheme.exact(x, &p), "pieces of {} at x={x} {p:?}", scheme.label());
                        }
                    }
                }
            }
        }
    }
    println!("{inputs} inputs, {folded} folded parameter pairs, {} schemes", Scheme::every().count());
    assert!(inputs > 500_000 && folded > 20_000);
}

/// Regression, found by the fuzz target `census`: machine-integer forms with SQRDMULH assumed the fractional bits of the word, and schemes
/// of double rounding panicked without fractional bits.
#[test]
fn every_form_agrees_whatever_the_fractional_bits() {
    for bits in 3..=4u32 {
        let half = 1i64 << (bits - 1);
        for (m, s, q) in (-half..half).flat_map(|m| (-3..4).flat_map(move |s| (0..bits).map(move |q| (m, s, q)))) {
            let p = Parameters { q, ..Parameters::narrow(m, s, bits) };
            for scheme in Scheme::every() {
                let pieces = fold(&scheme, &p);
                for x in -half..half {
                    check(&scheme, x, &p);
                    if let Some(pieces) = &pieces {
                        let piece = pieces.iter().find(|q| q.lo <= x && x <= q.hi);
                        let value = piece.map(|q| q.at(x) as i64);
                        assert_eq!(value, scheme.exact(x, &p), "pieces of {} at x={x} {p:?}", scheme.label());
                    }
                }
            }
        }
    }
}

#[test]
fn single_rounding_schemes_are_the_formula_of_the_rfc() {
    for rule in RoundingRule::ALL {
        let scheme = Scheme::single(rule, Overflow::OutOfDomain);
        for (x, m, s) in [(1, 1 << 30, -1), (-1, (1 << 30) + 1, -1), (7984, 1_583_594_044, -9), (-5, i32::MIN, -31)] {
            let p = Parameters::q31(m, s);
            assert_eq!(scheme.exact(x, &p), fpm(rule, x, &p).to_i64(), "{} x={x} {p:?}", rule.name());
        }
    }
}

fn int32() -> impl Strategy<Value = i32> {
    prop_oneof![
        any::<i32>(),
        (0u32..32, -2i32..=2, any::<bool>()).prop_map(|(bit, off, negative)| {
            let v = 1i32.wrapping_shl(bit).wrapping_add(off);
            if negative { v.wrapping_neg() } else { v }
        }),
        -300i32..300,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_form_agrees_at_32_bits(x in int32(), m in int32(), s in -31i32..=31) {
        let p = Parameters::q31(m, s);
        for scheme in Scheme::every() {
            check(&scheme, x.into(), &p);
        }
    }

    #[test]
    fn ties_up_agrees_for_every_q(x in int32(), m in int32(), s in -31i32..=31, q in 0u32..=31) {
        let p = Parameters { q, ..Parameters::q31(m, s) };
        for rule in RoundingRule::ALL {
            for overflow in Overflow::ALL {
                check(&Scheme::single(rule, overflow), x.into(), &p);
            }
        }
    }

    /// Regression: these schemes panicked without fractional bits, because the nudge is empty. With few bits, a high product needs its saturation.
    #[test]
    fn rounding_products_agree_for_every_q(x in int32(), m in int32(), s in -31i32..=31, q in 0u32..=31) {
        let p = Parameters { q, ..Parameters::q31(m, s) };
        for name in ["gemmlowp-double", "cmsis-nn-double", "tosa-apply-scale-32-double"] {
            check(&Scheme::parse(name).unwrap(), x.into(), &p);
        }
    }

    #[test]
    fn sweeps_agree_with_the_rationals(start in int32(), m in int32(), s in -31i32..=31) {
        let len = 50usize.min((i64::from(i32::MAX) - i64::from(start)) as usize + 1);
        let p = Parameters::q31(m, s);
        let (all, first_x) = (Scheme::every().collect::<Vec<_>>(), i64::from(start));
        for policies in all.chunk_by(|a, b| std::ptr::eq(a.definition, b.definition)) {
            // A result that fits is equal under every policy, so rationals compute it once.
            let fitting = Scheme { overflow: Overflow::OutOfDomain, ..policies[0] };
            let fits: Vec<Option<i64>> = (0..len as i64).map(|i| fitting.exact(first_x + i, &p)).collect();
            for scheme in policies {
                let sweep = Sweep::new(*scheme, p);
                let mut covered = 0;
                for (first, n, expected) in sweep.runs(first_x, len) {
                    for i in 0..n {
                        let x = first + i as i64;
                        let got = match expected {
                            Expected::Stepped(stepper) => Some(stepper.ahead(i).into()),
                            Expected::OutOfDomain => None,
                            Expected::OneByOne => sweep.one(x),
                        };
                        let anchor = fits[(x - first_x) as usize].or_else(|| sweep.anchor(x));
                        prop_assert_eq!(got, anchor, "{} x={} {:?}", scheme.label(), x, p);
                    }
                    covered += n;
                }
                prop_assert_eq!(covered, len);
                // The cross-check that sweeps use, at one accumulator.
                let last = first_x + len as i64 - 1;
                prop_assert_eq!(sweep.anchor(last), sweep.at(last), "{} x={} {:?}", scheme.label(), last, p);
            }
        }
    }
}
