//! Modules as text: one function a cast, type and container, with dynamic sizes.

use std::fmt::Write;
use tiebreak_impls::quantized::{Cast, Container, Granularity, Params, Quantized, symbol};

/// A function of a module.
#[derive(Clone, Debug)]
pub struct Function {
    /// What it does.
    pub cast: Cast,
    /// Type and container; of the shape, the rank.
    pub params: Params,
}

impl Function {
    /// Its name.
    pub fn symbol(&self) -> String {
        symbol(self.cast, &self.params)
    }

    /// Its definition in MLIR; or why there is none.
    ///
    /// Every size is dynamic, but that of the channels' axis, which the verifier holds against the number of scales. Scalars
    /// pass as bits, so that no calling convention of f16 and bf16 is in the way. The argument is not writable: without that the
    /// shipped passes compute in place, over the caller's input.
    pub(super) fn text(&self) -> Result<String, String> {
        let quantized = &self.params.quantized;
        let uniform = uniform(quantized)?;
        let float = quantized.expressed.name();
        let (bits, stored) = (format!("i{}", quantized.expressed.bits()), format!("i{}", quantized.storage.bits));
        let attributes = "attributes {llvm.emit_c_interface}";
        let mut text = String::new();
        let symbol = self.symbol();
        if self.params.container == Container::Scalar {
            let (from, to) = if self.cast == Cast::Quantize { (&bits, &stored) } else { (&stored, &bits) };
            let steps = match self.cast {
                Cast::Quantize => format!(
                    "  %x = arith.bitcast %a : {bits} to {float}\n  %q = quant.qcast %x : {float} to {uniform}\n  \
                     %r = quant.scast %q : {uniform} to {stored}\n"
                ),
                Cast::Dequantize => format!(
                    "  %q = quant.scast %a : {stored} to {uniform}\n  %x = quant.dcast %q : {uniform} to {float}\n  \
                     %r = arith.bitcast %x : {float} to {bits}\n"
                ),
            };
            let _ = write!(
                text,
                "func.func @{symbol}(%a: {from}) -> {to} {attributes} {{\n{steps}  return %r : {to}\n}}\n"
            );
            return Ok(text);
        }
        let tensor = |element: &str| format!("tensor<{}{element}>", self.dimensions());
        let (floats, quants, integers) = (tensor(float), tensor(&uniform), tensor(&stored));
        let (from, to) = if self.cast == Cast::Quantize { (&floats, &integers) } else { (&integers, &floats) };
        let steps = match self.cast {
            Cast::Quantize => format!(
                "  %q = quant.qcast %a : {floats} to {quants}\n  %r = quant.scast %q : {quants} to {integers}\n"
            ),
            Cast::Dequantize => format!(
                "  %q = quant.scast %a : {integers} to {quants}\n  %r = quant.dcast %q : {quants} to {floats}\n"
            ),
        };
        let _ = write!(
            text,
            "func.func @{symbol}(%a: {from} {{bufferization.writable = false}}) -> {to} {attributes} {{\n{steps}  \
             return %r : {to}\n}}\n"
        );
        Ok(text)
    }

    /// `?x3x?x`, or `*x` where the rank is unknown.
    fn dimensions(&self) -> String {
        if self.params.container == Container::Unranked {
            return "*x".to_owned();
        }
        let channels = match self.params.quantized.granularity {
            Granularity::Channel { axis } => Some(axis),
            _ => None,
        };
        let scales = self.params.quantized.scales.len();
        let size = |axis| if channels == Some(axis) { format!("{scales}x") } else { "?x".to_owned() };
        (0..self.params.shape.len()).map(size).collect()
    }
}

/// `!quant.uniform<i8<-8:7>:f32:1, {3.0e-1:1,5.0e-1}>`.
fn uniform(quantized: &Quantized) -> Result<String, String> {
    let Quantized { storage, min, max, expressed, granularity, scales, zero_points } = quantized;
    let bounds = if storage.range() == (*min..=*max) { String::new() } else { format!("<{min}:{max}>") };
    let axis = match granularity {
        Granularity::Layer => String::new(),
        Granularity::Channel { axis } => format!(":{axis}"),
        Granularity::Blocks { .. } => return Err("scales for blocks are not compiled".to_owned()),
    };
    let pair = |(scale, zero_point): (&tiebreak_impls::quantized::Scale, &i64)| {
        // MLIR wants a point in every float; Rust's shortest digits are exact.
        let digits = format!("{:e}", scale.0);
        let (digits, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        format!("{digits}{point}e{exponent}:{zero_point}")
    };
    let pairs: Vec<String> = scales.iter().zip(zero_points).map(pair).collect();
    let pairs = if *granularity == Granularity::Layer { pairs.concat() } else { format!("{{{}}}", pairs.join(",")) };
    Ok(format!("!quant.uniform<{}{bounds}:{}{axis}, {pairs}>", storage.name(), expressed.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_impls::quantized::{Expressed, Scale, Storage};

    fn function(cast: Cast, container: Container, shape: &[usize], granularity: Granularity) -> Function {
        let channels = if granularity == Granularity::Layer { 1 } else { 2 };
        let quantized = Quantized {
            storage: Storage { bits: 4, signed: false },
            min: 0,
            max: 14,
            expressed: Expressed::Bf16,
            granularity,
            scales: vec![Scale(1e-5), Scale(0.25)][..channels].to_vec(),
            zero_points: vec![3, 4][..channels].to_vec(),
        };
        Function { cast, params: Params { quantized, container, shape: shape.to_vec() } }
    }

    #[test]
    fn a_tensor_of_known_rank_has_one_static_size_at_most() {
        let f = function(Cast::Quantize, Container::Ranked, &[7, 2, 5], Granularity::Channel { axis: 1 });
        let text = f.text().expect("a function");
        assert!(text.contains("quant.qcast %a : tensor<?x2x?xbf16> to tensor<?x2x?x!quant.uniform<u4<0:14>:bf16:1, {1.0e-5:3,2.5e-1:4}>>"), "{text}");
        assert!(text.contains("-> tensor<?x2x?xi4> attributes"), "{text}");
        let f = function(Cast::Dequantize, Container::Unranked, &[7], Granularity::Layer);
        let text = f.text().expect("a function");
        assert!(text.contains("tensor<*x!quant.uniform<u4<0:14>:bf16, 1.0e-5:3>> to tensor<*xbf16>"), "{text}");
    }

    #[test]
    fn scalars_pass_as_bits() {
        let f = function(Cast::Dequantize, Container::Scalar, &[7], Granularity::Layer);
        let text = f.text().expect("a function");
        assert!(text.contains("(%a: i4) -> i16") && text.contains("arith.bitcast %x : bf16 to i16"), "{text}");
    }

    #[test]
    fn blocks_are_refused() {
        let f = function(Cast::Quantize, Container::Ranked, &[4, 4], Granularity::Blocks { sizes: vec![(0, 2)] });
        assert!(f.text().expect_err("no such module").contains("blocks"));
    }
}
