//! Tests of kernels at values computed by hand or by the definition of their scheme, at every length and alignment.

use super::tflite::quantize_multiplier;
use super::{Batch, Channel, Fpm, FpmTensor, Kernel, Params, find, kernels};
use crate::Form;
use crate::operation::{Operation, TensorOperation};
use crate::shape::Sizes;

fn one(name: &str, form: Form, x: i32, m: i32, s: i32) -> i32 {
    let kernel = find(name).expect(name);
    // A whole vector, so that the vector body computes the result.
    let mut out = [0; 4];
    kernel.run(form)(&Params::single(m, s), &[x; 4], &mut out);
    assert_eq!(out, [out[0]; 4]);
    out[0]
}

/// `(kernel, x, m, s, value)`, with values from issue reports and from the definitions of instructions.
#[test]
fn values_computed_by_hand() {
    const HALF: i32 = 1 << 30;
    const MIN: i32 = i32::MIN;
    const MAX: i32 = i32::MAX;
    let table = [
        ("tvm-relay", 1, HALF, -1, 0),
        ("tvm-relay", 7984, 1583594044, -9, 11),
        ("tvm-relay", -1, HALF, 0, 0),
        ("tvm-relay", MAX, HALF, 2, -2),
        ("tvm-relay", 3, 1, 31, 3),
        ("tvm-relay", MIN, MIN, 31, 0),
        ("tvm-relay", MAX, MAX, 31, 1),
        ("tvm-relay-tonearest", -1, HALF, 0, -1),
        ("tvm-relay-tonearest", 1, HALF, 0, 1),
        ("tvm-relay-tonearest", MIN, MIN, 1, 0),
        ("tvm-qmuls", 7984, 1583594044, -9, 11),
        ("tvm-neon-rfc", -1, HALF + 1, -1, 0),
        ("tvm-neon-rfc", 1, HALF, -1, 1),
        ("tvm-neon-rfc", MIN, MIN, 0, MAX),
        ("tvm-neon-rfc", 1 << 30, HALF, 1, -(1 << 30)),
        ("tvm-neon-fixup", -1, HALF + 1, -1, -1),
        ("tvm-neon-fixup", 1, HALF, -1, 1),
        ("gemmlowp-scalar", -1, HALF + 1, -1, -1),
        ("gemmlowp-scalar", MIN, MIN, 0, MAX),
        ("gemmlowp-scalar", -1, HALF, 0, 0),
        ("gemmlowp-scalar", 7984, 1583594044, -9, 12),
        ("gemmlowp-scalar", MIN, MAX, -31, -1),
        ("gemmlowp-neon", -1, HALF + 1, -1, -1),
        ("gemmlowp-neon", MIN, MAX, -31, -1),
        ("tflite-double", 7984, 1583594044, -9, 12),
        ("tflite-single", 7984, 1583594044, -9, 11),
        ("tflite-single", MAX, MAX, 30, -MAX),
        ("tflite-int16", 10000, 0x7FFF_EA86, -10, 10),
        ("cmsis-nn-double", -1, HALF + 1, -1, -1),
        ("cmsis-nn-single", 1 << 30, MAX, 0, 1 << 30),
        ("cmsis-nn-mve-single", 1 << 30, HALF, 0, -(1 << 29)),
        ("cmsis-nn-mve-single", 1, HALF, -1, 0),
        ("xnnpack-rndnu-scalar", 1 << 30, HALF, 0, 1 << 29),
        ("xnnpack-rndnu-neon", 1 << 30, HALF, 0, 1 << 29),
        ("xnnpack-rndnu-neon", 1, HALF, -1, 0),
        ("tosa-apply-scale-32-single", 1, HALF, -1, 0),
        ("tosa-apply-scale-32-double", 1, HALF, -1, 1),
        ("tosa-apply-scale-32-double", -1, HALF + 1, -1, -1),
    ];
    for (name, x, m, s, value) in table {
        for form in [Form::Portable, Form::Native] {
            assert_eq!(one(name, form, x, m, s), value, "{name} {form:?} x={x} m={m} s={s}");
        }
    }
}

/// Values that make lanes, signs and saturation distinguishable.
fn inputs(len: usize) -> Vec<i32> {
    let seeds = [i32::MIN, -1, 0x4000_0001, 7984, i32::MAX, -0x1234_5678, 3, 1 << 30, 0x0F0F_0F0F];
    (0..len).map(|i| seeds[i % seeds.len()].wrapping_add((i / seeds.len()) as i32)).collect()
}

/// Returns parameters over the whole domain of a kernel, with its corners.
fn parameters(kernel: &Kernel) -> Vec<Params> {
    let domain = &kernel.contract.domain;
    let mut all = Vec::new();
    for q in [0, 1, 15, 30, 31] {
        for s in -31..=31 {
            for m in [i32::MIN, i32::MIN + 1, -1, 0, 1, 1 << 30, (1 << 30) + 1, 1395864371, 0x7FFF_EA86, i32::MAX] {
                if domain.contains(m, s, q) {
                    all.push(Params { q, channels: vec![Channel { multiplier: m, shift: s }] });
                }
            }
        }
    }
    assert!(!all.is_empty(), "{}", kernel.name);
    all
}

