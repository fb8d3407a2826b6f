//! Elementwise operation on two quantized tensors. [`Arithmetic`] holds the differences between addition, subtraction and multiplication.

use super::changes::{self, Exchange};
use super::plan::{self, Binades};
use crate::fuzzing::{Fuzzed, Numbers};
use crate::types;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Expected, Operation, Options,
    ReferenceOption, Spec, Tensors, Unposable, Wanted, Witnesses,
};
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Params, Run};
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::operation::TensorOperation;
use tiebreak_impls::shape::{self, Sizes};
use tiebreak_oracle::Rational;
use tiebreak_oracle::elementwise as oracle;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::scheme::Scheme;
use tiebreak_reports::ledger::Value;
use tiebreak_worker::protocol::MakesJob;

/// Operation with the arithmetic `A`.
pub struct Elementwise<A>(PhantomData<A>);

/// Parts of a scheme, read from its steps.
#[derive(Clone, Copy, Debug)]
pub struct Parts<K> {
    /// Scaling method.
    pub kind: K,
    /// Rounding rule of the last rounding.
    pub rule: RoundingRule,
    /// True if the zero point is added before the rounding.
    pub zero_point_first: bool,
}

/// Scheme definition of the oracle.
pub(super) type Definition<A> = &'static oracle::Definition<<A as Arithmetic>::Oracle>;
/// Parameters for the oracle.
pub(super) type Parameters<A> = oracle::Parameters<<A as Arithmetic>::Oracle>;

/// Parts of the schemes of an arithmetic, and relations between schemes.
pub struct Schemes<D, K> {
    /// Reads the parts of a scheme; `None` if they are unknown.
    pub parts: fn(D) -> Option<Parts<K>>,
    /// Returns the class of the difference between a kernel's own scheme and another scheme.
    pub class: fn(Parts<K>, Parts<K>) -> Class,
    /// Returns the next scheme toward another, one part at a time. `None` if parts are unknown, or if the first scheme leads elsewhere.
    pub next: fn(&Scheme<D>, &Scheme<D>) -> Option<Scheme<D>>,
}

/// Arithmetic of an elementwise operation: the function of two elements, with its kernels, schemes and cases.
pub trait Arithmetic: Sized + Send + Sync + 'static {
    /// Operation of the kernels.
    type Impl: TensorOperation<Params = Params, Domain = Self::Domain, Run = Run> + MakesJob<Params>;
    /// Exact definition.
    type Oracle: oracle::Arithmetic;
    /// Domain of the kernels.
    type Domain: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static;
    /// Scaling method of a scheme.
    type Kind: Copy;
    /// Name in a sentence.
    const NOUN: &'static str;
    /// The operation in one line, for the help of `explain`.
    const ABOUT: &'static str;
    /// Kernel in the example of the protocol page.
    const SHOWN: &'static str;
    /// Corner cases.
    const CATALOGUE: &'static str;
    /// Directed scales of both operands and of the result.
    const SCALES: [[f32; 3]; 12];
    /// Indices of the scales that are halved in turn to keep the results at smaller scales: 0 and 1 for the operands, 2 for the result.
    const AS_SMALL: &'static [usize];
    /// Exchanges of operand parameters that a kernel may make.
    const EXCHANGES: &'static [Exchange];
    /// Parts of the schemes, and relations between them.
    const SCHEMES: Schemes<Definition<Self>, Self::Kind>;

    /// Returns the type of all stored values, and true if the kernel clamps to arbitrary bounds.
    fn limits(domain: &Self::Domain) -> (Element, bool);
    /// Returns the widest domain of this arithmetic.
    fn open(element: Element) -> Self::Domain;
    /// Converts the kernel's scale domain to the oracle's.
    fn stated(domain: &Self::Domain) -> <Self::Oracle as oracle::Arithmetic>::Scales;
    /// Returns the kernel's scale domain as text.
    fn scales(domain: &Self::Domain) -> &'static str;
    /// Returns the parameter that only this arithmetic has, with the value that all sources use.
    fn own(p: &Params) -> <Self::Oracle as oracle::Arithmetic>::Own;
    /// Returns the changes to a scheme that only kernels of this arithmetic may make.
    fn changes(scheme: Scheme<Definition<Self>>) -> Vec<Change<Elementwise<Self>>>;
    /// Adapts directed parameters to the domains of kernels.
    fn taken(params: Params) -> Params {
        params
    }
    /// Returns the real result of two differences from zero points, in units of the result's scale, in f64. Only used to choose inputs.
    fn real(scales: [f64; 3], differences: [f64; 2]) -> f64;
    /// Differences from zero points whose real result is the unit of the operands' scales.
    const UNIT: [f64; 2];
    /// Returns operand scales that differ by a factor; for a multiplication, scales whose products differ by the factor.
    fn alike(scale: f64, factor: f64) -> (f64, f64) {
        (scale, scale * factor)
    }
    /// Returns scales, near drawn scales, for which the result equals an operand or differs from an operand by a factor.
    fn identity(drawn: [f64; 3], factor: f64) -> [f64; 3];
    /// Draws the binades of random scales of both operands and of the result.
    fn binades(between: Binades<'_>) -> [i32; 3];
    /// Adapts a fuzzer's parameters so that results have all magnitudes.
    fn fuzzed(params: Params) -> Params {
        params
    }
}

