//! One output stage: int32 to int32, and a cast to a narrower type as the last.

use super::{Scheme, Tanh};
use crate::fpm::pieces::Output;
use crate::matmul::Product;
use crate::quantize::Storage;
use crate::requantize::{Definition, wide};
use crate::shape::{ShapeError, broken};
use crate::word::{INT32, Overflow};
use rug::{Integer, Rational};

/// The axis of the result along which a list of parameters lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Along {
    /// One for each row: gemmlowp's column vector.
    Rows,
    /// One for each column: gemmlowp's row vector.
    Columns,
}

/// An output stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Adds a bias. `OutputStageBiasAddition`.
    Bias {
        /// Axis.
        along: Along,
        /// One, or one for each place of the axis.
        values: Vec<i32>,
    },
    /// Adds a bias of 64 bits to a sum of any size, the first stage; [`Stage::Scale`] follows. There is no value if the sum is beyond 48 bits. TFLite's layers of
    /// int16, TOSA's accumulators of 48 bits.
    Bias64 {
        /// Axis.
        along: Along,
        /// One, or one for each place of the axis.
        values: Vec<i64>,
    },
    /// `(v + offset) * multiplier / 2^-shift`, integers. `OutputStageQuantizeDownInt32ToUint8Scale`.
    Down {
        /// Added first.
        offset: i32,
        /// An integer.
        multiplier: i32,
        /// 0 or negative: right.
        shift: i32,
    },
    /// Fixed point multiply, Q0.31, then a zero point: `OutputStageScaleInt32ByFixedPointAndExponent`; without left shifts
    /// `OutputStageQuantizeDownInt32ToUint8ScaleByFixedPoint`.
    Scale {
        /// Axis.
        along: Along,
        /// Multiplier and shift (positive = left): one, or one for each place of the axis.
        channels: Vec<(i32, i32)>,
        /// Added after the multiplication.
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
    /// A saturating cast. `OutputStageSaturatingCastToUint8`, `..ToInt8`, `..ToInt16`.
    Cast(Storage),
}

impl Along {
    /// The place of a result along the axis.
    fn of(self, [row, column]: [usize; 2]) -> usize {
        match self {
            Self::Rows => row,
            Self::Columns => column,
        }
    }

    /// The value of a result in a list of one value or of one for each place.
    fn pick<T: Copy>(self, values: &[T], place: [usize; 2]) -> T {
        values[if values.len() == 1 { 0 } else { self.of(place) }]
    }
}

/// The scheme of [`Stage::Scale`].
pub fn scaling(scheme: &Scheme) -> Scheme {
    match scheme.definition {
        Definition::Fpm(_) => *scheme,
        _ => named("gemmlowp-double", scheme.overflow),
    }
}

/// The scheme of [`Stage::Down`].
pub fn dividing(scheme: &Scheme) -> Scheme {
    match scheme.definition {
        Definition::Fpm(_) => Scheme { definition: Definition::LegacyTiesAway, ..*scheme },
        _ => *scheme,
    }
}

fn named(name: &str, overflow: Overflow) -> Scheme {
    Scheme { overflow, ..Scheme::parse(name).expect("the scheme is registered") }
}

impl Stage {
    /// Whether it is a cast, which is the last stage.
    pub fn is_cast(&self) -> bool {
        matches!(self, Self::Cast(_))
    }

    /// The invalid argument, if there is one.
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

    /// What the stage makes of a value of int32, or a bias of 64 bits and the stage after it of any value, by rationals.
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

    /// The exact value, which nothing rounds or clamps.
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

    /// The stage with its schemes looked up.
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

/// A stage on machine integers.
pub(super) struct Prepared<'a> {
    stage: &'a Stage,
    scale: Scheme,
    down: Scheme,
}

/// A multiplication after which nothing is added or clamped.
const PLAIN: Output = Output { zero_point: 0, min: i32::MIN, max: i32::MAX };

impl Prepared<'_> {
    /// What the stage makes of a sum beyond int32, as far as the stage takes one.
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

    /// What the stage makes of a value.
    pub(super) fn apply(&self, place: [usize; 2], v: i32) -> Option<i32> {
        let overflow = self.scale.overflow;
        let plus = |a: i32, b: i32| overflow.fit_int32(i128::from(a) + i128::from(b));
        match self.stage {
            Stage::Bias { along, values } => plus(v, along.pick(values, place)),
            // The first stage, which takes sums beyond int32.
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
