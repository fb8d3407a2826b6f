//! Requantization: `clamp(scaled(acc + bias) + zero_point, min, max)`, with `scaled` a fixed point multiply or the integer
//! fraction of gemmlowp's legacy paradigm. The scheme's policy fits each step to int32.

mod own;
pub(crate) mod wide;

use crate::fpm::pieces::Output;
use crate::fpm::steps::{Exponent, Multiplier, Step};
use crate::fpm::{self, Name, Parameters as Multiply, Trace};
use crate::rounding::RoundingRule::{TiesAway, TowardNegative};
use crate::scheme::{Described, Registered};
use crate::shape::{self, ShapeError, broken};
use crate::word::INT32;
use rug::{Integer, Rational};
use std::ops::RangeInclusive;

/// Parameters of one batch. Element `i` belongs to channel `i % channels.len()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Multiplier and shift (positive = left): one pair, or one for each channel. For `legacy` the multiplier is the integer
    /// `result_mult_int`, and the shift is `-result_shift`.
    pub channels: Vec<(i32, i32)>,
    /// Bias or `result_offset` of each channel, added to the accumulator first.
    pub bias: Vec<i32>,
    /// Zero point, added after the multiplication.
    pub zero_point: i32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

/// Scaling of the biased accumulator.
#[derive(Clone, Copy, Debug)]
pub enum Definition {
    /// Scheme of fixed point multiply, Q0.31, or a scheme for sums only, under the same policy.
    Fpm(&'static fpm::Definition),
    /// `v * multiplier / 2^-shift` rounded half up. The product plus `2^(-shift - 1)` is fitted before the shift; shift 0 adds
    /// 0. Source: google/gemmlowp doc/low-precision.md, the legacy low-precision paradigm, (1);
    /// public/output_stages.h OutputStageQuantizeDownInt32ToUint8Scale.
    Legacy,
    /// `v * multiplier / 2^-shift` rounded half away from zero: the product is fitted, then divided. Source: google/gemmlowp
    /// internal/output.h, which divides by `RoundingDivideByPOT` since its rounding shifts were generalised.
    LegacyTiesAway,
}

/// Definition with the policy for every step that does not fit in int32. Names: the schemes of fixed point multiply,
/// `cmsis-nn-int16-multiplier`, `xnnpack-fp32`, `legacy`, and `legacy-ties-away`.
pub type Scheme = crate::scheme::Scheme<Definition>;

impl Registered for Definition {
    fn all() -> impl Iterator<Item = Self> {
        let multiplied = fpm::scheme::DEFINITIONS.iter().chain(&own::DEFINITIONS);
        multiplied.map(Self::Fpm).chain([Self::Legacy, Self::LegacyTiesAway])
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fpm(definition) => definition.name,
            Self::Legacy => "legacy",
            Self::LegacyTiesAway => "legacy-ties-away",
        }
    }

    fn described(self) -> Described {
        let (summary, source) = match self {
            Self::Fpm(definition) => return definition.described(),
            Self::Legacy => (
                "round((acc + result_offset) * result_mult_int / 2^result_shift), ties up",
                "gemmlowp doc/low-precision.md, the legacy low-precision paradigm",
            ),
            Self::LegacyTiesAway => {
                ("the same, ties away from zero", "gemmlowp internal/output.h, RoundingDivideByPOT")
            }
        };
        Described { name: self.name(), summary, source, steps: Vec::new() }
    }
}

impl Definition {
    /// Returns the shifts that the definition accepts.
    pub fn shifts(self) -> RangeInclusive<i32> {
        match self {
            Self::Fpm(_) => -31..=31,
            Self::Legacy | Self::LegacyTiesAway => -31..=0,
        }
    }
}

