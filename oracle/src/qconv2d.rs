//! Quantized convolution: the convolution of [`crate::conv2d`], with the requantization of [`crate::requantize`] on each sum:
//! `out[b,y,x,o] = clamp(scaled(sum + bias[o], multiplier[o], shift[o]) + zero_point, min, max)`. An activation is a pair of bounds: ReLU begins at
//! the zero point, and ReLU6 ends at the stored value of 6.
//!
//! Source: tensorflow/tensorflow `tensorflow/lite/kernels/internal/reference/integer_ops/conv.h`, `ConvPerChannel`, and `depthwise_conv.h`;
//! apache/tvm `src/relay/qnn/op/convolution.cc` with `requantize.cc`. The schemes are those of [`crate::requantize`]: the sum of products is exact,
//! and the policy of the scheme fits the sum to int32 before the bias is added. A 64-bit bias is added to any sum, as in TFLite's int16 convolutions.

use crate::conv2d::Convolution;
use crate::fpm::pieces::Output;
use crate::requantize::{self, Definition, Parameters, wide};
use crate::scheme::Registered;
use crate::shape::{ShapeError, broken};
use crate::word::INT32;
use rug::{Integer, Rational};

pub use crate::qmatmul::product;

/// Definition of the multiplication with the policy for every step that does not fit in int32.
pub type Scheme = requantize::Scheme;

/// Convolution with the parameters of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantized {
    /// Shape, and zero points of the operands.
    pub convolution: Convolution,
    /// Multiplier and shift (positive = left): one pair, or one for each output channel.
    pub channels: Vec<(i32, i32)>,
    /// Biases of the sums: one, or one for each output channel.
    pub bias: Vec<i32>,
    /// Biases of 64 bits, instead of `bias`: one, or one for each output channel; empty if sums are int32. A biased sum beyond 48 bits has no value.
    pub bias64: Vec<i64>,
    /// Zero point, added after the multiplication.
    pub zero_point: i32,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

impl Quantized {
    /// Returns the number of elements of input, weights and output; the error is the invalid argument.
    pub fn check(&self, definition: Definition) -> Result<[usize; 3], ShapeError> {
        let sizes = self.convolution.check()?;
        let outputs = self.convolution.out_channels;
        let wide = self.is_wide().then_some(("bias64", self.bias64.len()));
        for (argument, n) in [("channels", self.channels.len()), ("bias", self.bias.len())].into_iter().chain(wide) {
            if n != 1 && n != outputs {
                return Err(broken(
                    argument,
                    format!("{n} for {outputs} output channels; there is one, or one for each"),
                ));
            }
        }
        if self.is_wide() && self.bias.iter().any(|bias| *bias != 0) {
            return Err(broken("bias", "biases are of 32 bits or of 64, and not of both"));
        }
        if self.is_wide() && !matches!(definition, Definition::Fpm(_)) {
            return Err(broken("bias64", format!("`{}` takes no sum of 64 bits", definition.name())));
        }
        self.output().check(definition, sizes[2])?;
        Ok(sizes)
    }

    /// True if sums have 64 bits up to the multiplication.
    pub fn is_wide(&self) -> bool {
        !self.bias64.is_empty()
    }

    /// Returns the bias of 64 bits of result `at`.
    fn wide_bias(&self, at: usize) -> i64 {
        self.bias64[if self.bias64.len() == 1 { 0 } else { at % self.convolution.out_channels }]
    }

    /// Returns the requantization of all sums in the order of `[B,OH,OW,O]`.
    pub fn output(&self) -> Parameters {
        let outputs = self.convolution.out_channels;
        let each = |at: usize, len: usize| if len == 1 { 0 } else { at };
        let channel = |at: usize| self.channels.get(each(at, self.channels.len())).copied().unwrap_or_default();
        let bias = |at: usize| self.bias.get(each(at, self.bias.len())).copied().unwrap_or_default();
        Parameters {
            channels: (0..outputs).map(channel).collect(),
            bias: (0..outputs).map(bias).collect(),
            zero_point: self.zero_point,
            min: self.min,
            max: self.max,
        }
    }
}

