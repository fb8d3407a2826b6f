//! Staircases of requantizations compared with the results one by one, by machine integers and by rationals.

use proptest::prelude::*;
use tiebreak_oracle::Rational;
use tiebreak_oracle::census::{Census, Comparison, Requantizer};
use tiebreak_oracle::derivation::real::{self, Real};
use tiebreak_oracle::derivation::{Scales, floats};
use tiebreak_oracle::fpm::pieces::{Output, fold};
use tiebreak_oracle::fpm::{Parameters, Scheme};

const INT8: Output = Output { zero_point: 7, min: -128, max: 127 };

fn fixed(name: &str, m: i32, s: i32) -> Requantizer {
    Requantizer::Fixed(Scheme::parse(name).expect("a scheme"), Parameters::q31(m, s))
}

/// Returns every scheme in floats for the real number `m * 2^(s-31)`, as the quotient of three scales.
fn floats(m: i32, s: i32) -> Vec<Requantizer> {
    let real = Rational::from(m) << (s - 31);
    let scales = Scales { input: real.clone(), weight: Rational::from(1), output: Rational::from(1) };
    let scheme = |d: &'static floats::Definition| d.of_multiplier(&real).or_else(|| d.of_scales(&scales));
    let all: Vec<_> = floats::DEFINITIONS.iter().filter_map(scheme).map(Requantizer::Float).collect();
    assert_eq!(all.len(), floats::DEFINITIONS.len());
    all
}

/// Returns every scheme in real numbers for this number and for a third of it, which is not a dyadic fraction.
fn reals(m: i32, s: i32) -> Vec<Requantizer> {
    let number = Rational::from(m) << (s - 31);
    let each = |of: Rational| real::DEFINITIONS.iter().map(move |d| Requantizer::Real(Real::new(d, of.clone())));
    each(number.clone()).chain(each(number / 3)).collect()
}

/// Checks that the runs cover `xs` in order with the correct results, and that neighbouring runs of one function have different results unless
/// a piece ends between them.
fn check_runs(of: &Requantizer, output: Option<&Output>, xs: std::ops::RangeInclusive<i64>) {
    let mut at = *xs.start();
    for run in of.runs(output, xs.clone()) {
        assert!((at..run.lo).all(|x| of.value(output, x).is_none()), "{of:?} {run:?} from {at}");
        assert!((run.lo..=run.hi).all(|x| of.value(output, x) == Some(run.value)), "{of:?} {run:?}");
        for x in [run.lo, run.hi] {
            assert_eq!(of.exact(output, x), Some(run.value), "{of:?} at {x}");
        }
        at = run.hi + 1;
    }
    assert!((at..=*xs.end()).all(|x| of.value(output, x).is_none()), "{of:?} ends at {at}");
}

/// Accumulators around zero and at both ends of int32, where products in f32 are coarse.
#[test]
fn runs_are_what_the_schemes_give_one_by_one() {
    let ends = [-3000..=3000, (1 << 24) - 2000..=(1 << 24) + 2000, i64::from(i32::MIN)..=i64::from(i32::MIN) + 2000];
    for (m, s) in [(1_395_864_371, -8), (1 << 30, -1), ((1 << 30) + 1, 3), (i32::MAX, 0), (1_139_282_975, -12), (0, 0)]
    {
        let schemes = ["ties-up", "gemmlowp-double", "ties-even", "tosa-apply-scale-32-double", "cmsis-nn-mve-single"];
        let all = schemes.iter().map(|name| fixed(name, m, s)).chain(floats(m, s)).chain(reals(m, s));
        for of in all {
            for xs in &ends {
                check_runs(&of, None, xs.clone());
                check_runs(&of, Some(&INT8), xs.clone());
            }
        }
    }
}

/// Values are equal up to `last_alike`, and differ at the next accumulator unless the piece ends.
#[test]
fn the_last_alike_is_the_last_one() {
    let mut ended = [0; 2];
    for (name, m, s) in [("ties-up", 1_395_864_371, -5), ("ties-even", -1_395_864_371, -6), ("ties-away", 1 << 30, -3)]
    {
        let scheme = Scheme::parse(name).expect("a scheme");
        for piece in fold(&scheme, &Parameters::q31(m, s)).expect("it folds") {
            let middle = piece.lo + (piece.hi - piece.lo) / 3;
            for from in [piece.lo, middle, (piece.hi - 700).max(piece.lo)] {
                for x in from..=(from + 700).min(piece.hi) {
                    let value = piece.at(x);
                    let last = (x..=piece.hi).take_while(|x| piece.at(*x) == value).last();
                    assert_eq!(Some(piece.last_alike(x)), last, "{name} m={m} s={s} {piece:?} at {x}");
                    ended[usize::from(last == Some(piece.hi))] += 1;
                }
            }
        }
    }
    assert!(ended[0] > 8_000 && ended[1] > 40, "{ended:?}");
}

/// A requantization equals its scheme at the accumulator, with the whole int32 range if there is no output.
#[test]
fn results_are_those_of_the_scheme() {
    let whole = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };
    for of in floats(1_395_864_371, -2) {
        let Requantizer::Float(scheme) = &of else { panic!("in floats") };
        for x in [i32::MIN, -1000, -1, 0, 1, 7, 1000, 1 << 24, i32::MAX] {
            for (output, placed) in [(None, whole), (Some(&INT8), INT8)] {
                let (fast, exact) = (of.value(output, x.into()), of.exact(output, x.into()));
                assert_eq!(fast, Some(scheme.fast(x, &placed).into()), "{of:?} at {x}");
                assert_eq!(exact, Some(scheme.exact(x, &placed).into()), "{of:?} at {x}");
            }
        }
    }
}

