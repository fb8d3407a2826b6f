//! Every kernel against its scheme's definition in unbounded integers, over its whole domain.

use super::{Domain, Kernel, Params, Requantize, find, kernels};
use crate::Form;
use crate::contract::Overflow;
use crate::fpm::Channel;
use crate::fpm::definitions::scaled;
use crate::operation::TensorOperation;
use crate::random::Random;

/// Corners of int32, where sums and products wrap.
const CORNERS: [i32; 14] = [
    i32::MIN,
    i32::MIN + 1,
    i32::MIN + 255,
    -(1 << 30),
    -32769,
    -129,
    -1,
    0,
    1,
    128,
    32768,
    1 << 30,
    i32::MAX - 255,
    i32::MAX,
];

fn fit(overflow: Overflow, x: i128) -> i128 {
    match overflow {
        Overflow::Wrap => (x as i32).into(),
        Overflow::Saturate => x.clamp(i32::MIN.into(), i32::MAX.into()),
        Overflow::OutOfDomain => panic!("no kernel here leaves overflow out of its domain"),
    }
}

/// Returns the promise of `kernel`: each step in unbounded integers, then fitted into int32.
pub(crate) fn promised(kernel: &Kernel, params: &Params, index: usize, acc: i32) -> i32 {
    let (promise, _) = kernel.contract.at(index, params.len, 31);
    let n = params.channels.len();
    let Channel { multiplier, shift } = params.channels[index % n];
    let fit = |x| fit(promise.overflow, x);
    let sum = fit(i128::from(acc) + i128::from(params.bias[index % n]));
    let scaled = if promise.scheme == "legacy" {
        let rounding = if shift == 0 { 0 } else { 1i128 << (-shift - 1) };
        fit(sum * i128::from(multiplier) + rounding).div_euclid(1 << -shift)
    } else if promise.scheme == "legacy-ties-away" {
        let product = fit(sum * i128::from(multiplier));
        let divisor = 1i128 << -shift;
        (2 * product.abs() + divisor).div_euclid(2 * divisor) * product.signum()
    } else {
        fit(scaled(promise.scheme, sum as i32, multiplier, shift))
    };
    let offset = fit(scaled + i128::from(params.zero_point));
    offset.clamp(params.min.into(), params.max.into()) as i32
}

/// Returns batches at corners of the domain's parameters, and pseudorandom batches.
pub(crate) fn batches(domain: &Domain, random: &mut Random) -> Vec<Params> {
    let range = domain.output.range();
    let (lo, hi) = (*range.start(), *range.end());
    let multipliers = [i32::MIN, i32::MIN + 1, -1, 0, 1, 1 << 30, (1 << 30) + 1, 1395864371, 0x7FFF_EA86, i32::MAX];
    let mut all = Vec::new();
    for shift in domain.channels.shifts.clone() {
        for multiplier in multipliers.into_iter().chain([random.int32_of_any_size(), random.int32_of_any_size()]) {
            if !domain.takes(Channel { multiplier, shift }) {
                continue;
            }
            for (bias, zero_point) in
                [(0, 0), (1, lo), (i32::MIN, hi), (i32::MAX, hi / 2), (random.int32_of_any_size(), 3)]
            {
                let zero_point = if domain.zero_point { zero_point } else { 0 };
                let (min, max) = if domain.clamp && zero_point == lo { (lo + 3, hi - 7) } else { (lo, hi) };
                let bias = if domain.bias { bias } else { 0 };
                let channels = vec![Channel { multiplier, shift }];
                all.push(Params { len: 0, channels, bias: vec![bias], zero_point, min, max });
            }
        }
    }
    all
}

#[test]
fn every_kernel_keeps_its_promise() {
    for kernel in kernels() {
        let mut random = Random::new(1);
        for mut params in batches(&kernel.contract.domain, &mut random) {
            let acc: Vec<i32> = CORNERS.into_iter().chain((0..23).map(|_| random.int32_of_any_size())).collect();
            params.len = acc.len();
            kernel.contract.domain.sizes(&params).expect("in the domain");
            for form in [Form::Portable, Form::Native] {
                let mut out = vec![0; acc.len()];
                kernel.run(form)(&params, &acc, &mut out);
                for (i, (acc, out)) in acc.iter().zip(out).enumerate() {
                    assert_eq!(out, promised(kernel, &params, i, *acc), "{} {form:?} {acc} {params:?}", kernel.name);
                }
            }
        }
    }
}

#[test]
fn channels_are_last_and_tails_are_partly_filled() {
    let kernel = find("tflite-requantize-i8").expect("registered");
    let channels =
        [(1 << 30, -3), (i32::MAX, -7), (1395864371, 1)].map(|(multiplier, shift)| Channel { multiplier, shift });
    for len in 1..=8 {
        let params = Params {
            len,
            channels: channels.to_vec(),
            bias: vec![1, -2, i32::MAX],
            zero_point: -5,
            min: -128,
            max: 127,
        };
        let acc: Vec<i32> = (0..len as i32).map(|i| i * 321 - 700).collect();
        let mut out = vec![0; len];
        (kernel.portable)(&params, &acc, &mut out);
        let expected: Vec<i32> = acc.iter().enumerate().map(|(i, acc)| promised(kernel, &params, i, *acc)).collect();
        assert_eq!(out, expected);
    }
}

