//! Smaller and simpler concatenations: fewer inputs, shorter axes, fewer axes, and simpler quantizations.

use crate::elementwise::operand;
use std::ops::Range;
use tiebreak_engine::operation::Case;
use tiebreak_engine::run::shrink;
use tiebreak_impls::concat::{INPUTS, Input, Operand, Params};

/// Largest number of elements for which a case's quantization is simplified.
const FEW: usize = 64;

/// Part of a case: number and range along the axis of each remaining input, and the range of every other axis.
struct RemainingPart {
    inputs: Vec<(usize, Range<usize>)>,
    parts: Vec<Range<usize>>,
}

impl RemainingPart {
    /// Keeps the whole case.
    fn all(p: &Params) -> Self {
        Self {
            inputs: p.inputs.iter().enumerate().map(|(i, input)| (i, 0..input.size)).collect(),
            parts: p.shape.iter().map(|size| 0..*size).collect(),
        }
    }

    /// Returns the case of the kept part.
    fn of(&self, case: &Case<Params>) -> Case<Params> {
        let p = &case.params;
        let mut begins = vec![0];
        for input in &p.inputs {
            let others: usize =
                p.shape.iter().enumerate().filter(|(k, _)| *k != p.axis).map(|(_, size)| size).product();
            begins.push(begins[begins.len() - 1] + input.size * others);
        }
        let mut values = Vec::new();
        for (i, along) in &self.inputs {
            let part = |axis: usize| if axis == p.axis { along.clone() } else { self.parts[axis].clone() };
            let size = |axis: usize| if axis == p.axis { p.inputs[*i].size } else { p.shape[axis] };
            // Places along each axis in turn, row-major.
            let mut places = vec![begins[*i]];
            let mut stride: usize = (0..p.shape.len()).map(size).product();
            for axis in 0..p.shape.len() {
                stride /= size(axis);
                places = places.iter().flat_map(|at| part(axis).map(move |k| at + k * stride)).collect();
            }
            values.extend(places.into_iter().map(|at| case.tensors[0][at]));
        }
        let mut shape: Vec<usize> = self.parts.iter().map(Range::len).collect();
        let inputs: Vec<Input> =
            self.inputs.iter().map(|(i, along)| Input { size: along.len(), ..p.inputs[*i] }).collect();
        shape[p.axis] = inputs.iter().map(|input| input.size).sum();
        let params = Params { shape, inputs, ..p.clone() };
        Case { params, tensors: [values, Vec::new(), Vec::new()].into(), misalign: case.misalign }
    }
}

/// Returns the case of a single result, with one element of each other input.
pub(super) fn isolate_result(case: &Case<Params>, index: usize) -> Vec<(Case<Params>, usize)> {
    let p = &case.params;
    let mut kept = RemainingPart::all(p);
    let mut rest = index;
    let mut along = 0;
    for axis in (0..p.shape.len()).rev() {
        let place = rest % p.shape[axis];
        rest /= p.shape[axis];
        if axis == p.axis {
            along = place;
        } else {
            kept.parts[axis] = place..place + 1;
        }
    }
    let mut own = 0;
    let mut before = 0;
    for (i, part) in &mut kept.inputs {
        let size = p.inputs[*i].size;
        let inside = along.checked_sub(before).filter(|at| *at < size);
        if inside.is_some() {
            own = *i;
        }
        let at = inside.unwrap_or(0);
        (*part, before) = (at..at + 1, before + size);
    }
    vec![(Case { misalign: 0, ..kept.of(case) }, own)]
}

/// Returns smaller cases, then simpler cases.
pub(super) fn smaller(case: &Case<Params>) -> Vec<Case<Params>> {
    let p = &case.params;
    let mut out = Vec::new();
    if p.inputs.len() > *INPUTS.start() {
        for left_out in 0..p.inputs.len() {
            let mut kept = RemainingPart::all(p);
            kept.inputs.remove(left_out);
            out.push(kept.of(case));
        }
    }
    for axis in (0..p.shape.len()).filter(|axis| *axis != p.axis) {
        for part in cuts(p.shape[axis]) {
            let mut kept = RemainingPart::all(p);
            kept.parts[axis] = part;
            out.push(kept.of(case));
        }
        if p.shape[axis] == 1 {
            let mut params = p.clone();
            params.shape.remove(axis);
            params.axis -= usize::from(axis < p.axis);
            out.push(Case { params, ..case.clone() });
        }
    }
    for (i, input) in p.inputs.iter().enumerate() {
        for part in cuts(input.size) {
            let mut kept = RemainingPart::all(p);
            kept.inputs[i].1 = part;
            out.push(kept.of(case));
        }
    }
    // The quantization is simplified only when few elements are left.
    let few = p.shape.iter().product::<usize>() <= FEW;
    let plainer = if few { plainer(p) } else { Vec::new() };
    out.extend(plainer.into_iter().filter(|plain| plain != p).map(|params| Case { params, ..case.clone() }));
    out
}

/// Returns the parts of an axis; none if the axis has one element.
fn cuts(size: usize) -> Vec<Range<usize>> {
    if size > 1 { shrink::cuts(size) } else { Vec::new() }
}

/// Returns quantizations with one simplification each.
fn plainer(p: &Params) -> Vec<Params> {
    let zero = 0.clamp(*p.element.range().start(), *p.element.range().end());
    let unplaced = |operand: Operand| Operand { zero_point: zero, ..operand };
    let with = |i: usize, operand: Operand| {
        let mut inputs = p.inputs.clone();
        inputs[i].operand = operand;
        Params { inputs, ..p.clone() }
    };
    let every = |change: &dyn Fn(Operand) -> Operand| {
        let inputs = p.inputs.iter().map(|input| Input { operand: change(input.operand), ..*input }).collect();
        Params { inputs, out: change(p.out), ..p.clone() }
    };
    let mut out = vec![every(&unplaced)];
    out.extend((0..p.inputs.len()).map(|i| with(i, unplaced(p.inputs[i].operand))));
    out.push(Params { out: unplaced(p.out), ..p.clone() });
    for plain in operand::PLAIN {
        out.push(every(&|operand| operand::plainer(operand, plain).unwrap_or(operand)));
        for i in 0..p.inputs.len() {
            out.extend(operand::plainer(p.inputs[i].operand, plain).map(|operand| with(i, operand)));
        }
        out.extend(operand::plainer(p.out, plain).map(|out| Params { out, ..p.clone() }));
    }
    // Each input with the output's quantization.
    out.extend((0..p.inputs.len()).map(|i| with(i, p.out)));
    out
}
