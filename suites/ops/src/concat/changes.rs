//! Changes that a kernel may make to a concatenation.

use super::{Concat, parts, to_oracle};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::concat::{Input, Operand, Params};
use tiebreak_oracle::concat::{Concatenation, Definition, Scheme};
use tiebreak_oracle::quantize::Storage;
use tiebreak_oracle::scheme::Registered;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: Scheme) -> Vec<Change<Concat>> {
    let mut out = layouts(scheme);
    out.extend(tails(scheme));
    if !scheme.definition.is_copy() {
        out.extend(copies(scheme));
        out.extend(parameters(scheme));
        out.push(wrapped(scheme));
        out.extend(others(scheme));
    }
    out
}

/// Returns the results of a scheme for parameters that may differ from the case's.
fn at(scheme: &Scheme, case: &Case<Params>, p: &Concatenation) -> Option<Vec<i32>> {
    scheme.expected(p, &case.tensors[0]).ok()
}

fn given(values: Vec<i32>) -> Expected {
    values.into_iter().map(Some).collect()
}

/// Returns the rescaled inputs one after another: the results before they are moved along the axis.
fn in_order(scheme: &Scheme, case: &Case<Params>) -> Option<Vec<i32>> {
    at(scheme, case, &flattened(&to_oracle(&case.params), 0))
}

/// Joins the same inputs along an earlier axis, into which all axes from that axis on are merged.
fn flattened(p: &Concatenation, axis: usize) -> Concatenation {
    let between: usize = p.shape[axis..p.axis].iter().product();
    let step: usize = p.shape[p.axis + 1..].iter().product();
    let inputs =
        p.inputs.iter().map(|input| tiebreak_oracle::concat::Input { size: input.size * between * step, ..*input });
    let inputs: Vec<_> = inputs.collect();
    let rows = p.shape[..axis].iter().product();
    let along = inputs.iter().map(|input| input.size).sum();
    Concatenation { shape: vec![rows, along], axis: 1, inputs, ..p.clone() }
}

fn layouts(scheme: Scheme) -> Vec<Change<Concat>> {
    let mut out = Vec::new();
    for before in 1..=3 {
        let because = match before {
            1 => "elements are put together along the axis before".to_owned(),
            _ => format!("elements are put together along the axis {before} before"),
        };
        out.push(Change::predicts(Class::Layout, because, move |case: &Case<Params>| {
            let p = to_oracle(&case.params);
            let axis = p.axis.saturating_sub(before);
            at(&scheme, case, &flattened(&p, axis)).map(given)
        }));
    }
    out.push(Change::predicts(
        Class::Layout,
        "inputs lie one after another, whatever the axis is",
        move |case: &Case<Params>| in_order(&scheme, case).map(given),
    ));
    out.push(Change::predicts(
        Class::Layout,
        "runs of an input lie as far apart in the output as in the input",
        move |case: &Case<Params>| strided(&scheme, case),
    ));
    out
}

/// Copies each input in one piece to the place of its first run. A later input overwrites the end of an earlier input; the other results are 0.
fn strided(scheme: &Scheme, case: &Case<Params>) -> Option<Expected> {
    let p = to_oracle(&case.params);
    let all = in_order(scheme, case)?;
    let step: usize = p.shape[p.axis + 1..].iter().product();
    let rows: usize = p.shape[..p.axis].iter().product();
    let mut out = vec![0; all.len()];
    let (mut begin, mut offset) = (0, 0);
    for input in &p.inputs {
        let run = input.size * step;
        out[offset..offset + rows * run].copy_from_slice(&all[begin..begin + rows * run]);
        (begin, offset) = (begin + rows * run, offset + run);
    }
    Some(given(out))
}

/// Vector lengths in elements.
const VECTORS: [usize; 4] = [4, 8, 16, 32];

/// Returns changes that set the elements of each run after the last whole vector to 0.
fn tails(scheme: Scheme) -> Vec<Change<Concat>> {
    let of = |vector: usize| {
        let because = format!("elements of a run after the last whole {vector} are lost");
        Change::predicts(Class::TruncatedTail, because, move |case: &Case<Params>| {
            let p = &case.params;
            let step: usize = p.shape[p.axis + 1..].iter().product();
            let runs = p.inputs.iter().map(|input| input.size * step);
            let lost = runs.flat_map(|run| (0..run).map(move |at| at >= run - run % vector));
            let lost: Vec<bool> = lost.collect();
            let results = at(&scheme, case, &to_oracle(p))?;
            let kept = |(i, v): (usize, i32)| Some(if lost[i % lost.len()] { 0 } else { v });
            Some(results.into_iter().enumerate().map(kept).collect())
        })
    };
    VECTORS.map(of).into()
}

