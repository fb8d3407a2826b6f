//! Fallback of an operation without an integer lowering: dequantize the operands, compute in f32, quantize the result (RFC "Improvements in the
//! 'quant' dialect", "Limitations while lowering quantized types"). It is compared with the exact result, rounded to nearest with ties upward, on
//! every pair of i8.

mod pairs;
mod rows;

use super::{Claim, Coverage, RfcStatement, Tally};
use anyhow::{Result, bail};

/// Operations with a fallback: first those with an integer lowering, then those whose lowering to TOSA is refused.
pub const OPERATIONS: [&str; 6] = ["add", "mul", "log_softmax", "l2_normalization", "split", "arg_min"];

/// Scale and zero point of an i8 tensor.
type Tensor = (f32, i32);

/// Results for all pairs; `None` if a cast is poison.
type Results = Vec<Option<i64>>;

/// Measures every comparison of one operation, on each choice of tensors.
pub fn claims(operation: &str) -> Result<Vec<Claim>> {
    if let Some(claims) = rows::claims(operation)? {
        return Ok(claims);
    }
    match operation {
        "add" | "mul" => pairs::claims(operation),
        other => bail!("`{other}`: --fallback takes one of {}", OPERATIONS.join(", ")),
    }
}

/// Describes the exact result of an operation.
pub fn exact(operation: &str) -> &'static str {
    match operation {
        "log_softmax" => {
            "exact: the real x - ln(sum of e^x) of the first of two elements, rounded to nearest; f32: each step, exp and log too, rounded to nearest"
        }
        "l2_normalization" => {
            "exact: the real x / sqrt(sum of x^2) of the first of two elements, rounded to nearest; a row of zeros has none"
        }
        "split" => "exact: the first of two elements as it is stored; it is moved, and no arithmetic is needed",
        "arg_min" => {
            "exact: the index of the least stored value, the first of equal ones; no arithmetic is needed, because positive scales keep the order"
        }
        _ => "exact: the real result, rounded to nearest",
    }
}

/// Compares two ways on every pair. The witness is the differing pair nearest to zero.
fn claim(
    operation: &str,
    (before, left): (&str, &Results),
    (after, right): (&str, &Results),
    ty: &str,
    (a, b): (&[i32], &[i32]),
) -> Claim {
    let mut tally = Tally::default();
    for ((a, b), results) in a.iter().zip(b).zip(left.iter().zip(right)) {
        let (Some(expected), Some(got)) = results else {
            tally.undefined(1);
            continue;
        };
        let described = || format!("({a}, {b}): {expected} and {got}");
        let distance = u64::from(a.unsigned_abs() + b.unsigned_abs());
        tally.stored(1, *expected, *got, (distance, (*a).into(), (*b).into(), 0), described);
    }
    let witness = tally.nearest.take();
    let rewrite = format!("{operation}: {before} -> {after}");
    let claim = Claim::new(&rewrite, ty, RfcStatement::Ways, Coverage::Exhaustive, &tally, witness);
    if before == "exact" { claim.nearer("before") } else { claim }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_known_and_described() {
        for operation in OPERATIONS {
            let all = claims(operation).expect("the schemes are known");
            assert!(all.iter().all(|claim| claim.inputs == 1 << 16 && claim.rewrite.starts_with(operation)), "{all:?}");
            assert!(exact(operation).starts_with("exact: "));
        }
        assert!(claims("sub").is_err());
    }
}
