//! Domains of additions and multiplications depend only on scales, and a run counts the planned cases outside of a kernel's domain.

use crate::common::*;
use expect_test::expect;
use serde_json::Value;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;
use tiebreak_suites::elementwise::{Add, Mul, Sub};
use tiebreak_suites::operation::Operation;

/// Returns a power of two, its neighbours, and values between it and the next one.
fn around(binade: i32) -> Vec<f32> {
    let bits = ((127 + binade) as u32) << 23;
    [0u32.wrapping_sub(2), u32::MAX, 0, 1, 2, 0x2a_aaab, 0x7f_fffd, 0x7f_fffe]
        .map(|more| f32::from_bits(bits.wrapping_add(more)))
        .to_vec()
}

fn params(element: Element, [lhs, rhs, out]: [f32; 3]) -> Params {
    let zero_point = 0.clamp(*element.range().start(), *element.range().end());
    let of = |scale: f32| Operand { scale: Scale(scale.into()), zero_point };
    let (min, max) = (*element.range().start(), *element.range().end());
    Params { element, len: 3, lhs: of(lhs), rhs: of(rhs), out: of(out), min, max }
}

/// The oracle and the kernel's own check accept the same scales, around every bound of every domain.
#[test]
fn what_the_oracle_says_a_kernel_takes_it_takes() {
    let bounds =
        [-101, -100, -41, -40, -31, -30, -16, -14, -11, -10, -9, -2, 0, 7, 8, 13, 14, 15, 19, 20, 30, 31, 40, 41, 100];
    let scales: Vec<f32> = bounds.into_iter().flat_map(around).collect();
    let mut taken = [0, 0];
    for out in [1.0f32, 1.5, 0.3, f32::from_bits(0x3fff_ffff), 2f32.powi(-60), 2f32.powi(30)] {
        for (i, scale) in scales.iter().enumerate() {
            let (lhs, rhs) = (scale * out, scales[i * 7 % scales.len()].min(*scale) * out);
            for triple in [[lhs, rhs, out], [rhs, lhs, out], [lhs, 1.0, out], [lhs, lhs, out]] {
                for kernel in tiebreak_impls::elementwise::add::kernels() {
                    let (domain, name) = (&kernel.contract.domain, kernel.name);
                    let p = params(domain.element, triple);
                    let covers = Add::covers(domain, &p);
                    assert_eq!(covers, domain.sizes(&p).is_ok(), "{name} {triple:?}");
                    taken[usize::from(covers)] += 1;
                }
                for kernel in tiebreak_impls::elementwise::sub::kernels() {
                    let (domain, name) = (&kernel.contract.domain, kernel.name);
                    let p = params(domain.element, triple);
                    let covers = Sub::covers(domain, &p);
                    assert_eq!(covers, domain.sizes(&p).is_ok(), "{name} {triple:?}");
                    taken[usize::from(covers)] += 1;
                }
                for kernel in tiebreak_impls::elementwise::mul::kernels() {
                    let (domain, name) = (&kernel.contract.domain, kernel.name);
                    let p = params(domain.element, triple);
                    let covers = Mul::covers(domain, &p);
                    assert_eq!(covers, domain.sizes(&p).is_ok(), "{name} {triple:?}");
                    taken[usize::from(covers)] += 1;
                }
            }
        }
    }
    assert!(taken.iter().all(|n| *n > 10_000), "{taken:?}");
}

/// Returns the number of cases of each kernel in a short run, the number that ran, and reasons for the rest.
fn counts(op: &str) -> Vec<String> {
    let count = |planned: &Value| {
        let dropped = planned["dropped"].as_array().cloned().unwrap_or_default();
        let why = |d: &Value| format!(", {} {}", d["count"], d["why"].as_str().expect("a reason"));
        let why: String = dropped.iter().map(why).collect();
        let kernel = planned["kernel"].as_str().expect("a name");
        format!("{kernel}: {} of {}{why}", planned["run"], planned["planned"])
    };
    let of = |planned: &&Value| planned["op"] == op && planned["lane"] == "host";
    items(&whole().ledger, "planned").iter().filter(of).map(count).collect()
}