/// Predicate of an input's and the output's quantization: true if the input is copied.
type Copies = fn(Operand, Operand) -> bool;

/// Returns changes that copy inputs which must be rescaled.
fn copies(scheme: Scheme) -> Vec<Change<Concat>> {
    let ways: [(Class, &str, Copies); 3] = [
        (Class::OffsetTerm, "an input with the output's scale is copied, whatever its zero point is", |own, out| {
            own.scale == out.scale
        }),
        (Class::LostFactor, "an input with the output's zero point is copied, whatever its scale is", |own, out| {
            own.zero_point == out.zero_point
        }),
        (Class::LostFactor, "stored values are copied, whatever their scales are", |_, _| true),
    ];
    let change = |(class, because, copied): (Class, &'static str, Copies)| {
        Change::of_case(class, because, scheme, move |case: &mut Case<Params>| {
            let out = case.params.out;
            let taken = case.params.inputs.iter_mut().filter(|input| copied(input.operand, out));
            taken.for_each(|input| input.operand = out);
        })
    };
    ways.map(change).into()
}

/// Change of the scales and zero points of a case.
type Swap = fn(&mut Params);

fn every(p: &mut Params, change: impl Fn(Operand) -> Operand) {
    p.inputs.iter_mut().for_each(|input: &mut Input| input.operand = change(input.operand));
}

/// Returns the quantization of input `i`.
fn input(p: &Params, i: usize) -> Operand {
    p.inputs[i].operand
}

fn parameters(scheme: Scheme) -> Vec<Change<Concat>> {
    let swaps: [(Class, &str, Swap); 10] = [
        (Class::Channel, "the zero point of the first input is taken for all inputs", |p| {
            let zero_point = input(p, 0).zero_point;
            every(p, |own| Operand { zero_point, ..own });
        }),
        (Class::Channel, "the scale of the first input is taken for all inputs", |p| {
            let scale = input(p, 0).scale;
            every(p, |own| Operand { scale, ..own });
        }),
        (Class::Channel, "scale and zero point of the first input are taken for all inputs", |p| {
            let first = input(p, 0);
            every(p, |_| first);
        }),
        (Class::Channel, "the zero point of the last input is taken for all inputs", |p| {
            let zero_point = input(p, p.inputs.len() - 1).zero_point;
            every(p, |own| Operand { zero_point, ..own });
        }),
        (Class::Channel, "the scale of the last input is taken for all inputs", |p| {
            let scale = input(p, p.inputs.len() - 1).scale;
            every(p, |own| Operand { scale, ..own });
        }),
        (Class::Channel, "scale and zero point of the last input are taken for all inputs", |p| {
            let last = input(p, p.inputs.len() - 1);
            every(p, |_| last);
        }),
        (Class::OffsetTerm, "the zero points of the inputs are not subtracted", |p| {
            every(p, |own| Operand { zero_point: 0, ..own });
        }),
        (Class::OffsetTerm, "the zero point of the output is left out", |p| p.out.zero_point = 0),
        (Class::OffsetSign, "the zero points of the inputs are added", |p| {
            every(p, |own| Operand { zero_point: -own.zero_point, ..own });
        }),
        (Class::OffsetSign, "the zero point of the output is subtracted", |p| p.out.zero_point = -p.out.zero_point),
    ];
    swaps.map(|(class, because, swap)| Change::of_params(class, because, scheme, swap)).into()
}

/// Predicts the low 8 bits of the result before the clamp. With 32-bit storage the oracle's clamp changes nothing.
fn wrapped(scheme: Scheme) -> Change<Concat> {
    Change::predicts(Class::MissingSaturation, "a cast that wraps stands for the clamp", move |case: &Case<Params>| {
        let p = to_oracle(&case.params);
        let wide = Concatenation { storage: Storage { bits: 32, signed: true }, ..p.clone() };
        let results = at(&scheme, case, &wide)?;
        Some(results.into_iter().map(|v| Some(p.storage.wrap(v.into()) as i32)).collect())
    })
}

/// Returns changes to every other rescaling scheme, each with the class of the difference.
fn others(scheme: Scheme) -> Vec<Change<Concat>> {
    let others = <&Definition>::all().filter(|other| !other.is_copy());
    Change::others("rescaling", scheme, others, |other| parts::class(scheme.definition, other), parts::next)
}
