//! Changes that a kernel may make to a convolution.

use super::geometry::first_repeated;
use super::{Conv2d, geometry, products, transposed};
use crate::matmul::{either, orders, other_sign, reproduced, widths, wrapped_to, wrapping};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected, Observed, Operation};
use tiebreak_impls::conv2d::{Domain, Params};
use tiebreak_oracle::matmul::Scheme;

/// Output channels in a block.
const COLUMNS: usize = 4;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Conv2d>> {
    let base = wrapping(scheme);
    let mut out = if domain.transposed.is_some() { transposed::changes(base) } else { Vec::new() };
    out.extend(paddings(base, domain));
    out.extend(widths(scheme, &domain.operands));
    let because = ["the input zero point is added", "the weight zero point is added", "both zero points are added"];
    out.extend(either(Class::OffsetSign, base, because, |case, t| {
        *zero_point(case, t) = zero_point(case, t).wrapping_neg();
    }));
    let because = [
        "the input zero point is not subtracted",
        "the weight zero point is not subtracted",
        "neither zero point is subtracted",
    ];
    out.extend(either(Class::OffsetTerm, base, because, |case, t| *zero_point(case, t) = 0));
    for (because, t, element) in [
        ("the input is read with the other sign", 0, domain.operands.lhs),
        ("the weights are read with the other sign", 1, domain.operands.rhs),
    ] {
        out.push(Change::of_case(Class::Signedness, because, base, move |case: &mut Case<Params>| {
            case.tensors[t].iter_mut().for_each(|v| *v = other_sign(element, *v));
        }));
    }
    out.extend(narrow_offsets(base, domain));
    out.extend(layouts(base));
    out.extend(products::changes(scheme, domain));
    out
}

/// Returns changes that fill the border with another value than the zero point. The padded image is built explicitly and convolved without padding.
fn paddings(base: Scheme, domain: &Domain) -> Vec<Change<Conv2d>> {
    let mut values = vec![0, -128, 128, *domain.operands.lhs_values.start(), *domain.operands.lhs_values.end()];
    values.dedup();
    let padded = |value: i32| {
        let what = if domain.transposed.is_some() { "what lies between and around the elements" } else { "the border" };
        let because = format!("{what} is filled with {value} where it must be the zero point");
        Change::of_case(Class::Padding, because, base, move |case: &mut Case<Params>| *case = bordered(case, value))
    };
    values.into_iter().map(padded).collect()
}

fn bordered(case: &Case<Params>, value: i32) -> Case<Params> {
    let p = case.params;
    if p.transposed {
        return transposed::inserted(case, value);
    }
    let (height, width) = (p.top + p.height + p.bottom, p.left + p.width + p.right);
    let mut input = vec![value; p.batches * height * width * p.channels];
    for b in 0..p.batches {
        for y in 0..p.height {
            let from = (b * p.height + y) * p.width * p.channels;
            let to = ((b * height + p.top + y) * width + p.left) * p.channels;
            let row = p.width * p.channels;
            input[to..to + row].copy_from_slice(&case.tensors[0][from..from + row]);
        }
    }
    let params = Params { height, width, top: 0, bottom: 0, left: 0, right: 0, ..p };
    Case { params, tensors: [input, case.tensors[1].clone(), Vec::new()].into(), misalign: case.misalign }
}

type Swap = fn(&mut Params);

fn layouts(base: Scheme) -> Vec<Change<Conv2d>> {
    let swaps: [(&str, Swap); 5] = [
        ("the strides of rows and columns are exchanged", |p| std::mem::swap(&mut p.stride_h, &mut p.stride_w)),
        ("the dilations of rows and columns are exchanged", |p| std::mem::swap(&mut p.dilation_h, &mut p.dilation_w)),
        ("the borders at the top and at the bottom are exchanged", |p| std::mem::swap(&mut p.top, &mut p.bottom)),
        ("the borders at the left and at the right are exchanged", |p| std::mem::swap(&mut p.left, &mut p.right)),
        ("the borders are exchanged, top with bottom and left with right", |p| {
            std::mem::swap(&mut p.top, &mut p.bottom);
            std::mem::swap(&mut p.left, &mut p.right);
        }),
    ];
    let mut out: Vec<_> = swaps.map(|(because, swap)| Change::of_params(Class::Layout, because, base, swap)).into();
    out.extend(geometry::changes(base));
    let because = "the filters of every group are those of the first";
    out.push(Change::of_case(Class::Layout, because, base, |case: &mut Case<Params>| {
        let share = case.params.out_channels / case.params.groups.max(1);
        let rows = case.tensors[1].chunks_exact_mut(case.params.out_channels.max(1));
        rows.for_each(|row| first_repeated(row, share));
    }));
    out.push(Change::found(Class::Layout, move |evidence| permutation(base, evidence)));
    out
}

/// Returns changes that subtract zero points in the type of their operand, which wraps.
fn narrow_offsets(base: Scheme, domain: &Domain) -> Vec<Change<Conv2d>> {
    let types = [domain.operands.lhs, domain.operands.rhs];
    let because = [
        "the input zero point is subtracted in the type of the input, and wraps",
        "the weight zero point is subtracted in the type of the weights, and wraps",
        "both zero points are subtracted in the types of their operands, and wrap",
    ];
    either(Class::Wrap, base, because, move |case, t| {
        let subtracted = std::mem::take(zero_point(case, t));
        case.tensors[t].iter_mut().for_each(|v| *v = wrapped_to(types[t], v.wrapping_sub(subtracted)));
    })
}

/// Returns the zero point of an operand.
fn zero_point(case: &mut Case<Params>, t: usize) -> &mut i32 {
    if t == 0 { &mut case.params.input_zero_point } else { &mut case.params.weight_zero_point }
}

/// Finds an order of output channels within blocks that turns the expected results into the observed results.
fn permutation(base: Scheme, evidence: &[&Observed<Params>]) -> Option<String> {
    let expected: Option<Vec<_>> = evidence.iter().map(|seen| Conv2d::expected(&base, &seen.case).ok()).collect();
    let expected = expected?;
    orders(COLUMNS).into_iter().find_map(|order| {
        let predicted = |seen: &Observed<Params>, expected: &Expected| -> Expected {
            // Each group has its own blocks of channels.
            let each = seen.case.params.out_channels / seen.case.params.groups;
            let from = |channel: usize| channel / COLUMNS * COLUMNS + order[channel % COLUMNS];
            let value =
                |at: usize| if from(at % each) < each { expected[at - at % each + from(at % each)] } else { None };
            (0..expected.len()).map(value).collect()
        };
        let same = reproduced(evidence, &expected, predicted);
        same.then(|| format!("output channels of each block of 4 come in the order {order:?}"))
    })
}
