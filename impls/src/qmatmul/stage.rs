//! Output stages, and gemmlowp's code of each on one value.
//!
//! Source: google/gemmlowp `public/output_stages.h`, `internal/output.h`.

use super::{Params, tanh};
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::gemmlowp::{double_rounding, rounding_divide_by_pot};
use crate::shape::{ShapeError, broken};
use serde::{Deserialize, Serialize};

/// Stages of a list, at most.
const MOST: usize = 16;

/// The axis of the result along which a list of parameters lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    /// One for each row: gemmlowp's column vector.
    Rows,
    /// One for each column: gemmlowp's row vector.
    Columns,
}

/// An output stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum Stage {
    /// Adds a bias.
    Bias {
        /// Axis.
        along: Along,
        /// One, or one for each place of the axis.
        values: Vec<i32>,
    },
    /// Adds a bias of 64 bits to a sum of 64 bits, the first stage; a scale follows.
    Bias64 {
        /// Axis.
        along: Along,
        /// One, or one for each place of the axis.
        values: Vec<i64>,
    },
    /// `(v + offset) * multiplier / 2^-shift`, integers: `OutputStageQuantizeDownInt32ToUint8Scale`.
    Down {
        /// Added first.
        offset: i32,
        /// An integer.
        multiplier: i32,
        /// 0 or negative: right.
        shift: i32,
    },
    /// Fixed point multiply, Q0.31, then a zero point.
    Scale {
        /// Axis.
        along: Along,
        /// One, or one for each place of the axis.
        channels: Vec<Channel>,
        /// Added after the multiplication.
        zero_point: i32,
    },
    /// Bounds.
    Clamp {
        /// Smallest result.
        min: i32,
        /// Largest result.
        max: i32,
    },
    /// `zero_point + amplitude * tanh((v - zero_point) / amplitude)`.
    Tanh {
        /// The int32 that stands for 0.
        zero_point: i32,
        /// The int32, less the zero point, that stands for 1.
        amplitude: i32,
    },
    /// A saturating cast, the last stage.
    Cast {
        /// Type of the results.
        to: Element,
    },
}

impl Along {
    /// Places of the axis.
    pub fn size(self, params: &Params) -> usize {
        match self {
            Self::Rows => params.shape.m,
            Self::Columns => params.shape.n,
        }
    }

    /// The value of a result in a list of one, or of one for each place.
    #[inline(always)]
    pub(crate) fn pick<T: Copy>(self, values: &[T], [row, column]: [usize; 2]) -> T {
        let at = match self {
            Self::Rows => row,
            Self::Columns => column,
        };
        values[if values.len() == 1 { 0 } else { at }]
    }
}

/// The invalid argument of the stages, if there is one.
pub(super) fn check(params: &Params) -> Result<(), ShapeError> {
    let wrong = |rule: String| Err(broken("stages", rule));
    if params.stages.len() > MOST {
        return wrong(format!("{} are more than {MOST}", params.stages.len()));
    }
    let counted = |along: Along, n: usize| match along.size(params) {
        size if n == 1 || n == size => Ok(()),
        size => wrong(format!("{n} values for {size} places; there is one, or one for each")),
    };
    let shifted = |s: i32, most: i32| match (-31..=most).contains(&s) {
        true => Ok(()),
        false => wrong(format!("shift {s} is not in -31 to {most}")),
    };
    for (at, stage) in params.stages.iter().enumerate() {
        match stage {
            Stage::Bias { along, values } => counted(*along, values.len())?,
            Stage::Bias64 { along, values } => {
                counted(*along, values.len())?;
                let scaled = matches!(params.stages.get(at + 1), Some(Stage::Scale { .. }));
                if at > 0 || !scaled {
                    return wrong("a bias of 64 bits is the first stage, and a scale follows it".to_owned());
                }
            }
            Stage::Down { shift, .. } => shifted(*shift, 0)?,
            Stage::Scale { along, channels, .. } => {
                counted(*along, channels.len())?;
                channels.iter().try_for_each(|channel| shifted(channel.shift, 31))?;
            }
            Stage::Clamp { min, max } if min > max => return wrong(format!("{min} is above {max}")),
            Stage::Tanh { zero_point, amplitude } => tanh::check(*zero_point, *amplitude)?,
            Stage::Cast { .. } if at + 1 < params.stages.len() => return wrong("no stage follows a cast".to_owned()),
            Stage::Clamp { .. } | Stage::Cast { .. } => {}
        }
    }
    Ok(())
}

/// What becomes of a value beyond int32.
#[derive(Clone, Copy)]
pub(crate) struct Arithmetic {
    pub(crate) add: fn(i32, i32) -> i32,
    pub(crate) mul: fn(i32, i32) -> i32,
    pub(crate) shift_left: fn(i32, u32) -> i32,
}

/// As vectors compute.
pub(crate) const WRAPPING: Arithmetic =
    Arithmetic { add: i32::wrapping_add, mul: i32::wrapping_mul, shift_left: |v, s| v.wrapping_shl(s) };

/// As gemmlowp's scalar `ShiftLeft` does; where C++ leaves a sum or a product undefined, it saturates, too.
pub(crate) const SATURATING: Arithmetic = Arithmetic {
    add: i32::saturating_add,
    mul: i32::saturating_mul,
    shift_left: |v, s| (i64::from(v) << s).clamp(i32::MIN.into(), i32::MAX.into()) as i32,
};

impl Arithmetic {
    /// A stage on one value. The left shift of a multiplication wraps, as on NEON.
    #[inline(always)]
    pub(crate) fn stage(&self, stage: &Stage, place: [usize; 2], v: i32) -> i32 {
        match stage {
            Stage::Bias { along, values } => (self.add)(v, along.pick(values, place)),
            // No list of this code has it.
            Stage::Bias64 { .. } => v,
            Stage::Down { offset, multiplier, shift } => {
                rounding_divide_by_pot((self.mul)((self.add)(v, *offset), *multiplier), shift.unsigned_abs())
            }
            Stage::Scale { along, channels, zero_point } => {
                let Channel { multiplier, shift } = along.pick(channels, place);
                (self.add)(double_rounding(v, multiplier, shift), *zero_point)
            }
            Stage::Clamp { min, max } => v.max(*min).min(*max),
            Stage::Tanh { zero_point, amplitude } => {
                tanh::Constants::new(*zero_point, *amplitude).value(v, self.shift_left)
            }
            Stage::Cast { to } => v.clamp(*to.range().start(), *to.range().end()),
        }
    }
}
