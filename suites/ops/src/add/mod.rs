//! Quantized addition in the harness: all pairs of 8-bit operands at each of the parameters, against the exact sum.

mod causes;
mod fuzzed;
mod path;
mod plan;

use std::ops::RangeInclusive;
use tiebreak_common::budget::Budget;
use tiebreak_common::class::Class;
use tiebreak_engine::tensor::ReferenceOption;
use tiebreak_engine::tensor::element::{float, float_bits};
use tiebreak_engine::tensor::fill;
use tiebreak_engine::tensor::text::{self, Arguments};
use tiebreak_engine::tensor::{Asked, Case, Cause, Expected, Operation, PathStep, Spec, Wanted};
use tiebreak_impls::add::{self, Domain, Operand, Params, Scales};
use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::Scale;
use tiebreak_oracle::add::{self as oracle, Scheme};
use tiebreak_oracle::float::Format::F32;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Add {}

/// The oracle's parameters.
fn parameters(p: &Params) -> oracle::Parameters {
    let operand = |o: Operand| oracle::Operand { scale: (o.scale.0 as f32).to_bits(), zero_point: o.zero_point };
    let storage = Storage { bits: 8 * p.element.bytes() as u32, signed: p.element != Element::U8 };
    let [lhs, rhs, out] = [p.lhs, p.rhs, p.out].map(operand);
    oracle::Parameters { lhs, rhs, out, storage, left_shift: oracle::left_shift(storage), min: p.min, max: p.max }
}

/// What a scheme gives at other parameters than the case's.
fn at(scheme: &Scheme, p: &oracle::Parameters, case: &Case<Params>) -> Result<Expected, String> {
    scheme.expected(p, &case.tensors[0], &case.tensors[1]).map_err(|e| e.to_string())
}