/// A stricter check in the kernel would leave these counts unchanged; a stricter domain of the oracle would change them.
#[test]
fn cases_of_additions() {
    expect![[r#"
        tflite-add-i8: 733 of 733
        tflite-add-u8: 733 of 733
        tflite-add-i16: 732 of 733, 1 outside-domain
        tflite-add-single-i8: 733 of 733
        tosa-add-double-i8: 733 of 733
        tosa-add-double-u8: 733 of 733
        tosa-add-single-i8: 733 of 733
        tosa-add-halves-double-i8: 733 of 733
        arm-elementwise-add-s8: 733 of 733
        arm-elementwise-add-single-s8: 733 of 733
        xnnpack-qs8-vadd: 726 of 729, 3 outside-domain
        xnnpack-qu8-vadd: 726 of 729, 3 outside-domain
        xnnpack-qs8-vadd-neon: 726 of 729, 3 outside-domain
        onnx-qlinearadd-i8: 729 of 729
        onnx-qlinearadd-u8: 729 of 729
        onnx-qlinearadd-fixed-i8: 725 of 727, 2 outside-domain
        pytorch-qadd-i8: 729 of 729
        pytorch-qadd-u8: 729 of 729
        tvm-qnn-add-i8: 726 of 729, 3 outside-domain
        tvm-qnn-add-u8: 726 of 729, 3 outside-domain
        tvm-qnn-add-tonearest-i8: 726 of 729, 3 outside-domain"#]]
    .assert_eq(&counts("add").join("\n"));
}

#[test]
fn cases_of_subtractions() {
    expect![[r#"
        tflite-sub-i8: 733 of 733
        tflite-sub-u8: 733 of 733
        tflite-sub-i16: 732 of 733, 1 outside-domain
        tflite-sub-single-i8: 733 of 733
        tflite-sub-negated-i8: 733 of 733
        tflite-sub-negated-u8: 733 of 733
        tosa-sub-double-i8: 733 of 733
        tosa-sub-double-u8: 733 of 733
        tosa-sub-single-i8: 733 of 733
        xnnpack-qs8-vsub: 726 of 729, 3 outside-domain
        xnnpack-qu8-vsub: 726 of 729, 3 outside-domain
        xnnpack-qs8-vsub-neon: 726 of 729, 3 outside-domain
        onnx-dequantize-sub-i8: 729 of 729
        onnx-dequantize-sub-u8: 729 of 729
        tvm-qnn-subtract-i8: 726 of 729, 3 outside-domain
        tvm-qnn-subtract-u8: 726 of 729, 3 outside-domain
        tvm-qnn-subtract-tonearest-i8: 726 of 729, 3 outside-domain"#]]
    .assert_eq(&counts("sub").join("\n"));
}

#[test]
fn cases_of_multiplications() {
    expect![[r#"
        tflite-mul-i8: 745 of 745
        tflite-mul-u8: 745 of 745
        tflite-mul-i16: 727 of 727
        tflite-mul-single-i8: 745 of 745
        tflite-micro-mul-i8: 745 of 745
        arm-elementwise-mul-s8: 745 of 745
        arm-elementwise-mul-single-s8: 745 of 745
        tosa-mul-double-i8: 745 of 745
        tosa-mul-single-i8: 745 of 745
        xnnpack-qs8-vmul: 740 of 741, 1 outside-domain
        xnnpack-qu8-vmul: 740 of 741, 1 outside-domain
        xnnpack-qs8-vmul-neon: 740 of 741, 1 outside-domain
        onnx-qlinearmul-i8: 741 of 741
        onnx-qlinearmul-u8: 741 of 741
        onnx-qlinearmul-neon-i8: 741 of 741
        onnx-qlinearmul-neon-u8: 741 of 741
        pytorch-qmul-i8: 741 of 741
        pytorch-qmul-u8: 741 of 741"#]]
    .assert_eq(&counts("mul").join("\n"));
}