/// gemmlowp doc/low-precision.md: "the integer multiplication by the numerator [...] risks overflowing".
#[test]
fn the_legacy_multiplication_wraps_in_int32() {
    let kernel = find("gemmlowp-eight-bit-int").expect("registered");
    let params = |multiplier, shift| Params {
        len: 1,
        channels: vec![Channel { multiplier, shift }],
        bias: vec![0],
        zero_point: 0,
        min: 0,
        max: 255,
    };
    let one = |acc, multiplier, shift| {
        let mut out = [0];
        (kernel.portable)(&params(multiplier, shift), &[acc], &mut out);
        out[0]
    };
    // The product wraps; one step lower, only the rounding term makes it wrap.
    let limit = (1 << 21) - (1 << 13);
    assert_eq!([1 << 21, limit, limit - 1].map(|acc| one(acc, 1 << 10, -24)), [0, 0, 127]);
    assert_eq!((one(1000, 7, -5), one(-1, 1, -1)), (219, 0));
}

/// A changed bound would leave parameters out of every run without a message.
#[test]
fn multipliers_and_shifts_are_those_of_the_sources() {
    for kernel in kernels() {
        let (name, domain) = (kernel.name, &kernel.contract.domain);
        let legacy = ["gemmlowp-quantize-down", "gemmlowp-quantize-down-shipped", "gemmlowp-eight-bit-int"];
        let largest = match name {
            _ if name.starts_with("gemmlowp-quantize-down") || legacy.contains(&name) => 0,
            "xnnpack-rndnu-scalar-i8" => 0,
            "tvm-requantize-tonearest-i8" => 1,
            "tflite-requantize-i16" => 7,
            _ if name.starts_with("xnnpack-rndnu") => 8,
            _ if name.starts_with("tosa") => 29,
            "tflite-requantize-single-i8" => 30,
            _ if name.starts_with("cmsis-nn") || name.starts_with("tvm-requantize-neon") => 30,
            _ => 31,
        };
        assert_eq!(domain.channels.shifts, -31..=largest, "{name}");
        assert_eq!(domain.fraction(), if legacy.contains(&name) { 0 } else { 31 }, "{name}");
    }
}

/// Returns parameters that every kernel of an output type accepts.
fn usual(kernel: &Kernel) -> Params {
    let (min, max) = kernel.contract.domain.output.range().into_inner();
    let channel = Channel { multiplier: 1 << 30, shift: 0 };
    Params { len: 4, channels: vec![channel], bias: vec![0], zero_point: 0, min, max }
}

/// Returns the argument for which a batch is refused; `None` if it is accepted.
fn refused(name: &str, change: impl Fn(&mut Params)) -> Option<&'static str> {
    let kernel = find(name).expect("registered");
    let mut params = usual(kernel);
    change(&mut params);
    kernel.contract.domain.sizes(&params).err().map(|error| error.argument)
}

#[test]
fn batches_that_cannot_be_are_refused_by_the_argument() {
    let two = |params: &mut Params| {
        params.channels.push(params.channels[0]);
        params.bias.push(0);
    };
    for kernel in kernels() {
        let (name, domain) = (kernel.name, &kernel.contract.domain);
        assert_eq!(refused(name, |_| {}), None);
        assert_eq!(refused(name, |p| p.len = 0), Some("len"));
        assert_eq!(refused(name, |p| p.channels.clear()), Some("channels"));
        assert_eq!(refused(name, |p| (p.channels.clear(), p.bias.clear()).0), Some("channels"));
        assert_eq!(refused(name, |p| two(p)), (!domain.channels.per_channel).then_some("channels"), "{name}");
        assert_eq!(refused(name, |p| p.bias.push(0)), Some("bias"));
        assert_eq!(refused(name, |p| p.bias[0] = 1), (!domain.bias).then_some("bias"), "{name}");
        assert_eq!(refused(name, |p| p.zero_point = 1), (!domain.zero_point).then_some("zero_point"), "{name}");
        assert_eq!(refused(name, |p| p.zero_point = p.max + 1), Some("zero_point"));
        assert_eq!(refused(name, |p| p.min -= 1), Some("min"));
        assert_eq!(refused(name, |p| p.max += 1), Some("max"));
        assert_eq!(refused(name, |p| p.max = p.min), (!domain.clamp).then_some("min"), "{name}");
        assert_eq!(refused(name, |p| (p.min, p.max) = (1, 0)), Some("min"));
    }
}

/// A sweep consists of consecutive accumulators.
#[test]
fn every_kernel_takes_ranges() {
    let takes = |kernel: &Kernel| Requantize::takes_ranges(&kernel.contract.domain, &usual(kernel));
    assert!(kernels().iter().all(takes));
}

#[test]
fn names_are_unique_and_sources_named() {
    for (i, kernel) in kernels().iter().enumerate() {
        assert!(kernels()[..i].iter().all(|other| other.name != kernel.name), "{}", kernel.name);
        assert!(!kernel.contract.source.is_empty() && !kernel.summary.is_empty());
    }
}