impl Parameters {
    /// Checks a batch of `len` accumulators; the error is the invalid argument.
    pub fn check(&self, definition: Definition, len: usize) -> Result<(), ShapeError> {
        shape::elements("acc", &[len])?;
        if self.channels.is_empty() {
            return Err(broken("channels", "there must be at least one"));
        }
        shape::length("bias", self.bias.len(), self.channels.len())?;
        let (name, shifts) = (definition.name(), definition.shifts());
        if let Some((_, s)) = self.channels.iter().find(|(_, s)| !shifts.contains(s)) {
            return Err(broken(
                "shift",
                format!("{s} is not in {} to {}, which `{name}` takes", shifts.start(), shifts.end()),
            ));
        }
        if self.min > self.max {
            return Err(broken("min", format!("{} is above max, {}", self.min, self.max)));
        }
        Ok(())
    }

    fn each<'a>(&'a self, acc: &'a [i32]) -> impl Iterator<Item = (i32, i32, (i32, i32))> + use<'a> {
        acc.iter().zip(self.bias.iter().zip(&self.channels).cycle()).map(|(x, (bias, channel))| (*x, *bias, *channel))
    }
}

impl Scheme {
    /// Computes each result by rationals; `None` if a step is out of domain.
    pub fn exact(&self, p: &Parameters, acc: &[i32]) -> Result<Vec<Option<Integer>>, ShapeError> {
        p.check(self.definition, acc.len())?;
        let fit = |v: &Integer| self.overflow.fit_exact(INT32, v);
        let one = |(x, bias, channel)| {
            let biased = fit(&(Integer::from(x) + bias))?;
            let scaled = self.scaled_exact(biased, channel)?;
            let placed = fit(&(scaled + p.zero_point))?;
            Some(placed.clamp(&p.min, &p.max))
        };
        Ok(p.each(acc).map(one).collect())
    }

    pub(crate) fn scaled_exact(&self, v: Integer, (multiplier, shift): (i32, i32)) -> Option<Integer> {
        match self.definition {
            Definition::Fpm(definition) => {
                definition.exact(self.overflow, v.to_i64()?, &Multiply::q31(multiplier, shift))
            }
            Definition::Legacy => {
                // Half of a divisor of at least 2; a divisor of 1 needs no rounding.
                let rounding = TowardNegative.round(&(Rational::from((1, 2)) << -shift));
                let nudged = self.overflow.fit_exact(INT32, &(v * multiplier + rounding))?;
                Some(TowardNegative.round(&(Rational::from(nudged) << shift)))
            }
            Definition::LegacyTiesAway => {
                let product = self.overflow.fit_exact(INT32, &(v * multiplier))?;
                Some(TiesAway.round(&(Rational::from(product) << shift)))
            }
        }
    }

    /// Returns the steps of one channel, from the accumulator to the result. Legacy schemes use the multiplier as an integer.
    pub fn steps(&self, p: &Parameters, channel: usize) -> Vec<(Name, Step)> {
        let (_, shift) = p.channels[channel];
        let fit = |name: &'static str| (name.into(), Step::fitting(self.overflow, INT32));
        let product = ("product acc*m".into(), Step::Multiply(Multiplier::Full));
        let scale = ("shift right by max(-s,0)".into(), Step::Scale(Exponent::Right));
        let mut out: Vec<(Name, Step)> =
            vec![("add the bias".into(), Step::Offset(p.bias[channel].into())), fit("the biased accumulator in int32")];
        match self.definition {
            Definition::Fpm(definition) => {
                out.extend(definition.steps.iter().map(|(name, step)| ((*name).into(), *step)));
                out.push(fit("the scaled value in int32"));
            }
            Definition::Legacy => out.extend([
                product,
                ("add half of the divisor".into(), Step::Add((1 << -shift) >> 1)),
                fit("the nudged product in int32"),
                scale,
                ("the shift floors".into(), Step::Round(TowardNegative)),
            ]),
            Definition::LegacyTiesAway => out.extend([
                product,
                fit("the product in int32"),
                scale,
                ("divide by power of two rounds (ties-away)".into(), Step::Round(TiesAway)),
            ]),
        }
        out.extend([
            ("add the zero point".into(), Step::Offset(p.zero_point.into())),
            fit("the placed value in int32"),
            ("clamp".into(), Step::Clamp(p.min.into(), p.max.into())),
        ]);
        out
    }

