//! Every mutant gives the buggy value at the witness of its report, within its claimed domain.

use super::{Witness, controls, fpm, process};
use crate::Form;
use crate::contract::Promise;
use crate::fpm::definitions::scaled;
use crate::fpm::{Params, find};
use crate::operation::{Code, Operation};
use crate::random::Random;

/// Returns the promised value from the definition of the scheme; all claims of fixed point multiply wrap.
fn promised(promise: Promise, x: i32, m: i32, s: i32) -> i32 {
    scaled(promise.scheme, x, m, s) as i32
}

#[test]
fn witnesses_of_the_reports() {
    for mutant in fpm::mutants() {
        let kernel = &mutant.kernel;
        assert!(!mutant.witnesses.is_empty(), "{}", kernel.name);
        for Witness { x, m, s, got, expected } in mutant.witnesses {
            assert!(kernel.contract.domain.contains(*m, *s, 31), "{} m={m} s={s}", kernel.name);
            for form in [Form::Portable, Form::Native] {
                let mut out = [0];
                kernel.run(form)(&Params::single(*m, *s), &[*x], &mut out);
                assert_eq!(out, [*got], "{} x={x} m={m} s={s}", kernel.name);
            }
            assert_eq!(promised(kernel.contract.promise, *x, *m, *s), *expected, "{} x={x} m={m} s={s}", kernel.name);
            assert_ne!(got, expected, "{}", kernel.name);
        }
    }
}

/// The mutant of CMSIS-NN issue 170 is right in the body and wrong in the tail.
#[test]
fn the_tail_mutant_is_wrong_in_its_tail_only() {
    let mutant = fpm::find("mutant-tail-double-rounding").expect("registered");
    for form in [Form::Portable, Form::Native] {
        let mut out = [9; 6];
        mutant.kernel.run(form)(&Params::single(1 << 30, -1), &[1; 6], &mut out);
        assert_eq!(out, [0, 0, 0, 0, 1, 1]);
    }
}

/// No mutant panics in its claimed domain: a panic would hide the wrong value.
#[test]
fn mutants_run_on_their_whole_domain() {
    let x = [i32::MIN, i32::MIN + 1, -1, 0, 1, 1 << 30, i32::MAX - 1, i32::MAX, 12345];
    for mutant in fpm::mutants() {
        for s in mutant.kernel.contract.domain.shifts.clone() {
            for m in [i32::MIN, i32::MIN + 1, -1, 0, 1, 1 << 30, 1395864371, i32::MAX] {
                if mutant.kernel.contract.domain.contains(m, s, 31) {
                    mutant.kernel.run(Form::Native)(&Params::single(m, s), &x, &mut [0; 9]);
                }
            }
        }
    }
}

#[test]
fn mutants_are_not_kernels() {
    let names = fpm::mutants().iter().map(|mutant| mutant.kernel.name);
    let names: Vec<_> = names.chain(process().iter().map(|mutant| mutant.name)).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(name.starts_with("mutant-"), "{name}");
        assert!(find(name).is_none() && !names[..i].contains(name), "{name}");
    }
}

/// Controls hold at corners; the harness checks them on many more inputs.
#[test]
fn controls_are_equal_at_corners() {
    for control in controls() {
        let mut random = Random::new(1);
        let domain = &control.domain;
        for s in domain.shifts.clone() {
            let random: Vec<i32> = (0..200).map(|_| random.int32_of_any_size()).collect();
            for m in [*domain.multipliers.start(), 1 << 30, 1395864320, i32::MAX - 127, *domain.multipliers.end()] {
                if !domain.contains(m, s, 31) {
                    continue;
                }
                let x: Vec<i32> = [i32::MIN, -1, 0, 1, i32::MAX].into_iter().chain(random.iter().copied()).collect();
                let mut out = vec![0; x.len()];
                control.left.run(Form::Native)(&Params::single(m, s), &x, &mut out);
                for (x, out) in x.iter().zip(out) {
                    assert_eq!(out, promised(control.against, *x, m, s), "{} x={x} m={m} s={s}", control.name);
                }
            }
        }
    }
}

/// The mutants of each module belong to the operation of the module's name.
#[test]
fn every_list_is_that_of_its_operation() {
    use crate::operation::TensorOperation;
    macro_rules! same {
        ($($module:ident $operation:ident)+) => {
            $(assert!(std::ptr::eq($module::kernels(), <$module::$operation as TensorOperation>::kernels()));)+
        };
    }
    use crate::elementwise::{add, mul};
    use crate::{conv2d, dequantize, dot, instruction, matmul, qconv2d, qmatmul, quantize, requantize, transform};
    same!(add Add conv2d Conv2d dequantize Dequantize dot Dot instruction Instruction matmul Matmul mul Mul);
    same!(qconv2d Qconv2d qmatmul Qmatmul quantize Quantize requantize Requantize transform Transform);
}

fn has_kernels_and_known_bugs<O: Operation>() {
    let (bugs, kernels): (Vec<&str>, Vec<&str>) =
        O::every().map(Code::name).partition(|name| name.starts_with("mutant-"));
    assert!(!bugs.is_empty() && !kernels.is_empty(), "{}: kernels {kernels:?}, known bugs {bugs:?}", O::NAME);
}

/// A list that is empty by mistake would leave nothing to verify, or nothing that shows that a lane is checked.
#[test]
fn every_operation_has_kernels_and_known_bugs() {
    macro_rules! look {
        ($($(#[$documentation:meta])* $name:ident($operation:ty);)+) => {
            $(has_kernels_and_known_bugs::<$operation>();)+
        };
    }
    crate::operations!(look);
}

/// A requantization without the saturation of INT32_MIN * INT32_MIN passed a short run, because no known bug of requantization had it.
#[test]
fn requantizations_have_every_known_bug_of_fixed_point_multiply() {
    use crate::fpm::Channel;
    use crate::requantize;
    for multiply in fpm::mutants() {
        let name = multiply.kernel.name;
        let inside = super::requantize::MUTANTS.iter().find(|mutant| mutant.kernel.name == name).expect(name);
        assert_eq!((inside.class, inside.witnesses.len()), (multiply.class, multiply.witnesses.len()), "{name}");
        for Witness { x, m, s, got, expected } in inside.witnesses {
            let channels = vec![Channel { multiplier: *m, shift: *s }];
            let (min, max) = (i8::MIN.into(), i8::MAX.into());
            let params = requantize::Params { len: 1, channels, bias: vec![0], zero_point: 0, min, max };
            let mut out = [0];
            (inside.kernel.portable)(&params, &[*x], &mut out);
            let right = promised(inside.kernel.contract.promise, *x, *m, *s).clamp(min, max);
            assert_eq!((out, right), ([*got], *expected), "{name} x={x} m={m} s={s}");
            assert_ne!(got, expected, "{name}: the clamp hides the bug");
        }
    }
}
