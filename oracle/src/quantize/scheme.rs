//! Quantize scheme: its name, origin, steps, and the fast integer form, which tests compare with the steps.

use super::fast::Fast;
use super::registry::suffix;
use super::steps::{self, Step, Value, either_way};
use super::{Prepared, Quantization, Soft, Stored};
use crate::float::Format;
use crate::rounding::RoundingRule;
use crate::scheme::{registered, step_names};
use crate::word::Overflow;
use rug::{Integer, Rational};

pub use super::registry::DEFINITIONS;

/// Mathematical definition of quantize.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Parameters that the source accepts.
    pub takes: Takes,
    /// Composition, each step with its name. Starts from the float.
    pub steps: &'static [(&'static str, Step)],
    /// Definition in machine integers, derived independently.
    pub(super) fast: Fast,
}

/// Parameters that a source accepts; for other parameters its scheme is unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// All parameters.
    Everything,
    /// f32, storage of at most this many bits, and a zero point of the storage type.
    F32 {
        /// Widest storage, in bits.
        storage: u32,
    },
}

/// Definition with the policy for conversions that do not fit, if it converts: poison by default (`out-of-domain`), the
/// nearest stored value, or the low bits.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

registered!(|definition| step_names(definition.steps));

/// Values of a scheme at an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// `x / scale + zero_point`, or `None` for NaN and infinities.
    pub exact: Option<Rational>,
    /// Name of each step, with the exact value after it, from the float on.
    pub steps: Vec<(&'static str, Value)>,
    /// Result.
    pub result: Stored,
}

/// Scheme at fixed parameters.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    scheme: Scheme,
    prepared: Prepared,
}

impl Fixed {
    /// Computes [`Scheme::expected`], at a fraction of the cost.
    pub fn expected(&self, bits: u64) -> Stored {
        self.scheme.prepared(&self.prepared, bits)
    }
}

impl Takes {
    /// True if the source accepts these parameters.
    pub fn takes(self, q: &Quantization) -> bool {
        match self {
            Self::Everything => true,
            // The zero points of these sources are of the storage type; constants in the sources depend on this.
            Self::F32 { storage } => {
                let zero_points = q.storage.min()..=q.storage.max();
                q.format == Format::F32 && q.storage.bits <= storage && zero_points.contains(&q.zero_point)
            }
        }
    }
}

impl Definition {
    /// True if a step converts to the storage type, so that the policy matters.
    pub fn converts(&self) -> bool {
        self.steps.iter().any(|(_, step)| matches!(step, Step::Convert(_)))
    }

    /// Traces the exact value of every step at one input, whose parameters pass [`Quantization::check`].
    pub fn trace(&self, overflow: Overflow, q: &Quantization, bits: u64) -> Trace {
        let exact = q.format.decode(bits).finite().map(|x| x / q.exact_scale() + q.zero_point);
        if !self.takes.takes(q) {
            return Trace { exact, steps: Vec::new(), result: Stored::Unspecified };
        }
        let (steps, result) = steps::run(self.steps, overflow, q, bits);
        Trace { exact, steps, result }
    }
}

/// Function from an integer outside the storage type to the values that instructions may give, before the clamp.
pub type Conversion = fn(&Quantization, &Integer) -> Vec<i64>;

/// Deviations from the steps of a scheme that code may make; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowedDeviations {
    /// True if roundings to the expressed type may resolve ties in either direction.
    pub ties: bool,
    /// Conversion of numbers beyond the storage type, instead of the scheme's own policy.
    pub conversion: Option<Conversion>,
}

impl Scheme {
    /// True if a conversion or sum wraps, so that results do not grow with the input.
    pub fn wraps(&self) -> bool {
        let sums = || self.definition.steps.iter().any(|(_, step)| matches!(step, Step::Wrap(_)));
        self.overflow == Overflow::Wrap && self.definition.converts() || sums()
    }

    /// Returns every possible result, without duplicates, if each rounding to the expressed type may resolve ties in either direction.
    pub fn either_way(&self, q: &Quantization, bits: u64) -> Vec<Stored> {
        self.results(q, bits, &AllowedDeviations { ties: true, ..AllowedDeviations::default() })
    }

    /// Returns every result, without duplicates, of code with these deviations from the steps.
    pub fn results(&self, q: &Quantization, bits: u64, allowed: &AllowedDeviations) -> Vec<Stored> {
        let (mut values, mut results) = (vec![Value::of(q.format, bits)], Vec::new());
        for (_, step) in self.definition.steps {
            let mut next = Vec::new();
            for value in values {
                match (step, value) {
                    (Step::RoundToFormat, Value::Number(v)) if allowed.ties => next.extend(either_way(q.format, &v)),
                    (Step::Convert(rule), Value::Number(v)) if allowed.conversion.is_some() => {
                        let integer = rule.round(&v);
                        let fits = (q.storage.min()..=q.storage.max()).contains(&integer);
                        let converted = match allowed.conversion {
                            Some(conversion) if !fits => conversion(q, &integer),
                            _ => integer.to_i64().into_iter().collect(),
                        };
                        next.extend(converted.into_iter().map(|v| Value::Number(v.into())));
                    }
                    (_, value) => match step.apply(value, self.overflow, q) {
                        Ok(value) => next.push(value),
                        Err(result) => results.push(result),
                    },
                }
            }
            next.dedup();
            values = next;
        }
        results.extend(values.iter().map(Stored::of));
        results.sort_unstable();
        results.dedup();
        results
    }

    /// Returns the scheme that rounds the exact sum once by `rule`.
    pub fn ideal(rule: RoundingRule) -> Self {
        Self::named(suffix(rule))
    }

    /// Returns the scheme of the RFC's steps with a conversion by `rule`.
    pub fn qcast(rule: RoundingRule, overflow: Overflow) -> Self {
        Self { overflow, ..Self::named(&format!("mlir-qcast-{}", suffix(rule))) }
    }

    /// Computes the result by big rationals. The parameters pass [`Quantization::check`].
    pub fn exact(&self, q: &Quantization, bits: u64) -> Stored {
        self.definition.trace(self.overflow, q, bits).result
    }

    /// Computes the result by machine integers. The parameters pass [`Quantization::check`].
    pub fn expected(&self, q: &Quantization, bits: u64) -> Stored {
        self.prepared(&Prepared::new(q), bits)
    }

    /// Fixes the parameters, for many inputs.
    pub fn fixed(&self, q: &Quantization) -> Fixed {
        Fixed { scheme: *self, prepared: Prepared::new(q) }
    }

    pub(super) fn prepared(&self, p: &Prepared, bits: u64) -> Stored {
        if !self.definition.takes.takes(&p.q) {
            return Stored::Unspecified;
        }
        (self.definition.fast)(p, self.overflow, Soft::of(p.q.format, bits))
    }
}
