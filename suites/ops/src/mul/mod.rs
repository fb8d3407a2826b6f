//! Quantized multiplication in the harness: all pairs of 8-bit operands at each of the parameters, against the exact product.

mod changes;
mod fuzzed;
mod parts;
mod plan;

use crate::elementwise;
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::ReferenceOption;
use tiebreak_engine::tensor::text::Arguments;
use tiebreak_engine::tensor::{Asked, Case, Change, Expected, Operation, Spec, Wanted};
use tiebreak_impls::element::Element;
use tiebreak_impls::mul::{self, Domain, Params, Scales};
use tiebreak_impls::shape::{ShapeError, Sizes};
use tiebreak_oracle::mul::{self as oracle, Scheme};
use tiebreak_oracle::names::UnknownName;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Mul {}

/// The oracle's parameters.
fn parameters(p: &Params) -> oracle::Parameters {
    let (storage, [lhs, rhs, out]) = elementwise::oracle(p);
    oracle::Parameters { lhs, rhs, out, storage, product_bits: oracle::PRODUCT_BITS, min: p.min, max: p.max }
}

/// A kernel's scales, as the oracle has them.
fn taken(scales: Scales) -> oracle::Scales {
    match scales {
        Scales::Rescaled => oracle::Scales::Rescaled,
        Scales::Ratio => oracle::Scales::Ratio,
    }
}

/// What a scheme gives at other parameters than the case's.
fn at(scheme: &Scheme, p: &oracle::Parameters, case: &Case<Params>) -> Result<Expected, String> {
    scheme.expected(p, &case.tensors[0], &case.tensors[1]).map_err(|e| e.to_string())
}

impl Operation for Mul {
    const TENSORS: &'static [&'static str] = &["lhs", "rhs"];
    const CATALOGUE: &'static str = include_str!("../../../catalogue/mul.txt");
    const REFERENCE: ReferenceOption = ReferenceOption::Rounding;
    type Impl = tiebreak_impls::mul::Mul;
    type Params = Params;
    type Domain = Domain;
    type Run = tiebreak_impls::mul::Run;
    type Scheme = Scheme;

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.len]
    }

    fn range(domain: &Domain, _: usize) -> RangeInclusive<i32> {
        domain.element.range()
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        elementwise::covers(p, domain.element, domain.clamp) && parameters(p).takes(taken(domain.scales))
    }

    /// Of what the domain has, those of the tensors; whatever a kernel itself says of other parameters.
    fn sizes(domain: &Domain, p: &Params) -> Result<Sizes, ShapeError> {
        if Self::covers(domain, p) { Ok(elementwise::sizes(p)) } else { domain.sizes(p) }
    }

    fn domain_text(domain: &Domain) -> String {
        let scales = match (domain.scales, domain.element) {
            (Scales::Ratio, _) => "lhs*rhs/out in [2^-16, 2^8)",
            (Scales::Rescaled, Element::I16) => "lhs*rhs/out < 1, zero points 0",
            (Scales::Rescaled, _) => "lhs*rhs/out < 2^14",
        };
        let bounds = if domain.clamp { "any bounds" } else { "all stored values" };
        format!("{}; {scales}; {bounds}", domain.element.name())
    }

    fn schemes() -> Vec<Described> {
        Described::all::<&'static oracle::Definition>()
    }

    fn scheme(text: &str) -> Result<Scheme, UnknownName> {
        Scheme::parse(text)
    }

    fn label(scheme: &Scheme) -> String {
        scheme.label()
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, String> {
        at(scheme, &parameters(&case.params), case)
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, String> {
        let exact = scheme.exact(&parameters(&case.params), &case.tensors[0], &case.tensors[1]);
        Ok(exact.map_err(|e| e.to_string())?.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    /// The exact product rounded once by the caller's rule.
    fn reference(_: &mul::Kernel, wanted: &Wanted) -> Option<String> {
        Some(Scheme::ideal(wanted.rounding).label())
    }

    fn plan(domain: &Domain, _: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(scheme)
    }

    fn own(contract: &Scheme, _: &Scheme) -> Option<Change<Self>> {
        let because = format!("the results are those of {}", contract.label());
        Some(Change::scheme(Class::OtherScheme, because, *contract))
    }

    fn alone(case: &Case<Params>, _: &Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        elementwise::alone(case, index)
    }

    fn smaller(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        elementwise::smaller(case, |params| Self::covers(domain, params))
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        elementwise::arguments(p)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, String> {
        elementwise::from_arguments(arguments)
    }
}
