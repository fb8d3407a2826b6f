//! Quantization: a float `x` becomes the integer `x / scale + zero_point`, rounded and clamped; and the schemes by which systems
//! quantize. Dequantization is [`crate::dequantize`].
//!
//! Source of the operation: MLIR RFC "Improvements in the 'quant' dialect", type `!quant.uniform`.

mod differences;
mod fast;
mod registry;
mod runs;
pub mod scheme;
mod soft;
pub mod steps;
mod threshold;

use crate::float::{Float, Format};
use crate::names::{UnknownName, unknown};
use crate::shape::{ShapeError, broken};
use serde::Serialize;
use thiserror::Error;

pub use differences::{Differences, Witness, zip};
pub use runs::{Boundary, NoRuns, Runs};
pub use scheme::{AllowedDeviations, Conversion, Definition, Fixed, Scheme, Trace};
pub use threshold::Threshold;

pub(crate) use registry::suffix;
pub(crate) use soft::{Prepared, Soft};

/// Integer type of stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Storage {
    /// Width in bits, 1..=32.
    pub bits: u32,
    /// True for two's complement, false for unsigned.
    pub signed: bool,
}

impl Storage {
    /// Parses MLIR's name: `i8`, `u16`, ...
    pub fn parse(name: &str) -> Result<Self, UnknownName> {
        let no_such = || unknown("storage type", name, ["i4", "u4", "i8", "u8", "i16", "u16", "i32", "u32"]);
        let signed = name.starts_with('i');
        let width = name.strip_prefix(['i', 'u']).filter(|w| !w.starts_with(['0', '+'])).ok_or_else(no_such)?;
        let bits = width.parse().ok().filter(|b| (1..=32).contains(b)).ok_or_else(no_such)?;
        Ok(Self { bits, signed })
    }

    /// Returns MLIR's name.
    pub fn name(self) -> String {
        format!("{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }

    /// Returns the smallest value.
    pub fn min(self) -> i64 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    /// Returns the largest value.
    pub fn max(self) -> i64 {
        (1 << (self.bits - u32::from(self.signed))) - 1
    }

    /// Checks that each value of an argument is of this type.
    pub(crate) fn holds(self, argument: &'static str, values: &[i32]) -> Result<(), ShapeError> {
        let stored = self.min()..=self.max();
        match values.iter().find(|v| !stored.contains(&i64::from(**v))) {
            Some(v) => Err(broken(argument, format!("{v} is no {}", self.name()))),
            None => Ok(()),
        }
    }

    /// Returns the value of the low bits of `v`.
    pub fn wrap(self, v: i64) -> i64 {
        self.min() + (v - self.min()).rem_euclid(1 << self.bits)
    }
}

/// Parameters of a quantized element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Quantization {
    /// Type of expressed values.
    pub format: Format,
    /// Scale rounded to the expressed type, a pattern of `format`.
    pub scale: u64,
    /// Stored value of real 0.
    pub zero_point: i64,
    /// Type of stored values.
    pub storage: Storage,
    /// Smallest stored value.
    pub min: i64,
    /// Largest stored value.
    pub max: i64,
}

/// Reason why a [`Quantization`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadQuantization {
    /// Scale that is zero, negative, infinite or NaN in the expressed type.
    #[error("the scale must be a positive number; rounded to the expressed type it is pattern {0:#x}")]
    Scale(u64),
    /// Width outside 1..=32.
    #[error("the storage type must have 1 to 32 bits, not {0}")]
    Width(u32),
    /// Bounds that are crossed, or outside the storage type.
    #[error("the bounds {min}:{max} must be in order and inside the storage type's {lowest}:{highest}")]
    Bounds {
        /// Lower bound.
        min: i64,
        /// Upper bound.
        max: i64,
        /// Smallest value of the storage type.
        lowest: i64,
        /// Largest value of the storage type.
        highest: i64,
    },
    /// Zero point beyond 32 bits of either signedness.
    #[error("the zero point {0} fits in no storage type")]
    ZeroPoint(i64),
}

impl Quantization {
    /// Creates parameters with all values of the storage type.
    pub fn whole(format: Format, scale: u64, zero_point: i64, storage: Storage) -> Self {
        Self { format, scale, zero_point, storage, min: storage.min(), max: storage.max() }
    }

    /// Checks the parameters. Every scheme accepts valid parameters. A zero point outside the storage type or the bounds is valid, as in MLIR.
    pub fn check(&self) -> Result<(), BadQuantization> {
        let Storage { bits, .. } = self.storage;
        if !(1..=32).contains(&bits) {
            return Err(BadQuantization::Width(bits));
        }
        if !(1..self.format.infinity()).contains(&self.scale) {
            return Err(BadQuantization::Scale(self.scale));
        }
        let (lowest, highest) = (self.storage.min(), self.storage.max());
        if !(lowest <= self.min && self.min <= self.max && self.max <= highest) {
            return Err(BadQuantization::Bounds { min: self.min, max: self.max, lowest, highest });
        }
        if !(i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&self.zero_point) {
            return Err(BadQuantization::ZeroPoint(self.zero_point));
        }
        Ok(())
    }

    /// Returns the scale as an exact number.
    ///
    /// # Panics
    /// Panics if [`Quantization::check`] fails for the scale.
    pub fn exact_scale(&self) -> rug::Rational {
        match self.format.decode(self.scale) {
            Float::Finite { value, .. } => value,
            other => panic!("the scale is {other:?}"),
        }
    }
}

/// Result of quantizing a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stored {
    /// Stored value.
    Value(i64),
    /// No value, because the source leaves the conversion undefined. No expectation is allowed.
    Poison,
    /// Not covered by the scheme: NaN or an infinity without a policy, or parameters that the source does not accept.
    Unspecified,
}

impl Stored {
    /// Returns the stored value, if any.
    pub fn value(self) -> Option<i64> {
        match self {
            Self::Value(v) => Some(v),
            Self::Poison | Self::Unspecified => None,
        }
    }
}
