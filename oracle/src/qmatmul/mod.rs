//! Quantized matrix product: the product of [`crate::matmul`] with its offsets, and a list of output stages applied to each sum in order.
//!
//! Source: google/gemmlowp `doc/output.md`, `public/output_stages.h`, `GemmWithOutputPipeline`; `doc/low-precision.md`, steps 1 to 4 and the legacy paradigm;
//! tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h`. The schemes are those of [`crate::requantize`]:
//! the sum is exact, and the policy of the scheme fits the sum, and the result of each stage, to int32.

mod stage;
mod tanh;

use crate::matmul::{self, Product};
use crate::requantize;
use crate::shape::{ShapeError, broken};
use crate::word::INT32;
use rug::{Integer, Rational};

pub use stage::{Along, Stage, dividing, scaling};
pub use tanh::Tanh;

/// Definition of the multiplications with the policy for every step that does not fit in int32.
///
/// A definition of fixed point multiply applies to [`Stage::Scale`]; [`Stage::Down`] then rounds like gemmlowp's code, `legacy-ties-away`.
/// A legacy definition applies to [`Stage::Down`]; [`Stage::Scale`] then uses gemmlowp's `gemmlowp-double`.
pub type Scheme = requantize::Scheme;

/// Largest number of stages in a list.
pub const MOST_STAGES: usize = 16;

/// Product with the stages of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantized {
    /// Shape and offsets.
    pub product: Product,
    /// Stages of the output, in order.
    pub stages: Vec<Stage>,
}

impl Quantized {
    /// Returns the number of elements of lhs, rhs and the result; the error is the invalid argument.
    pub fn check(&self) -> Result<[usize; 3], ShapeError> {
        let sizes = self.product.check()?;
        if self.stages.len() > MOST_STAGES {
            return Err(broken("stages", format!("{} are more than {MOST_STAGES}", self.stages.len())));
        }
        for (at, stage) in self.stages.iter().enumerate() {
            stage.check(&self.product)?;
            if stage.is_cast() && at + 1 < self.stages.len() {
                return Err(broken("stages", "no stage follows a cast"));
            }
            if matches!(stage, Stage::Bias64 { .. }) {
                let scaled = matches!(self.stages.get(at + 1), Some(Stage::Scale { .. }));
                if at > 0 || !scaled {
                    return Err(broken("stages", "a bias of 64 bits is the first stage, and a scale follows it"));
                }
            }
        }
        Ok(sizes)
    }

    /// True if sums have 64 bits up to the first multiplication.
    pub fn is_wide(&self) -> bool {
        matches!(self.stages.first(), Some(Stage::Bias64 { .. }))
    }

    /// Converts a sum to the input of the first stage.
    fn begun(&self, scheme: &Scheme, sum: &Integer) -> Option<Integer> {
        if self.is_wide() { Some(sum.clone()) } else { scheme.overflow.fit_exact(INT32, sum) }
    }

    /// Returns row and column of result `at`.
    fn place(&self, at: usize) -> [usize; 2] {
        [at / self.product.n, at % self.product.n]
    }
}

/// Computes each result by big integers and rationals, straight from the definition; `None` if a step is out of domain.
pub fn exact(scheme: &Scheme, p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
    p.check()?;
    let one = |(at, sum): (usize, Integer)| {
        let start = p.begun(scheme, &sum)?;
        p.stages.iter().try_fold(start, |v, stage| stage.exact(scheme, p.place(at), v))
    };
    Ok(p.product.sums(lhs, rhs)?.into_iter().enumerate().map(one).collect())
}

/// Computes each result by machine integers, derived independently of [`exact`]; `None` if a step is out of domain.
pub fn expected(scheme: &Scheme, p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check()?;
    if p.is_wide() {
        return finished_wide(scheme, p, &p.product.wide_sums(lhs, rhs)?);
    }
    let sums = product(scheme).expected(&p.product, lhs, rhs)?;
    finished(scheme, p, &sums)
}

/// Applies the stages to sums in the order of the results, by machine integers.
pub fn finished(scheme: &Scheme, p: &Quantized, sums: &[Option<i32>]) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check()?;
    Ok(applied(scheme, p, 0, sums.to_vec()))
}

/// Applies the stages to 64-bit sums, for a list that begins with a bias of 64 bits.
pub fn finished_wide(scheme: &Scheme, p: &Quantized, sums: &[Option<i64>]) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check()?;
    let [bias, scale, ..] = &p.stages[..] else {
        return Err(broken("stages", "there is no bias of 64 bits"));
    };
    let [bias, scale] = [bias, scale].map(|stage| stage.prepared(scheme));
    let of = |(at, sum): (usize, &Option<i64>)| {
        let place = p.place(at);
        scale.of_wide(place, bias.of_wide(place, (*sum)?)?).map(|v| v as i32)
    };
    Ok(applied(scheme, p, 2, sums.iter().enumerate().map(of).collect()))
}

/// Applies the stages from index `from` on.
fn applied(scheme: &Scheme, p: &Quantized, from: usize, mut values: Vec<Option<i32>>) -> Vec<Option<i32>> {
    for stage in &p.stages[from..] {
        let prepared = stage.prepared(scheme);
        for (at, v) in values.iter_mut().enumerate() {
            *v = v.and_then(|v| prepared.apply(p.place(at), v));
        }
    }
    values
}

/// Returns the values of one result after the product and after each stage; `None` from the first stage out of domain on.
pub fn walk(scheme: &Scheme, p: &Quantized, at: usize, sum: &Integer) -> Vec<Option<Integer>> {
    let mut value = p.begun(scheme, sum);
    let mut out = vec![value.clone()];
    for stage in &p.stages {
        value = value.and_then(|v| stage.exact(scheme, p.place(at), v));
        out.push(value.clone());
    }
    out
}

/// Returns the scheme of the exact sum of products, fitted by the policy of `scheme`.
pub fn product(scheme: &Scheme) -> matmul::Scheme {
    let exact = matmul::DEFINITIONS.iter().find(|definition| definition.narrow.is_none());
    matmul::Scheme { definition: exact.expect("the exact product is registered"), overflow: scheme.overflow }
}

/// Computes the exact value of each result, neither rounded nor wrapped nor clamped; `None` if a stage is neither a product nor a sum.
pub fn rational(p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Result<Option<Vec<Rational>>, ShapeError> {
    p.check()?;
    let one = |(at, sum): (usize, Integer)| {
        p.stages.iter().try_fold(Rational::from(sum), |v, stage| stage.rational(p.place(at), v))
    };
    Ok(p.product.sums(lhs, rhs)?.into_iter().enumerate().map(one).collect())
}
