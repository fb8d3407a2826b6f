//! Output stage from int32 to int32; a cast to a narrower type may be the last stage.

use super::{Scheme, Tanh};
use crate::fpm::pieces::Output;
use crate::matmul::Product;
use crate::quantize::Storage;
use crate::requantize::{Definition, wide};
use crate::shape::{ShapeError, broken};
use crate::word::INT32;
use rug::{Integer, Rational};

/// Axis of the result for a list of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Along {
    /// One value for each row: gemmlowp's column vector.
    Rows,
    /// One value for each column: gemmlowp's row vector.
    Columns,
}

/// Output stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Adds a bias. `OutputStageBiasAddition`.
    Bias {
        /// Axis.
        along: Along,
        /// One value, or one for each position of the axis.
        values: Vec<i32>,
    },
    /// Adds a bias of 64 bits to a sum of any size, as the first stage, followed by [`Stage::Scale`]. A sum beyond 48 bits has no value.
    /// TFLite's int16 layers, TOSA's 48-bit accumulators.
    Bias64 {
        /// Axis.
        along: Along,
        /// One value, or one for each position of the axis.
        values: Vec<i64>,
    },
    /// `(v + offset) * multiplier / 2^-shift`, integers. `OutputStageQuantizeDownInt32ToUint8Scale`.
    Down {
        /// Offset, added first.
        offset: i32,
        /// Integer factor.
        multiplier: i32,
        /// Shift, 0 or negative: right.
        shift: i32,
    },
    /// Fixed point multiply, Q0.31, then a zero point: `OutputStageScaleInt32ByFixedPointAndExponent`, or, without left shifts,
    /// `OutputStageQuantizeDownInt32ToUint8ScaleByFixedPoint`.
    Scale {
        /// Axis.
        along: Along,
        /// Multiplier and shift (positive = left): one pair, or one for each position of the axis.
        channels: Vec<(i32, i32)>,
        /// Zero point, added after the multiplication.
        zero_point: i32,
    },
    /// `OutputStageClamp`.
    Clamp {
        /// Smallest result.
        min: i32,
        /// Largest result.
        max: i32,
    },
    /// `OutputStageTanh`.
    Tanh(Tanh),
    /// Saturating cast. `OutputStageSaturatingCastToUint8`, `..ToInt8`, `..ToInt16`.
    Cast(Storage),
}

impl Along {
    /// Returns the position of a result along the axis.
    fn of(self, [row, column]: [usize; 2]) -> usize {
        match self {
            Self::Rows => row,
            Self::Columns => column,
        }
    }

    /// Returns the value for a result, from a list of one value or one for each position.
    fn pick<T: Copy>(self, values: &[T], place: [usize; 2]) -> T {
        values[if values.len() == 1 { 0 } else { self.of(place) }]
    }
}

/// Returns the scheme of [`Stage::Scale`].
pub fn scaling(scheme: &Scheme) -> Scheme {
    match scheme.definition {
        Definition::Fpm(_) => *scheme,
        _ => Scheme { overflow: scheme.overflow, ..Scheme::named("gemmlowp-double") },
    }
}

/// Returns the scheme of [`Stage::Down`].
pub fn dividing(scheme: &Scheme) -> Scheme {
    match scheme.definition {
        Definition::Fpm(_) => Scheme { definition: Definition::LegacyTiesAway, ..*scheme },
        _ => *scheme,
    }
}

impl Stage {
    /// True for a cast, which is the last stage.
    pub fn is_cast(&self) -> bool {
        matches!(self, Self::Cast(_))
    }

    /// Checks the stage; the error is the invalid argument.
    pub(super) fn check(&self, product: &Product) -> Result<(), ShapeError> {
        let counted = |along: Along, n: usize, what: &str| {
            let (size, axis) = match along {
                Along::Rows => (product.m, "rows"),
                Along::Columns => (product.n, "columns"),
            };
            match n == 1 || n == size {
                true => Ok(()),
                false => Err(broken("stages", format!("{n} {what} for {size} {axis}; there is one, or one for each"))),
            }
        };
        match self {
            Self::Bias { along, values } => counted(*along, values.len(), "biases"),
            Self::Bias64 { along, values } => counted(*along, values.len(), "biases"),
            Self::Scale { along, channels, .. } => {
                counted(*along, channels.len(), "multipliers")?;
                channels.iter().try_for_each(|(_, s)| shift(*s, -31..=31))
            }
            Self::Down { shift: s, .. } => shift(*s, -31..=0),
            Self::Clamp { min, max } if min > max => {
                Err(broken("stages", format!("the clamp's {min} is above its {max}")))
            }
            Self::Tanh(tanh) => tanh.check(),
            Self::Clamp { .. } | Self::Cast(_) => Ok(()),
        }
    }

