//! Computation of a network's operator as a case of an operation, exactly or by a kernel.

use super::blocks::pieces;
use crate::operation::{self, Block, Case, Kernel, Operation, Stage, contract, find, is_compiled};
use crate::qconv2d::Qconv2d;
use anyhow::{Result, anyhow};
use tiebreak_engine::operation::job;
use tiebreak_impls::operation::Operation as Execute;
use tiebreak_impls::{Form, qconv2d};

/// Computation of a case of any operation.
pub(super) trait Call {
    /// Returns the name of the operation.
    fn op(&self) -> &'static str;
    /// Converts the case to a stage of the engine.
    fn stage(&self, place: Block) -> Result<Stage>;
    /// Computes the results by the scheme in a kernel's contract. Fails with the reason if the scheme gives no value.
    fn exact(&self, kernel: &str) -> Result<Vec<i32>, String>;
    /// Runs the first of these kernels that takes the case on this machine. Returns its name and results, or `None` if no kernel takes the case.
    fn run(&self, kernels: &[&str]) -> Result<Option<(&'static str, Vec<i32>)>>;
}

/// Parts of a layer, each with the place of its results.
pub(super) type Parts = Vec<(Block, Box<dyn Call>)>;

/// Case of the operation `O`.
pub(super) struct Of<O: Operation>(pub(super) Case<O::Params>);

/// Splits a convolution into blocks that fit one call. Fails with the reason if this is impossible.
pub(super) fn convolution(case: &Case<qconv2d::Params>, layer: usize, input: usize) -> Result<Parts, String> {
    let all = pieces(&case.params.shape, |p| p.sizes().is_ok());
    let what = if case.params.shape.transposed { "its transposed convolution" } else { "one row of its results" };
    let all = all.ok_or_else(|| format!("{what} is more than a call takes"))?;
    let part = |piece: &super::blocks::Piece| -> (Block, Box<dyn Call>) {
        let (block, case) = piece.of(case, layer, input);
        (block, Box::new(Of::<Qconv2d>(case)))
    };
    Ok(all.iter().map(part).collect())
}

impl<O: Operation> Call for Of<O> {
    fn op(&self) -> &'static str {
        O::OP
    }

    fn stage(&self, place: Block) -> Result<Stage> {
        let Self(case) = self;
        let mut job = serde_json::to_value(job::<O>("", &case.params))?;
        Ok(Stage { op: O::OP, params: job["params"].take(), tensors: case.tensors.clone(), place })
    }

    fn exact(&self, kernel: &str) -> Result<Vec<i32>, String> {
        let kernel = find::<O>(kernel).ok_or_else(|| format!("{} has no kernel {kernel}", O::OP))?;
        let scheme = contract::<O>(kernel).map_err(|error| error.to_string())?;
        let results = O::expected(&scheme, &self.0).map_err(|error| error.to_string())?;
        results.into_iter().collect::<Option<_>>().ok_or_else(|| format!("{} gives no value to a result", kernel.name))
    }

    fn run(&self, kernels: &[&str]) -> Result<Option<(&'static str, Vec<i32>)>> {
        let Self(case) = self;
        let Some(kernel) = taking::<O>(kernels, case) else { return Ok(None) };
        let outputs = operation::sizes::<O>(&kernel.contract.domain, &case.params)?.outputs;
        let mut out = vec![0; outputs];
        let ran = O::Impl::execute(kernel, &case.params, Form::Native, &case.payload(), &mut out, 0);
        ran.map_err(|error| anyhow!("{}: {error}", kernel.name))?;
        Ok(Some((kernel.name, out)))
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
