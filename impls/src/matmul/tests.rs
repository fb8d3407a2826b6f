//! Tests of every kernel, in both forms, against a triple loop over the promise of its contract.

use super::{Kernel, Params, kernels};
use crate::Form;
use crate::element::Element;

/// Returns the sum of the raw products of one result by the scheme, in 64 bits, without the offsets.
pub(crate) fn raw(scheme: &str, products: &[i64]) -> i64 {
    let wrap = |sum: i64| -> i64 {
        match scheme {
            "pairs-u16-wrap" => (sum as u16).into(),
            "pairs-s16-wrap" => (sum as i16).into(),
            "pairs-s16-saturate" => sum.clamp(-32768, 32767),
            _ => sum,
        }
    };
    let block = |k: usize| products.get(k).copied().unwrap_or(0);
    let blocks = (0..products.len()).step_by(16);
    match scheme {
        "exact" => products.iter().sum(),
        "pairs-u16-wrap" | "pairs-s16-wrap" => {
            blocks.flat_map(|at| (0..8).map(move |k| wrap(block(at + k) + block(at + k + 8)))).sum()
        }
        "pairs-s16-saturate" => (0..products.len()).step_by(2).map(|k| wrap(block(k) + block(k + 1))).sum(),
        "sum-s16-wrap" => i64::from(products.iter().sum::<i64>() as i16),
        "quads-32-saturate" => {
            let mut lanes = [0i64; 4];
            for at in blocks {
                for (lane, sum) in lanes.iter_mut().enumerate() {
                    let quad: i64 = (0..4).map(|k| block(at + 4 * lane + k)).sum();
                    *sum = (*sum + quad).clamp(i32::MIN.into(), i32::MAX.into());
                }
            }
            lanes.iter().sum()
        }
        other => panic!("no definition of {other}"),
    }
}

/// Computes the definition: raw products by the scheme, terms of the offsets exactly, the result modulo 2^32.
pub(crate) fn expected(kernel: &Kernel, params: &Params, lhs: &[i32], rhs: &[i32]) -> Vec<i32> {
    let Params { m, n, k, .. } = *params;
    let (lhs_offset, rhs_offset) = (i128::from(params.lhs_offset), i128::from(params.rhs_offset));
    let mut out = Vec::with_capacity(m * n);
    for i in 0..m {
        for j in 0..n {
            let pair = |k: usize| (i64::from(lhs[i * params.k + k]), i64::from(rhs[k * n + j]));
            let products: Vec<i64> = (0..k).map(|k| pair(k).0 * pair(k).1).collect();
            let shifted: i128 = (0..k)
                .map(|k| {
                    let (a, b) = (i128::from(pair(k).0), i128::from(pair(k).1));
                    (a + lhs_offset) * (b + rhs_offset) - a * b
                })
                .sum();
            out.push((i128::from(raw(kernel.contract.promise.scheme, &products)) + shifted) as i32);
        }
    }
    out
}

/// Stream of deterministic numbers.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a value of the type; about half of the values are extremes.
    fn element(&mut self, element: Element) -> i32 {
        let range = element.range();
        let (min, max) = (*range.start(), *range.end());
        match self.next() % 8 {
            0 | 1 => max,
            2 | 3 => min,
            4 => [0, 1, min + 1, max - 1][(self.next() % 4) as usize],
            _ => min + (self.next() % (max - min + 1) as u64) as i32,
        }
    }
}

/// Puts both operands `misalign` bytes past the start of an allocation and runs the kernel.
pub(crate) fn run(kernel: &Kernel, form: Form, params: &Params, lhs: &[i32], rhs: &[i32], misalign: usize) -> Vec<i32> {
    let bytes = |element: Element, values: &[i32]| {
        let mut bytes = vec![0xA5; misalign + values.len() * element.bytes()];
        element.pack(values, &mut bytes[misalign..]);
        bytes
    };
    let domain = &kernel.contract.domain;
    let (lhs, rhs) = (bytes(domain.lhs, lhs), bytes(domain.rhs, rhs));
    let mut out = vec![0x5A5A_5A5A; params.m * params.n];
    kernel.run(form)(params, &lhs[misalign..], &rhs[misalign..], &mut out);
    out
}

