//! Two lowerings of quantized TensorFlow Lite ops to TOSA that the RFC shows ("Lowering a Tensorflow Lite model", "Limitations while lowering
//! quantized types"): `tfl.add`, which is rescales around an integer addition, held to the exact sum; and `tfl.pad`, which pads with 0.
//!
//! Recipe of the scales: tensorflow/tensorflow tensorflow/compiler/mlir/tosa/transforms/legalize_tfl.cc `ConvertTFLAddOp`.

use super::{Claim, Coverage, Said, Tally};
use anyhow::{Context, Result};
use rayon::prelude::*;
use tiebreak_oracle::Rational;
use tiebreak_oracle::arithmetic::Arithmetic::{Divide, Multiply};
use tiebreak_oracle::derivation::quantize_multiplier;
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::rounding::RoundingRule;

/// Scale and zero point of an i8 tensor.
type Tensor = (f64, i64);

/// Left operand, right operand, result: the RFC's; equal scales; scales far apart, with zero points; a narrow result, which saturates.
const ADDITIONS: [[Tensor; 3]; 4] = [
    [(2.0, 0), (2.0, 0), (2.0, 0)],
    [(0.1, 3), (0.1, 3), (0.2, -5)],
    [(0.0235, -1), (0.3, 17), (0.31, 4)],
    [(0.05, 0), (0.04, 0), (0.03, 0)],
];

/// Both lowerings.
pub(super) fn claims() -> Result<Vec<Claim>> {
    let additions =
        ADDITIONS.into_par_iter().flat_map(|tensors| ["double", "single"].map(|rounding| (tensors, rounding)));
    let mut claims: Vec<Claim> =
        additions.map(|(tensors, rounding)| addition(tensors, rounding)).collect::<Result<_>>()?;
    claims.push(padding());
    Ok(claims)
}

/// One of the three rescales.
struct Rescale {
    scheme: Scheme,
    parameters: Parameters,
}

impl Rescale {
    fn new(scale: u64, rounding: &str) -> Result<Self> {
        let Float::Finite { value, .. } = Format::F64.decode(scale) else { anyhow::bail!("a scale beyond f64") };
        let (m, s) = quantize_multiplier(&value).context("a multiplier that TOSA has no shift for")?;
        let scheme = Scheme::parse(&format!("tosa-apply-scale-32-{rounding}:wrap"))?;
        Ok(Self { scheme, parameters: Parameters::q31(m, s) })
    }

    fn apply(&self, x: i64) -> Option<i64> {
        self.scheme.fast(x, &self.parameters)
    }
}

/// Extra bits that 8-bit operands are shifted up by before they are added.
const INPUT_SHIFT: u32 = 20;

/// `tfl.add` on every pair of i8, against the exact sum rounded half up.
fn addition([left, right, out]: [Tensor; 3], rounding: &str) -> Result<Claim> {
    // As the lowering computes them: in doubles, operation by operation.
    let f64 = |op: tiebreak_oracle::arithmetic::Arithmetic, a: f64, b: f64| {
        f64::from_bits(op.apply(Format::F64, a.to_bits(), b.to_bits()))
    };
    let lifted = f64::from(1 << INPUT_SHIFT);
    let twice = f64(Multiply, 2.0, left.0.max(right.0));
    let operand = |scale| Rescale::new(f64(Divide, f64(Multiply, lifted, scale), twice).to_bits(), rounding);
    let (lhs, rhs) = (operand(left.0)?, operand(right.0)?);
    let result = Rescale::new(f64(Divide, twice, f64(Multiply, out.0, lifted)).to_bits(), rounding)?;
    let exact = |tensor: Tensor, q: i64| Some(Rational::from_f64(tensor.0)? * (q - tensor.1));
    let mut tally = Tally::default();
    for a in -128..128 {
        for b in -128..128 {
            let sum = lhs.apply(a - left.1).zip(rhs.apply(b - right.1)).and_then(|(a, b)| result.apply(a + b));
            let got = (sum.context("a rescale out of its domain")? + out.1).clamp(-128, 127);
            let real = exact(left, a).zip(exact(right, b)).zip(Rational::from_f64(out.0)).context("a finite scale")?;
            let ((x, y), scale) = real;
            let nearest = RoundingRule::TiesUp.round(&((x + y) / scale)).to_i64().context("a small sum")?;
            let expected = (nearest + out.1).clamp(-128, 127);
            let told = || format!("({a}, {b}): exact {expected}, lowered {got}");
            tally.stored(1, expected, got, (a.unsigned_abs() + b.unsigned_abs(), a, b, 0), told);
        }
    }
    let name = format!("i8, {}:{} + {}:{} = {}:{}", left.0, left.1, right.0, right.1, out.0, out.1);
    let rewrite = format!("tfl.add -> rescale, add, rescale ({rounding} rounding)");
    let witness = tally.nearest.take();
    Ok(Claim::new(&rewrite, &name, Said::Same, Coverage::Exhaustive, &tally, witness))
}

/// `tfl.pad` at every zero point of i8: the stored value of 0.0 is the zero point, and the lowering pads with 0.
fn padding() -> Claim {
    let mut tally = Tally::default();
    for zero_point in -128..128i64 {
        let told = || format!("zero point {zero_point}: the border holds 0, which is {} steps", -zero_point);
        tally.stored(1, zero_point, 0, (zero_point.unsigned_abs(), zero_point, 0, 0), told);
    }
    let witness = tally.nearest.take();
    Claim::new("tfl.pad -> tosa.pad with 0", "i8, every zero point", Said::Same, Coverage::Exhaustive, &tally, witness)
}
