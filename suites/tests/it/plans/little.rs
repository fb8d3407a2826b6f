//! Faults in which a scale is slightly wrong: by one unit in the last place, or the almost equal scale of another tensor. A fast path for equal
//! scales with a tolerance in its comparison once passed a run.

use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::quantized::Scale;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::elementwise::{Add, Mul};
use tiebreak_suites::engine::erased::{Kernel, op};
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::operation::{Case, CaseSelection, Operation};

/// Fault: parameters that a kernel uses instead of the right ones.
type Fault = (&'static str, fn(&Params) -> Option<Params>);

/// Moves the scale by a number of units in the last place of single precision.
fn moved(operand: Operand, units: i32) -> Operand {
    let bits = (operand.scale.0 as f32).to_bits().wrapping_add_signed(units);
    Operand { scale: Scale(f64::from(f32::from_bits(bits))), ..operand }
}

/// Replaces the second scale by the first if they differ by at most this share.
fn taken_for_equal(one: Operand, other: Operand, within: f64) -> Option<Operand> {
    let distance = (other.scale.0 / one.scale.0 - 1.0).abs();
    (0.0 < distance && distance <= within).then_some(Operand { scale: one.scale, ..other })
}

const FAULTS: [Fault; 9] = [
    ("the result's scale is one unit in the last place more", |p| Some(Params { out: moved(p.out, 1), ..*p })),
    ("the result's scale is one unit in the last place less", |p| Some(Params { out: moved(p.out, -1), ..*p })),
    ("the left scale is one unit in the last place more", |p| Some(Params { lhs: moved(p.lhs, 1), ..*p })),
    ("the right scale is one unit in the last place less", |p| Some(Params { rhs: moved(p.rhs, -1), ..*p })),
    ("scales of operands within 2e-6 are equal", |p| Some(Params { rhs: taken_for_equal(p.lhs, p.rhs, 2e-6)?, ..*p })),
    ("scales of operands within 2e-4 are equal", |p| Some(Params { rhs: taken_for_equal(p.lhs, p.rhs, 2e-4)?, ..*p })),
    ("scales of operands within 2e-3 are equal", |p| Some(Params { rhs: taken_for_equal(p.lhs, p.rhs, 2e-3)?, ..*p })),
    ("the left scale within 2e-4 is the result's", |p| {
        Some(Params { out: taken_for_equal(p.lhs, p.out, 2e-4)?, ..*p })
    }),
    ("the left scale within 2e-3 is the result's", |p| {
        Some(Params { out: taken_for_equal(p.lhs, p.out, 2e-3)?, ..*p })
    }),
];

/// Faults of an addition, and of a multiplication: the quotient of its scales is replaced by a power of two within this distance.
const OF_ADD: [Fault; 3] = [
    ("a quotient within 2e-6 of a power of two is that power", |p| to_a_power(p, p.lhs.scale.0, 2e-6)),
    ("a quotient within 2e-4 of a power of two is that power", |p| to_a_power(p, p.lhs.scale.0, 2e-4)),
    ("a quotient within 2e-3 of a power of two is that power", |p| to_a_power(p, p.lhs.scale.0, 2e-3)),
];
const OF_MUL: [Fault; 3] = [
    ("a quotient within 2e-6 of a power of two is that power", |p| to_a_power(p, product(p), 2e-6)),
    ("a quotient within 2e-4 of a power of two is that power", |p| to_a_power(p, product(p), 2e-4)),
    ("a quotient within 2e-3 of a power of two is that power", |p| to_a_power(p, product(p), 2e-3)),
];

fn product(p: &Params) -> f64 {
    p.lhs.scale.0 * p.rhs.scale.0
}

/// Changes the result's scale so that the quotient with it is a power of two.
fn to_a_power(p: &Params, unit: f64, within: f64) -> Option<Params> {
    let power = 2f64.powi((unit / p.out.scale.0).log2().round() as i32);
    let scale = f64::from((unit / power) as f32);
    let distance = (p.out.scale.0 / scale - 1.0).abs();
    (0.0 < distance && distance <= within).then_some(Params { out: Operand { scale: Scale(scale), ..p.out }, ..*p })
}

/// Part of a plan for such faults.
const PART: &str = "scales at which little decides";

/// Returns the faults that no case of a kernel's quick plan detects, with or without the cases of [`PART`].
fn missed<O: Operation<Params = Params>>(kernel: &Kernel, faults: &[Fault], whole: bool) -> Vec<&'static str> {
    let (domain, scheme) = (&kernel.contract.domain, kernel.promise().expect("a scheme"));
    let specs = plans::plan(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let specs = specs.iter().filter(|spec| whole || spec.generator != PART);
    let cases: Vec<_> = specs.filter_map(|spec| Some(spec.case(domain, 1)?.typed::<O>())).collect();
    let given = |case: &Case<Params>| O::expected(scheme.typed::<O>(), case).ok();
    let shows = |case: &Case<Params>, fault: &Fault| {
        let changed = fault.1(&case.params)?;
        let wrong = given(&Case { params: changed, ..case.clone() })?;
        Some(given(case)?.iter().zip(&wrong).any(|(right, wrong)| right.is_some() && wrong.is_some() && right != wrong))
    };
    let missed = faults.iter().filter(|fault| !cases.iter().any(|case| shows(case, fault) == Some(true)));
    missed.map(|(name, _)| *name).collect()
}

/// Returns every kernel of both operations with its undetected faults.
fn hidden(whole: bool) -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let (of_add, of_mul) = ([&FAULTS[..], &OF_ADD].concat(), [&FAULTS[..], &OF_MUL].concat());
    let add = op::<Add>().kernels().iter().map(|kernel| ("add", kernel.name, missed::<Add>(kernel, &of_add, whole)));
    let mul = op::<Mul>().kernels().iter().map(|kernel| ("mul", kernel.name, missed::<Mul>(kernel, &of_mul, whole)));
    add.chain(mul).collect()
}

