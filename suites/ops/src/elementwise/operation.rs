//! An operation on two quantized tensors that goes element by element: what its arithmetic is, an addition or a multiplication fills in.

use super::changes::{self, Exchange};
use super::plan::{self, Binades};
use super::{Batch, batch};
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use rug::Integer;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_engine::operation::{
    Arguments, Asked, Capabilities, Case, CaseError, Causes, Change, Expected, Operation, Options, ReferenceOption,
    Spec, Unposable, Wanted,
};
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::Params;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::shape::{self, Sizes};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::scheme::{Registered, Scheme};
use tiebreak_oracle::shape::ShapeError;
use tiebreak_reports::ledger::Value;

/// The operation of an arithmetic.
pub struct Elementwise<A>(PhantomData<A>);

/// What a scheme is made of, read from its steps.
#[derive(Clone, Copy, Debug)]
pub struct Parts<K> {
    /// How it scales.
    pub kind: K,
    /// The rule by which it rounds last.
    pub rule: RoundingRule,
    /// Whether the zero point is added before the rounding.
    pub zero_point_first: bool,
}

/// Results of a scheme at these parameters, for both operands; of machine integers, or of big ones.
type Results<D, P, T> = fn(&Scheme<D>, &P, &[i32], &[i32]) -> Result<Vec<Option<T>>, ShapeError>;

/// What there is to know of the schemes of an arithmetic.
pub struct Schemes<D, P, K> {
    /// The exact result rounded once.
    pub ideal: fn(RoundingRule) -> Scheme<D>,
    /// Results by machine integers.
    pub expected: Results<D, P, i32>,
    /// Results by rationals.
    pub exact: Results<D, P, Integer>,
    /// What a scheme is made of; none where that is not known.
    pub parts: fn(D) -> Option<Parts<K>>,
    /// Class of what separates another scheme from a kernel's own.
    pub class: fn(Parts<K>, Parts<K>) -> Class,
    /// The next scheme on the way to another, one part at a time. None where it is not known what either is made of, or the first is not on that way.
    pub next: fn(&Scheme<D>, &Scheme<D>) -> Option<Scheme<D>>,
}

/// What is computed of two elements.
pub trait Arithmetic: Sized + Send + Sync + 'static {
    /// Its kernels.
    type Impl: TensorOperation<Params = Params, Domain = Self::Domain, Run = Self::Run>;
    /// What a kernel takes.
    type Domain: Debug + Send + Sync + 'static;
    /// Function type of its kernels.
    type Run: Copy + Send + Sync + 'static;
    /// A scheme of the oracle.
    type Definition: Registered + Debug + Send + Sync;
    /// Parameters of the oracle.
    type Parameters;
    /// How a scheme may scale.
    type Kind: Copy;
    /// What it is called in a sentence.
    const NOUN: &'static str;
    /// The corner catalogue.
    const CATALOGUE: &'static str;
    /// Directed scales of both operands and of the result.
    const SCALES: [[f32; 3]; 12];
    /// Which scales to halve, one after another, for the same results at smaller scales: those of the operands, and of the result as 2.
    const AS_SMALL: &'static [usize];
    /// What a kernel may confuse of its operands.
    const EXCHANGES: &'static [Exchange];
    /// Its schemes.
    const SCHEMES: Schemes<Self::Definition, Self::Parameters, Self::Kind>;

    /// The type of all stored values, and whether a kernel clamps to any bounds.
    fn limits(domain: &Self::Domain) -> (Element, bool);
    /// Whether a kernel takes the scales.
    fn takes(domain: &Self::Domain, p: &Self::Parameters) -> bool;
    /// The scales that a kernel takes, in words.
    fn scales(domain: &Self::Domain) -> &'static str;
    /// The oracle's parameters for a batch, which is that of the parameters or has something changed.
    fn parameters(p: &Params, batch: Batch) -> Self::Parameters;
    /// What only this arithmetic may do otherwise.
    fn changes(scheme: Scheme<Self::Definition>) -> Vec<Change<Elementwise<Self>>>;
    /// What directed parameters become, so that kernels take them.
    fn taken(params: Params) -> Params {
        params
    }
    /// The real result of two differences from zero points, in units of the result's scale, as nearly as f64 has it: what inputs are chosen by.
    fn real(scales: [f64; 3], differences: [f64; 2]) -> f64;
    /// Differences from zero points whose real result is the unit that the scales of the operands make.
    const UNIT: [f64; 2];
    /// Scales of both operands that are the same but for a factor, or, where operands are multiplied, whose product is another's but for the factor.
    fn alike(scale: f64, factor: f64) -> (f64, f64) {
        (scale, scale * factor)
    }
    /// Scales at which a result is an operand, or differs from one by a factor, near those of a draw.
    fn identity(drawn: [f64; 3], factor: f64) -> [f64; 3];
    /// Binades of random scales of both operands and of the result.
    fn binades(between: Binades<'_>) -> [i32; 3];
    /// What parameters of a fuzzer become, so that results are of all sizes.
    fn fuzzed(params: Params) -> Params {
        params
    }
}

