//! Output stages, and gemmlowp's code of each stage for one value.
//!
//! Source: google/gemmlowp `public/output_stages.h`, `internal/output.h`.

use super::{Params, tanh};
use crate::element::Element;
use crate::fpm::Channel;
use crate::fpm::gemmlowp::{double_rounding, rounding_divide_by_pot};
use crate::shape::{ShapeError, broken};
use serde::{Deserialize, Serialize};

/// Upper bound on the stages of a list.
const MOST: usize = 16;

/// Axis of the result that a list of parameters follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    /// One parameter per row: gemmlowp's column vector.
    Rows,
    /// One parameter per column: gemmlowp's row vector.
    Columns,
}

/// Output stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum Stage {
    /// Adds a bias.
    Bias {
        /// Axis of the biases.
        along: Along,
        /// One bias for all places of the axis, or one for each.
        values: Vec<i32>,
    },
    /// Adds a 64-bit bias to a 64-bit sum. It is the first stage, and a scale follows.
    Bias64 {
        /// Axis of the biases.
        along: Along,
        /// One bias for all places of the axis, or one for each.
        values: Vec<i64>,
    },
    /// `(v + offset) * multiplier / 2^-shift` in integers: `OutputStageQuantizeDownInt32ToUint8Scale`.
    Down {
        /// Offset, added before the multiplication.
        offset: i32,
        /// Integer multiplier.
        multiplier: i32,
        /// Shift, 0 or negative: right.
        shift: i32,
    },
    /// Fixed point multiply (Q0.31), then a zero point.
    Scale {
        /// Axis of the multipliers.
        along: Along,
        /// One multiplier and shift for all places of the axis, or one for each.
        channels: Vec<Channel>,
        /// Zero point, added after the multiplication.
        zero_point: i32,
    },
    /// Clamp to bounds.
    Clamp {
        /// Smallest result.
        min: i32,
        /// Largest result.
        max: i32,
    },
    /// `zero_point + amplitude * tanh((v - zero_point) / amplitude)`.
    Tanh {
        /// int32 value of input and output that represents 0.
        zero_point: i32,
        /// int32 difference from the zero point that represents 1.
        amplitude: i32,
    },
    /// Saturating cast, the last stage.
    Cast {
        /// Type of the results.
        to: Element,
    },
}

impl Along {
    /// Returns the number of places along the axis.
    pub fn size(self, params: &Params) -> usize {
        match self {
            Self::Rows => params.shape.m,
            Self::Columns => params.shape.n,
        }
    }

    /// Returns the value for a result from a list of one value, or of one value per place.
    #[inline(always)]
    pub(crate) fn pick<T: Copy>(self, values: &[T], [row, column]: [usize; 2]) -> T {
        let at = match self {
            Self::Rows => row,
            Self::Columns => column,
        };
        values[if values.len() == 1 { 0 } else { at }]
    }
}

/// Checks the stages. An error names the invalid argument.
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

/// Arithmetic for values beyond int32.
#[derive(Clone, Copy)]
pub(crate) struct Arithmetic {
    pub(crate) add: fn(i32, i32) -> i32,
    pub(crate) mul: fn(i32, i32) -> i32,
    pub(crate) shift_left: fn(i32, u32) -> i32,
}

/// Wrapping arithmetic, as in vectors.
pub(crate) const WRAPPING: Arithmetic =
    Arithmetic { add: i32::wrapping_add, mul: i32::wrapping_mul, shift_left: |v, s| v.wrapping_shl(s) };

/// Saturating arithmetic, as in gemmlowp's scalar `ShiftLeft`. Sums and products that C++ leaves undefined saturate, too.
pub(crate) const SATURATING: Arithmetic = Arithmetic {
    add: i32::saturating_add,
    mul: i32::saturating_mul,
    shift_left: |v, s| (i64::from(v) << s).clamp(i32::MIN.into(), i32::MAX.into()) as i32,
};

impl Arithmetic {
    /// Applies a stage to one value. The left shift of a multiplication wraps, as on NEON.
    #[inline(always)]
    pub(crate) fn stage(&self, stage: &Stage, place: [usize; 2], v: i32) -> i32 {
        match stage {
            Stage::Bias { along, values } => (self.add)(v, along.pick(values, place)),
            // No list of this code contains this stage.
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