/// Checks that both forms give the promised results. Offsets are clamped to the kernel's domain.
fn check(kernel: &Kernel, params: &Params, lhs: &[i32], rhs: &[i32], misalign: usize) {
    let domain = &kernel.contract.domain;
    let within = |offset: i32, offsets: &std::ops::RangeInclusive<i32>| offset.clamp(*offsets.start(), *offsets.end());
    let lhs_offset = within(params.lhs_offset, &domain.lhs_offsets);
    let params = &Params { lhs_offset, rhs_offset: within(params.rhs_offset, &domain.rhs_offsets), ..*params };
    let expected = expected(kernel, params, lhs, rhs);
    for form in [Form::Portable, Form::Native] {
        let got = run(kernel, form, params, lhs, rhs, misalign);
        assert_eq!(got, expected, "{} {form:?} {params:?} misalign {misalign}", kernel.name);
    }
}

#[test]
fn every_tail_of_every_side() {
    for kernel in kernels() {
        let mut stream = Stream(1);
        for m in 1..=8 {
            for n in 1..=8 {
                for k in 1..=32 {
                    let mut fill = |element, len| (0..len).map(|_| stream.element(element)).collect::<Vec<_>>();
                    let (lhs, rhs) = (fill(kernel.contract.domain.lhs, m * k), fill(kernel.contract.domain.rhs, k * n));
                    let params = Params { m, n, k, lhs_offset: -(k as i32), rhs_offset: 3 * n as i32 };
                    check(kernel, &params, &lhs, &rhs, (m + n + k) % 16);
                }
            }
        }
    }
}

#[test]
fn every_extreme_with_every_sign_of_offset() {
    for kernel in kernels() {
        let domain = &kernel.contract.domain;
        for lhs in [*domain.lhs.range().start(), *domain.lhs.range().end(), 1] {
            for rhs in [*domain.rhs.range().start(), *domain.rhs.range().end(), 1] {
                for lhs_offset in [0, 1, -1, 128, -255, i32::MIN, i32::MAX] {
                    for rhs_offset in [0, 1, -1, 128, -255, i32::MIN, i32::MAX] {
                        let params = Params { m: 5, n: 6, k: 35, lhs_offset, rhs_offset };
                        check(kernel, &params, &[lhs; 5 * 35], &[rhs; 35 * 6], 1);
                    }
                }
            }
        }
    }
}

#[test]
fn every_alignment() {
    for kernel in kernels() {
        let mut stream = Stream(2);
        let params = Params { m: 5, n: 7, k: 19, lhs_offset: 7, rhs_offset: -9 };
        for misalign in 0..16 {
            let lhs: Vec<i32> = (0..5 * 19).map(|_| stream.element(kernel.contract.domain.lhs)).collect();
            let rhs: Vec<i32> = (0..19 * 7).map(|_| stream.element(kernel.contract.domain.rhs)).collect();
            check(kernel, &params, &lhs, &rhs, misalign);
        }
    }
}

/// Sums beyond int32, of about 2^15 products of the largest size, wrap.
#[test]
fn results_beyond_int32_wrap() {
    for kernel in kernels() {
        let domain = &kernel.contract.domain;
        let k = 33000 + 7;
        for (lhs, rhs) in [
            (*domain.lhs.range().start(), *domain.rhs.range().start()),
            (*domain.lhs.range().end(), *domain.rhs.range().end()),
            (*domain.lhs.range().end(), *domain.rhs.range().start()),
        ] {
            let params = Params { m: 1, n: 2, k, lhs_offset: 255, rhs_offset: -255 };
            check(kernel, &params, &vec![lhs; k], &vec![rhs; 2 * k], 3);
        }
    }
}

/// The bound of the bit-serial kernel is sharp: with one element more, a lane of ones wraps.
#[test]
fn bitserial_counts_wrap_just_beyond_the_declared_depth() {
    let kernel = super::find("arm-bitserial").expect("registered");
    let deepest = *kernel.contract.domain.depth.end();
    assert_eq!(deepest, 524_175);
    let params = |k| Params { m: 1, n: 1, k, lhs_offset: 0, rhs_offset: 0 };
    check(kernel, &params(deepest), &vec![255; deepest], &vec![255; deepest], 1);
    let too_deep = deepest + 1;
    let out = run(kernel, Form::Portable, &params(too_deep), &vec![1; too_deep], &vec![1; too_deep], 0);
    assert_eq!(out, [524_176 - 65_536]);
}

