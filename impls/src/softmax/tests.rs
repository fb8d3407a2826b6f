//! Kernels of the softmax are near the real value in doubles, and equal to each other.

use super::{Kernel, Params, find, kernels};
use crate::Form;
use crate::element::Element;
use crate::random::Random;

fn run(kernel: &Kernel, p: &Params, input: &[i32]) -> Vec<i32> {
    let mut bytes = vec![0; input.len()];
    kernel.contract.domain.input.pack(input, &mut bytes);
    let mut out = vec![i32::MIN; input.len()];
    kernel.run(Form::Native)(p, &bytes, &mut out);
    out
}

/// Parameters of a scale of 1/16 with five integer bits, and a difference from which the exponential is omitted.
const PARAMS: Params = Params {
    input: Element::I8,
    output: Element::I8,
    rows: 1,
    depth: 1,
    multiplier: 1 << 30,
    left_shift: 23,
    diff_min: -248,
};

fn real(p: &Params, row: &[i32]) -> Vec<f64> {
    let largest = row.iter().copied().max().expect("a row");
    let by = f64::from(p.multiplier) * 2f64.powi(p.left_shift - 57);
    // An omitted exponential adds nothing to the sum either.
    let power = |x: &i32| if x - largest < p.diff_min { 0.0 } else { (f64::from(x - largest) * by).exp() };
    let powers: Vec<f64> = row.iter().map(power).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

#[test]
fn every_kernel_is_near_the_real_value() {
    let mut random = Random::new(3);
    for kernel in kernels() {
        let (input, output) = (kernel.contract.domain.input, kernel.contract.domain.output);
        let steps = 2f64.powi(8 * output.bytes() as i32);
        for depth in [1, 2, 3, 10, 511] {
            for left_shift in [20, 22, 23] {
                let p = Params { input, output, rows: 3, depth, left_shift, ..PARAMS };
                let range = input.range();
                let x: Vec<i32> = (0..3 * depth).map(|_| range.start() + (random.word() % 256) as i32).collect();
                let got = run(kernel, &p, &x);
                for (row, got) in x.chunks(depth).zip(got.chunks(depth)) {
                    for (share, got) in real(&p, row).into_iter().zip(got) {
                        let least = f64::from(*output.range().start());
                        let placed = (share * steps + least).min(f64::from(*output.range().end()));
                        let most = if output.bytes() == 1 { 1.0 } else { 4.0 };
                        assert!((f64::from(*got) - placed).abs() < most, "{} {p:?}: {got}, not {placed}", kernel.name);
                    }
                }
            }
        }
    }
}

#[test]
fn both_libraries_give_the_same() {
    let mut random = Random::new(5);
    let p = Params { rows: 7, depth: 13, multiplier: 1_234_567_890, left_shift: 21, diff_min: -200, ..PARAMS };
    let x: Vec<i32> = (0..91).map(|_| (random.word() % 256) as i32 - 128).collect();
    for [tflite, arm] in [["tflite-softmax-i8", "arm-softmax-s8"], ["tflite-softmax-i8-i16", "arm-softmax-s8-s16"]] {
        let of = |name: &str| {
            let kernel = find(name).expect(name);
            run(kernel, &Params { output: kernel.contract.domain.output, ..p }, &x)
        };
        assert_eq!(of(tflite), of(arm));
    }
}

#[test]
fn what_is_no_parameter_is_named() {
    let argument = |p: Params| kernels()[0].contract.domain.sizes(&p).expect_err("refused").argument;
    for (wrong, name) in [
        (Params { input: Element::U8, ..PARAMS }, "input"),
        (Params { output: Element::I16, ..PARAMS }, "output"),
        (Params { rows: 0, ..PARAMS }, "rows"),
        (Params { depth: 0, ..PARAMS }, "depth"),
        (Params { depth: 512, ..PARAMS }, "depth"),
        (Params { multiplier: 1, ..PARAMS }, "multiplier"),
        (Params { left_shift: 31, ..PARAMS }, "left_shift"),
        (Params { left_shift: -1, ..PARAMS }, "left_shift"),
        (Params { diff_min: 1, ..PARAMS }, "diff_min"),
        (Params { diff_min: -257, ..PARAMS }, "diff_min"),
    ] {
        assert_eq!(argument(wrong), name, "{wrong:?}");
    }
}
