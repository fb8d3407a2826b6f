//! Shared parts of quantize and dequantize in the harness: conversion of parameters for the oracle and to text, and the types of the cases.

mod blocks;
mod domains;
mod fuzzed;
pub(crate) mod overflow;
pub mod places;
pub mod plan;
mod presented;
mod random;
mod ranks;

use std::collections::BTreeSet;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::fault::KnownFault;
use tiebreak_engine::operation::parameter_coverage::distinct;
use tiebreak_engine::operation::{
    Arguments, Case, CaseError, CaseSelection, Expected, Operation, ParameterCoverage, Unposable, arguments,
    scheme_named,
};
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Scale, Storage};
use tiebreak_mlir::faults::{self, Effect};
use tiebreak_mlir::types::usual_shape;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::AllowedDeviations;
use tiebreak_reports::ledger::{Unit, Value};

pub use tiebreak_mlir::quant_type::format;
pub use tiebreak_mlir::types::{MOST_DIMENSIONS, MOST_SCALES, quantizations, read_run_type, read_type, type_text};

/// Returns a type with one scale and one zero point for all elements.
pub(crate) fn with_one_scale(
    storage: Storage,
    (min, max): (i64, i64),
    expressed: Expressed,
    scale: Scale,
    zero_point: i64,
) -> Quantized {
    let (granularity, scales, zero_points) = (Granularity::Layer, vec![scale], vec![zero_point]);
    Quantized { storage, min, max, expressed, granularity, scales, zero_points }
}

/// True if the domain covers the parameters and the oracle accepts them.
pub fn covers(domain: &Domain, params: &Params) -> bool {
    params.elements().is_ok() && domain.contains(params) && quantizations(&params.quantized).is_ok()
}

/// Function that returns, for each result, the words of all values possible with the allowed deviations.
type Possible<O> = fn(&<O as Operation>::Scheme, &Case<Params>, &AllowedDeviations) -> Result<Vec<Vec<i32>>, Unposable>;

/// Returns the classes of the known faults in a kernel's code in a lane, for the parameters.
pub fn faults(kernel: &str, lane: &str, params: &Params) -> Vec<Class> {
    faults::of(kernel, lane).filter(|known| known.covers(params)).map(|known| known.class).collect()
}

/// Returns the known faults in the code of a kernel in a lane for one case, each with the values that it can give.
pub fn at_fault<O: Operation<Params = Params>>(
    kernel: &str,
    lane: &str,
    contract: &O::Scheme,
    case: &Case<Params>,
    possible: Possible<O>,
) -> Vec<KnownFault> {
    let known: Vec<_> = faults::of(kernel, lane).filter(|known| known.covers(&case.params)).collect();
    let by_f32 = zero_points_by_f32(case);
    let steps = AllowedDeviations { ties: false, conversion: Some(tiebreak_mlir::conversion::of(kernel, lane)) };
    let ties = AllowedDeviations { ties: true, ..steps };
    let may = |effect| match effect {
        Effect::IntegersByF32(name) => possible(&scheme_named::<O>(name).ok()?, &by_f32, &steps).ok(),
        Effect::FixedPoint => possible(&scheme_named::<O>("ideal").ok()?, case, &steps).ok(),
        Effect::EitherSideOfTies => {
            let mut may = possible(contract, case, &ties).ok()?;
            // If integers are also rounded to f32, the steps after that rounding have different ties.
            for known in &known {
                if let Effect::IntegersByF32(name) = known.effect {
                    let more = possible(&scheme_named::<O>(name).ok()?, &by_f32, &ties).ok()?;
                    may.iter_mut().zip(more).for_each(|(may, more)| may.extend(more));
                }
            }
            Some(may)
        }
    };
    let fault = |known: &&faults::Known| {
        let may = may(known.effect)?;
        Some(KnownFault { class: known.class, reason: known.reason, each: known.each, may })
    };
    known.iter().filter_map(fault).collect()
}

/// Rounds the zero points of a case to f32, except for a scalar, whose zero points are constants.
fn zero_points_by_f32(case: &Case<Params>) -> Case<Params> {
    let rounded = |zero_point: &i64| {
        let bits = Format::F32.nearest(&rug::Rational::from(*zero_point));
        let exact = Format::F32.decode(bits).finite().and_then(|v| v.numer().to_i64());
        // 2^32 is not a zero point; narrower types round values less than one f32 unit below it to 2^32.
        exact.map_or(*zero_point, |exact| exact.min(u32::MAX.into()))
    };
    let mut case = case.clone();
    if case.params.container != Container::Scalar {
        let zero_points = &mut case.params.quantized.zero_points;
        *zero_points = zero_points.iter().map(rounded).collect();
    }
    case
}

/// True if a known fault changes a kernel's code in a lane for the parameters.
pub fn is_at_fault(kernel: &str, lane: &str, params: &Params) -> bool {
    faults::of(kernel, lane).any(|known| known.covers(params))
}