impl<A: Arithmetic> Elementwise<A> {
    /// Returns the results of a scheme for parameters that may differ from the case's; `None` if the oracle does not accept them.
    pub fn at(scheme: &Scheme<Definition<A>>, case: &Case<Params>, p: &Parameters<A>) -> Option<Expected> {
        scheme.expected(p, &case.tensors[0], &case.tensors[1]).ok()
    }

    /// Converts the parameters of a batch to the oracle's.
    pub fn parameters(p: &Params) -> Parameters<A> {
        let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(super::operand::to_oracle);
        oracle::Parameters { lhs, rhs, out, storage: types::storage(p.element), own: A::own(p), min: p.min, max: p.max }
    }
}

impl<A: Arithmetic> Operation for Elementwise<A> {
    const TENSORS: &'static [&'static str] = &["lhs", "rhs"];
    const CATALOGUE: &'static str = A::CATALOGUE;
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { has_len: true, sizes: Self::sizes, ..Tensors::NONE },

        causes: Causes { contract_cause: |contract, _| Some(Change::own("results", contract)), ..Causes::NONE },
        options: Options { reference: ReferenceOption::Rounding, ..Options::NONE },
        witnesses: Witnesses { isolate_result: |case, _, index| super::isolate_result(case, index), ..Witnesses::NONE },
        ..Capabilities::NONE
    };
    types_of!(A::Impl, Scheme<Definition<A>>);

    fn dimensions(_: &A::Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.len]
    }

    fn range(domain: &A::Domain, _: usize) -> RangeInclusive<i32> {
        A::limits(domain).0.range()
    }

    fn widest_domain(_: &Self::Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<A::Domain, CaseError> {
        types::opened(ty, arguments).map(A::open)
    }

    fn covers(domain: &A::Domain, p: &Params) -> bool {
        super::covers(p, A::limits(domain)) && Self::parameters(p).takes(A::stated(domain))
    }

    fn domain_text(domain: &A::Domain) -> String {
        let (element, clamp) = A::limits(domain);
        let bounds = if clamp { "any bounds" } else { "all stored values" };
        format!("{}; {}; {bounds}", element.name(), A::scales(domain))
    }

    fn expected(scheme: &Self::Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let expected = scheme.expected(&Self::parameters(&case.params), &case.tensors[0], &case.tensors[1]);
        expected.map_err(Unposable::new)
    }

    fn rational(_: &Self::Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let p = Self::parameters(&case.params);
        let both = case.tensors[0].iter().zip(&case.tensors[1]);
        Some(both.map(|(lhs, rhs)| Some(p.real(*lhs, *rhs))).collect())
    }

    fn exact(scheme: &Self::Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let exact = scheme.exact(&Self::parameters(&case.params), &case.tensors[0], &case.tensors[1]);
        Ok(exact.map_err(Unposable::new)?.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    /// Returns the scheme that rounds the exact result once by the caller's rule.
    fn reference(_: &Kernel<Run, A::Domain>, wanted: &Wanted) -> Option<String> {
        Some(Scheme::<Definition<A>>::ideal(wanted.rounding).label())
    }

    fn neutral_element(params: &Params, t: usize) -> i32 {
        [params.lhs, params.rhs].get(t).map_or(0, |operand| operand.zero_point)
    }

    fn own_plan(domain: &A::Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan::<A>(domain, budget, seed)
    }

    fn changes(scheme: &Self::Scheme, _: &A::Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &A::Domain) -> Vec<Case<Params>> {
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
    /// Returns the tensor sizes for parameters in the domain; for other parameters, the result of the kernel's own check.
    fn sizes(domain: &A::Domain, p: &Params) -> Result<Sizes, shape::ShapeError> {
        if Self::covers(domain, p) { Ok(super::sizes(p)) } else { A::Impl::sizes(domain, p) }
    }
}

impl<A: Arithmetic> Fuzzed for Elementwise<A> {
    fn params(domain: &A::Domain, numbers: &mut Numbers<'_>) -> Params {
        A::fuzzed(super::fuzzed::params(A::limits(domain), numbers))
    }
}
