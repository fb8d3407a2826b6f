//! Quantized types of kernels as MLIR writes them, and the types that tensors can be made of.

use crate::quant_type::{self, Granularity, Quantized, Spelled, Storage, format};
use tiebreak_impls::shape::MAX_ELEMENTS;
use tiebreak_oracle::quantize as oracle;

/// The type as MLIR writes it, without spaces.
pub fn type_text(quantized: &Quantized) -> String {
    Spelled(quantized).to_string().replace(' ', "")
}

/// The quantized type of a text.
pub fn read_type(text: &str) -> Result<Quantized, String> {
    let ty = quant_type::parse_type_to_run(text).map_err(|e| e.to_string())?;
    match (&ty, ty.uniform()) {
        (quant_type::Type::Scalar(_), Some(uniform)) => Ok(uniform.clone()),
        _ => Err(format!("`{text}` is not a quantized type by itself, such as !quant.uniform<i8:f32,0.1:3>")),
    }
}

/// Scales of a type that is run at most. Each is tried on elements of its own, all of them in one tensor.
pub const MOST_SCALES: usize = 1 << 12;
/// Dimensions of a tensor that is run at most.
pub const MOST_DIMENSIONS: usize = 64;

/// The quantized type of a text, which tensors are to be made of: of bounded scales, dimensions and elements.
pub fn read_run_type(text: &str) -> Result<Quantized, String> {
    let quantized = read_type(text)?;
    let scales = quantized.scales.len();
    if scales > MOST_SCALES {
        return Err(format!(
            "{scales} scales are more than the {MOST_SCALES} that are run at a time; give the type of some of them"
        ));
    }
    match &quantized.granularity {
        Granularity::Channel { axis } if *axis >= MOST_DIMENSIONS => {
            return Err(format!(
                "axis {axis} is beyond the {MOST_DIMENSIONS} dimensions of a tensor that is run; take a nearer axis, such as 0"
            ));
        }
        _ => {}
    }
    let least = usual_shape(&quantized).into_iter().fold(1usize, usize::saturating_mul);
    if least > MAX_ELEMENTS {
        return Err(format!(
            "{least} elements, which a tensor of it has at least, are more than {MAX_ELEMENTS}; take smaller blocks"
        ));
    }
    Ok(quantized)
}

/// One element, or one of each channel, or each block once.
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

/// The parameters of each scale of a type, the scale rounded to the expressed type; or why the oracle has none.
pub fn quantizations(quantized: &Quantized) -> Result<Vec<oracle::Quantization>, String> {
    let Quantized { storage: Storage { bits, signed }, min, max, .. } = *quantized;
    let format = format(quantized.expressed);
    let one = |(scale, zero_point): (&quant_type::Scale, &i64)| {
        let exact = rug::Rational::from_f64(scale.0).ok_or_else(|| format!("scales: {} is no number", scale.0))?;
        let storage = oracle::Storage { bits, signed };
        let q =
            oracle::Quantization { format, scale: format.nearest(&exact), zero_point: *zero_point, storage, min, max };
        q.check().map(|()| q).map_err(|e| e.to_string())
    };
    quantized.scales.iter().zip(&quantized.zero_points).map(one).collect()
}
