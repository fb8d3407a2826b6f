//! Tests of the exponential: kernels are near the real value in doubles, and equal to each other.

use super::{Kernel, Params, find, kernels};
use crate::Form;
use crate::random::Random;

fn run(kernel: &Kernel, form: Form, integer_bits: i32, x: &[i32]) -> Vec<i32> {
    let params = Params { len: x.len(), integer_bits };
    let mut out = vec![i32::MIN; x.len()];
    kernel.run(form)(&params, x, &mut out);
    out
}

fn inputs() -> Vec<i32> {
    let mut random = Random::new(11);
    let ends = [0, -1, -2, i32::MIN, i32::MIN + 1, -(1 << 24), -(1 << 26), -(1 << 30)];
    let near = ends.into_iter().flat_map(|x: i32| [x.saturating_sub(1), x, (x + 1).min(0)]);
    near.chain((0..999).map(|i| -((random.word() >> 1) as i32 >> (i % 30)))).collect()
}

#[test]
fn every_kernel_is_near_the_real_value() {
    let x = inputs();
    for kernel in kernels() {
        for integer_bits in kernel.contract.domain.integer_bits.clone() {
            let got = run(kernel, Form::Native, integer_bits, &x);
            assert_eq!(got, run(kernel, Form::Portable, integer_bits, &x), "{}", kernel.name);
            for (x, got) in x.iter().zip(got) {
                let real = (f64::from(*x) * 2f64.powi(integer_bits - 31)).exp() * 2f64.powi(31);
                assert!((f64::from(got) - real).abs() < 644.0, "{} {x} {integer_bits}: {got}, not {real}", kernel.name);
            }
        }
    }
}

#[test]
fn all_kernels_give_the_same() {
    let x = inputs();
    let scalar = run(find("gemmlowp-exp").expect("a kernel"), Form::Portable, 5, &x);
    for kernel in kernels() {
        assert_eq!(run(kernel, Form::Native, 5, &x), scalar, "{}", kernel.name);
    }
}

#[test]
fn what_is_no_format_is_named() {
    let argument = |name: &str, len, integer_bits| {
        let domain = &find(name).expect(name).contract.domain;
        domain.sizes(&Params { len, integer_bits }).expect_err("refused").argument
    };
    assert_eq!(argument("gemmlowp-exp", 0, 5), "len");
    assert_eq!([argument("gemmlowp-exp", 1, 30), argument("arm-exp", 1, 4)], ["integer_bits"; 2]);
}
