//! Computation of a network's operator as a case of an operation, exactly or by a kernel.

use super::blocks::pieces;
use crate::dequantize::Dequantize;
use crate::elementwise::{Add, Mul};
use crate::operation::{self, Block, Case, Kernel, Operation, Stage, contract, find, is_compiled};
use crate::pool::Pool;
use crate::qconv2d::Qconv2d;
use crate::quantize::Quantize;
use crate::requantize::Requantize;
use anyhow::{Result, anyhow};
use tiebreak_engine::operation::job;
use tiebreak_impls::operation::Operation as Execute;
use tiebreak_impls::{Form, elementwise, pool, qconv2d, quantized, requantize};

/// Case of one of the operations.
pub(super) enum Call {
    Qconv2d(Case<qconv2d::Params>),
    Add(Case<elementwise::Params>),
    Mul(Case<elementwise::Params>),
    Pool(Case<pool::Params>),
    Requantize(Case<requantize::Params>),
    Quantize(Case<quantized::Params>),
    Dequantize(Case<quantized::Params>),
}

macro_rules! with_case {
    ($call:expr, $op:ident, $case:ident => $body:expr) => {
        match $call {
            Call::Qconv2d($case) => {
                type $op = Qconv2d;
                $body
            }
            Call::Add($case) => {
                type $op = Add;
                $body
            }
            Call::Mul($case) => {
                type $op = Mul;
                $body
            }
            Call::Pool($case) => {
                type $op = Pool;
                $body
            }
            Call::Requantize($case) => {
                type $op = Requantize;
                $body
            }
            Call::Quantize($case) => {
                type $op = Quantize;
                $body
            }
            Call::Dequantize($case) => {
                type $op = Dequantize;
                $body
            }
        }
    };
}

/// Parts of a layer, each with the place of its results.
pub(super) type Parts = Vec<(Block, Call)>;

impl Call {
    /// Splits the case into blocks that fit one call. Fails with the reason if this is impossible.
    pub(super) fn blocks(self, layer: usize, input: usize) -> Result<Parts, String> {
        match self {
            Self::Qconv2d(case) => {
                let all = pieces(&case.params.shape, |p| p.sizes().is_ok());
                let what =
                    if case.params.shape.transposed { "its transposed convolution" } else { "one row of its results" };
                let all = all.ok_or_else(|| format!("{what} is more than a call takes"))?;
                let part = |piece: &super::blocks::Piece| {
                    let (block, case) = piece.of(&case, layer, input);
                    (block, Self::Qconv2d(case))
                };
                Ok(all.iter().map(part).collect())
            }
            other => Ok(vec![(Block { layer, input, from: 0, channels: 1, of: 1 }, other)]),
        }
    }

    /// Returns the name of the operation.
    pub(super) fn op(&self) -> &'static str {
        with_case!(self, O, _case => O::OP)
    }

    /// Converts the case to a stage of the engine.
    pub(super) fn stage(&self, place: Block) -> Result<Stage> {
        with_case!(self, O, case => {
            let mut job = serde_json::to_value(job::<O>("", &case.params))?;
            Ok(Stage { op: O::OP, params: job["params"].take(), tensors: case.tensors.clone(), place })
        })
    }

    /// Computes the results by the scheme in a kernel's contract. Fails with the reason if the scheme gives no value.
    pub(super) fn exact(&self, kernel: &str) -> Result<Vec<i32>, String> {
        with_case!(self, O, case => {
            let kernel = find::<O>(kernel).ok_or_else(|| format!("{} has no kernel {kernel}", O::OP))?;
            let scheme = contract::<O>(kernel).map_err(|error| error.to_string())?;
            let results = O::expected(&scheme, case).map_err(|error| error.to_string())?;
            results.into_iter().collect::<Option<_>>().ok_or_else(|| format!("{} gives no value to a result", kernel.name))
        })
    }

    /// Runs the first of these kernels that takes the case on this machine. Returns its name and results, or `None` if no kernel takes the case.
    pub(super) fn run(&self, kernels: &[&str]) -> Result<Option<(&'static str, Vec<i32>)>> {
        with_case!(self, O, case => {
            let Some(kernel) = taking::<O>(kernels, case) else { return Ok(None) };
            let outputs = operation::sizes::<O>(&kernel.contract.domain, &case.params)?.outputs;
            let mut out = vec![0; outputs];
            type Impl = <O as Operation>::Impl;
            let ran = Impl::execute(kernel, &case.params, Form::Native, &case.payload(), &mut out, 0);
            ran.map_err(|error| anyhow!("{}: {error}", kernel.name))?;
            Ok(Some((kernel.name, out)))
        })
    }
}

/// Finds the first of these kernels that belongs to the operation and takes the case unchanged.
fn taking<O: Operation>(kernels: &[&str], case: &Case<O::Params>) -> Option<&'static Kernel<O>> {
    let as_it_is = |domain: &O::Domain| (O::CAPABILITIES.options.on_types)(domain, case.clone()) == *case;
    let takes = |kernel: &&'static Kernel<O>| {
        let domain = &kernel.contract.domain;
        !is_compiled::<O>(domain) && O::covers(domain, &case.params) && as_it_is(domain)
    };
    kernels.iter().filter_map(|name| find::<O>(name)).find(takes)
}