/// Computes each result by big integers and rationals, straight from the definition; `None` if a step is out of domain.
pub fn exact(
    scheme: &Scheme,
    p: &Quantized,
    input: &[i32],
    weights: &[i32],
) -> Result<Vec<Option<Integer>>, ShapeError> {
    p.check(scheme.definition)?;
    let fit = |v: &Integer| scheme.overflow.fit_exact(INT32, v);
    let output = p.output();
    let sums = p.convolution.sums(input, weights)?;
    let one = |(at, sum): (usize, &Integer)| {
        let channel = at % p.convolution.out_channels;
        let biased = match p.is_wide() {
            true => wide::biased_exact(sum.clone(), p.wide_bias(at))?,
            false => fit(&(fit(sum)? + output.bias[channel]))?,
        };
        let scaled = scheme.scaled_exact(biased, output.channels[channel])?;
        Some(fit(&(scaled + p.zero_point))?.clamp(&p.min, &p.max))
    };
    Ok(sums.iter().enumerate().map(one).collect())
}

/// Computes each result by machine integers, derived independently of [`exact`]; `None` if a step is out of domain.
pub fn expected(
    scheme: &Scheme,
    p: &Quantized,
    input: &[i32],
    weights: &[i32],
) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check(scheme.definition)?;
    if p.is_wide() {
        return finished_wide(scheme, p, &p.convolution.wide_sums(input, weights)?);
    }
    let sums = crate::conv2d::expected(&product(scheme), &p.convolution, input, weights)?;
    let output = Output { zero_point: p.zero_point, min: p.min, max: p.max };
    let (shared, one_bias) = (p.channels.len() == 1, p.bias.len() == 1);
    let mut out = Vec::with_capacity(sums.len());
    for row in sums.chunks(p.convolution.out_channels) {
        for (o, sum) in row.iter().enumerate() {
            let bias = p.bias[if one_bias { 0 } else { o }];
            let channel = p.channels[if shared { 0 } else { o }];
            let biased = sum.and_then(|sum| scheme.overflow.fit_int32(i128::from(sum) + i128::from(bias)));
            out.push(biased.and_then(|biased| scheme.output(channel, &output, biased)));
        }
    }
    Ok(out)
}

/// Computes the results of 64-bit sums, in the order of the results, by machine integers.
pub fn finished_wide(scheme: &Scheme, p: &Quantized, sums: &[Option<i64>]) -> Result<Vec<Option<i32>>, ShapeError> {
    p.check(scheme.definition)?;
    if !p.is_wide() {
        return Err(broken("bias64", "there is no bias of 64 bits"));
    }
    let output = Output { zero_point: p.zero_point, min: p.min, max: p.max };
    let one = |(at, sum): (usize, &Option<i64>)| {
        let channel = p.channels[if p.channels.len() == 1 { 0 } else { at % p.convolution.out_channels }];
        scheme.output_of_wide(channel, &output, wide::biased((*sum)?, p.wide_bias(at))?)
    };
    Ok(sums.iter().enumerate().map(one).collect())
}

/// Computes the exact value of each result, neither rounded nor wrapped nor clamped: `(sum + bias) * m * 2^(s-31) + zero_point`.
pub fn rational(scheme: &Scheme, p: &Quantized, input: &[i32], weights: &[i32]) -> Result<Vec<Rational>, ShapeError> {
    p.check(scheme.definition)?;
    let output = p.output();
    let fraction = if matches!(scheme.definition, Definition::Fpm(_)) { 31 } else { 0 };
    let one = |(at, sum): (usize, Integer)| {
        let channel = at % p.convolution.out_channels;
        let (multiplier, shift) = output.channels[channel];
        let bias = if p.is_wide() { p.wide_bias(at) } else { output.bias[channel].into() };
        (Rational::from((sum + bias) * multiplier) << (shift - fraction)) + p.zero_point
    };
    Ok(p.convolution.sums(input, weights)?.into_iter().enumerate().map(one).collect())
}
