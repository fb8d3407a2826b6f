//! Quantized types of kernels as MLIR text, and limits of the types that runs accept.

use crate::quant_type::{self, Granularity, Quantized, Spelled, Storage, format};
use tiebreak_impls::shape::MAX_ELEMENTS;
use tiebreak_oracle::quantize as oracle;

/// Error of a quantized type.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TypeError {
    /// The text is not a type.
    #[error(transparent)]
    Syntax(#[from] quant_type::Error),
    /// The type is not quantized, its tensors would be too large, or a scale is not a number.
    #[error("{0}")]
    Wrong(String),
    /// The oracle does not support the parameters.
    #[error(transparent)]
    Parameters(#[from] oracle::BadQuantization),
}

/// Returns the type as MLIR text, without spaces.
pub fn type_text(quantized: &Quantized) -> String {
    Spelled(quantized).to_string().replace(' ', "")
}

/// Parses a quantized type.
pub fn read_type(text: &str) -> Result<Quantized, TypeError> {
    let ty = quant_type::parse_type_to_run(text)?;
    match (&ty, ty.uniform()) {
        (quant_type::Type::Scalar(_), Some(uniform)) => Ok(uniform.clone()),
        _ => Err(TypeError::Wrong(format!(
            "`{text}` is not a quantized type by itself, such as !quant.uniform<i8:f32,0.1:3>"
        ))),
    }
}

/// Upper bound on the scales of a type that is run. Each scale is tried on its own elements, all in one tensor.
pub const MOST_SCALES: usize = 1 << 12;
/// Upper bound on the dimensions of a tensor that is run.
pub const MOST_DIMENSIONS: usize = 64;

/// Parses a quantized type for tensors, with bounded numbers of scales, dimensions and elements.
pub fn read_run_type(text: &str) -> Result<Quantized, TypeError> {
    let quantized = read_type(text)?;
    let scales = quantized.scales.len();
    if scales > MOST_SCALES {
        return Err(TypeError::Wrong(format!(
            "{scales} scales are more than the {MOST_SCALES} that are run at a time; give the type of some of them"
        )));
    }
    match &quantized.granularity {
        Granularity::Channel { axis } if *axis >= MOST_DIMENSIONS => {
            return Err(TypeError::Wrong(format!(
                "axis {axis} is beyond the {MOST_DIMENSIONS} dimensions of a tensor that is run; take a nearer axis, such \
                 as 0"
            )));
        }
        _ => {}
    }
    let least = usual_shape(&quantized).into_iter().fold(1usize, usize::saturating_mul);
    if least > MAX_ELEMENTS {
        return Err(TypeError::Wrong(format!(
            "{least} elements, which a tensor of it has at least, are more than {MAX_ELEMENTS}; take smaller blocks"
        )));
    }
    Ok(quantized)
}

/// Returns the smallest shape: one element, or one element for each channel, or each block once.
pub fn usual_shape(quantized: &Quantized) -> Vec<usize> {
    match &quantized.granularity {
        Granularity::Layer => vec![1],
        Granularity::Channel { axis } => {
            let mut shape = vec![1; axis + 1];
            shape[*axis] = quantized.scales.len();
            shape
        }
        Granularity::Blocks { sizes, counts } => {
            let size = |axis| sizes.iter().find(|(a, _)| *a == axis).map_or(1, |(_, size)| *size);
            counts.iter().enumerate().map(|(axis, count)| count.saturating_mul(size(axis))).collect()
        }
    }
}

/// Returns the parameters of each scale of a type, with the scale rounded to the expressed type. An error if the oracle does not support them.
pub fn quantizations(quantized: &Quantized) -> Result<Vec<oracle::Quantization>, TypeError> {
    let Quantized { storage: Storage { bits, signed }, min, max, .. } = *quantized;
    let format = format(quantized.expressed);
    let one = |(scale, zero_point): (&quant_type::Scale, &i64)| {
        let storage = oracle::Storage { bits, signed };
        let scale =
            format.nearest_to(scale.0).ok_or_else(|| TypeError::Wrong(format!("scales: {} is no number", scale.0)))?;
        let q = oracle::Quantization { format, scale, zero_point: *zero_point, storage, min, max };
        q.check()?;
        Ok(q)
    };
    quantized.scales.iter().zip(&quantized.zero_points).map(one).collect()
}