    /// Applies the stage to an int32 value, by rationals. A bias of 64 bits and the stage after it accept any value.
    pub(super) fn exact(&self, scheme: &Scheme, place: [usize; 2], v: Integer) -> Option<Integer> {
        let fit = |v: Integer| scheme.overflow.fit_exact(INT32, &v);
        match self {
            Self::Bias { along, values } => fit(v + along.pick(values, place)),
            Self::Bias64 { along, values } => wide::biased_exact(v, along.pick(values, place)),
            Self::Down { offset, multiplier, shift } => {
                dividing(scheme).scaled_exact(fit(v + *offset)?, (*multiplier, *shift))
            }
            Self::Scale { along, channels, zero_point } => {
                fit(scaling(scheme).scaled_exact(v, along.pick(channels, place))? + *zero_point)
            }
            Self::Clamp { min, max } => Some(v.clamp(min, max)),
            Self::Tanh(tanh) => tanh.exact(scheme.overflow, v),
            Self::Cast(storage) => {
                let (least, most) = (Storage::min(*storage), Storage::max(*storage));
                Some(v.clamp(&least, &most))
            }
        }
    }

    /// Computes the exact value, neither rounded nor clamped.
    pub(super) fn rational(&self, place: [usize; 2], v: Rational) -> Option<Rational> {
        match self {
            Self::Bias { along, values } => Some(v + along.pick(values, place)),
            Self::Bias64 { along, values } => Some(v + along.pick(values, place)),
            Self::Down { offset, multiplier, shift } => Some(((v + *offset) * *multiplier) << *shift),
            Self::Scale { along, channels, zero_point } => {
                let (multiplier, shift) = along.pick(channels, place);
                Some(((v * multiplier) << (shift - 31)) + *zero_point)
            }
            Self::Clamp { .. } | Self::Cast(_) => Some(v),
            Self::Tanh(_) => None,
        }
    }

    /// Prepares the stage, with its schemes looked up.
    pub(super) fn prepared(&self, scheme: &Scheme) -> Prepared<'_> {
        Prepared { stage: self, scale: scaling(scheme), down: dividing(scheme) }
    }
}

fn shift(s: i32, range: std::ops::RangeInclusive<i32>) -> Result<(), ShapeError> {
    match range.contains(&s) {
        true => Ok(()),
        false => Err(broken("stages", format!("shift {s} is not in {} to {}", range.start(), range.end()))),
    }
}

/// Stage on machine integers.
pub(super) struct Prepared<'a> {
    stage: &'a Stage,
    scale: Scheme,
    down: Scheme,
}

/// Output that neither adds a zero point nor clamps.
const PLAIN: Output = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };

impl Prepared<'_> {
    /// Applies the stage to a sum beyond int32; `None` if the stage accepts only int32.
    pub(super) fn of_wide(&self, place: [usize; 2], v: i64) -> Option<i64> {
        match self.stage {
            Stage::Bias64 { along, values } => wide::biased(v, along.pick(values, place)),
            Stage::Scale { along, channels, zero_point } => {
                let output = Output { zero_point: *zero_point, ..PLAIN };
                self.scale.output_of_wide(along.pick(channels, place), &output, v).map(i64::from)
            }
            _ => None,
        }
    }

    /// Applies the stage to a value.
    pub(super) fn apply(&self, place: [usize; 2], v: i32) -> Option<i32> {
        let overflow = self.scale.overflow;
        let plus = |a: i32, b: i32| overflow.fit_int32(i128::from(a) + i128::from(b));
        match self.stage {
            Stage::Bias { along, values } => plus(v, along.pick(values, place)),
            // This first stage receives sums beyond int32, in `of_wide`.
            Stage::Bias64 { .. } => None,
            Stage::Down { offset, multiplier, shift } => {
                self.down.output((*multiplier, *shift), &PLAIN, plus(v, *offset)?)
            }
            Stage::Scale { along, channels, zero_point } => {
                let output = Output { zero_point: *zero_point, ..PLAIN };
                self.scale.output(along.pick(channels, place), &output, v)
            }
            Stage::Clamp { min, max } => Some(v.max(*min).min(*max)),
            Stage::Tanh(tanh) => tanh.fast(overflow, v),
            Stage::Cast(storage) => {
                let (least, most) = (Storage::min(*storage), Storage::max(*storage));
                Some(i64::from(v).max(least).min(most) as i32)
            }
        }
    }
}
