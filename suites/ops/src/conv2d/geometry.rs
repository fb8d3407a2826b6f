//! Changes inside the loops, while the result keeps its size: the window uses the stride, dilation or border of the other axis, or none; every
//! image is taken for the first; the accumulator is narrow after each product.
//!
//! Changes before the size of the result is computed are in `changes.rs`. Here only the loops of the kernel are wrong.

use super::Conv2d;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::conv2d::Params;
use tiebreak_oracle::matmul::Scheme;
use tiebreak_oracle::word::INT32;

type Moved = fn(&mut Params);

const MOVED: [(&str, Moved); 16] = [
    ("the stride of rows is taken for columns too", |p| p.stride_w = p.stride_h),
    ("the stride of columns is taken for rows too", |p| p.stride_h = p.stride_w),
    ("the strides of rows and columns are exchanged in the window", |p| {
        std::mem::swap(&mut p.stride_h, &mut p.stride_w);
    }),
    ("the strides are ignored", |p| (p.stride_h, p.stride_w) = (1, 1)),
    ("the dilation of columns is ignored", |p| p.dilation_w = 1),
    ("the dilation of rows is ignored", |p| p.dilation_h = 1),
    ("the dilations are ignored", |p| (p.dilation_h, p.dilation_w) = (1, 1)),
    ("the dilation of rows is taken for columns too", |p| p.dilation_w = p.dilation_h),
    ("the dilation of columns is taken for rows too", |p| p.dilation_h = p.dilation_w),
    ("the dilations of rows and columns are exchanged in the window", |p| {
        std::mem::swap(&mut p.dilation_h, &mut p.dilation_w);
    }),
    ("the border at the top is taken for that at the left too", |p| p.left = p.top),
    ("the border at the left is taken for that at the top too", |p| p.top = p.left),
    ("the borders at the top and at the left are exchanged", |p| std::mem::swap(&mut p.top, &mut p.left)),
    ("the border at the left is ignored", |p| p.left = 0),
    ("the border at the top is ignored", |p| p.top = 0),
    ("the borders are ignored", |p| (p.top, p.left) = (0, 0)),
];

/// Returns every change, in the order of preference; none for a scheme whose products pass through narrow lanes.
pub(super) fn changes(base: Scheme) -> Vec<Change<Conv2d>> {
    if base.definition.narrow.is_some() {
        return Vec::new();
    }
    let moved = |(because, moved): (&'static str, Moved)| {
        Change::predicts(Class::Layout, because, move |case: &Case<Params>| {
            let mut window = case.params;
            moved(&mut window);
            Some(fitted(base, sums(case, &window, |sum, product| sum + product)?))
        })
    };
    let mut out: Vec<Change<Conv2d>> = MOVED.into_iter().map(moved).collect();
    out.push(Change::of_case(
        Class::Layout,
        "every image of the batch is taken for the first",
        base,
        |case: &mut Case<Params>| {
            let image = case.tensors[0].len() / case.params.batches.max(1);
            first_repeated(&mut case.tensors[0], image);
        },
    ));
    let saturates = "the accumulator has 16 bits, and saturates at each product";
    out.push(Change::predicts(Class::Saturation16, saturates, move |case: &Case<Params>| {
        // Each product is an int32.
        let step =
            |sum: i128, product: i128| (sum + i128::from(product as i32)).clamp(i16::MIN.into(), i16::MAX.into());
        Some(fitted(base, sums(case, &case.params, step)?))
    }));
    out
}

/// Converts sums to result words.
pub(super) fn fitted(scheme: Scheme, sums: Vec<i128>) -> Expected {
    sums.into_iter().map(|sum| scheme.overflow.fit(INT32, sum).map(|v| v as i32)).collect()
}

/// Copies the first `len` elements to every other part of the same length.
pub(crate) fn first_repeated(tensor: &mut [i32], len: usize) {
    let first: Vec<i32> = tensor.iter().take(len).copied().collect();
    if !first.is_empty() {
        tensor.chunks_exact_mut(len).for_each(|part| part.copy_from_slice(&first));
    }
}

/// Mapping along one axis: (output, filter element) to the input element that they meet.
pub(super) type Met<'a> = &'a dyn Fn(usize, usize) -> Option<usize>;

/// Computes the sums of a case in order, product by product, with the strides, dilations, top and left of `window`.
fn sums(case: &Case<Params>, window: &Params, step: impl Fn(i128, i128) -> i128) -> Option<Vec<i128>> {
    added(case, [&|y, i| row(window, y, i), &|x, j| column(window, x, j)], step)
}

/// Returns the input row that a filter row meets from an output row.
pub(crate) fn row(p: &Params, y: usize, i: usize) -> Option<usize> {
    met(p.transposed, [y, i], [p.stride_h, p.dilation_h, p.top], p.height)
}

/// Returns the input column that a filter column meets from an output column.
pub(crate) fn column(p: &Params, x: usize, j: usize) -> Option<usize> {
    met(p.transposed, [x, j], [p.stride_w, p.dilation_w, p.left], p.width)
}

fn met(
    transposed: bool,
    [output, element]: [usize; 2],
    [stride, dilation, before]: [usize; 3],
    size: usize,
) -> Option<usize> {
    if !transposed {
        return inside(output * stride + element * dilation, before, size);
    }
    let place = (output + before).checked_sub(element * dilation).filter(|place| place.is_multiple_of(stride))?;
    Some(place / stride).filter(|at| *at < size)
}

/// Computes the sums of a case under given mappings from outputs and filter elements to input rows and columns.
pub(super) fn added(
    case: &Case<Params>,
    [row, column]: [Met; 2],
    step: impl Fn(i128, i128) -> i128,
) -> Option<Vec<i128>> {
    let p = &case.params;
    let (rows, columns) = p.output().ok()?;
    let (each, share) = (p.channels / p.groups, p.out_channels / p.groups);
    let [input, weights, _] = &*case.tensors;
    let mut out = Vec::with_capacity(p.batches * rows * columns * p.out_channels);
    for (b, y, x) in places([p.batches, rows, columns]) {
        let taps: Vec<(usize, usize)> = places([1, p.kernel_h, p.kernel_w])
            .filter_map(|(_, i, j)| {
                let (row, column) = (row(y, i).filter(|at| *at < p.height)?, column(x, j).filter(|at| *at < p.width)?);
                Some((((b * p.height + row) * p.width + column) * p.channels, (i * p.kernel_w + j) * each))
            })
            .collect();
        for o in 0..p.out_channels {
            let product = |pixel: usize, tap: usize, c: usize| {
                let l = i128::from(input[pixel + o / share * each + c]) - i128::from(p.input_zero_point);
                l * (i128::from(weights[(tap + c) * p.out_channels + o]) - i128::from(p.weight_zero_point))
            };
            let all = taps.iter().flat_map(|(pixel, tap)| (0..each).map(move |c| (*pixel, *tap, c)));
            out.push(all.fold(0, |sum, (pixel, tap, c)| step(sum, product(pixel, tap, c))));
        }
    }
    Some(out)
}

/// Converts a place of the padded image to a place of the image; `None` in the border.
pub(crate) fn inside(place: usize, border: usize, size: usize) -> Option<usize> {
    place.checked_sub(border).filter(|place| *place < size)
}

/// Returns every place of three axes, row-major.
pub(crate) fn places([a, b, c]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a * b * c).map(move |at| (at / c / b, at / c % b, at % c))
}
