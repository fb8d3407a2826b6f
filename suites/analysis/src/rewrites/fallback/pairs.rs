//! Operations of two tensors that have an integer lowering and a fallback. Both are compared with the exact result, and with each other.

use super::{Results, Tensor, claim};
use crate::rewrites::Claim;
use anyhow::{Result, anyhow};
use rayon::prelude::*;
use tiebreak_oracle::arithmetic::Arithmetic;
use tiebreak_oracle::elementwise::{Operand, add, mul};
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{Quantization, Storage, Stored};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::{dequantize, quantize::Scheme as Quantize};

/// Left operand, right operand, result: scales that are powers of two; equal decimal scales; very different scales, with zero points; a narrow
/// result.
const TENSORS: [[Tensor; 3]; 4] = [
    [(0.5, 0), (0.5, 0), (0.5, 0)],
    [(0.1, 3), (0.1, 3), (0.2, -5)],
    [(0.0235, -1), (0.3, 17), (0.31, 4)],
    [(0.05, 0), (0.04, 0), (0.03, 0)],
];

/// Integer lowerings of both operations.
const SCHEMES: [&str; 2] = ["tosa-double", "tosa-single"];

const STORAGE: Storage = Storage { bits: 8, signed: true };

/// Measures every comparison of one operation, on each choice of tensors.
pub(super) fn claims(operation: &str) -> Result<Vec<Claim>> {
    let arithmetic = if operation == "add" { Arithmetic::Add } else { Arithmetic::Multiply };
    let (a, b): (Vec<i32>, Vec<i32>) = (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b))).unzip();
    let of = |tensors: [Tensor; 3]| -> Result<Vec<Claim>> {
        let exact = lowered(operation, None, tensors, (&a, &b))?;
        let mut ways = vec![
            ("dcast, f32, qcast".to_owned(), fallback("mlir-qcast", arithmetic, tensors, (&a, &b))?),
            ("dcast, f32, qcast to nearest even".to_owned(), fallback("nearest-even", arithmetic, tensors, (&a, &b))?),
        ];
        for scheme in SCHEMES {
            let name = format!("integers, {scheme}");
            ways.push((name, lowered(operation, Some(scheme), tensors, (&a, &b))?));
        }
        let [left, right, out] = tensors;
        let ty = format!("i8, {}:{} and {}:{} to {}:{}", left.0, left.1, right.0, right.1, out.0, out.1);
        let mut claims: Vec<Claim> = ways
            .iter()
            .map(|(name, results)| claim(operation, ("exact", &exact), (name, results), &ty, (&a, &b)))
            .collect();
        claims.push(claim(operation, (&ways[2].0, &ways[2].1), (&ways[1].0, &ways[1].1), &ty, (&a, &b)));
        Ok(claims)
    };
    let all: Vec<Vec<Claim>> = TENSORS.into_par_iter().map(of).collect::<Result<_>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// Computes the fallback: operands through `dcast`, the operation in f32, and a quantization by this scheme.
fn fallback(scheme: &str, arithmetic: Arithmetic, tensors: [Tensor; 3], (a, b): (&[i32], &[i32])) -> Result<Results> {
    let (quantize, dequantize) = (Quantize::parse(scheme)?, dequantize::Scheme::parse("mlir-dcast")?);
    let channel = |(scale, z): Tensor| Quantization::whole(Format::F32, scale.to_bits().into(), z.into(), STORAGE);
    let [left, right, out] = tensors.map(channel);
    let one = |(a, b): (&i32, &i32)| {
        let [a, b] = [(&left, a), (&right, b)].map(|(channel, q)| dequantize.expected(channel, (*q).into()));
        match quantize.expected(&out, arithmetic.apply(Format::F32, a, b)) {
            Stored::Value(q) => Some(q),
            Stored::Poison | Stored::Unspecified => None,
        }
    };
    Ok(a.iter().zip(b).map(one).collect())
}

/// Computes the integer lowering by this scheme, or the exact result if `None`, rounded to nearest with ties upward.
fn lowered(
    operation: &str,
    scheme: Option<&str>,
    [left, right, out]: [Tensor; 3],
    (a, b): (&[i32], &[i32]),
) -> Result<Results> {
    let of = |(scale, zero_point): Tensor| Operand { scale: scale.to_bits(), zero_point };
    let (lhs, rhs, out) = (of(left), of(right), of(out));
    let (min, max, storage) = (-128, 127, STORAGE);
    let results = if operation == "add" {
        let p = add::Parameters { lhs, rhs, out, storage, own: add::left_shift(storage), min, max };
        let scheme = scheme.map_or_else(|| Ok(add::Scheme::ideal(RoundingRule::TiesUp)), add::Scheme::parse)?;
        scheme.expected(&p, a, b)
    } else {
        let p = mul::Parameters { lhs, rhs, out, storage, own: mul::PRODUCT_BITS, min, max };
        let scheme = scheme.map_or_else(|| Ok(mul::Scheme::ideal(RoundingRule::TiesUp)), mul::Scheme::parse)?;
        scheme.expected(&p, a, b)
    };
    let results = results.map_err(|e| anyhow!("{operation}: {e}"))?;
    Ok(results.into_iter().map(|result| result.map(i64::from)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_that_are_powers_of_two_are_exact() {
        for operation in ["add", "mul"] {
            let all = claims(operation).expect("both schemes are known");
            let exact =
                |claim: &&Claim| claim.ty.starts_with("i8, 0.5:0") && claim.rewrite.contains("exact -> integers");
            assert_eq!(all.iter().filter(exact).map(|claim| claim.differ).sum::<u128>(), 0, "{operation}");
        }
        let sum = claims("add").expect("the schemes are known");
        let to_nearest = |claim: &&Claim| claim.rewrite == "add: exact -> dcast, f32, qcast to nearest even";
        assert_eq!(sum.iter().find(to_nearest).map(|claim| claim.differ), Some(0));
    }
}