    /// Traces every step of one accumulator of a channel. The exact value is `(acc + bias) * m * 2^(s-31) + zero_point`, or for
    /// legacy schemes `(acc + bias) * m * 2^s + zero_point`.
    pub fn trace(&self, p: &Parameters, channel: usize, acc: i32) -> Trace {
        let (multiplier, shift) = p.channels[channel];
        let parameters = Multiply::q31(multiplier, shift);
        let trace = Trace::of(self.steps(p, channel), self.overflow, acc.into(), &parameters);
        let fraction = if matches!(self.definition, Definition::Fpm(_)) { 31 } else { 0 };
        let biased = Integer::from(acc) + p.bias[channel];
        let exact = (Rational::from(biased * multiplier) << (shift - fraction)) + p.zero_point;
        Trace { exact, ..trace }
    }

    /// Traces the steps from a biased accumulator of up to 64 bits to the placed value, without bias and clamp.
    pub fn trace_scaled(&self, p: &Parameters, channel: usize, v: i64) -> Trace {
        let (multiplier, shift) = p.channels[channel];
        let steps = self.steps(p, channel);
        let last = steps.len() - 1;
        Trace::of(steps.into_iter().take(last).skip(2), self.overflow, v, &Multiply::q31(multiplier, shift))
    }

    /// Computes each result by machine integers, derived independently of [`Scheme::exact`]; `None` if a step is out of domain.
    pub fn expected(&self, p: &Parameters, acc: &[i32]) -> Result<Vec<Option<i32>>, ShapeError> {
        p.check(self.definition, acc.len())?;
        let output = Output { zero_point: p.zero_point, min: p.min, max: p.max };
        let one = |(x, bias, channel)| {
            let biased = self.overflow.fit_int32(i128::from(x) + i128::from(bias))?;
            self.output(channel, &output, biased)
        };
        Ok(p.each(acc).map(one).collect())
    }

    /// Computes a result by machine integers, for a shift that the definition accepts; `None` if a step is out of domain.
    #[inline]
    pub fn output(&self, channel: (i32, i32), output: &Output, v: i32) -> Option<i32> {
        self.placed(self.scaled(v, channel)?, output)
    }

    /// Computes a result of a sum of 64 bits; `None` for legacy schemes.
    pub(crate) fn output_of_wide(&self, channel: (i32, i32), output: &Output, v: i64) -> Option<i32> {
        match self.definition {
            Definition::Fpm(definition) => self.placed(self.multiplied(definition, v, channel)?, output),
            Definition::Legacy | Definition::LegacyTiesAway => None,
        }
    }

    #[inline]
    fn placed(&self, scaled: i32, output: &Output) -> Option<i32> {
        let placed = i128::from(scaled) + i128::from(output.zero_point);
        Some(self.overflow.fit_int32(placed)?.clamp(output.min, output.max))
    }

    #[inline]
    fn multiplied(&self, definition: &'static fpm::Definition, v: i64, (m, s): (i32, i32)) -> Option<i32> {
        let scheme = fpm::Scheme { definition, overflow: self.overflow };
        scheme.fast(v, &Multiply::q31(m, s)).map(|v| v as i32)
    }

    #[inline]
    fn scaled(&self, v: i32, (multiplier, shift): (i32, i32)) -> Option<i32> {
        match self.definition {
            Definition::Fpm(definition) => self.multiplied(definition, v.into(), (multiplier, shift)),
            Definition::Legacy => {
                // A product of int32 is at most 2^62 in magnitude, so 64 bits hold it with any rounding term.
                let rounding = (1i64 << -shift) >> 1;
                let nudged = i64::from(v) * i64::from(multiplier) + rounding;
                Some(self.overflow.fit_int32(nudged.into())? >> -shift)
            }
            Definition::LegacyTiesAway => {
                let product = i64::from(v) * i64::from(multiplier);
                let product = i64::from(self.overflow.fit_int32(product.into())?);
                // Rounding half up of the magnitude is rounding half away from zero of the number.
                let magnitude = (product.abs() + ((1i64 << -shift) >> 1)) >> -shift;
                self.overflow.fit_int32((magnitude * product.signum()).into())
            }
        }
    }
}
