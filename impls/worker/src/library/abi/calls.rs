//! Calls of scalings, casts, elementwise operations and pooling.

use super::super::tensor::Type;
use super::functions::named;
use super::params::{Cast, Elementwise, Fpm, Pool, Requantize};
use super::{Call, columns, scaled};
use tiebreak_impls::elementwise;
use tiebreak_impls::fpm;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::pool;
use tiebreak_impls::quantized::{self, Expressed, Granularity};
use tiebreak_impls::requantize;

impl Call<'_> {
    pub(super) fn fpm(self, params: &fpm::Params, x: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let [multiplier, shift] = columns(&params.channels);
        let arrays = [("multiplier", Type::Word, &multiplier[..]), ("shift", Type::Word, &shift)];
        self.call(&arrays, &[("x", Type::Word, x)], Type::Word, output, |at| Fpm {
            len: x.len(),
            channels: multiplier.len(),
            multiplier: at[0].cast(),
            shift: at[1].cast(),
            q: params.q,
        })
    }

    pub(super) fn requantize(
        self,
        params: &requantize::Params,
        acc: &[i32],
        output: &mut [i32],
    ) -> Result<(), JobError> {
        let (len, channels, result) = (params.len, params.channels.len(), self.function.element(0));
        let tensors = [("acc", Type::Word, acc)];
        self.scale(params, &tensors, result, output, |scaling| Requantize { len, channels, scaling })
    }

    pub(super) fn cast(self, params: &quantized::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let quantized = &params.quantized;
        let inner = match &quantized.granularity {
            Granularity::Layer => 1,
            Granularity::Channel { axis } => params.shape.iter().skip(axis + 1).product(),
            Granularity::Blocks { .. } => {
                return Err(JobError::OutsideDomain("blocks have no function in tiebreak.h".to_owned()));
            }
        };
        let (tensor, result) = (self.function.element(0), self.function.element(1));
        let stored = if self.function.op == "quantize" { result } else { tensor };
        if quantized.expressed != Expressed::F32 || stored != named(&quantized.storage.name()) {
            let types = format!("{} and {}", quantized.expressed.name(), quantized.storage.name());
            return Err(JobError::OutsideDomain(format!("{} is not of {types}", self.function.symbol())));
        }
        let words = |bits: u64| [bits as u32 as i32, (bits >> 32) as u32 as i32];
        let scales: Vec<i32> = quantized.scales.iter().flat_map(|scale| words(scale.0.to_bits())).collect();
        let zero_points: Vec<i32> = quantized.zero_points.iter().map(|zero_point| *zero_point as i32).collect();
        let arrays = [("scale", Type::Double, &scales[..]), ("zero_point", Type::Word, &zero_points)];
        self.call(&arrays, &[("tensor", tensor, input)], result, output, |at| Cast {
            len: input.len(),
            channels: zero_points.len(),
            inner,
            scale: at[0].cast(),
            zero_point: at[1].cast(),
            min: quantized.min as i32,
            max: quantized.max as i32,
        })
    }

    pub(super) fn elementwise(
        self,
        params: &elementwise::Params,
        input: &[i32],
        output: &mut [i32],
    ) -> Result<(), JobError> {
        let element = self.typed(0, params.element)?;
        let (lhs, rhs) = input.split_at(params.len);
        let tensors = [("lhs", element, lhs), ("rhs", element, rhs)];
        self.call(&[], &tensors, element, output, |_| Elementwise {
            len: params.len,
            lhs: scaled(params.lhs),
            rhs: scaled(params.rhs),
            out: scaled(params.out),
            min: params.min,
            max: params.max,
        })
    }

    pub(super) fn pool(self, params: &pool::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let element = self.typed(0, params.element)?;
        let (out_height, out_width) = params.output()?;
        self.call(&[], &[("input", element, input)], element, output, |_| Pool {
            batches: params.batches,
            height: params.height,
            width: params.width,
            channels: params.channels,
            kernel_h: params.kernel_h,
            kernel_w: params.kernel_w,
            stride_h: params.stride_h,
            stride_w: params.stride_w,
            top: params.top,
            bottom: params.bottom,
            left: params.left,
            right: params.right,
            out_height,
            out_width,
            count_padding: params.count_padding.into(),
            input: scaled(params.input),
            out: scaled(params.out),
            min: params.min,
            max: params.max,
        })
    }
}
