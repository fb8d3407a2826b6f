//! Exact steps used only by multiplication schemes.

use super::super::Side;
use super::super::steps::{Constants, OwnStep};
use super::Multiplication;
use crate::derivation::{DERIVATIONS, Scales, quantize_multiplier};
use crate::fpm;
use crate::word::Overflow;
use rug::Rational;

/// One exact step of a multiplication.
pub type Step = super::super::steps::Step<Own>;

/// One exact step. `v` is the value so far. The real multiplier is `lhs_scale * rhs_scale / out_scale` by the named derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// `v` times the real multiplier.
    Multiply(&'static str),
    /// `v` multiplied by the scheme of fixed point multiply named first, with the Q0.31 multiplier and the shift of the real multiplier.
    Rescale(&'static str, &'static str),
}

/// Constants that the steps derive from a batch's scales: the real multiplier of each derivation.
#[derive(Clone, Debug)]
pub struct OwnConstants(Vec<(&'static str, Rational)>);

impl OwnConstants {
    /// Computes the constants for these scales of both operands and of the result.
    pub(super) fn new(scales: &[Rational; 3]) -> Self {
        let [input, weight, output] = scales.clone();
        let of = Scales { input, weight, output };
        Self(DERIVATIONS.iter().map(|derivation| (derivation.name, (derivation.real)(&of))).collect())
    }

    fn real(&self, derivation: &str) -> Option<&Rational> {
        self.0.iter().find(|(name, _)| *name == derivation).map(|(_, real)| real)
    }
}

impl OwnStep<Multiplication> for Own {
    fn apply(
        self,
        v: Rational,
        overflow: Overflow,
        c: &Constants<'_, Multiplication>,
        _: Option<Side>,
    ) -> Option<Rational> {
        Some(match self {
            Self::Multiply(derivation) => v * c.own.real(derivation)?,
            Self::Rescale(name, derivation) => {
                let (m, s) = quantize_multiplier(c.own.real(derivation)?)?;
                fpm::Scheme::find(name, overflow)?.exact(v.numer().to_i64()?, &fpm::Parameters::q31(m, s))?.into()
            }
        })
    }
}
