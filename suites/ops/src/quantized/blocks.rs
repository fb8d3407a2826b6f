//! Blocks for cases of quantize and dequantize: along one or several axes, of one element or a whole dimension, in up to four dimensions.

use super::plan::{Elements, Plan, filled, new_types, spec};
use super::quantizations;
use tiebreak_engine::operation::Spec;
use tiebreak_impls::quantized::{Container, Finest, Granularity, Params, Quantized, Scale};
use tiebreak_impls::shape::MAX_ELEMENTS;

/// Division of a dimension into blocks.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// A single block of the required length, without a block size in the type.
    Whole,
    /// Number of blocks, and elements in each.
    Into(usize, usize),
    /// Number of blocks, of the required length.
    Long(usize),
}

use Cut::{Into, Long, Whole};

/// Forms of tensors that are tried.
const FORMS: [&[Cut]; 15] = [
    &[Long(3)],
    &[Into(5, 1)],
    &[Long(1)],
    &[Whole, Into(3, 2)],
    &[Into(3, 2), Whole],
    &[Into(2, 3), Into(3, 2)],
    &[Into(4, 1), Long(2)],
    &[Long(2), Into(3, 1)],
    &[Whole, Whole],
    &[Whole, Into(2, 2), Into(3, 1)],
    &[Into(2, 1), Whole, Into(2, 5)],
    &[Into(1, 3), Whole, Into(2, 7), Into(2, 1)],
    &[Into(2, 2), Into(1, 3), Whole, Into(3, 1)],
    &[Into(2, 1), Long(2), Into(3, 1)],
    &[Long(3), Into(2, 1), Into(2, 1)],
];

/// Many blocks along an axis that is not the last, each block with its own scale, for kernels that are not compiled.
const MANY: &[Cut] = &[Into(18, 2), Into(2, 1)];

/// Upper bound on tensors of one form. Small blocks share the inputs among several tensors.
const TENSORS: usize = 16;

/// Scales in turn. Five zero points alternate with them, so a pair repeats after 35 blocks.
const SCALES: [f64; 7] = [0.1, 0.25, 1.0 / 255.0, 0.3, 0.0625, 1.5, 0.7];

/// Largest length of blocks that repeat one value, and of rows.
const LONGEST: usize = 33;
const LONGEST_ROW: usize = 70;
/// Block lengths for compiled kernels, which need one function for each length.
const COMPILED: [usize; 5] = [1, 3, 8, 15, 17];

/// Returns the type with this number of blocks along each axis, with their own scales and zero points.
fn of_blocks(ty: &Quantized, sizes: Vec<(usize, usize)>, counts: Vec<usize>) -> Quantized {
    let (lo, hi) = (ty.min, ty.max);
    let zero_points = [0.clamp(lo, hi), hi, (lo.midpoint(hi) | 1).clamp(lo, hi), lo, lo.midpoint(hi)];
    let blocks: usize = counts.iter().product();
    Quantized {
        granularity: Granularity::Blocks { sizes, counts },
        scales: (0..blocks).map(|block| Scale(SCALES[block % SCALES.len()])).collect(),
        zero_points: (0..blocks).map(|block| zero_points[block % zero_points.len()]).collect(),
        ..ty.clone()
    }
}

/// Adds every form of the first type, and some forms in turn of the first type with each expressed type and each storage type.
pub(super) fn plan(plan: &Plan<'_, impl Elements>, types: &[Quantized], out: &mut Vec<Spec<Params>>) {
    let Plan { domain, budget, .. } = *plan;
    let all = FORMS.into_iter().chain((!domain.compiled).then_some(MANY));
    let forms: Vec<&[Cut]> = all.filter(|form| takes(domain.finest, form)).collect();
    let some = if domain.compiled || !budget.every_tail { 1 } else { 3 };
    let mut next = 0;
    for (i, ty) in new_types(types).into_iter().enumerate() {
        for _ in 0..if i == 0 { forms.len() } else { some.min(forms.len()) } {
            form(plan, (next, ty), forms[next % forms.len()], out);
            next += 1;
        }
    }
}

/// True if the domain has blocks of this form; the lengths do not matter.
fn takes(finest: Finest, form: &[Cut]) -> bool {
    let cut = |cut: &Cut| match *cut {
        Whole => (1, 2),
        Into(count, size) => (count, size),
        Long(count) => (count, 2),
    };
    let (counts, shape): (Vec<usize>, Vec<usize>) =
        form.iter().map(cut).map(|(count, size)| (count, count * size)).unzip();
    finest.takes(&Granularity::Blocks { sizes: Vec::new(), counts }, &shape)
}

