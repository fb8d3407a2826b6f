//! What quantize and dequantize share in the harness: parameters as the oracle has them and as text, the types that are tried.

mod blocks;
pub(crate) mod places;
pub mod plan;

use crate::mlir;
use crate::mlir::faults::{self, Effect};
use crate::quant_type::{self, Uniform};
use crate::tensor::fault::Fault;
use crate::tensor::given::distinct;
use crate::tensor::text::{self, Arguments};
use crate::tensor::{Asked, Case, Given, Operation, Spec};
use std::collections::BTreeSet;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Storage};
use tiebreak_impls::shape::MAX_ELEMENTS;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{self as oracle, Liberties};
use tiebreak_reports::ledger::{Unit, Value};

/// The oracle's format.
pub fn format(expressed: Expressed) -> Format {
    match expressed {
        Expressed::F16 => Format::F16,
        Expressed::Bf16 => Format::Bf16,
        Expressed::F32 => Format::F32,
        Expressed::F64 => Format::F64,
    }
}

/// The parameters of each scale of a type, the scale rounded to the expressed type; or why the oracle has none.
pub fn quantizations(quantized: &Quantized) -> Result<Vec<oracle::Quantization>, String> {
    let Quantized { storage: Storage { bits, signed }, min, max, .. } = *quantized;
    let format = format(quantized.expressed);
    let one = |(scale, zero_point): (&tiebreak_impls::quantized::Scale, &i64)| {
        let exact = rug::Rational::from_f64(scale.0).ok_or_else(|| format!("scales: {} is no number", scale.0))?;
        let storage = oracle::Storage { bits, signed };
        let q =
            oracle::Quantization { format, scale: format.nearest(&exact), zero_point: *zero_point, storage, min, max };
        q.check().map(|()| q).map_err(|e| e.to_string())
    };
    quantized.scales.iter().zip(&quantized.zero_points).map(one).collect()
}

/// Whether a domain covers the parameters, and the oracle too.
pub(crate) fn covers(domain: &Domain, params: &Params) -> bool {
    params.elements().is_ok() && domain.contains(params) && quantizations(&params.quantized).is_ok()
}

/// For each result, the words of all that it may be with these liberties, in a row.
type Possible<O> = fn(&<O as Operation>::Scheme, &Case<Params>, &Liberties) -> Result<Vec<Vec<i32>>, String>;

/// The known faults of what made a kernel's code in a lane, at one case, each with the values that it can give.
pub(crate) fn at_fault<O: Operation<Params = Params>>(
    kernel: &str,
    lane: &str,
    contract: &O::Scheme,
    case: &Case<Params>,
    possible: Possible<O>,
) -> Vec<Fault> {
    let known: Vec<_> = faults::of(kernel, lane).filter(|known| known.covers(&case.params)).collect();
    let by_f32 = zero_points_by_f32(case);
    let steps = Liberties { ties: false, conversion: Some(mlir::conversion::of(kernel, lane)) };
    let ties = Liberties { ties: true, ..steps };
    let may = |effect| match effect {
        Effect::IntegersByF32(name) => possible(&O::scheme(name).ok()?, &by_f32, &steps).ok(),
        Effect::FixedPoint => possible(&O::scheme("ideal").ok()?, case, &steps).ok(),
        Effect::EitherSideOfTies => {
            let mut may = possible(contract, case, &ties).ok()?;
            // Where integers are rounded to f32 as well, the steps behind have their ties elsewhere.
            for known in &known {
                if let Effect::IntegersByF32(name) = known.effect {
                    let more = possible(&O::scheme(name).ok()?, &by_f32, &ties).ok()?;
                    may.iter_mut().zip(more).for_each(|(may, more)| may.extend(more));
                }
            }
            Some(may)
        }
    };
    let fault = |known: &&faults::Known| {
        let may = may(known.effect)?;
        Some(Fault { class: known.class, reason: known.reason, each: known.each, may })
    };
    known.iter().filter_map(fault).collect()
}

/// The case with zero points that were rounded to f32, but in a scalar, where they are constants.
fn zero_points_by_f32(case: &Case<Params>) -> Case<Params> {
    let rounded = |zero_point: &i64| {
        let bits = Format::F32.nearest(&rug::Rational::from(*zero_point));
        let exact = Format::F32.decode(bits).finite().and_then(|v| v.numer().to_i64());
        // 2^32 is no zero point; what is below it by less than a unit of f32 is rounded to it by every narrower type.
        exact.map_or(*zero_point, |exact| exact.min(u32::MAX.into()))
    };
    let mut case = case.clone();
    if case.params.container != Container::Scalar {
        let zero_points = &mut case.params.quantized.zero_points;
        *zero_points = zero_points.iter().map(rounded).collect();
    }
    case
}

/// Whether a known fault changes a kernel's code in a lane for these parameters.
pub(crate) fn is_at_fault(kernel: &str, lane: &str, params: &Params) -> bool {
    faults::of(kernel, lane).any(|known| known.covers(params))
}

/// The types that the caller gave, and those that no case has.
pub(crate) fn given(domain: &Domain, asked: &Asked, specs: &[Spec<Params>]) -> Option<Given> {
    let run: BTreeSet<String> = distinct(specs).into_iter().map(|params| type_text(&params.quantized)).collect();
    let told = |_, ty: &Quantized| {
        let reason = quantizations(ty).map_or_else(|reason| reason, |_| domain_text(domain));
        (format!("type={}", type_text(ty)), reason)
    };
    (!asked.types.is_empty()).then(|| Given::of(Unit::Type, &asked.types, |ty| run.contains(&type_text(ty)), told))
}

