//! Quantization in the harness: floats around the decision boundaries of each type, at ties, and everything that is not a number.

mod changes;
mod inputs;
pub mod parts;
mod smaller;
pub mod sweep;

use crate::quantized::{self, places, plan, quantizations};
use tiebreak_common::Budget;
use tiebreak_engine::operation::element::bits;
use tiebreak_engine::operation::fault::KnownFault;
use tiebreak_engine::operation::{
    self, Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Compiled, Counted, Deviations,
    Element, Expected, Operation, Options, Parameter, ReferenceOption, Spec, Sweeps, Tensors, Unposable, Wanted,
    Witnesses,
};
use tiebreak_impls::quantize::{self, Domain};
use tiebreak_impls::quantized::{Cast, Params};
use tiebreak_mlir::Function;
use tiebreak_oracle::Rational;
use tiebreak_oracle::quantize::{AllowedDeviations, Quantization, Scheme, Stored};
use tiebreak_reports::ledger::Value;

pub use smaller::{isolate_result, smaller};

/// The operation.
pub enum Quantize {}

/// Scheme that a contract promises for each element; a whole tensor is one row.
pub type Promised = operation::Promised<Scheme>;

/// Applies `one` to each value, with the parameters of its place.
fn each(case: &Case<Params>, one: impl Fn(&Quantization, u64) -> Option<i64>) -> Result<Expected, Unposable> {
    each_of(case, &places::scales(&case.params), one)
}

/// Applies `one` to each value, with the parameters at the given scale indices.
fn each_of(
    case: &Case<Params>,
    scales: &[usize],
    one: impl Fn(&Quantization, u64) -> Option<i64>,
) -> Result<Expected, Unposable> {
    let quantized = &case.params.quantized;
    let all = quantizations(quantized)?;
    let values = case.tensors[0].chunks(quantized.expressed.words()).zip(scales);
    // Values beyond int32 are stored as their bits.
    Ok(values.map(|(words, scale)| one(&all[*scale], bits(words)).map(|v| v as i32)).collect())
}

/// Applies `one` to each value, with the scheme of its place.
fn by_element(
    scheme: &Promised,
    case: &Case<Params>,
    one: impl Fn(&Scheme, &Quantization, u64) -> Stored,
) -> Result<Expected, Unposable> {
    let of = |scheme: &Scheme| each(case, |q, x| one(scheme, q, x).value());
    let results = of(&scheme.scheme)?;
    let len = results.len();
    scheme.joined(results, len, of)
}

/// Returns, for each value, all results possible with the allowed deviations.
fn possible(scheme: &Promised, case: &Case<Params>, allowed: &AllowedDeviations) -> Result<Vec<Vec<i32>>, Unposable> {
    // Compiled code follows a single scheme.
    let scheme = &scheme.scheme;
    let quantized = &case.params.quantized;
    let all = quantizations(quantized)?;
    let values = case.tensors[0].chunks(quantized.expressed.words()).zip(places::scales(&case.params));
    let stored = |(words, scale): (&[i32], usize)| {
        let (q, x) = (&all[scale], bits(words));
        let results = match scheme.expected(q, x) {
            value @ Stored::Value(_) if !allowed.ties => vec![value],
            _ => scheme.results(q, x, allowed),
        };
        results.into_iter().filter_map(|result| result.value().map(|v| v as i32)).collect()
    };
    Ok(values.map(stored).collect())
}

impl Operation for Quantize {
    const TENSORS: &'static [&'static str] = &["x"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/quantize.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { element: Self::element, ..Tensors::NONE },

        deviations: Deviations::IN_TAIL,
        compiled: Compiled {
            compared: true,
            is: |domain| domain.compiled,
            function: |params| Some(Function { cast: Cast::Quantize, params: params.clone() }),
            faults: quantized::faults,
            at_fault: Self::at_fault,
        },
        sweeps: Sweeps { params: sweep::params, all: sweep::sweeps, ..Sweeps::NONE },
        causes: Causes {
            matches_undefined: |_, _, _| None,
            groups: |contract, _, results| contract.groups(results, results),
            in_group: changes::in_group,
            ..Causes::NONE
        },
        options: Options {
            reference: ReferenceOption::Rounding,
            takes: &[Parameter::Types],
            caller_coverage: quantized::caller_coverage,
            widened: &["bounds"],
            ..Options::NONE
        },
        counted: Counted { kinds: Self::kinds, ..Counted::NONE },
        witnesses: Witnesses {
            isolate_result: |case, _, index| isolate_result(case, case.params.quantized.expressed.words(), index),
            channels: |p, _| places::channels(p),
            ..Witnesses::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::quantize::Quantize, Promised);

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        p.shape.clone()
    }

    fn widest_domain(_: &Promised, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        Ok(quantized::open(ty, arguments))
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        quantized::covers(domain, p)
    }

    fn domain_text(domain: &Domain) -> String {
        quantized::domain_text(domain)
    }

    fn expected(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        by_element(scheme, case, |scheme, q, x| scheme.expected(q, x))
    }

    fn rational(_: &Promised, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let all = quantizations(&case.params.quantized).ok()?;
        let values = case.tensors[0].chunks(case.params.quantized.expressed.words()).zip(places::scales(&case.params));
        let one = |(words, scale): (&[i32], usize)| {
            let q = &all[scale];
            q.format.decode(bits(words)).finite().map(|x| x / q.exact_scale() + q.zero_point)
        };
        Some(values.map(one).collect())
    }

    fn exact(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        by_element(scheme, case, |scheme, q, x| scheme.exact(q, x))
    }

    /// Returns the scheme that rounds the exact sum once by the caller's rule.
    fn reference(_: &quantize::Kernel, wanted: &Wanted) -> Option<String> {
        Some(Scheme::ideal(wanted.rounding).label())
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, selection, budget, seed, &inputs::Floats)
    }

    fn changes(scheme: &Promised, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(&scheme.scheme)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        smaller(case, case.params.quantized.expressed.words(), domain)
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        quantized::arguments(p)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        quantized::from_arguments(arguments, "x")
    }
}

impl Quantize {
    fn element(_: &Domain, p: &Params, t: usize) -> Element {
        match t {
            0 => Element::Float(quantized::format(p.quantized.expressed)),
            _ => Element::Integer(p.quantized.storage.range()),
        }
    }

    fn at_fault(kernel: &str, lane: &str, contract: &Promised, case: &Case<Params>) -> Vec<KnownFault> {
        quantized::at_fault::<Self>(kernel, lane, contract, case, possible)
    }

    fn kinds(_: &Promised, case: &Case<Params>, expected: &Expected) -> Vec<(&'static str, u64)> {
        let expressed = case.params.quantized.expressed;
        let input = |at: usize| bits(&case.tensors[0][at * expressed.words()..][..expressed.words()]);
        let subnormal = |at| quantized::is_subnormal(quantized::format(expressed), input(at));
        quantized::kinds(case, expected, 1, ("of a subnormal input", subnormal))
    }
}
