//! Quantized matrix product in one kernel: the product of [`crate::matmul`] with its offsets, then a list of output stages for each sum: biases,
//! multiplications, clamps, `tanh`, casts.
//!
//! Systems with fully connected layers have one list, [`Layer`]: bias, multiplication and zero point, clamp, cast. With 64-bit biases the list is
//! [`Layer64`]. gemmlowp accepts any list whose sums are int32.

mod cmsis_nn;
pub(crate) mod gemmlowp;
pub(crate) mod i4;
pub(crate) mod in_f32;
pub(crate) mod loops;
pub(crate) mod stage;
mod tanh;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod tflite;
mod tvm_neon;
mod tvm_relay;
pub(crate) mod wide;
mod xnnpack;

use crate::contract;
use crate::element::Element;
use crate::execute::packed;
use crate::fpm::Channel;
use crate::job_error::JobError;
use crate::kernel;
use crate::matmul;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::requantize;
use crate::shape::{ShapeError, Sizes, broken};
use serde::{Deserialize, Serialize};

pub use stage::{Along, Stage};

/// Shape, offsets and output stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Shape and offsets.
    pub shape: matmul::Params,
    /// Stages applied to each sum, in this order.
    pub stages: Vec<Stage>,
}

/// Stages of a fully connected layer: bias and multipliers of each column, zero point, clamp, cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer<'a, B = i32> {
    /// Biases added to the sums: one for all columns, or one for each.
    pub bias: &'a [B],
    /// Multipliers (Q0.31) and shifts: one for all columns, or one for each.
    pub channels: &'a [Channel],
    /// Zero point of the output.
    pub zero_point: i32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
    /// Type of the results.
    pub output: Element,
}

/// Layer with 64-bit biases, and thus 64-bit sums.
pub type Layer64<'a> = Layer<'a, i64>;

impl Params {
    /// Returns the stages as a layer; `None` if they do not form one.
    pub fn layer(&self) -> Option<Layer<'_>> {
        let [Stage::Bias { along: Along::Columns, values }, rest @ ..] = &self.stages[..] else { return None };
        Layer::of(values, rest)
    }

    /// Returns the stages as a layer with 64-bit biases; `None` if they do not form one.
    pub fn layer64(&self) -> Option<Layer64<'_>> {
        let [Stage::Bias64 { along: Along::Columns, values }, rest @ ..] = &self.stages[..] else { return None };
        Layer::of(values, rest)
    }

    /// True if sums have 64 bits up to the first multiplication.
    pub fn is_wide(&self) -> bool {
        matches!(self.stages.first(), Some(Stage::Bias64 { .. }))
    }
}

impl<'a, B> Layer<'a, B> {
    /// Makes a layer from a bias and the stages after it; `None` if they do not form a layer.
    fn of(bias: &'a [B], rest: &'a [Stage]) -> Option<Self> {
        let [
            Stage::Scale { along: Along::Columns, channels, zero_point },
            Stage::Clamp { min, max },
            Stage::Cast { to },
        ] = rest
        else {
            return None;
        };
        Some(Self { bias, channels, zero_point: *zero_point, min: *min, max: *max, output: *to })
    }
}

impl<B: Copy> Layer<'_, B> {
    /// Returns multiplier and shift of a column.
    #[inline(always)]
    pub fn channel(&self, column: usize) -> Channel {
        self.channels[if self.channels.len() == 1 { 0 } else { column }]
    }

    /// Returns the bias of a column.
    #[inline(always)]
    pub fn bias(&self, column: usize) -> B {
        self.bias[if self.bias.len() == 1 { 0 } else { column }]
    }

    /// Adds the zero point, which wraps, and clamps by `max(x, min)`, then `min(.., max)`, as in the sources.
    #[inline(always)]
    pub(crate) fn finish(&self, scaled: i32) -> i32 {
        scaled.wrapping_add(self.zero_point).max(self.min).min(self.max)
    }

    /// Returns the stages of the layer, with `bias` as the first stage.
    fn after(&self, bias: Stage) -> Vec<Stage> {
        vec![
            bias,
            Stage::Scale { along: Along::Columns, channels: self.channels.to_vec(), zero_point: self.zero_point },
            Stage::Clamp { min: self.min, max: self.max },
            Stage::Cast { to: self.output },
        ]
    }
}

impl Layer64<'_> {
    /// Returns the stages of the layer.
    pub fn stages(&self) -> Vec<Stage> {
        self.after(Stage::Bias64 { along: Along::Columns, values: self.bias.to_vec() })
    }
}

impl Layer<'_> {
    /// Returns the stages of the layer.
    pub fn stages(&self) -> Vec<Stage> {
        self.after(Stage::Bias { along: Along::Columns, values: self.bias.to_vec() })
    }

    /// Returns the requantization of `len` sums in rows of `columns` elements.
    pub fn requantize(&self, len: usize, columns: usize) -> requantize::Params {
        requantize::Params {
            len,
            channels: (0..columns).map(|column| self.channel(column)).collect(),
            bias: (0..columns).map(|column| self.bias(column)).collect(),
            zero_point: self.zero_point,
            min: self.min,
            max: self.max,
        }
    }
}