/// The parameters by which a type is swept: a tensor of one dimension where the kernel takes any.
pub(crate) fn swept(domain: &Domain, quantized: &Quantized, len: usize) -> Option<Params> {
    let ranked = domain.containers.iter().find(|c| **c == Container::Ranked);
    let container = *ranked.or(domain.containers.first())?;
    let params = Params { quantized: quantized.clone(), container, shape: vec![len] };
    (quantized.granularity == Granularity::Layer && covers(domain, &params)).then_some(params)
}

/// A domain in words.
pub(crate) fn domain_text(domain: &Domain) -> String {
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

/// The type as MLIR writes it, without spaces.
pub fn type_text(quantized: &Quantized) -> String {
    let granularity = match &quantized.granularity {
        Granularity::Layer => quant_type::Granularity::Layer,
        Granularity::Channel { axis } => quant_type::Granularity::Channel { axis: *axis },
        Granularity::Blocks { sizes, counts } => quant_type::Granularity::Blocks {
            sizes: sizes.iter().map(|(axis, size)| (*axis, *size as u64)).collect(),
            counts: counts.clone(),
        },
    };
    let uniform = Uniform {
        storage: quantized.storage,
        min: quantized.min,
        max: quantized.max,
        expressed: quantized.expressed,
        granularity,
        scales: quantized.scales.iter().map(|scale| scale.0).collect(),
        zero_points: quantized.zero_points.clone(),
    };
    uniform.to_string().replace(' ', "")
}

/// The quantized type of a text.
pub fn read_type(text: &str) -> Result<Quantized, String> {
    let ty = quant_type::parse_type(text).map_err(|e| e.to_string())?;
    match (&ty, ty.uniform()) {
        (quant_type::Type::Scalar(_), Some(uniform)) => Ok(uniform.into()),
        _ => Err(format!("`{text}` is not a quantized type by itself, such as !quant.uniform<i8:f32,0.1:3>")),
    }
}

/// Scales of a type that is run at most. Each is tried on elements of its own, all of them in one tensor.
pub const MOST_SCALES: usize = 1 << 12;
/// Dimensions of a tensor that is run at most.
pub const MOST_DIMENSIONS: usize = 64;

/// The quantized type of a text, which tensors are to be made of: of bounded scales, dimensions and elements.
pub fn read_run_type(text: &str) -> Result<Quantized, String> {
    let quantized = read_type(text)?;
    let scales = quantized.scales.len();
    if scales > MOST_SCALES {
        return Err(format!(
            "{scales} scales are more than the {MOST_SCALES} that are run at a time; give the type of some of them"
        ));
    }
    match &quantized.granularity {
        Granularity::Channel { axis } if *axis >= MOST_DIMENSIONS => {
            return Err(format!(
                "axis {axis} is beyond the {MOST_DIMENSIONS} dimensions of a tensor that is run; take a nearer axis, such as 0"
            ));
        }
        _ => {}
    }
    let least = usual_shape(&quantized).into_iter().fold(1usize, usize::saturating_mul);
    if least > MAX_ELEMENTS {
        return Err(format!(
            "{least} elements, which a tensor of it has at least, are more than {MAX_ELEMENTS}; take smaller blocks"
        ));
    }
    Ok(quantized)
}

/// Type, container and shape by name; the latter two where they are not as usual.
pub(crate) fn arguments(params: &Params) -> Vec<(String, Value)> {
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

/// One element, or one of each channel, or each block once.
fn usual_shape(quantized: &Quantized) -> Vec<usize> {
    match &quantized.granularity {
        Granularity::Layer => vec![1],
        Granularity::Channel { axis } => {
            let mut shape = vec![1; axis + 1];
            shape[*axis] = quantized.scales.len();
            shape
        }
        Granularity::Blocks { sizes, counts } => {
            let size = |axis| sizes.iter().find(|(a, _)| *a == axis).map_or(1, |(_, size)| *size);
            counts.iter().enumerate().map(|(axis, count)| count.saturating_mul(size(axis))).collect()
        }
    }
}

/// Parameters from names and values.
pub(crate) fn from_arguments(arguments: &Arguments, tensor: &str) -> Result<Params, String> {
    let mut left = arguments.clone();
    let text = text::take_text(&mut left, "type").ok_or("type: missing; write type=!quant.uniform<i8:f32,0.1:3>")?;
    let quantized = read_run_type(&text).map_err(|reason| format!("type: {reason}"))?;
    let container = match text::take_text(&mut left, "container") {
        None => Container::Ranked,
        Some(name) => {
            let known = CONTAINERS.into_iter().find(|c| container_name(*c) == name);
            let names = CONTAINERS.map(container_name);
            known.ok_or_else(|| tiebreak_oracle::names::unknown("container", &name, names).to_string())?
        }
    };
    let shape = match text::take_text(&mut left, "shape") {
        None => usual_shape(&quantized),
        Some(text) => text
            .split('x')
            .map(|size| size.parse::<u32>().map(|size| size as usize))
            .collect::<Result<_, _>>()
            .map_err(|_| format!("shape: `{text}` is not sizes, such as 2x3x4"))?,
    };
    text::nothing_left(&left, &["type", "container", "shape", "misalign", tensor])?;
    Ok(Params { quantized, container, shape })
}
