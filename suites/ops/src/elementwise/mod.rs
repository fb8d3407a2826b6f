//! Quantized elementwise operations on two tensors in the harness: cases as texts, smaller cases, and the changes that a kernel may make to a
//! scheme. [`add`], [`sub`] and [`mul`] are the instances of [`Arithmetic`].

pub mod add;
mod alike;
mod changes;
mod fuzzed;
pub mod mul;
mod near;
pub(crate) mod operand;
mod operation;
mod plan;
mod presented;
pub mod sub;

use crate::types;
use tiebreak_engine::operation::{Arguments, Case, CaseError, Field, arguments, fields, fill};
use tiebreak_engine::run::shrink;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise::{Operand, Params};
use tiebreak_impls::shape::{MAX_ELEMENTS, Sizes};
use tiebreak_reports::ledger::Value;

pub use add::Add;
use changes::Exchange;
pub use mul::Mul;
use operation::{Arithmetic, Definition, Elementwise, Parts, Schemes};
use plan::Binades;
pub use sub::Sub;

/// Checks that the parameters fit the type, and that the bounds are the type's unless the kernel clamps to arbitrary bounds. The oracle checks the
/// scales, so no code of a kernel decides on which cases it runs.
fn covers(p: &Params, (element, clamp): (Element, bool)) -> bool {
    let range = element.range();
    let operand = |o: Operand| operand::is_single(o) && range.contains(&o.zero_point);
    let all = (*range.start(), *range.end());
    p.element == element
        && (1..=MAX_ELEMENTS).contains(&p.len)
        && [p.lhs, p.rhs, p.out].into_iter().all(operand)
        && p.min <= p.max
        && range.contains(&p.min)
        && range.contains(&p.max)
        && (clamp || (p.min, p.max) == all)
}

/// Returns the numbers of elements of both operands and of the result.
fn sizes(p: &Params) -> Sizes {
    Sizes { inputs: [p.len, p.len, 0], outputs: p.len }
}

/// Returns the case of a single result, then the case in which every other element is 0.
fn isolate_result(case: &Case<Params>, index: usize) -> Vec<(Case<Params>, usize)> {
    let [lhs, rhs, _] = &*case.tensors;
    let tensors = [vec![lhs[index]], vec![rhs[index]], Vec::new()];
    let one = Case { params: Params { len: 1, ..case.params }, tensors: tensors.into(), misalign: 0 };
    vec![(one, 0), (fill::only(case, [1, 1, 0], index), index)]
}

/// Returns cases that are smaller or simpler and whose parameters pass `takes`.
fn smaller(case: &Case<Params>, takes: impl Fn(&Params) -> bool) -> Vec<Case<Params>> {
    let p = &case.params;
    if p.len > 1 {
        let cut = |cut: std::ops::Range<usize>| Case {
            params: Params { len: cut.len(), ..*p },
            tensors: [case.tensors[0][cut.clone()].to_vec(), case.tensors[1][cut].to_vec(), Vec::new()].into(),
            misalign: 0,
        };
        return shrink::cuts(p.len).into_iter().map(cut).collect();
    }
    let plain = plainer(p).into_iter().filter(|plain| plain != p && takes(plain));
    plain.map(|params| Case { params, misalign: 0, ..case.clone() }).collect()
}

/// Formats the parameters as arguments of a case.
fn arguments(p: &Params) -> Vec<(String, Value)> {
    let mut out: Vec<_> = types::argument(p.element).into_iter().collect();
    for (name, Operand { scale, zero_point }) in [("lhs", p.lhs), ("rhs", p.rhs), ("out", p.out)] {
        out.push((format!("{name}_scale"), operand::spelled(scale)));
        if zero_point != 0 {
            out.push((format!("{name}_zero_point"), i64::from(zero_point).into()));
        }
    }
    out.extend(fields::written(&FIELDS, p, &usual(*p)));
    out
}

/// Parses the parameters from the arguments of a case.
fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
    let mut left = arguments.clone();
    let element = types::take(&mut left)?;
    let mut of = |tensor: &str| {
        let name = format!("{tensor}_scale");
        let text = arguments::take_text(&mut left, &name).unwrap_or_else(|| "1".to_owned());
        let scale = operand::scale(&name, &text)?;
        let zero_point = arguments::take_int32(&mut left, &format!("{tensor}_zero_point"), 0)?;
        Ok::<_, CaseError>(Operand { scale, zero_point })
    };
    let (lhs, rhs, out) = (of("lhs")?, of("rhs")?, of("out")?);
    let params = fields::read(&FIELDS, usual(Params { element, len: 1, lhs, rhs, out, min: 0, max: 0 }), &mut left)?;
    arguments::nothing_left(&left, &KNOWN)?;
    Ok(params)
}

/// Sets the defaults: one element, clamped to the bounds of its type.
fn usual(p: Params) -> Params {
    Params { len: 1, min: *p.element.range().start(), max: *p.element.range().end(), ..p }
}

const FIELDS: [Field<Params>; 3] = fields![Params; int32 min; int32 max; size len];

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

/// Returns parameters with one simplification each.
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
    // Scales with few digits. A scale that already has few digits is kept.
    for plain in operand::PLAIN {
        out.extend(operand::plainer(p.lhs, plain).map(|lhs| Params { lhs, ..*p }));
        out.extend(operand::plainer(p.rhs, plain).map(|rhs| Params { rhs, ..*p }));
        out.extend(operand::plainer(p.out, plain).map(|out| Params { out, ..*p }));
    }
    out
}