/// Adds a tensor of this form; several if a block does not hold all of its inputs.
fn form(plan: &Plan<'_, impl Elements>, (i, ty): (usize, &Quantized), form: &[Cut], out: &mut Vec<Spec<Params>>) {
    let counts: Vec<usize> =
        form.iter().map(|cut| if let Into(count, _) | Long(count) = cut { *count } else { 1 }).collect();
    let draft = of_blocks(ty, Vec::new(), counts.clone());
    let most = most(plan, &draft);
    let held: usize = form.iter().map(|cut| if let Into(_, size) = cut { *size } else { 1 }).product();
    // The first dimension of open length has the required length.
    let open = form.iter().position(|cut| !matches!(cut, Into(..)));
    let size = |(axis, cut): (usize, &Cut)| match cut {
        Into(_, size) => *size,
        _ if open == Some(axis) => most.div_ceil(held),
        _ => 2,
    };
    let lengths: Vec<usize> = form.iter().enumerate().map(size).collect();
    // Every other type lists the axes from the last on, which is unusual.
    let sizes = (0..form.len()).filter(|axis| !matches!(form[*axis], Whole)).map(|axis| (axis, lengths[axis]));
    let shape = counts.iter().zip(&lengths).map(|(count, length)| count * length).collect();
    let mut sizes: Vec<_> = sizes.collect();
    if i % 2 == 1 {
        sizes.reverse();
    }
    tensors(plan, (i, &of_blocks(ty, sizes, counts)), shape, out);
}

/// Adds the tensors of a caller's type.
pub(super) fn asked(plan: &Plan<'_, impl Elements>, (i, quantized): (usize, &Quantized), out: &mut Vec<Spec<Params>>) {
    let mut shape = super::usual_shape(quantized);
    let Granularity::Blocks { sizes, .. } = &quantized.granularity else { return };
    let held = sizes.iter().fold(1usize, |held, (_, size)| held.saturating_mul(*size)).max(1);
    let open: Vec<usize> = (0..shape.len()).filter(|axis| sizes.iter().all(|(a, _)| a != axis)).collect();
    for (at, axis) in open.iter().copied().enumerate() {
        // If one tensor cannot hold all elements of each block, each tensor has a part of them.
        let each = MAX_ELEMENTS / quantized.scales.len().max(1) / held;
        let room = (each >> (open.len() - 1)).max(1);
        shape[axis] = if at == 0 { most(plan, quantized).div_ceil(held).min(room) } else { 2 };
    }
    tensors(plan, (i, quantized), shape, out);
}

/// Returns the largest number of elements that are tried on one scale.
fn most(plan: &Plan<'_, impl Elements>, quantized: &Quantized) -> usize {
    let Plan { seed, elements, .. } = *plan;
    let words = elements.words(quantized.expressed);
    let own = quantizations(quantized).unwrap_or_default();
    own.iter().map(|q| elements.elements(q, seed).len() / words).max().unwrap_or(0).max(1)
}

/// Adds tensors in which every block has the elements of interest for its own parameters.
fn tensors(
    plan: &Plan<'_, impl Elements>,
    (i, quantized): (usize, &Quantized),
    shape: Vec<usize>,
    out: &mut Vec<Spec<Params>>,
) {
    let params = Params { quantized: quantized.clone(), container: Container::Ranked, shape };
    let Ok(held) = params.elements().map(|elements| elements / quantized.scales.len().max(1)) else { return };
    if !plan.domain.contains(&params) {
        return;
    }
    let tensors = most(plan, quantized).div_ceil(held.max(1)).min(TENSORS);
    for at in 0..tensors {
        let Some(values) = filled(plan, &params, (at, tensors)) else { return };
        out.push(spec(params.clone(), values, i + at));
    }
}

/// Adds tensors in which every block repeats a value of its own, with blocks of every length along the last axis and rows of every length. A domain
/// without such blocks gets them along the first axis, with as many elements after it.
pub(super) fn repeated(plan: &Plan<'_, impl Elements>, ty: &Quantized, out: &mut Vec<Spec<Params>>) {
    let Plan { domain, elements, .. } = *plan;
    if !domain.finest.takes_layers() {
        let sizes = |size: usize| vec![(0, size), (1, 1)];
        for length in 1..=LONGEST {
            one_value_each(&of_blocks(ty, sizes(length), vec![3, 2]), vec![3 * length, 2], elements, out);
        }
        for length in 2..=LONGEST_ROW {
            one_value_each(&of_blocks(ty, sizes(2), vec![2, length]), vec![4, length], elements, out);
        }
        return;
    }
    let lengths = if domain.compiled { COMPILED.to_vec() } else { (1..=LONGEST).collect() };
    for length in lengths {
        one_value_each(&of_blocks(ty, vec![(0, length)], vec![3]), vec![3 * length], elements, out);
    }
    let rows = of_blocks(ty, vec![(0, 1)], vec![2, 1]);
    for length in 1..=LONGEST_ROW {
        one_value_each(&rows, vec![2, length], elements, out);
    }
}

fn one_value_each(quantized: &Quantized, shape: Vec<usize>, elements: &impl Elements, out: &mut Vec<Spec<Params>>) {
    let Ok(all) = quantizations(quantized) else { return };
    let own: Vec<Vec<Vec<i32>>> = all.iter().map(|q| elements.repeated(q)).collect();
    let length: usize = shape.iter().product();
    let params = Params { quantized: quantized.clone(), container: Container::Ranked, shape };
    let scales = super::places::scales(&params);
    let of = |at: usize| scales.iter().map(|scale| own[*scale].get(at).map(Vec::as_slice)).collect::<Option<Vec<_>>>();
    for values in (0..own.first().map_or(0, Vec::len)).filter_map(of) {
        out.push(spec(params.clone(), values.concat(), length));
    }
}
