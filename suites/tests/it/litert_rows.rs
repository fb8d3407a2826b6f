//! Operators of LiteRT that its lowering to TOSA rejects if quantized (RFC "Improvements in the 'quant' dialect", "Limitations while lowering
//! quantized types"). LiteRT's own kernels are compared with the oracle's rows. `cargo xtask setup --with shipped` installs LiteRT.

use crate::common::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::rows::{Operation, Row};

/// Scale and zero point.
type Tensor = (f32, i32);

/// Result types that LiteRT requires.
const LOGARITHM: Tensor = (0.0625, 127);
const NORMALIZED: Tensor = (0.0078125, 0);

/// Results for each set of kernels, or the reason why LiteRT rejects the model.
type Answers = BTreeMap<String, Result<Vec<i32>, String>>;

/// Runs LiteRT's three sets of kernels on rows; `None` if LiteRT is not installed.
fn answers(operator: &str, [input, out]: [Tensor; 2], rows: &[Vec<i32>]) -> Option<Answers> {
    let Ok(record) = std::fs::read_to_string(target().join("tiebreak/shipped/litert/installed.json")) else {
        not_run("litert is not installed; `cargo xtask setup --with shipped` installs it");
        return None;
    };
    let installed: Value = serde_json::from_str(&record).expect("a record of xtask");
    let python = installed["command"][0].as_str().expect("the interpreter");
    let script = workspace().join("impls/shipped/litert/rows.py");
    let mut command = Command::new(python);
    let command = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the interpreter starts");
    let job = json!({"operator": operator, "input": input, "out": out, "rows": rows}).to_string();
    child.stdin.take().expect("a pipe").write_all(job.as_bytes()).expect("the job is read");
    let output = child.wait_with_output().expect("the script ends");
    assert!(output.status.success(), "{operator}: rows.py failed");
    let printed: BTreeMap<String, Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(printed.len(), 3);
    let answer = |value: Value| match value["refused"].as_str() {
        Some(refused) => Err(refused.to_owned()),
        None => Ok(serde_json::from_value(value["results"].clone()).expect("numbers")),
    };
    Some(printed.into_iter().map(|(kernels, value)| (kernels, answer(value))).collect())
}

/// Returns the real results, rounded once. A row of zeros, which has no norm, gives its zero point.
fn exact(operation: Operation, [input, out]: [Tensor; 2], rows: &[Vec<i32>]) -> Vec<i32> {
    let of = |(scale, zero_point): Tensor| Operand { scale: scale.to_bits(), zero_point };
    let p = Row { input: of(input), out: of(out), storage: Storage { bits: 8, signed: true } };
    let one = |row: &Vec<i32>| {
        let results = p.expected(operation, row).expect("a row");
        results.unwrap_or_else(|| vec![out.1; row.len()])
    };
    rows.iter().flat_map(one).collect()
}

fn pairs() -> Vec<Vec<i32>> {
    (-128..128).flat_map(|a| (-128..128).map(move |b| vec![a, b])).collect()
}

/// Every pair of bytes: each set of kernels gives the real result, rounded once.
#[test]
fn every_pair_is_exact() {
    let rows = pairs();
    let index = |row: &Vec<i32>| i32::from(row[1] < row[0]);
    let moved: Vec<i32> = rows.iter().flatten().copied().collect();
    let indices = rows.iter().map(index).collect();
    let (input, same) = ((0.1, 3), [(0.3, 0); 2]);
    let cases = [
        ("LOG_SOFTMAX", [input, LOGARITHM], exact(Operation::LogSoftmax, [input, LOGARITHM], &rows)),
        ("L2_NORMALIZATION", [input, NORMALIZED], exact(Operation::L2Normalization, [input, NORMALIZED], &rows)),
        ("SPLIT", same, moved),
        ("ARG_MIN", same, indices),
    ];
    for (operator, tensors, expected) in cases {
        let Some(answers) = answers(operator, tensors, &rows) else { return };
        for (kernels, results) in answers {
            assert!(results.as_ref() == Ok(&expected), "{operator} {kernels}");
        }
    }
}

