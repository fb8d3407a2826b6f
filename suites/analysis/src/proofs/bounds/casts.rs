//! Casts of float32 to int8: division by the scale, compared with multiplication by its rounded reciprocal.
//!
//! `clamp(round(x / s))` is ONNX's QuantizeLinear with zero point 0, rounded to even. `clamp(round(x * (1 / s)))` is the code of a compiler that may
//! use the reciprocal (oracle/src/quantize). Both are IEEE 754 operations in SMT-LIB's theory of floats.

use super::super::solver::Answer;
use super::{Question, Statement, Values, value};

/// Scales, with `true` if the reciprocal is a float.
const SCALES: [(f32, bool); 2] = [(0.5, true), (0.3, false)];

pub(super) fn all() -> Vec<Statement> {
    SCALES.into_iter().map(|(scale, equal)| cast(scale, equal)).chain([every_scale()]).collect()
}

/// Returns the statement for every scale of an interval, by the error of each float operation: the result is the real one times `1 + d`,
/// `|d| <= 2^-24`, if the real one is at least 2^-126 from zero (IEEE 754, clause 4.3.1). For scales up to 1, a reciprocal is at least 1. A quotient
/// or product nearer to zero than 2^-126 then has an `x` nearer than 2^-126. Its rounded value is nearer to zero than one half, and both casts give
/// 0. Two numbers less than 1 apart round to integers at most 1 apart.
fn every_scale() -> Statement {
    let needs = |needs, what: &str, goal: &str| {
        let text = format!(
            "(set-logic QF_NRA)\n\
             (declare-const q Real)\n(declare-const d Real)\n(declare-const e Real)\n(declare-const f Real)\n\
             (define-fun u () Real (/ 1 16777216))\n\
             (assert (and (<= (- u) d) (<= d u) (<= (- u) e) (<= e u) (<= (- u) f) (<= f u)))\n\
             (define-fun a () Real (* q (+ 1 d)))\n\
             (define-fun b () Real (* (* q (+ 1 e)) (+ 1 f)))\n\
             (assert {goal})\n"
        );
        Question { what: what.to_owned(), text, needs, variables: &[], replayed: |_| None }
    };
    let inside = "(and (<= (- 130) q) (<= q 130) (or (>= (- a b) 1) (>= (- b a) 1)))";
    let beyond = "(or (and (> q 130) (or (< a 128) (< b 128))) (and (< q (- 130)) (or (> a (- 129)) (> b (- 129)))))";
    Statement {
        name: "float32 to int8",
        claim: "x/s and x*(1/s) differ by 1 at most for every scale s in 2^-10 to 1 and every x that is not NaN"
            .to_owned(),
        questions: vec![
            needs(Answer::Unsatisfiable, "quotients up to 130 whose floats are 1 apart or more", inside),
            needs(Answer::Unsatisfiable, "quotients beyond 130 that are not clamped", beyond),
            needs(Answer::Satisfiable, "quotients up to 130 with two floats", "(and (<= q 130) (not (= a b)))"),
        ],
    }
}

/// Returns the statement about `x / s` and `x * (1 / s)`.
fn cast(scale: f32, equal: bool) -> Statement {
    let differ = "(not (= a b))";
    let apart = "(not (and (bvsle d #b000000001) (bvsge d #b111111111)))";
    let same = Question { needs: Answer::Unsatisfiable, ..asked(scale, "another result", differ) };
    let one = Question { needs: Answer::Unsatisfiable, ..asked(scale, "results further apart than 1", apart) };
    let differs = Question { variables: &["x"], ..asked(scale, "another result", differ) };
    let vacuity = asked(scale, "an input", "(= a b)");
    match equal {
        true => Statement {
            name: "float32 to int8",
            claim: format!("x/s and x*(1/s) give one result for s = {scale} and every x that is not NaN"),
            questions: vec![same, vacuity],
        },
        false => Statement {
            name: "float32 to int8",
            claim: format!("x/s and x*(1/s) differ for s = {scale}, by 1 at most for every x that is not NaN"),
            questions: vec![one, differs],
        },
    }
}

fn asked(scale: f32, what: &str, goal: &str) -> Question {
    let text = format!(
        "(set-logic QF_BVFP)\n\
         (define-sort F () (_ FloatingPoint 8 24))\n\
         (declare-const x (_ BitVec 32))\n\
         (define-fun f () F ((_ to_fp 8 24) x))\n\
         (define-fun s () F {s})\n\
         (define-fun r () F (fp.div RNE {one} s))\n\
         (define-fun a () (_ BitVec 8) {a})\n\
         (define-fun b () (_ BitVec 8) {b})\n\
         (define-fun d () (_ BitVec 9) (bvsub ((_ sign_extend 1) a) ((_ sign_extend 1) b)))\n\
         (assert (not (fp.isNaN f)))\n\
         (assert {goal})\n",
        s = float(scale),
        one = float(1.0),
        a = stored("(fp.div RNE f s)"),
        b = stored("(fp.mul RNE f r)"),
    );
    Question {
        what: format!("{what}, s = {scale}"),
        text,
        needs: Answer::Satisfiable,
        variables: &[],
        replayed: if scale == 0.3 { |values| replayed(values, 0.3) } else { |_| None },
    }
}

/// Returns a float by its bits.
fn float(value: f32) -> String {
    format!("((_ to_fp 8 24) #x{:08x})", value.to_bits())
}

/// Returns the stored value of a quotient: rounded to even, clamped, and converted.
fn stored(quotient: &str) -> String {
    let (least, most) = (float(-128.0), float(127.0));
    format!("((_ fp.to_sbv 8) RTZ (fp.max (fp.min (fp.roundToIntegral RNE {quotient}) {most}) {least}))")
}

/// Computes both casts with the machine's floats, and describes a difference.
fn replayed(values: &Values, scale: f32) -> Option<String> {
    let x = f32::from_bits(u32::try_from(value(values, "x")).ok()?);
    let stored = |quotient: f32| quotient.round_ties_even().clamp(-128.0, 127.0) as i8;
    let (divided, multiplied) = (stored(x / scale), stored(x * (1.0 / scale)));
    (divided != multiplied).then(|| format!("x={x}: x/s gives {divided}, x*(1/s) gives {multiplied}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2.25 / 0.3 is just below 7.5, and the reciprocal takes it to the tie.
    #[test]
    fn a_counterexample_is_computed_again() {
        let bits = |x: f32| vec![("x".to_owned(), u128::from(x.to_bits()))];
        assert_eq!(replayed(&bits(2.25), 0.3).as_deref(), Some("x=2.25: x/s gives 7, x*(1/s) gives 8"));
        assert_eq!(replayed(&bits(2.0), 0.3), None);
    }
}