/// Multipliers of at most 22 bits, for which a unit in the last place of a scale usually changes nothing.
const NARROW: [&str; 4] = ["xnnpack-qs8-vadd", "xnnpack-qu8-vadd", "xnnpack-qs8-vadd-neon", "onnx-qlinearadd-fixed-i8"];

/// Fault that a short run does not detect in two kernels: one of 16 bits, with thousands of samples from 2^32 pairs, and one that first rounds each
/// operand to a step of the output, so that the fault matters only near a half.
const OPEN: ([&str; 2], &str) =
    (["tflite-add-i16", "tvm-qnn-add-tonearest-i8"], "scales of operands within 2e-6 are equal");

#[test]
fn a_scale_that_is_another_by_little() {
    let mut out = hidden(true);
    for (_, _, missed) in out.iter_mut().filter(|(_, kernel, _)| OPEN.0.contains(kernel)) {
        missed.retain(|fault| *fault != OPEN.1);
    }
    for (_, _, missed) in out.iter_mut().filter(|(_, kernel, _)| NARROW.contains(kernel)) {
        missed.retain(|fault| !fault.contains("one unit in the last place"));
    }
    out.retain(|(.., missed)| !missed.is_empty());
    assert!(out.is_empty(), "{out:#?}");
}

/// The earlier plan does not detect such a fault in most kernels.
#[test]
fn without_scales_at_which_little_decides_most_kernels_hide_a_fault() {
    let all = hidden(false);
    let hiding = all.iter().filter(|(.., missed)| !missed.is_empty()).count();
    let faults: usize = all.iter().map(|(.., missed)| missed.len()).sum();
    println!("{hiding} of {} kernels hide {faults} faults", all.len());
    assert!(2 * hiding > all.len(), "{hiding} of {} kernels", all.len());
}