/// Schemes that do not fold are visited one by one, with the same results.
#[test]
fn a_scheme_that_does_not_fold_has_runs_too() {
    let wrapping = fixed("gemmlowp-double", (1 << 30) + 1, 31);
    let whole = i64::from(i32::MIN)..=i64::from(i32::MAX);
    assert!(wrapping.runs(Some(&INT8), whole.clone()).visits_each());
    for of in [fixed("gemmlowp-double", (1 << 30) + 1, -8), floats(1 << 30, -8).remove(0)] {
        assert!(!of.runs(Some(&INT8), whole.clone()).visits_each(), "{of:?}");
    }
    check_runs(&wrapping, Some(&INT8), -300..=300);
}

/// Two fixed point schemes have their own closed form, by floor sums.
#[test]
fn counts_of_fixed_schemes_are_those_of_the_census() {
    for (m, s) in [(1_395_864_371, -8), (1_147_730_844, -11), (1 << 30, -1), (1_518_500_250, -15), ((1 << 30) + 1, 2)] {
        for right in ["sqrdmulh-srshl", "gemmlowp-double", "ties-even", "xnnpack-rndnu", "toward-zero"] {
            let (left, output) = ("tflite-single", Some(&INT8));
            let scheme = |name| Scheme::parse(name).expect("a scheme");
            let (lo, hi) = (-4_000_000, 4_111_111);
            let census = Census {
                lo,
                hi,
                output: output.copied(),
                ..Census::of(scheme(left), scheme(right), Parameters::q31(m, s))
            };
            let (a, b) = (fixed(left, m, s), fixed(right, m, s));
            let comparison = Comparison { left: &a, right: &b, output };
            assert_eq!(Some(comparison.counts(lo..=hi)), census.counts(), "{right} {m} {s}");
            let nearest = comparison.nearest(5, lo..=hi);
            assert_eq!(nearest, census.differing().expect("it folds").take(5).collect::<Vec<_>>(), "{right} {m} {s}");
        }
    }
}

/// All differing accumulators are found exactly once, from blocks that double in length.
#[test]
fn the_nearest_are_found_once_each() {
    let (left, right) = (fixed("ties-up", 1_395_864_371, -1), fixed("toward-zero", 1_395_864_371, -1));
    let comparison = Comparison { left: &left, right: &right, output: None };
    for xs in [-9000..=9000, 500..=8000, -5000..=-1020] {
        let mut places: Vec<i64> = xs.clone().filter(|x| comparison.values(*x).is_some_and(|(l, r)| l != r)).collect();
        places.sort_by_key(|x| (x.abs(), *x < 0));
        assert!(places.len() > 1000 && [1023, 1024, 1025].iter().any(|x| places.iter().any(|place| place.abs() == *x)));
        assert_eq!(comparison.nearest(usize::MAX, xs.clone()), places, "{xs:?}");
        assert_eq!(comparison.nearest(1100, xs.clone()), places[..1100.min(places.len())], "{xs:?}");
    }
}

proptest! {
    /// Fixed compared with float, and float with float, at any multiplier: counts equal a sweep, and the nearest accumulators are correct.
    #[test]
    fn counts_are_those_of_a_sweep(
        m in 1i32 << 30..=i32::MAX, s in -18i32..2, from in any::<i32>(), narrow in 0u32..32, placed in any::<bool>(),
        kinds in (0usize..64, 0usize..64), zero_point in -128i32..=127,
    ) {
        let output = Output { zero_point, ..INT8 };
        let all: Vec<Requantizer> =
            ["ties-up", "gemmlowp-double", "ties-away"].iter().map(|name| fixed(name, m, s)).chain(floats(m, s)).collect();
        let (left, right) = (&all[kinds.0 % all.len()], &all[kinds.1 % all.len()]);
        let comparison = Comparison { left, right, output: placed.then_some(&output) };
        let lo = i64::from(from >> narrow);
        let xs = lo..=(lo + 3000).min(i32::MAX.into());
        prop_assert_eq!(comparison.counts(xs.clone()), comparison.sweep(xs.clone()));
        let differs = |x: &i64| comparison.values(*x).is_some_and(|(l, r)| l != r);
        let mut places: Vec<i64> = xs.clone().filter(differs).collect();
        places.sort_by_key(|x| (x.abs(), *x < 0));
        places.truncate(4);
        prop_assert_eq!(comparison.nearest(4, xs), places);
    }
}

/// If results change at every accumulator or two, they are counted block by block: over several blocks, across zero, and around
/// accumulators beyond the format's precision.
#[test]
fn counts_of_many_short_runs_are_those_of_a_sweep() {
    for (m, s) in [(1_395_864_371, 0), (1_395_864_371, 2), (1 << 30, 1), (-1_395_864_371, -1)] {
        let all: Vec<Requantizer> = ["ties-up", "gemmlowp-double", "ties-even"]
            .iter()
            .map(|name| fixed(name, m, s))
            .chain(floats(m, s))
            .collect();
        for (i, left) in all.iter().enumerate() {
            let right = &all[(i + 5) % all.len()];
            for (output, xs) in [
                (None, -90_000..=50_000),
                (Some(&INT8), -300..=140_000),
                (None, (1 << 24) - 70_000..=(1 << 24) + 70_000),
            ] {
                let comparison = Comparison { left, right, output };
                assert_eq!(comparison.counts(xs.clone()), comparison.sweep(xs.clone()), "{left:?} {right:?} {xs:?}");
            }
        }
    }
}