impl<A: Arithmetic> Elementwise<A> {
    /// What a scheme gives for a batch that has something changed.
    pub fn at(scheme: &Scheme<A::Definition>, case: &Case<Params>, batch: Batch) -> Option<Expected> {
        Self::with(scheme, case, &A::parameters(&case.params, batch)).ok()
    }

    /// What a scheme gives at other parameters than the case's.
    pub fn with(scheme: &Scheme<A::Definition>, case: &Case<Params>, p: &A::Parameters) -> Result<Expected, Unposable> {
        (A::SCHEMES.expected)(scheme, p, &case.tensors[0], &case.tensors[1]).map_err(Unposable::new)
    }

    fn parameters(p: &Params) -> A::Parameters {
        A::parameters(p, batch(p))
    }
}

impl<A: Arithmetic> Operation for Elementwise<A> {
    const TENSORS: &'static [&'static str] = &["lhs", "rhs"];
    const CATALOGUE: &'static str = A::CATALOGUE;
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        causes: Causes { own: Self::own, ..Causes::NONE },
        options: Options { reference: ReferenceOption::Rounding, ..Options::NONE },
        ..Capabilities::NONE
    };
    type Impl = A::Impl;
    type Params = Params;
    type Domain = A::Domain;
    type Run = A::Run;
    type Scheme = Scheme<A::Definition>;

    fn dimensions(_: &A::Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.len]
    }

    fn range(domain: &A::Domain, _: usize) -> RangeInclusive<i32> {
        A::limits(domain).0.range()
    }

    fn covers(domain: &A::Domain, p: &Params) -> bool {
        super::covers(p, A::limits(domain)) && A::takes(domain, &Self::parameters(p))
    }

    /// Of what the domain has, those of the tensors; whatever a kernel itself says of other parameters.
    fn sizes(domain: &A::Domain, p: &Params) -> Result<Sizes, shape::ShapeError> {
        if Self::covers(domain, p) { Ok(super::sizes(p)) } else { A::Impl::sizes(domain, p) }
    }

    fn domain_text(domain: &A::Domain) -> String {
        let (element, clamp) = A::limits(domain);
        let bounds = if clamp { "any bounds" } else { "all stored values" };
        format!("{}; {}; {bounds}", element.name(), A::scales(domain))
    }

    fn expected(scheme: &Self::Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        Self::with(scheme, case, &Self::parameters(&case.params))
    }

    fn exact(scheme: &Self::Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let exact = (A::SCHEMES.exact)(scheme, &Self::parameters(&case.params), &case.tensors[0], &case.tensors[1]);
        Ok(exact.map_err(Unposable::new)?.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    /// The exact result rounded once by the caller's rule.
    fn reference(_: &Kernel<A::Run, A::Domain>, wanted: &Wanted) -> Option<String> {
        Some((A::SCHEMES.ideal)(wanted.rounding).label())
    }

    fn nothing(params: &Params, t: usize) -> i32 {
        [params.lhs, params.rhs].get(t).map_or(0, |operand| operand.zero_point)
    }

    fn own_plan(domain: &A::Domain, _: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan::<A>(domain, budget, seed)
    }

    fn changes(scheme: &Self::Scheme, _: &A::Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn alone(case: &Case<Params>, _: &A::Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        super::alone(case, index)
    }

    fn smaller(case: &Case<Params>, domain: &A::Domain) -> Vec<Case<Params>> {
        super::smaller(case, |params| Self::covers(domain, params))
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        super::arguments(p)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        super::from_arguments(arguments)
    }
}

impl<A: Arithmetic> Elementwise<A> {
    fn own(contract: &Scheme<A::Definition>, _: &Scheme<A::Definition>) -> Option<Change<Self>> {
        let because = format!("the results are those of {}", contract.label());
        Some(Change::scheme(Class::OtherScheme, because, *contract))
    }
}

impl<A: Arithmetic> Fuzzed for Elementwise<A> {
    fn params(domain: &A::Domain, numbers: &mut Numbers<'_>) -> Params {
        A::fuzzed(super::fuzzed::params(A::limits(domain), numbers))
    }
}
