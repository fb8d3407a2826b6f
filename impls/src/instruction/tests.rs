//! Tests of the models against the definitions in unbounded integers, and on aarch64 against the instructions.

use super::{Domain, Kernel, Lanes, find, kernels};
use crate::random::Random;

/// Returns the lane-wise instructions. The oracle has the definitions of all other instructions.
fn lane_wise() -> impl Iterator<Item = &'static Kernel> {
    kernels().iter().filter(|kernel| kernel.name.contains(".s"))
}

/// Computes the definition in the Arm manual, in `i128`, where no intermediate value overflows.
fn definition(name: &str, bits: u32, a: i32, b: i32) -> (i32, bool) {
    let (a, b) = (i128::from(a), i128::from(b));
    let amount = b.rem_euclid(256);
    let amount = if amount >= 128 { amount - 256 } else { amount };
    let shift = |value: i128, rounding: bool| {
        if amount >= 0 {
            return value * (1i128 << amount.min(90));
        }
        let divisor = 1i128 << amount.unsigned_abs().min(120);
        (value + if rounding { divisor / 2 } else { 0 }).div_euclid(divisor)
    };
    let size = 1i128 << bits;
    let (exact, saturates) = match name.split('.').next().expect("a name") {
        "sqrdmulh" => ((2 * a * b + size / 2).div_euclid(size), true),
        "sqdmulh" => ((2 * a * b).div_euclid(size), true),
        "srshl" => (shift(a, true), false),
        "sqshl" => (shift(a, false), true),
        "sshl" => (shift(a, false), false),
        "sqadd" => (a + b, true),
        "add" => (a + b, false),
        "mul" => (a * b, false),
        "and" => (a & b, false),
        "sshr1" => (a.div_euclid(2), false),
        "sshr7" | "sshr15" | "sshr31" => (if a < 0 { -1 } else { 0 }, false),
        other => panic!("no definition of {other}"),
    };
    let (min, max) = (-size / 2, size / 2 - 1);
    if saturates {
        (exact.clamp(min, max) as i32, exact < min || exact > max)
    } else {
        ((exact - min).rem_euclid(size).wrapping_add(min) as i32, false)
    }
}

/// Runs `run` on vectors that repeat one pair, so that the flag belongs to the pair.
fn check_pairs(kernel: &Kernel, run: super::Run, pairs: impl Iterator<Item = (i32, i32)>) {
    let n = kernel.contract.domain.lanes();
    let (mut out, mut qc) = (vec![0; n], [0]);
    for (a, b) in pairs {
        run([&vec![a; n], &vec![b; n], &[]], &mut out, &mut qc);
        let expected = definition(kernel.name, kernel.contract.domain.a.bits, a, b);
        assert!(
            out.iter().all(|value| *value == expected.0) && qc == [i32::from(expected.1)],
            "{} a={a} b={b}: got {out:?} qc={qc:?}, expected {expected:?}",
            kernel.name
        );
    }
}