/// The RFC's example has one type for operand and result. LiteRT requires a fixed result type for each operator, and rejects any other.
#[test]
fn the_types_of_the_rfc_are_refused() {
    let rows = [vec![1, 2, 3]];
    for operator in ["LOG_SOFTMAX", "L2_NORMALIZATION"] {
        let Some(answers) = answers(operator, [(0.5, 0); 2], &rows) else { return };
        for (kernels, results) in answers {
            let refused = results.expect_err("another scale");
            assert!(refused.contains("output->params.scale"), "{operator} {kernels}: {refused}");
        }
    }
}

/// Returns rows of this length, of any values or of small ones, from a linear congruential generator.
fn drawn(length: usize, is_small: bool) -> Vec<Vec<i32>> {
    let mut state = length as u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = (state >> 24) as i32 - 128;
        if is_small { value.rem_euclid(16) - 128 } else { value }
    };
    (0..64).map(|_| (0..length).map(|_| next()).collect()).collect()
}

/// Returns the real result in steps, rounded to steps of `2^-bits`, then to whole steps, both times with ties away from zero.
fn rounded_twice(x: i32, sum: u128, bits: u32) -> i32 {
    let half_steps = ((u128::from(x.unsigned_abs()).pow(2) << (2 * (8 + bits))) / sum).isqrt();
    let once = half_steps.div_ceil(2) as i64;
    let twice = (once + (1 << bits >> 1)) >> bits;
    (twice * i64::from(x.signum())).clamp(-128, 127) as i32
}

/// Finding 48: from a sum of squares of 2^21 on, L2_NORMALIZATION first rounds to a half, a quarter, ... of a step, so that each result is rounded
/// twice. Below, almost every result is the real one, rounded once.
#[test]
fn large_norms_are_rounded_twice() {
    let zero_point = -128;
    let tensors = [(0.1, zero_point), NORMALIZED];
    let mut counts = [[0; 2]; 2];
    for (length, is_small) in [33, 64, 200, 400, 1000].into_iter().flat_map(|length| [(length, false), (length, true)])
    {
        let rows = drawn(length, is_small);
        let Some(answers) = answers("L2_NORMALIZATION", tensors, &rows) else { return };
        let exact = exact(Operation::L2Normalization, tensors, &rows);
        for (kernels, results) in answers {
            let results = results.expect("results");
            for (at, row) in rows.iter().enumerate() {
                let sum: u128 = row.iter().map(|x| u128::from(x.abs_diff(zero_point)).pow(2)).sum();
                // Two more bits of the sum are one bit of the first rounding.
                let bits = (sum.ilog2() + 1).saturating_sub(20) / 2;
                for (i, x) in row.iter().enumerate() {
                    let (got, once) = (results[at * length + i], exact[at * length + i]);
                    counts[usize::from(bits > 0)][usize::from(got != once)] += 1;
                    if bits > 0 {
                        let expected = rounded_twice(x - zero_point, sum, bits);
                        assert_eq!(got, expected, "{kernels} {row:?} at {i}, sum {sum}");
                    }
                }
            }
        }
    }
    let [[same, differ], [same_of_large, differ_of_large]] = counts;
    assert!(differ * 10_000 <= same && same > 100_000, "below: {counts:?}");
    assert!(differ_of_large * 20 > same_of_large && same_of_large > 100_000, "above: {counts:?}");
}

/// Witness of finding 48: the last of 33 elements, 11.31 steps, gives 12. One less gives 11, because the sum of squares is less than 2^21.
#[test]
fn the_witness_of_finding_48_is_rounded_up() {
    let tensors = [(0.1, -128), NORMALIZED];
    for (last, witnessed) in [(0, (12, 11)), (-1, (11, 11))] {
        let row = [vec![127; 32], vec![last]].concat();
        let Some(answers) = answers("L2_NORMALIZATION", tensors, std::slice::from_ref(&row)) else { return };
        let expected = exact(Operation::L2Normalization, tensors, &[row]);
        for (kernels, results) in answers {
            assert_eq!((results.expect("results")[32], expected[32]), witnessed, "{kernels}");
        }
    }
}