impl Operation for Add {
    const TENSORS: &'static [&'static str] = &["lhs", "rhs"];
    const CATALOGUE: &'static str = include_str!("../../../catalogue/add.txt");
    const REFERENCE: ReferenceOption = ReferenceOption::Rounding;
    type Impl = tiebreak_impls::add::Add;
    type Params = Params;
    type Domain = Domain;
    type Run = tiebreak_impls::add::Run;
    type Scheme = Scheme;

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.len]
    }

    fn range(domain: &Domain, _: usize) -> RangeInclusive<i32> {
        domain.element.range()
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        domain.sizes(p).is_ok()
    }

    fn domain_text(domain: &Domain) -> String {
        let scales = match domain.scales {
            Scales::Any => "any scales",
            Scales::Rescaled => "2 max(lhs, rhs) < out << left_shift",
            Scales::Ratios => "lhs/out, rhs/out in [2^-10, 2^8)",
            Scales::Wide => "lhs/out, rhs/out in [2^-14, 2^8), the larger from 2^-10",
        };
        format!(
            "{}; {scales}; {}",
            domain.element.name(),
            if domain.clamp { "any bounds" } else { "all stored values" }
        )
    }

    fn schemes() -> Vec<Described> {
        Described::all::<&'static tiebreak_oracle::add::Definition>()
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

    /// The exact sum rounded once by the caller's rule.
    fn reference(_: &add::Kernel, wanted: &Wanted) -> Option<String> {
        Some(Scheme::ideal(wanted.rounding).label())
    }

    fn path(contract: &Scheme, reference: &Scheme) -> Vec<PathStep<Self>> {
        path::path(contract, reference)
    }

    fn plan(domain: &Domain, _: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn causes(scheme: &Scheme, _: &Domain) -> Vec<Cause<Self>> {
        causes::causes(scheme)
    }

    fn own(contract: &Scheme, _: &Scheme) -> Option<Cause<Self>> {
        let because = format!("the results are those of {}", contract.label());
        Some(Cause::scheme(Class::OtherScheme, because, *contract))
    }

    fn alone(case: &Case<Params>, _: &Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        let [lhs, rhs, _] = &case.tensors;
        let tensors = [vec![lhs[index]], vec![rhs[index]], Vec::new()];
        let one = Case { params: Params { len: 1, ..case.params }, tensors, misalign: 0 };
        vec![(one, 0), (fill::only(case, [1, 1, 0], index), index)]
    }

    fn smaller(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let p = &case.params;
        if p.len > 1 {
            let cuts = [0..p.len / 2, p.len / 2..p.len, 0..p.len - 1, 1..p.len];
            let cut = |cut: std::ops::Range<usize>| Case {
                params: Params { len: cut.len(), ..*p },
                tensors: [case.tensors[0][cut.clone()].to_vec(), case.tensors[1][cut].to_vec(), Vec::new()],
                misalign: 0,
            };
            return cuts.map(cut).to_vec();
        }
        let plain = plainer(p).into_iter().filter(|plain| plain != p && domain.sizes(plain).is_ok());
        plain.map(|params| Case { params, misalign: 0, ..case.clone() }).collect()
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        let mut out = Vec::new();
        if p.element != Element::I8 {
            out.push(("type".to_owned(), Value::Text(p.element.name().to_owned())));
        }
        for (name, operand) in [("lhs", p.lhs), ("rhs", p.rhs), ("out", p.out)] {
            let scale = float(F32, (operand.scale.0 as f32).to_bits().into());
            let scale = scale.parse().map_or(Value::Text(scale), Value::Integer);
            out.push((format!("{name}_scale"), scale));
            if operand.zero_point != 0 {
                out.push((format!("{name}_zero_point"), i64::from(operand.zero_point).into()));
            }
        }
        let range = p.element.range();
        let bounds = [("min", p.min, range.start()), ("max", p.max, range.end())];
        out.extend(
            bounds.iter().filter(|(_, v, end)| v != *end).map(|(n, v, _)| ((*n).to_owned(), i64::from(*v).into())),
        );
        if p.len > 1 {
            out.push(("len".to_owned(), (p.len as i64).into()));
        }
        out
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, String> {
        let mut left = arguments.clone();
        let name = text::take_text(&mut left, "type").unwrap_or_else(|| Element::I8.name().to_owned());
        let element = ELEMENTS.into_iter().find(|e| e.name() == name);
        let element = element.ok_or_else(|| unknown("type", &name, ELEMENTS.map(Element::name)).to_string())?;
        let mut operand = |tensor: &str| {
            let scale = format!("{tensor}_scale");
            let text = text::take_text(&mut left, &scale).unwrap_or_else(|| "1".to_owned());
            let bits = float_bits(F32, &text).ok_or_else(|| format!("{scale}: `{text}` is no f32, such as 0.1"))?;
            let scale = Scale(f32::from_bits(bits as u32).into());
            Ok::<_, String>(Operand {
                scale,
                zero_point: text::take_int32(&mut left, &format!("{tensor}_zero_point"), 0)?,
            })
        };
        let (lhs, rhs, out) = (operand("lhs")?, operand("rhs")?, operand("out")?);
        let params = Params {
            element,
            len: text::take_size(&mut left, "len", 1)?,
            lhs,
            rhs,
            out,
            min: text::take_int32(&mut left, "min", *element.range().start())?,
            max: text::take_int32(&mut left, "max", *element.range().end())?,
        };
        text::nothing_left(&left, &KNOWN)?;
        Ok(params)
    }
}

const ELEMENTS: [Element; 3] = [Element::I8, Element::U8, Element::I16];

const KNOWN: [&str; 12] = [
    "type",
    "lhs_scale",
    "lhs_zero_point",
    "rhs_scale",
    "rhs_zero_point",
    "out_scale",
    "out_zero_point",
    "min",
    "max",
    "len",
    "lhs",
    "rhs",
];

/// Each parameter as plain as can be, one at a time.
fn plainer(p: &Params) -> Vec<Params> {
    let range = p.element.range();
    let zero = 0.clamp(*range.start(), *range.end());
    let unplaced = |o: Operand| Operand { zero_point: zero, ..o };
    let mut out = vec![
        Params { min: *range.start(), max: *range.end(), ..*p },
        Params { lhs: unplaced(p.lhs), ..*p },
        Params { rhs: unplaced(p.rhs), ..*p },
        Params { out: unplaced(p.out), ..*p },
    ];
    // Scales of few digits, which are not replaced by others once they have been taken.
    let digits = |o: Operand| float(F32, (o.scale.0 as f32).to_bits().into()).len();
    for short in [1.0f32, 0.5, 2.0, 0.1, 0.3] {
        let of = |o: Operand| Operand { scale: Scale(short.into()), ..o };
        let shorter = |o: Operand| digits(of(o)) < digits(o);
        out.extend(shorter(p.lhs).then(|| Params { lhs: of(p.lhs), ..*p }));
        out.extend(shorter(p.rhs).then(|| Params { rhs: of(p.rhs), ..*p }));
        out.extend(shorter(p.out).then(|| Params { out: of(p.out), ..*p }));
    }
    out
}