/// Returns values at which the behaviour of instructions changes, for lanes of `bits`.
fn corners(bits: u32) -> Vec<i32> {
    let (min, max) = ((-1i64 << (bits - 1)) as i32, ((1i64 << (bits - 1)) - 1) as i32);
    let mut values = vec![min, min + 1, -1, 0, 1, max - 1, max];
    for k in 0..bits - 1 {
        values.extend([(1 << k) - 1, 1 << k, (1 << k) + 1, -(1 << k), -(1 << k) - 1]);
    }
    // Shift amounts on both sides of the width, and amounts that differ only above the low byte.
    values.extend((-70i32..=70).chain([-128, -127, 127, 128, 255, 256, 257, -129, 0x0102, 0x7F80]));
    let mut values: Vec<i32> = values.into_iter().map(|v| v << (32 - bits) >> (32 - bits)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Returns every pair of corners, then pairs of a deterministic stream.
fn directed(bits: u32, random: usize) -> impl Iterator<Item = (i32, i32)> {
    let corners = corners(bits);
    let pairs: Vec<_> = corners.iter().flat_map(|a| corners.iter().map(move |b| (*a, *b))).collect();
    let mut stream = Random::new(1);
    let mut next = move || stream.int32() >> (32 - bits);
    pairs.into_iter().chain((0..random).map(move |_| (next(), next())))
}

fn exhaustive_8() -> impl Iterator<Item = (i32, i32)> {
    (-128..=127).flat_map(|a| (-128..=127).map(move |b| (a, b)))
}

fn check_all(form: crate::Form) {
    for kernel in lane_wise() {
        match kernel.contract.domain.a.bits {
            8 => check_pairs(kernel, kernel.run(form), exhaustive_8()),
            bits => check_pairs(kernel, kernel.run(form), directed(bits, 20_000)),
        }
    }
}

#[test]
fn models_are_the_definitions() {
    check_all(crate::Form::Portable);
}

#[test]
#[cfg(target_arch = "aarch64")]
fn instructions_are_the_definitions() {
    // x86 instructions run in the x86 lanes.
    let is_here = kernels().iter().filter(|kernel| kernel.native.is_some_and(|native| native.arch == "aarch64"));
    assert!(
        is_here.clone().count() > 30
            && is_here.into_iter().all(|kernel| kernel.native.is_some_and(|n| n.run.is_some()))
    );
    check_all(crate::Form::Native);
}

/// Every lane has another pair, and a vector's flag is set if any of its lanes sets it.
#[test]
fn a_vector_sets_the_flag_if_any_lane_does() {
    for kernel in lane_wise() {
        let pairs: Vec<_> = directed(kernel.contract.domain.a.bits, 1000).collect();
        let (a, b): (Vec<i32>, Vec<i32>) = pairs.iter().copied().unzip();
        for form in [crate::Form::Portable, crate::Form::Native] {
            let (mut out, mut qc) = (vec![0; a.len()], vec![-1; a.len().div_ceil(kernel.contract.domain.lanes())]);
            kernel.run(form)([&a, &b, &[]], &mut out, &mut qc);
            for (i, vector) in pairs.chunks(kernel.contract.domain.lanes()).enumerate() {
                let expected: Vec<_> = vector
                    .iter()
                    .map(|(a, b)| definition(kernel.name, kernel.contract.domain.a.bits, *a, *b))
                    .collect();
                let first = i * kernel.contract.domain.lanes();
                let values: Vec<_> = expected.iter().map(|(value, _)| *value).collect();
                assert_eq!(out[first..first + vector.len()], values, "{} {form:?} {vector:?}", kernel.name);
                assert_eq!(qc[i] != 0, expected.iter().any(|(_, flag)| *flag), "{} {form:?} {vector:?}", kernel.name);
            }
        }
    }
}

#[test]
fn every_length_runs() {
    for kernel in lane_wise() {
        for len in 0..=2 * kernel.contract.domain.lanes() + 1 {
            let (mut out, mut qc) = (vec![7; len], vec![7; len.div_ceil(kernel.contract.domain.lanes())]);
            kernel.run(crate::Form::Native)([&vec![1; len], &vec![1; len], &[]], &mut out, &mut qc);
            assert!(qc.iter().all(|flag| *flag == 0), "{} {len}", kernel.name);
        }
    }
}

#[test]
fn names_are_unique_and_say_their_width() {
    for (i, kernel) in kernels().iter().enumerate() {
        let Domain { a, b, acc, result } = kernel.contract.domain;
        assert!(kernels()[..i].iter().all(|other| other.name != kernel.name));
        let register = [(".ymm", 256), (".zmm", 512)].into_iter().find(|(end, _)| kernel.name.ends_with(end));
        let register = register.map_or(128, |(_, bits)| bits);
        let fills = |lanes: Lanes| lanes.count == 0 || lanes.count as u32 * lanes.bits == register;
        assert!([a, b, acc, result].into_iter().all(fills), "{}", kernel.name);
    }
    assert!(lane_wise().all(|kernel| kernel.name.ends_with(&format!(".s{}", kernel.contract.domain.a.bits))));
}

/// Lanes give back the values that were packed into them.
#[test]
fn lanes_are_packed_and_unpacked() {
    for (bits, signed) in [(8, true), (8, false), (16, true), (16, false), (32, true)] {
        let lanes = Lanes { count: 128 / bits as usize, bits, signed };
        let (min, max) = lanes.range().into_inner();
        let values: Vec<i32> = (0..lanes.count).map(|i| [min, max, 0, 1][i % 4]).collect();
        let register: [u8; 16] = lanes.pack(&values);
        let mut back = vec![0; lanes.count];
        lanes.unpack(&register, &mut back);
        assert_eq!(back, values, "{lanes:?}");
    }
}

/// Instructions of this machine give the results of their models, on pseudorandom vectors with many extremes.
#[test]
fn instructions_are_their_models() {
    let mut random = Random::new(1);
    for kernel in kernels().iter().filter(|kernel| lane_wise().all(|other| other.name != kernel.name)) {
        let Domain { a, b, acc, result } = kernel.contract.domain;
        for _ in 0..2000 {
            let [a, b, acc] = [a, b, acc].map(|lanes: Lanes| {
                let (min, max) = lanes.range().into_inner();
                let ends = [min, max, 0, -1];
                let mut value = |_| {
                    let word = random.int32();
                    let drawn = if word & 3 == 0 { word >> 2 } else { ends[(word >> 2 & 3) as usize] };
                    drawn.clamp(min, max)
                };
                (0..lanes.count).map(&mut value).collect::<Vec<i32>>()
            });
            let run = |form: crate::Form| {
                let (mut out, mut qc) = (vec![0; result.count], [7]);
                kernel.run(form)([&a, &b, &acc], &mut out, &mut qc);
                (out, qc)
            };
            assert_eq!(run(crate::Form::Portable), run(crate::Form::Native), "{} {a:?} {b:?} {acc:?}", kernel.name);
        }
    }
}

#[test]
fn instructions_are_found_by_their_names() {
    assert!(kernels().iter().all(|kernel| find(kernel.name).is_some_and(|found| found.name == kernel.name)));
    assert!(find("no-such-instruction").is_none());
}