/// An accumulator of `vpdpbusds` saturates at the 16,578th block with the largest quad, and stays at the end of int32.
#[test]
fn saturating_accumulators_stop_at_the_end_of_int32() {
    let kernel = super::find("x86-vnni-saturating").expect("registered");
    let quad = 4 * 255 * 127;
    let blocks = i32::MAX / quad + 1;
    assert_eq!(blocks, 16_578);
    let k = 16 * (blocks as usize + 3);
    for rhs in [127, -128] {
        check(kernel, &Params { m: 1, n: 1, k, lhs_offset: 3, rhs_offset: -5 }, &vec![255; k], &vec![rhs; k], 0);
    }
    // The sum saturates and then decreases, so the order of the depth matters.
    let rhs: Vec<i32> = (0..2 * k).map(|at| if at < k { 127 } else { -128 }).collect();
    let params = Params { m: 1, n: 1, k: 2 * k, lhs_offset: 0, rhs_offset: 0 };
    check(kernel, &params, &vec![255; 2 * k], &rhs, 0);
    let exact = super::find("x86-vnni").expect("registered");
    let lhs = vec![255; 2 * k];
    assert_ne!(expected(kernel, &params, &lhs, &rhs), expected(exact, &params, &lhs, &rhs));
}

/// Known bug 9: two products of -128 by -128 are the only signed pair that 16 bits cannot hold.
#[test]
fn sixteen_bit_lanes_wrap_where_the_fast_forms_say() {
    let params = |k| Params { m: 1, n: 1, k, lhs_offset: 0, rhs_offset: 0 };
    let pair = |name: &str, a: i32, b: i32| {
        let kernel = super::find(name).expect("registered");
        // Elements 0 and 8 share a lane.
        let place = |v: i32| (0..9).map(|k| if k % 8 == 0 { v } else { 0 }).collect::<Vec<_>>();
        check(kernel, &params(9), &place(a), &place(b), 0);
        run(kernel, Form::Portable, &params(9), &place(a), &place(b), 0)[0]
    };
    assert_eq!(pair("arm-smlal-fast", -128, -128), -32768);
    assert_eq!(pair("arm-smlal-fast", -128, -127), 32512);
    assert_eq!(pair("arm-umlal-fast", 255, 255), 64514);
    // Weights in 0..=254 are not enough; weights in 0..=128 are enough.
    assert_eq!(pair("arm-umlal-fast", 255, 254), 129_540 - 65_536);
    assert_eq!(pair("arm-umlal-fast", 255, 129), 65_790 - 65_536);
    assert_eq!(pair("arm-umlal-fast", 255, 128), 65_280);
    assert_eq!(pair("arm-sadalp", -128, -128), 32768);
    assert_eq!(pair("arm-uadalp", 255, 255), 130_050);
}

/// Known bug 10: 211 * 71 + 171 * 107 saturates to 32767.
#[test]
fn vpmaddubsw_saturates() {
    let kernel = super::find("x86-maddubs").expect("registered");
    let params = Params { m: 1, n: 1, k: 2, lhs_offset: 0, rhs_offset: 0 };
    check(kernel, &params, &[211, 171], &[71, 107], 0);
    assert_eq!(run(kernel, Form::Native, &params, &[211, 171], &[71, 107], 0), [32767]);
}

#[test]
fn names_and_symbols_are_each_used_once() {
    let names: std::collections::BTreeSet<_> = kernels().iter().map(|kernel| kernel.name).collect();
    assert_eq!(names.len(), kernels().len());
    let matmul = kernels().iter().filter_map(|kernel| Some(kernel.native?.symbol));
    let symbols: Vec<_> = matmul.chain(crate::dot::kernels().iter().filter_map(|k| Some(k.native?.symbol))).collect();
    assert_eq!(symbols.iter().collect::<std::collections::BTreeSet<_>>().len(), symbols.len());
}

/// The ISA path names the code that runs, so no form falls back silently.
#[test]
fn forms_say_what_runs() {
    for kernel in kernels() {
        let path = kernel.isa_path(Form::Native);
        match kernel.native {
            None => assert_eq!(path, "scalar"),
            Some(native) if native.run.is_none() => assert_eq!(path, "portable"),
            Some(native) if (native.available)() => assert!(path.starts_with(native.isa), "{path}"),
            Some(native) => assert!(path.contains("not run"), "{path} {}", native.isa),
        }
        println!("{}: {path}", kernel.name);
    }
}
