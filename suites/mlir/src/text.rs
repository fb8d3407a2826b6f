//! Text of modules: one function for each cast, type and container.
//!
//! Sizes are dynamic, so that one function serves every shape of a type. The shipped passes then fill scale and zero point into buffers, and make
//! each step of the lowering a separate loop.
//!
//! Blocks are fixed by their type: `!quant.uniform<i8:f32:{0:2, 1:3}, {{...}}>` has the size of the blocks and, by its braces, their number. Axes
//! with blocks have static sizes, so that the shipped verifier compares the size with the scales; it does not check dynamic sizes.
//!
//! Scalars are passed as bits, and an object has the names of its kernels. Therefore neither a calling convention of f16 nor a file name has to be
//! trusted.

use crate::types::type_text;
use std::fmt::Write;
use tiebreak_impls::quantized::{Cast, Container, Granularity, Params, symbol};

/// Function of a module.
#[derive(Clone, Debug)]
pub struct Function {
    /// Cast that the function does.
    pub cast: Cast,
    /// Type and container. Only the rank of the shape matters.
    pub params: Params,
}

impl Function {
    /// Returns the name of the function.
    pub fn symbol(&self) -> String {
        symbol(self.cast, &self.params)
    }

    /// Returns the definition of the function in MLIR.
    ///
    /// Only axes with channels or blocks have static sizes; the verifier compares them with the scales. Real scalars are passed as bits, which avoids
    /// the calling conventions of f16 and bf16. Headers have the quantized type, which the pass `strip-func-quant-types` replaces by the storage
    /// type. The argument is not writable, because otherwise the shipped passes compute in place and overwrite the caller's input.
    pub(super) fn text(&self) -> String {
        let quantized = &self.params.quantized;
        let uniform = type_text(quantized);
        let float = quantized.expressed.name();
        let bits = format!("i{}", quantized.expressed.bits());
        let attributes = "attributes {llvm.emit_c_interface}";
        let mut text = String::new();
        let symbol = self.symbol();
        if self.params.container == Container::Scalar {
            let (from, to) = if self.cast == Cast::Quantize { (&bits, &uniform) } else { (&uniform, &bits) };
            let steps = match self.cast {
                Cast::Quantize => format!(
                    "  %x = arith.bitcast %a : {bits} to {float}\n  %r = quant.qcast %x : {float} to {uniform}\n"
                ),
                Cast::Dequantize => format!(
                    "  %x = quant.dcast %a : {uniform} to {float}\n  %r = arith.bitcast %x : {float} to {bits}\n"
                ),
            };
            let _ = write!(
                text,
                "func.func @{symbol}(%a: {from}) -> {to} {attributes} {{\n{steps}  return %r : {to}\n}}\n"
            );
            return text;
        }
        let tensor = |element: &str| format!("tensor<{}{element}>", self.dimensions());
        let (floats, quants) = (tensor(float), tensor(&uniform));
        let (from, to) = if self.cast == Cast::Quantize { (&floats, &quants) } else { (&quants, &floats) };
        let cast = if self.cast == Cast::Quantize { "qcast" } else { "dcast" };
        let _ = write!(
            text,
            "func.func @{symbol}(%a: {from} {{bufferization.writable = false}}) -> {to} {attributes} {{\n  \
             %r = quant.{cast} %a : {from} to {to}\n  return %r : {to}\n}}\n"
        );
        text
    }

    /// Returns the sizes as MLIR text: `?x3x?x`, or `*x` if the rank is unknown.
    fn dimensions(&self) -> String {
        if self.params.container == Container::Unranked {
            return "*x".to_owned();
        }
        let quantized = &self.params.quantized;
        let fixed = |at: usize| match &quantized.granularity {
            Granularity::Channel { axis } if *axis == at => Some(quantized.scales.len()),
            Granularity::Blocks { sizes, counts } => {
                sizes.iter().find(|(axis, _)| *axis == at).map(|(_, size)| size * counts[at])
            }
            _ => None,
        };
        let size = |axis| fixed(axis).map_or_else(|| "?x".to_owned(), |size| format!("{size}x"));
        (0..self.params.shape.len()).map(size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_impls::quantized::{Expressed, Quantized, Scale, Storage};

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
    fn sizes_that_the_type_fixes_are_static() {
        let f = function(Cast::Quantize, Container::Ranked, &[7, 2, 5], Granularity::Channel { axis: 1 });
        let text = f.text();
        assert!(
            text.contains(
                "quant.qcast %a : tensor<?x2x?xbf16> to tensor<?x2x?x!quant.uniform<u4<0:14>:bf16:1,{1.0e-5:3,0.25:4}>>"
            ),
            "{text}"
        );
        assert!(
            text.contains("-> tensor<?x2x?x!quant.uniform<u4<0:14>:bf16:1,{1.0e-5:3,0.25:4}>> attributes"),
            "{text}"
        );
        let blocks = Granularity::Blocks { sizes: vec![(2, 3), (0, 4)], counts: vec![2, 1, 1] };
        let text = function(Cast::Quantize, Container::Ranked, &[8, 2, 3], blocks).text();
        assert!(
            text.contains(
                "tensor<8x?x3xbf16> to tensor<8x?x3x!quant.uniform<u4<0:14>:bf16:{2:3,0:4},{{{1.0e-5:3}},{{0.25:4}}}>>"
            ),
            "{text}"
        );
        let f = function(Cast::Dequantize, Container::Unranked, &[7], Granularity::Layer);
        let text = f.text();
        assert!(text.contains("tensor<*x!quant.uniform<u4<0:14>:bf16,1.0e-5:3>> to tensor<*xbf16>"), "{text}");
    }

    #[test]
    fn scalars_pass_as_bits() {
        let f = function(Cast::Dequantize, Container::Scalar, &[7], Granularity::Layer);
        let text = f.text();
        assert!(
            text.contains("(%a: !quant.uniform<u4<0:14>:bf16,1.0e-5:3>) -> i16")
                && text.contains("arith.bitcast %x : bf16 to i16"),
            "{text}"
        );
    }
}