/// Counts results that have a value by kind: elements that `of` selects, and the kinds of every cast. `words` is the number of words of a result.
pub fn kinds(
    case: &Case<Params>,
    expected: &Expected,
    words: usize,
    of: (&'static str, impl Fn(usize) -> bool),
) -> Vec<(&'static str, u64)> {
    let format = format(case.params.quantized.expressed);
    let all = quantizations(&case.params.quantized).unwrap_or_default();
    let tiny: Vec<bool> = all.iter().map(|q| is_subnormal(format, q.scale)).collect();
    let (mut found, mut scales, mut beyond) = (0, 0, 0);
    for (index, (words, scale)) in expected.chunks(words).zip(places::scales(&case.params)).enumerate() {
        if words.iter().all(Option::is_some) {
            found += u64::from(of.1(index));
            scales += u64::from(tiny[scale]);
            beyond += u64::from(scale >= 8);
        }
    }
    let several = (all.len() > 1).then_some(("in channels or blocks from the ninth on", beyond));
    [(of.0, found), ("of a subnormal scale", scales)].into_iter().chain(several).collect()
}

/// True if a pattern is a subnormal number other than zero.
pub fn is_subnormal(format: Format, pattern: u64) -> bool {
    let magnitude = pattern & (format.sign() - 1);
    magnitude != 0 && magnitude < 1 << (format.precision() - 1)
}

/// Counts the caller's types, and lists types without a case.
pub fn caller_coverage(
    domain: &Domain,
    selection: &CaseSelection,
    run: &[&Params],
    _: (&Budget, u64),
) -> Option<ParameterCoverage> {
    let run: BTreeSet<String> = distinct(run).into_iter().map(|params| type_text(&params.quantized)).collect();
    let described = |_, ty: &Quantized| {
        let reason = quantizations(ty).map_or_else(|error| error.to_string(), |_| domain_text(domain));
        (format!("type={}", type_text(ty)), reason)
    };
    (!selection.types.is_empty())
        .then(|| ParameterCoverage::of(Unit::Type, &selection.types, |ty| run.contains(&type_text(ty)), described))
}

/// Returns the parameters of a sweep of a type, in one dimension. `None` if the type has several scales or is not covered.
pub fn swept(domain: &Domain, quantized: &Quantized, len: usize) -> Option<Params> {
    let ranked = domain.containers.iter().find(|c| **c == Container::Ranked);
    let container = *ranked.or(domain.containers.first())?;
    let params = Params { quantized: quantized.clone(), container, shape: vec![len] };
    (quantized.granularity == Granularity::Layer && covers(domain, &params)).then_some(params)
}

/// Returns the domain of every type. A type that a line names becomes the type of its case.
pub fn open(ty: Option<&str>, arguments: &mut Arguments) -> Domain {
    if let Some(ty) = ty {
        let ty: String = ty.split_whitespace().collect();
        arguments.entry("type".to_owned()).or_insert(Value::Text(ty));
    }
    Domain {
        expressed: &Expressed::ALL,
        storage: &[],
        bounds: true,
        finest: Finest::Blocks,
        containers: &CONTAINERS,
        compiled: false,
    }
}

/// Formats a domain.
pub fn domain_text(domain: &Domain) -> String {
    let list = |names: Vec<&str>| names.join(", ");
    let storage: Vec<String> = domain.storage.iter().map(|s| s.name()).collect();
    let mut parts = vec![
        list(domain.expressed.iter().map(|e| e.name()).collect()),
        if storage.is_empty() { "storage of 1 to 32 bits".to_owned() } else { storage.join(", ") },
    ];
    parts.push(if domain.bounds { "any bounds" } else { "all stored values" }.to_owned());
    parts.push(finest_text(domain.finest).to_owned());
    parts.push(list(domain.containers.iter().map(|c| container_name(*c)).collect()));
    if domain.compiled {
        parts.push("in lanes of compiled modules".to_owned());
    }
    parts.join("; ")
}

fn finest_text(finest: Finest) -> &'static str {
    match finest {
        Finest::Layer => "per layer",
        Finest::Channel => "per layer or channel",
        Finest::LastAxis => "per layer, channel or block of the last axis",
        Finest::OtherAxis => "per block of one axis that more elements follow",
        Finest::OneAxis => "per layer, channel or block of one axis",
        Finest::Blocks => "per layer, channel or block",
    }
}

const CONTAINERS: [Container; 3] = [Container::Scalar, Container::Ranked, Container::Unranked];

fn container_name(container: Container) -> &'static str {
    match container {
        Container::Scalar => "scalar",
        Container::Ranked => "ranked",
        Container::Unranked => "unranked",
    }
}

/// Formats type, container and shape; container and shape only if they are not the defaults.
pub fn arguments(params: &Params) -> Vec<(String, Value)> {
    let mut out = vec![("type".to_owned(), Value::Text(type_text(&params.quantized)))];
    if params.container != Container::Ranked {
        out.push(("container".to_owned(), Value::Text(container_name(params.container).to_owned())));
    }
    if params.shape != usual_shape(&params.quantized) {
        let sizes: Vec<String> = params.shape.iter().map(usize::to_string).collect();
        let shape = sizes.join("x");
        out.push(("shape".to_owned(), shape.parse().map_or(Value::Text(shape), Value::Integer)));
    }
    out
}

/// Parses the parameters from the arguments of a case.
pub fn from_arguments(arguments: &Arguments, tensor: &str) -> Result<Params, CaseError> {
    let mut left = arguments.clone();
    let text =
        arguments::take_text(&mut left, "type").ok_or("type: missing; write type=!quant.uniform<i8:f32,0.1:3>")?;
    let quantized = read_run_type(&text).map_err(|error| CaseError::from(error).of("type"))?;
    let container = match arguments::take_text(&mut left, "container") {
        None => Container::Ranked,
        Some(name) => {
            let known = CONTAINERS.into_iter().find(|c| container_name(*c) == name);
            let names = CONTAINERS.map(container_name);
            known.ok_or_else(|| tiebreak_oracle::names::unknown("container", &name, names).to_string())?
        }
    };
    let shape = match arguments::take_text(&mut left, "shape") {
        None => usual_shape(&quantized),
        Some(text) => text
            .split('x')
            .map(|size| size.parse::<u32>().map(|size| size as usize))
            .collect::<Result<_, _>>()
            .map_err(|_| format!("shape: `{text}` is not sizes, such as 2x3x4"))?,
    };
    arguments::nothing_left(&left, &["type", "container", "shape", "misalign", tensor])?;
    Ok(Params { quantized, container, shape })
}
