//! Faults of every structural family that a quick run must detect, in a kernel per channel and in one that takes a channel at a time.

use crate::plans::Planned;
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::{Params, kernels};
use tiebreak_suites::budget::Effort;
use tiebreak_suites::fpm::FixedPointMultiply;
use tiebreak_suites::fpm::corners::corners;
use tiebreak_suites::operation::{Case, Expected, Operation, promise};
use tiebreak_suites::requantize::{INSIDE, Requantize};

const KERNELS: [&str; 2] = ["tflite-requantize-i8", "tflite-requantize-u8"];

/// Returns one more than the right result, within the clamp.
fn more(p: &Params, right: i32) -> i32 {
    (right + 1).min(p.max)
}

fn channel_of(p: &Params, at: usize) -> Channel {
    p.channels[at % p.channels.len()]
}

/// Condition for a fault.
type Where<'a> = &'a dyn Fn(&Case<Params>, usize, i32) -> bool;

/// Returns the faults that the plan of a kernel does not detect.
fn missed(planned: &Planned<Requantize>, faults: &[(String, Where<'_>)]) -> Vec<String> {
    let detected =
        |is: Where<'_>| planned.detects(|case, at, right| is(case, at, right).then(|| more(&case.params, right)));
    faults.iter().filter(|(_, is)| !detected(is)).map(|(name, _)| name.clone()).collect()
}

/// Returns the undetected faults among those for each of `all`.
fn each<T: Copy + std::fmt::Debug>(
    planned: &Planned<Requantize>,
    name: &str,
    all: impl IntoIterator<Item = T>,
    is: impl Fn(T, &Case<Params>, usize, i32) -> bool,
) -> Vec<String> {
    let one =
        |value: T| missed(planned, &[(format!("{name} {value:?}"), &|case, at, right| is(value, case, at, right))]);
    all.into_iter().flat_map(one).collect()
}

#[test]
fn places_and_channels() {
    for kernel in KERNELS {
        let planned = Planned::<Requantize>::of(kernel, Effort::Quick);
        let mut out = each(&planned, "position mod 64", 0..64, |p, _, at, _| at % 64 == p);
        out.extend(each(&planned, "the last vector of", [4, 8, 16, 32, 64], |v, case, at, _| {
            at >= case.params.len - case.params.len % v
        }));
        out.extend(each(&planned, "length mod 64", 0..64, |l, case, _, _| case.params.len % 64 == l));
        out.extend(each(&planned, "misaligned by", 0..16, |m, case, _, _| case.misalign == m));
        out.extend(each(&planned, "elements from", [64, 1000, 5000, 10_000, 11_500], |i, _, at, _| at >= i));
        if kernel == KERNELS[0] {
            out.extend(each(&planned, "channel", 0..70, |c, case, at, _| {
                case.params.channels.len() > c && at % case.params.channels.len() == c
            }));
            out.extend(each(&planned, "a partial row of so many channels", 2..=70, |c, case, at, _| {
                let (len, channels) = (case.params.len, case.params.channels.len());
                channels == c && at >= len - len % channels
            }));
        }
        assert!(out.is_empty(), "{kernel} in a quick run: {out:?}");
    }
}

#[test]
fn parameters_and_accumulators() {
    for kernel in KERNELS {
        let planned = Planned::<Requantize>::of(kernel, Effort::Quick);
        let range = if kernel == KERNELS[0] { -128..=127 } else { 0..=255 };
        let mut out = each(&planned, "zero point", range.clone(), |z, case, _, _| case.params.zero_point == z);
        out.extend(each(&planned, "result", *range.start()..*range.end(), |v, _, _, right| right == v));
        out.extend(each(&planned, "shift", -31..=9, |s, case, at, _| channel_of(&case.params, at).shift == s));
        // A tenth of each octave, of either sign.
        let octaves = || (5..31).flat_map(|k| (0..10).map(move |i| (k, i)));
        let within = |x: i32, k: u32, i: i64, parts: i64| {
            let (base, x) = (1i64 << k, i64::from(x));
            (base + base * i / parts..base + (base * (i + 1) / parts).max(1)).contains(&x)
        };
        out.extend(each(&planned, "accumulators in a tenth of", octaves(), |(k, i), case, at, _| {
            within(case.tensors[0][at], k, i, 10)
        }));
        out.extend(each(&planned, "accumulators in a tenth of -", octaves(), |(k, i), case, at, _| {
            case.tensors[0][at] < -8 && within(-(case.tensors[0][at] + 1), k, i, 10)
        }));
        let part = if kernel == KERNELS[0] { 24 } else { 26 };
        let parts = (0..1 << (30 - part)).map(|i| (1i64 << 30) + (i << part));
        out.extend(each(&planned, "multipliers from", parts, |m, case, at, _| {
            (m..m + (1 << part)).contains(&i64::from(channel_of(&case.params, at).multiplier))
        }));
        out.extend(each(&planned, "biases beyond", [8u32, 12, 16, 20, 24, 28, 30], |bits, case, at, _| {
            let bias = &case.params.bias;
            bias[at % bias.len()].unsigned_abs() >= 1 << bits
        }));
        assert!(out.is_empty(), "{kernel} in a quick run: {out:?}");
    }
}

/// For every kernel, one channel has every result of the type, from a tie and both neighbours, and at least half of all results are inside the clamp.
#[test]
fn results_span_the_type_and_most_lie_inside_the_clamp() {
    for kernel in kernels() {
        let planned = Planned::<Requantize>::of(kernel.name, Effort::Quick);
        let scheme = promise::<Requantize>(kernel).expect("a scheme");
        let (mut inside, mut all) = (0, 0);
        for (case, expected) in &planned.0 {
            let kinds = Requantize::kinds(&scheme, case, expected);
            inside += kinds.iter().find(|(kind, _)| *kind == INSIDE).expect("a kind").1;
            all += expected.iter().flatten().count() as u64;
        }
        assert!(2 * inside >= all, "{}: {inside} of {all} results inside the clamp", kernel.name);
        let spans = planned.0.iter().any(|(case, expected)| spans(kernel.contract.domain.fraction(), case, expected));
        assert!(spans, "{}: no channel reaches every result with a tie and its neighbours", kernel.name);
    }
}

/// Every corner in the catalogue of fixed point multiply is also a case of each requantization with this multiplication, and a product of INT32_MIN
/// with itself that wraps instead of saturating is detected. Both once passed a quick run.
#[test]
fn corners_of_fixed_point_multiply() {
    let lines = FixedPointMultiply::CATALOGUE.lines().filter(|line| !line.starts_with('#') && line.contains(" out["));
    let written =
        |(Channel { multiplier, shift }, x): &(Channel, i32)| format!("m={multiplier} s={shift} len=9 x={x} ");
    let all = corners();
    assert!(
        lines.clone().zip(all).all(|(line, corner)| line.starts_with(&written(corner))) && lines.count() == all.len()
    );
    for kernel in kernels().iter().filter(|kernel| kernel.contract.domain.fraction() == 31) {
        let (domain, planned) = (&kernel.contract.domain, Planned::<Requantize>::of(kernel.name, Effort::Quick));
        let sum = |case: &Case<Params>, at: usize| {
            case.tensors[0][at].wrapping_add(case.params.bias[at % case.params.bias.len()])
        };
        for (channel, x) in all.iter().filter(|(channel, _)| domain.takes(*channel)) {
            let is = |case: &Case<Params>, at: usize| channel_of(&case.params, at) == *channel && sum(case, at) == *x;
            let has = |(case, _): &(Case<Params>, Expected)| (0..case.params.len).any(|at| is(case, at));
            assert!(planned.0.iter().any(has), "{}: {channel:?} {x}", kernel.name);
        }
        let minimum = Channel { multiplier: i32::MIN, shift: 0 };
        let saturates = ["gemmlowp-double", "sqrdmulh-srshl", "sqrdmulh-fixup-srshl"];
        if domain.takes(minimum) && saturates.contains(&kernel.contract.promise.scheme) {
            let wraps = |case: &Case<Params>, at: usize, _| {
                let is = channel_of(&case.params, at) == minimum && sum(case, at) == i32::MIN;
                let p = &case.params;
                is.then(|| i32::MIN.wrapping_add(p.zero_point).clamp(p.min, p.max))
            };
            assert!(planned.detects(wraps), "{}: a product that does not saturate", kernel.name);
        }
    }
}

/// True if a batch has one channel, a tie with both neighbours on either side of each result of the type, and each result from one of these.
fn spans(fraction: u32, case: &Case<Params>, expected: &Expected) -> bool {
    let p = &case.params;
    let [channel] = p.channels[..] else { return false };
    let right = fraction as i32 - channel.shift;
    if !(1..62).contains(&right) || (p.max - p.min) as usize > case.tensors[0].len() {
        return false;
    }
    let tied = |x: i32| {
        let product = i128::from(x.wrapping_add(p.bias[0])) * i128::from(channel.multiplier);
        product.rem_euclid(1 << right) == 1 << (right - 1)
    };
    let given: BTreeMap<i32, Option<i32>> = case.tensors[0].iter().copied().zip(expected.iter().copied()).collect();
    let around = |x: i32| [x.wrapping_sub(1), x, x.wrapping_add(1)].map(|x| given.get(&x).copied().flatten());
    let ties: Vec<_> = given.keys().filter(|x| tied(**x)).map(|x| around(*x)).collect();
    let whole = ties.iter().filter(|tie| tie.iter().all(Option::is_some));
    let reached: BTreeSet<i32> = whole.clone().flatten().flatten().copied().collect();
    whole.count() as i32 > p.max - p.min && (p.min..=p.max).all(|result| reached.contains(&result))
}