/// Lists of stages that a kernel accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lists {
    /// Any list whose sums are int32.
    Any,
    /// Only the list of a [`Layer`].
    Layer,
    /// Only the list of a [`Layer64`].
    Layer64,
    /// gemmlowp's legacy paradigm: [`Stage::Down`], then a cast to uint8.
    Legacy,
}

/// Operands and parameters on which a kernel keeps its promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Operands and offsets.
    pub operands: matmul::Domain,
    /// Accepted lists of stages.
    pub lists: Lists,
    /// Type of the results, multipliers and shifts, and the support for bias, zero point and clamp.
    pub requantize: requantize::Domain,
}

impl Domain {
    /// Domain of layers of these types, with any bias, zero point and clamp.
    pub(crate) const fn layer([lhs, rhs, output]: [Element; 3], channels: contract::Domain) -> Self {
        Self {
            operands: matmul::Domain::all(lhs, rhs),
            lists: Lists::Layer,
            requantize: requantize::Domain::all(output, channels),
        }
    }

    /// Restricts the clamp to the bounds of the output type.
    pub(crate) const fn of_whole_output(mut self) -> Self {
        self.requantize.clamp = false;
        self
    }

    /// Returns the sizes of lhs, rhs, a third tensor without elements, and result. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let sizes = params.shape.sizes()?;
        stage::check(params)?;
        Ok(sizes)
    }

    /// Checks that the kernel has code for these stages. An error gives the reason.
    pub fn takes_stages(&self, params: &Params) -> Result<(), ShapeError> {
        match self.lists {
            Lists::Any if params.is_wide() => Err(broken("stages", "this kernel adds no bias of 64 bits")),
            Lists::Any => Ok(()),
            Lists::Legacy => match params.stages[..] {
                [Stage::Down { .. }, Stage::Cast { to: Element::U8 }] => Ok(()),
                _ => Err(broken("stages", "this kernel takes `down`, then a cast to u8")),
            },
            Lists::Layer => {
                let Some(layer) = params.layer() else {
                    let rule = "this kernel takes bias and scale along columns, clamp, and cast";
                    return Err(broken("stages", rule));
                };
                self.takes_layer(&layer)
            }
            Lists::Layer64 => {
                let Some(layer) = params.layer64() else {
                    let rule = "this kernel takes a bias of 64 bits and scale along columns, clamp, and cast";
                    return Err(broken("stages", rule));
                };
                self.takes_layer(&layer)
            }
        }
    }

    fn takes_layer<B: Copy>(&self, layer: &Layer<'_, B>) -> Result<(), ShapeError> {
        if layer.output != self.requantize.output {
            return Err(broken("stages", format!("this kernel casts to {}", self.requantize.output.name())));
        }
        if layer.channels.len() > 1 && !self.requantize.channels.per_channel {
            return Err(broken("stages", format!("takes one multiplier, not {}", layer.channels.len())));
        }
        self.requantize.check_output(layer.zero_point, layer.min, layer.max)
    }

    /// True if the domain contains the multipliers and shifts of all stages.
    pub fn takes_channels(&self, params: &Params) -> bool {
        let of = |multiplier, shift| self.requantize.takes(Channel { multiplier, shift });
        params.stages.iter().all(|stage| match stage {
            Stage::Down { multiplier, shift, .. } => self.lists != Lists::Legacy || of(*multiplier, *shift),
            Stage::Scale { channels, .. } => channels.iter().all(|c| of(c.multiplier, c.shift)),
            _ => true,
        })
    }
}

/// Kernel function `run(params, lhs, rhs, out)`: lhs `[M, K]` and rhs `[K, N]`, row-major, little-endian elements of the domain's types at any
/// alignment, two int4 per byte; out `[M, N]`, row-major, values of the last stage in int32. The caller has checked `params` and lengths.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// Quantized matrix product under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Operation of quantized matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qmatmul {}

impl TensorOperation for Qmatmul {
    common_items!(qmatmul);

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [lhs, rhs, _], output, misalign, .. } = call;
        domain.takes_stages(params)?;
        let operands = [("lhs", domain.operands.lhs, lhs), ("rhs", domain.operands.rhs, rhs)];
        packed(operands, misalign, |lhs, rhs| code(params, lhs, rhs, output))
    }
}

lookups! {
    gemmlowp: PIPELINE PIPELINE_NEON EIGHT_BIT_INT EIGHT_BIT_INT_SHIPPED;
    tflite: DOUBLE_I8 SINGLE_I8 DOUBLE_U8 DOUBLE_I16;
    wide: TFLITE_I16;
    cmsis_nn: DOUBLE_I8 SINGLE_I8;
    wide: CMSIS_I16 CMSIS_DSP_I16 TOSA_I48;
    tvm_relay: UPWARD_I8 UPWARD_U8 TO_NEAREST_I8;
    tvm_neon: RFC_I8 FIXUP_I8;
    xnnpack: RNDNU_I8;
    in_f32: QC8W_I8 QU8 MLAS_U8 MLAS_I8;
    i4: TFLITE CMSIS_NN;
}
