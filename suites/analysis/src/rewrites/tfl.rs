//! Two lowerings of quantized TensorFlow Lite ops to TOSA in the RFC ("Lowering a Tensorflow Lite model", "Limitations while lowering quantized
//! types"): `tfl.add`, which is rescales around an integer addition, compared with the exact sum; and `tfl.pad`, which pads with 0.
//!
//! The addition is a scheme of the operation `add`, where kernels that implement it are run and judged. Here, only the lowering is measured.

use super::{Claim, Coverage, RfcStatement, Tally};
use anyhow::Result;
use rayon::prelude::*;
use tiebreak_oracle::elementwise::Operand;
use tiebreak_oracle::elementwise::add::{Parameters, Scheme, left_shift};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::rounding::RoundingRule;

/// Scale and zero point of an i8 tensor.
type Tensor = (f32, i32);

/// Left operand, right operand, result: the RFC's; equal scales; very different scales, with zero points; a narrow result, which saturates.
const ADDITIONS: [[Tensor; 3]; 4] = [
    [(2.0, 0), (2.0, 0), (2.0, 0)],
    [(0.1, 3), (0.1, 3), (0.2, -5)],
    [(0.0235, -1), (0.3, 17), (0.31, 4)],
    [(0.05, 0), (0.04, 0), (0.03, 0)],
];

/// Measures both lowerings.
pub(super) fn claims() -> Result<Vec<Claim>> {
    let additions =
        ADDITIONS.into_par_iter().flat_map(|tensors| ["double", "single"].map(|rounding| (tensors, rounding)));
    let mut claims: Vec<Claim> =
        additions.map(|(tensors, rounding)| addition(tensors, rounding)).collect::<Result<_>>()?;
    claims.push(padding());
    Ok(claims)
}

/// Compares `tfl.add` on every pair of i8 with the exact sum, rounded half up.
fn addition([left, right, out]: [Tensor; 3], rounding: &str) -> Result<Claim> {
    let storage = Storage { bits: 8, signed: true };
    let of = |(scale, zero_point): Tensor| Operand { scale: scale.to_bits(), zero_point };
    let (lhs, rhs, own) = (of(left), of(right), left_shift(storage));
    let p = Parameters { lhs, rhs, out: of(out), storage, own, min: -128, max: 127 };
    let (a, b): (Vec<i32>, Vec<i32>) = (-128..128).flat_map(|a| (-128..128).map(move |b| (a, b))).unzip();
    let exact = Scheme::ideal(RoundingRule::TiesUp).expected(&p, &a, &b)?;
    let lowered = Scheme::parse(&format!("tosa-{rounding}"))?.expected(&p, &a, &b)?;
    let mut tally = Tally::default();
    for ((a, b), results) in a.iter().zip(&b).zip(exact.into_iter().zip(lowered)) {
        let (Some(expected), Some(got)) = results else { anyhow::bail!("a rescale out of its domain") };
        let described = || format!("({a}, {b}): exact {expected}, lowered {got}");
        let distance = u64::from(a.unsigned_abs() + b.unsigned_abs());
        tally.stored(1, expected.into(), got.into(), (distance, (*a).into(), (*b).into(), 0), described);
    }
    let name = format!("i8, {}:{} + {}:{} = {}:{}", left.0, left.1, right.0, right.1, out.0, out.1);
    let rewrite = format!("tfl.add -> rescale, add, rescale ({rounding} rounding)");
    let witness = tally.nearest.take();
    Ok(Claim::new(&rewrite, &name, RfcStatement::Same, Coverage::Exhaustive, &tally, witness).nearer("before"))
}

/// Measures `tfl.pad` at every zero point of i8. The stored value of 0.0 is the zero point, but the lowering pads with 0.
fn padding() -> Claim {
    let mut tally = Tally::default();
    for zero_point in -128..128i64 {
        let described = || format!("zero point {zero_point}: the border holds 0, which is {} steps", -zero_point);
        tally.stored(1, zero_point, 0, (zero_point.unsigned_abs(), zero_point, 0, 0), described);
    }
    let witness = tally.nearest.take();
    Claim::new(
        "tfl.pad -> tosa.pad with 0",
        "i8, every zero point",
        RfcStatement::Same,
        Coverage::Exhaustive,
        &tally,
        witness,
    )
    .nearer("before")
}
