//! Concatenation of quantized tensors in the harness: its cases (all values of each input at many scales, and every axis of tensors of one to four
//! axes) and the possible causes of a difference.

mod changes;
mod fuzzed;
mod parts;
mod plan;
mod presented;
mod smaller;
mod text;

use crate::elementwise::operand;
use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Expected, Operation, Options,
    ReferenceOption, Spec, Tensors, Unposable, Wanted, Witnesses,
};
use tiebreak_impls::concat::{self as impls, Domain, Params, Run, Scales};
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::shape::{self, Sizes};
use tiebreak_oracle::Rational;
use tiebreak_oracle::concat::{Concatenation, Input, Scheme};
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Concat {}

/// Converts the parameters to the oracle's.
pub fn to_oracle(p: &Params) -> Concatenation {
    let input = |input: &impls::Input| Input { size: input.size, operand: operand::to_oracle(input.operand) };
    Concatenation {
        shape: p.shape.clone(),
        axis: p.axis,
        inputs: p.inputs.iter().map(input).collect(),
        out: operand::to_oracle(p.out),
        storage: types::storage(p.element),
    }
}

impl Operation for Concat {
    const TENSORS: &'static [&'static str] = &["inputs"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/concat.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { sizes: Self::sizes, ..Tensors::NONE },

        causes: Causes { contract_cause: |contract, _| Some(Change::own("results", contract)), ..Causes::NONE },
        options: Options { reference: ReferenceOption::Rounding, ..Options::NONE },
        witnesses: Witnesses {
            isolate_result: |case, _, index| smaller::isolate_result(case, index),
            ..Witnesses::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(impls::Concat, Scheme);

    /// Treats all inputs as a single list, in the order of the payload.
    fn dimensions(_: &Domain, p: &Params, t: usize) -> Vec<usize> {
        if t == 0 { vec![p.shape.iter().product()] } else { p.shape.clone() }
    }

    fn range(domain: &Domain, _: usize) -> RangeInclusive<i32> {
        domain.element.range()
    }

    fn widest_domain(scheme: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        let element = types::opened(ty, arguments)?;
        let scales = if scheme.definition.is_copy() { Scales::Equal } else { Scales::Quotient };
        Ok(Domain { element, scales, size: shape::MAX_ELEMENTS })
    }

    /// Checks that the oracle and the domain's text accept the parameters. No code of a kernel decides on its own cases.
    fn covers(domain: &Domain, p: &Params) -> bool {
        let elements = p.shape.iter().fold(1usize, |n, size| n.saturating_mul(*size));
        p.element == domain.element
            && elements <= shape::MAX_ELEMENTS
            && p.shape.iter().all(|size| *size <= domain.size)
            && p.inputs
                .iter()
                .map(|input| input.operand)
                .chain([p.out])
                .all(|operand| operand::is_single(operand) && domain.element.range().contains(&operand.zero_point))
            && within(p)
            && to_oracle(p).check().is_ok()
            && p.inputs.iter().all(|input| match domain.scales {
                Scales::Equal => input.operand == p.out,
                Scales::Quotient => true,
                Scales::Distinct => input.operand.scale != p.out.scale || input.operand == p.out,
                Scales::Narrow => {
                    let quotient = (input.operand.scale.0 as f32) / (p.out.scale.0 as f32);
                    (0.00390625..=128.0).contains(&quotient)
                }
            })
    }

    fn domain_text(domain: &Domain) -> String {
        let scales = match domain.scales {
            Scales::Equal => "one scale and zero point",
            Scales::Quotient => "input/out in [2^-16, 2^16]",
            Scales::Distinct => "input/out in [2^-16, 2^16], equal scales with equal zero points",
            Scales::Narrow => "input/out in [2^-8, 2^7]",
        };
        let sizes =
            if domain.size < shape::MAX_ELEMENTS { format!("; sizes up to {}", domain.size) } else { String::new() };
        format!("{}; {scales}{sizes}", domain.element.name())
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let out = scheme.expected(&to_oracle(&case.params), &case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(Some).collect())
    }

    fn rational(_: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let exact = to_oracle(&case.params).rationals(&case.tensors[0]).ok()?;
        Some(exact.into_iter().map(Some).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let out = scheme.exact(&to_oracle(&case.params), &case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(|v| v.to_i32()).collect())
    }

    /// Returns the scheme that rounds the exact value once by the caller's rule; `None` for a copy, which does not round.
    fn reference(kernel: &Kernel<Run, Domain>, wanted: &Wanted) -> Option<String> {
        (kernel.contract.promise.scheme != "copy").then(|| Scheme::ideal(wanted.rounding).label())
    }

    /// Returns the zero point of the first input.
    fn neutral_element(params: &Params, _: usize) -> i32 {
        params.inputs.first().map_or(0, |input| input.operand.zero_point)
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let smaller = smaller::smaller(case).into_iter();
        case.aligned().into_iter().chain(smaller.filter(|smaller| Self::covers(domain, &smaller.params))).collect()
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        text::arguments(p)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        text::from_arguments(arguments)
    }
}

impl Concat {
    /// Returns the tensor sizes for parameters in the domain; for other parameters, the result of [`Domain::sizes`].
    fn sizes(domain: &Domain, p: &Params) -> Result<Sizes, shape::ShapeError> {
        match to_oracle(p).check() {
            Ok(elements) if Self::covers(domain, p) => Ok(Sizes { inputs: [elements, 0, 0], outputs: elements }),
            _ => domain.sizes(p),
        }
    }
}

/// Checks that all scales are in 2^-30 to 2^30. The oracle accepts the whole binade that begins at 2^30.
fn within(p: &Params) -> bool {
    let ends = 2f64.powi(-30)..=2f64.powi(30);
    p.inputs.iter().map(|input| input.operand).chain([p.out]).all(|operand| ends.contains(&operand.scale.0))
}
