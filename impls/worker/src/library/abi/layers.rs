//! Calls of matrix products, concatenations and softmax.

use super::super::tensor::Type;
use super::params::{Concat, Matmul, Qmatmul, Softmax};
use super::{Call, scaled};
use tiebreak_impls::concat;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::matmul;
use tiebreak_impls::qmatmul;
use tiebreak_impls::softmax;

impl Call<'_> {
    pub(super) fn matmul(self, params: &matmul::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let (lhs, rhs) = input.split_at(params.m * params.k);
        let types = [self.function.element(0), self.function.element(1)];
        let product = product(params);
        self.call(&[], &[("lhs", types[0], lhs), ("rhs", types[1], rhs)], Type::Word, output, |_| product)
    }

    pub(super) fn qmatmul(self, params: &qmatmul::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let Some(layer) = params.layer() else {
            let symbol = self.function.symbol();
            let why = format!("{symbol} takes the stages of a layer alone: bias, scale, clamp and cast");
            return Err(JobError::OutsideDomain(why));
        };
        self.typed(2, layer.output)?;
        let (lhs, rhs) = input.split_at(params.shape.m * params.shape.k);
        let whole = layer.requantize(output.len(), params.shape.n);
        let [lhs_type, rhs_type, result] = [0, 1, 2].map(|at| self.function.element(at));
        let tensors = [("lhs", lhs_type, lhs), ("rhs", rhs_type, rhs)];
        let product = product(&params.shape);
        self.scale(&whole, &tensors, result, output, |scaling| Qmatmul { product, scaling })
    }

    pub(super) fn concat(self, params: &concat::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let element = self.typed(0, params.element)?;
        // Sizes have been checked and fit in an i32.
        let shape: Vec<i32> = params.shape.iter().map(|size| *size as i32).collect();
        let sizes: Vec<i32> = params.inputs.iter().map(|input| input.size as i32).collect();
        let scale: Vec<i32> = params.inputs.iter().map(|input| input.operand.single().to_bits() as i32).collect();
        let zero_point: Vec<i32> = params.inputs.iter().map(|input| input.operand.zero_point).collect();
        let arrays = [
            ("shape", Type::Size, &shape[..]),
            ("sizes", Type::Size, &sizes),
            ("scale", Type::Word, &scale),
            ("zero_point", Type::Word, &zero_point),
        ];
        self.call(&arrays, &[("inputs", element, input)], element, output, |at| Concat {
            rank: shape.len(),
            axis: params.axis,
            inputs: sizes.len(),
            shape: at[0].cast(),
            sizes: at[1].cast(),
            scale: at[2].cast(),
            zero_point: at[3].cast(),
            out: scaled(params.out),
        })
    }

    pub(super) fn softmax(self, params: &softmax::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let (element, result) = (self.typed(0, params.input)?, self.typed(1, params.output)?);
        self.call(&[], &[("input", element, input)], result, output, |_| Softmax {
            rows: params.rows,
            depth: params.depth,
            multiplier: params.multiplier,
            left_shift: params.left_shift,
            diff_min: params.diff_min,
        })
    }
}

/// Converts a product to the C structure.
fn product(params: &matmul::Params) -> Matmul {
    let matmul::Params { m, n, k, lhs_offset, rhs_offset } = *params;
    Matmul { m, n, k, lhs_offset, rhs_offset }
}
