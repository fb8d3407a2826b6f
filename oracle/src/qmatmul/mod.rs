//! Quantized matrix product: the product of [`crate::matmul`] with its offsets, and a list of output stages on each sum, in the order of the list.
//!
//! Source: google/gemmlowp `doc/output.md`, `public/output_stages.h`, `GemmWithOutputPipeline`; `doc/low-precision.md`, steps 1 to 4 and the legacy paradigm;
//! tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/fully_connected.h`. The schemes are those of [`crate::requantize`]: the sum is
//! exact, and the policy of the scheme fits it, and the result of each stage, to int32.

mod stage;
mod tanh;

use crate::matmul::{self, Product};
use crate::requantize;
use crate::shape::{ShapeError, broken};
use crate::word::INT32;
use rug::{Integer, Rational};

pub use stage::{Along, Stage, dividing, scaling};
pub use tanh::Tanh;

/// A definition of the multiplications with the policy for every step that does not fit in int32.
///
/// A definition of fixed point multiply is that of [`Stage::Scale`]; [`Stage::Down`] then rounds as gemmlowp's code does, `legacy-ties-away`. A legacy definition
/// is that of [`Stage::Down`]; [`Stage::Scale`] then is gemmlowp's, `gemmlowp-double`.
pub type Scheme = requantize::Scheme;

/// Stages of a list, at most.
pub const MOST_STAGES: usize = 16;

/// A product with the stages of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantized {
    /// Shape and offsets.
    pub product: Product,
    /// What becomes of a sum, in this order.
    pub stages: Vec<Stage>,
}

impl Quantized {
    /// Elements of lhs, rhs and the result, or the invalid argument.
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

    /// Whether sums have 64 bits up to the first multiplication.
    pub fn is_wide(&self) -> bool {
        matches!(self.stages.first(), Some(Stage::Bias64 { .. }))
    }

    /// A sum as the first stage takes it.
    fn begun(&self, scheme: &Scheme, sum: &Integer) -> Option<Integer> {
        if self.is_wide() { Some(sum.clone()) } else { scheme.overflow.fit_exact(INT32, sum) }
    }

    /// Row and column of result `at`.
    fn place(&self, at: usize) -> [usize; 2] {
        [at / self.product.n, at % self.product.n]
    }
}

/// Each result by big integers and rationals, straight from the definition; `None` if a step is out of domain.
pub fn exact(scheme: &Scheme, p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
    p.check()?;
    let one = |(at, sum): (usize, Integer)| {
        let start = p.begun(scheme, &sum)?;
        p.stages.iter().try_fold(start, |v, stage| stage.exact(scheme, p.place(at), v))
    };
    Ok(p.product.sums(lhs, rhs)?.into_iter().enumerate().map(one).collect())
}

/// Each result by machine integers, derived independently of [`exact`]; `None` if a step is out of domain.
pub fn expected(scheme: &Scheme, p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check()?;
    if p.is_wide() {
        return finished_wide(scheme, p, &p.product.wide_sums(lhs, rhs)?);
    }
    let sums = product(scheme).expected(&p.product, lhs, rhs)?;
    finished(scheme, p, &sums)
}

/// What the stages make of sums in the order of the result, by machine integers.
pub fn finished(scheme: &Scheme, p: &Quantized, sums: &[Option<i32>]) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check()?;
    Ok(applied(scheme, p, 0, sums.to_vec()))
}

/// The same of sums of 64 bits, for a list that begins with such a bias.
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

/// The stages from one on.
fn applied(scheme: &Scheme, p: &Quantized, from: usize, mut values: Vec<Option<i32>>) -> Vec<Option<i32>> {
    for stage in &p.stages[from..] {
        let prepared = stage.prepared(scheme);
        for (at, v) in values.iter_mut().enumerate() {
            *v = v.and_then(|v| prepared.apply(p.place(at), v));
        }
    }
    values
}

/// The values of one result after the product and after each stage; `None` from the stage on that is out of domain.
pub fn walk(scheme: &Scheme, p: &Quantized, at: usize, sum: &Integer) -> Vec<Option<Integer>> {
    let mut value = p.begun(scheme, sum);
    let mut out = vec![value.clone()];
    for stage in &p.stages {
        value = value.and_then(|v| stage.exact(scheme, p.place(at), v));
        out.push(value.clone());
    }
    out
}

/// The exact sum of products, fitted by the policy of a scheme.
pub fn product(scheme: &Scheme) -> matmul::Scheme {
    let exact = matmul::DEFINITIONS.iter().find(|definition| definition.narrow.is_none());
    matmul::Scheme { definition: exact.expect("the exact product is registered"), overflow: scheme.overflow }
}

/// The exact value of each result, which no stage has rounded, wrapped or clamped; `None` if a stage is no product and no sum.
pub fn rational(p: &Quantized, lhs: &[i32], rhs: &[i32]) -> Result<Option<Vec<Rational>>, ShapeError> {
    p.check()?;
    let one = |(at, sum): (usize, Integer)| {
        p.stages.iter().try_fold(Rational::from(sum), |v, stage| stage.rational(p.place(at), v))
    };
    Ok(p.product.sums(lhs, rhs)?.into_iter().enumerate().map(one).collect())
}