/// No input panics at any length and alignment, and a result depends on its position only if body and tail differ by contract.
#[test]
fn lengths_and_alignments_agree() {
    for kernel in kernels() {
        for params in parameters(kernel) {
            let long = inputs(16);
            let expected = at_every_region(kernel, &params, &long);
            for (len, misalign) in (0..=9).flat_map(|len| (0..4).map(move |misalign| (len, misalign))) {
                for form in [Form::Portable, Form::Native] {
                    let mut storage = vec![0x5555_5555; misalign + len + 1];
                    kernel.run(form)(&params, &long[misalign..misalign + len], &mut storage[misalign..misalign + len]);
                    for i in 0..len {
                        let tail = kernel.contract.at(i, len, params.q).1.is_some();
                        let expected = expected[usize::from(tail)][misalign + i];
                        assert_eq!(
                            storage[misalign + i],
                            expected,
                            "{} {form:?} {params:?} element {i} of {len}, x={}",
                            kernel.name,
                            long[misalign + i]
                        );
                    }
                    assert_eq!(storage[misalign + len], 0x5555_5555, "{} wrote beyond its output", kernel.name);
                }
            }
        }
    }
}

/// Returns the result of each element in a vector body, and in the tail (a call with one element).
fn at_every_region(kernel: &Kernel, params: &Params, x: &[i32]) -> [Vec<i32>; 2] {
    let mut body = vec![0; x.len()];
    kernel.run(Form::Portable)(params, x, &mut body);
    let alone = |x: &i32| {
        let mut out = [0];
        kernel.run(Form::Portable)(params, &[*x], &mut out);
        out[0]
    };
    [body, x.iter().map(alone).collect()]
}

#[test]
fn channels_take_turns() {
    let channels: Vec<_> = (0..3).map(|i| Channel { multiplier: (1 << 30) + i * 77_777, shift: i - 5 }).collect();
    let per_channel = find("tvm-relay-per-channel").expect("registered");
    let x = inputs(8);
    let mut out = [0; 8];
    per_channel.run(Form::Portable)(&Params { q: 31, channels: channels.clone() }, &x, &mut out);
    for (i, (x, out)) in x.iter().zip(out).enumerate() {
        let channel = channels[i % 3];
        assert_eq!(out, one("tvm-relay", Form::Portable, *x, channel.multiplier, channel.shift));
    }
}

#[test]
fn other_q_takes_the_default_lowering() {
    let params = Params { q: 15, channels: vec![Channel { multiplier: 12345, shift: -3 }] };
    let (x, mut rfc, mut qmuls) = (inputs(9), [0; 9], [0; 9]);
    find("tvm-neon-rfc").expect("registered").run(Form::Native)(&params, &x, &mut rfc);
    find("tvm-qmuls").expect("registered").run(Form::Native)(&params, &x, &mut qmuls);
    assert_eq!(rfc, qmuls);
}

#[test]
fn names_and_symbols_are_unique() {
    let names: Vec<_> = kernels().iter().map(|kernel| kernel.name).collect();
    let symbols: Vec<_> =
        kernels().iter().filter_map(|kernel| kernel.native.as_ref().map(|form| form.symbol)).collect();
    for list in [names, symbols] {
        for (i, name) in list.iter().enumerate() {
            assert!(!list[..i].contains(name), "{name}");
        }
    }
}

#[test]
fn isa_paths_say_what_executes() {
    let path = |name: &str, form| find(name).expect(name).isa_path(form);
    assert_eq!(path("tvm-relay", Form::Native), "scalar");
    assert_eq!(path("gemmlowp-neon", Form::Portable), "portable");
    let native = path("xnnpack-rndnu-neon", Form::Native);
    let expected = if cfg!(target_arch = "aarch64") { "neon: sqshl, sqdmulh, srshl" } else { "portable" };
    assert_eq!(native, expected);
}

/// [`FpmTensor`] accepts the same batches as the protocol's [`Fpm`], and gives the same results.
#[test]
fn batches_are_what_the_protocol_runs() {
    for kernel in kernels() {
        let domain = &kernel.contract.domain;
        for channels in 0..4 {
            let channel = |i: i32| Channel { multiplier: (1 << 30) + 12_345 * i, shift: -i };
            let params = Params { q: 31, channels: (0..channels).map(channel).collect() };
            let takes = channels == 1 || channels > 1 && domain.per_channel;
            for len in [0, 1, 9] {
                let batch = Batch { params: params.clone(), len };
                let sizes = FpmTensor::sizes(domain, &batch);
                let expected = takes.then_some(Sizes { inputs: [len, 0, 0], outputs: len });
                assert_eq!(sizes.ok(), expected, "{} {channels} {len}", kernel.name);
                let (x, mut batched, mut sent) = (inputs(len), vec![7; len], vec![7; len]);
                let run = <FpmTensor as Operation>::execute(kernel, &batch, Form::Portable, &x, &mut batched, 0);
                let served = Fpm::execute(kernel, &params, Form::Portable, &x, &mut sent, 0);
                assert_eq!([run.is_ok(), served.is_ok()], [takes; 2], "{} {channels} {len}", kernel.name);
                assert_eq!(batched, sent, "{} {channels} {len}", kernel.name);
            }
        }
    }
}

#[test]
fn the_smallest_multiplier_of_tflite_has_a_shift_of_31() {
    let smallest = 2f64.powi(-32);
    assert_eq!(quantize_multiplier(1.5 * smallest), (3 << 29, -31));
    assert_eq!(quantize_multiplier(smallest), (1 << 30, -31));
    assert_eq!(quantize_multiplier(0.75 * smallest), (0, 0));
}

/// CMSIS-NN documents its multipliers as greater than `NN_Q31_MIN`.
#[test]
fn the_least_multiplier_is_not_of_cmsis_nn() {
    let domain = &find("cmsis-nn-double").expect("a kernel").contract.domain;
    assert!(
        !domain.contains(i32::MIN, 0, 31) && domain.contains(i32::MIN + 1, 0, 31) && domain.contains(i32::MAX, 30, 31)
    );
    assert!(!domain.contains(i32::MAX, 31, 31) && domain.contains(1, -31, 31));
}
