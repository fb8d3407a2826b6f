//! Constants of the layers of a TFLite model, in the form of kernels: weights, and the parameters that rescale their sums.

use super::{Runtime, Side, Sums, rescale_scales, scales};
use crate::model::operators::{Arithmetic, Products, Rescale};
use crate::model::{self, Fault};
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::requantize::Params;

/// Upper bound on the weights of all layers, which are stored as 32-bit numbers.
const MAX_WEIGHTS: usize = 1 << 26;

/// Constants of a layer with int8 operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Weights as `[kernel_h, kernel_w, channels / groups, out_channels]`.
    pub weights: Vec<i32>,
    /// Parameters without accumulators: multipliers and shifts as LiteRT's optimized kernels derive them, biases, zero point and clamp.
    pub output: Params,
}

/// Returns the constants of each layer of [`model::parse`], in order; `None` for a layer without scales or constant weights.
pub fn constants(bytes: &[u8]) -> Result<Vec<Option<Constants>>, Fault> {
    let (mut out, mut weights) = (Vec::new(), 0usize);
    model::operators(bytes, &mut |operator| {
        if !matches!(operator.op.as_str(), "CONV_2D" | "DEPTHWISE_CONV_2D" | "FULLY_CONNECTED") {
            return Ok(());
        }
        let Ok(Arithmetic::Products(products)) = &operator.arithmetic else {
            out.push(None);
            return Ok(());
        };
        weights = weights.saturating_add(products.weights.channels.saturating_mul(products.weights.depth));
        if weights > MAX_WEIGHTS {
            let problem = format!("more than {MAX_WEIGHTS} weights; give a smaller model");
            return Err(Fault::Unsupported { place: operator.name, problem });
        }
        out.push(of(products));
        Ok(())
    })?;
    Ok(out)
}

/// Returns the constants of a layer; `None` if its scales give no fixed-point multiplier.
pub fn of(products: &Products<'_>) -> Option<Constants> {
    let (channels, depth) = (products.weights.channels, products.weights.depth);
    let lower = |element: Element| if element == Element::U8 { 128 } else { 0 };
    let mut weights = vec![0; channels * depth];
    for channel in 0..channels {
        for (k, w) in products.weights.stored(channel).enumerate() {
            weights[k * channels + channel] = w - lower(products.weights.element);
        }
    }
    // The reference kernels use no fixed-point multiplier for matrix products.
    let runtime = Side::Runtime(Runtime::find("tflite-optimized").expect("a runtime"));
    let multiplier = |channel: usize| {
        let way = runtime.products(Sums::of(products, channel))?;
        let (_, multiplier) = way.of(&scales(products, channel)).ok()?;
        multiplier.map(|(multiplier, shift)| Channel { multiplier, shift })
    };
    let less = lower(products.output.element);
    let output = Params {
        len: 0,
        channels: (0..channels).map(multiplier).collect::<Option<_>>()?,
        bias: (0..channels).map(|channel| products.bias(channel)).collect(),
        zero_point: products.output.zero_point - less,
        min: products.clamp.0 - less,
        max: products.clamp.1 - less,
    };
    Some(Constants { weights, output })
}

/// Returns multiplier and shift of a rescaling, as LiteRT derives them; `None` if the quotient of the scales gives no fixed-point multiplier.
pub fn rescaled(rescale: &Rescale) -> Option<Channel> {
    let runtime = Side::Runtime(Runtime::find("tflite-reference").expect("a runtime"));
    let way = runtime.rescale(rescale.input.element, rescale.output.element)?;
    let (_, multiplier) = way.of(&rescale_scales(rescale)).ok()?;
    multiplier.map(|(multiplier, shift)| Channel { multiplier, shift })
}
