//! Changes to the windows of a pooling, while the result keeps its size: a wrong stride, border or image.

use super::{Pool, pooling};
use crate::conv2d::geometry::{first_repeated, inside, places};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::pool::Params;
use tiebreak_oracle::pool::{Pooling, Scheme};

type Moved = fn(&mut Params);

const MOVED: [(&str, Moved); 9] = [
    ("the stride of rows is taken for columns too", |p| p.stride_w = p.stride_h),
    ("the stride of columns is taken for rows too", |p| p.stride_h = p.stride_w),
    ("the strides of rows and columns are exchanged in the window", |p| {
        std::mem::swap(&mut p.stride_h, &mut p.stride_w);
    }),
    ("the strides are ignored", |p| (p.stride_h, p.stride_w) = (1, 1)),
    ("the border at the top is taken for that at the left too", |p| p.left = p.top),
    ("the border at the left is taken for that at the top too", |p| p.top = p.left),
    ("the borders at the top and at the left are exchanged", |p| std::mem::swap(&mut p.top, &mut p.left)),
    ("the border at the left is ignored", |p| p.left = 0),
    ("the border at the top is ignored", |p| p.top = 0),
];

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: Scheme) -> Vec<Change<Pool>> {
    let moved = |(because, moved): (&'static str, Moved)| {
        Change::predicts(Class::Layout, because, move |case: &Case<Params>| {
            let mut window = case.params;
            moved(&mut window);
            results(&scheme, case, &window)
        })
    };
    let mut out: Vec<Change<Pool>> = MOVED.into_iter().map(moved).collect();
    out.push(Change::of_case(
        Class::Layout,
        "every image of the batch is taken for the first",
        scheme,
        |case: &mut Case<Params>| {
            let image = case.tensors[0].len() / case.params.batches.max(1);
            first_repeated(&mut case.tensors[0], image);
        },
    ));
    out
}

/// Computes the results in the order of the output, with strides, top and left of `window`. Each window is pooled as an image of its own. A window
/// without an element of the image gives a clamped 0, as code does that does not divide by its count.
fn results(scheme: &Scheme, case: &Case<Params>, window: &Params) -> Option<Expected> {
    let p = &case.params;
    let (rows, columns) = p.output().ok()?;
    let mut out = Vec::with_capacity(p.batches * rows * columns * p.channels);
    for (b, y, x) in places([p.batches, rows, columns]) {
        let along = |first: usize, kernel: usize, border: usize, size: usize| -> Vec<usize> {
            (0..kernel).filter_map(|i| inside(first + i, border, size)).collect()
        };
        let seen_rows = along(y * window.stride_h, p.kernel_h, window.top, p.height);
        let seen_columns = along(x * window.stride_w, p.kernel_w, window.left, p.width);
        if seen_rows.is_empty() || seen_columns.is_empty() {
            out.extend(vec![Some(0.clamp(p.min, p.max)); p.channels]);
            continue;
        }
        let pixels = seen_rows.iter().flat_map(|row| seen_columns.iter().map(move |column| (*row, *column)));
        let pixel = |(row, column): (usize, usize)| ((b * p.height + row) * p.width + column) * p.channels;
        let image = pixels.flat_map(|at| case.tensors[0][pixel(at)..][..p.channels].iter().copied()).collect();
        let alone = Pooling {
            batches: 1,
            height: seen_rows.len(),
            width: seen_columns.len(),
            // The padding that the divisor may count; its place does not matter.
            top: p.kernel_h - seen_rows.len(),
            bottom: 0,
            left: p.kernel_w - seen_columns.len(),
            right: 0,
            stride_h: 1,
            stride_w: 1,
            ..pooling(p)
        };
        out.extend(Pool::at(
            scheme,
            &Case { tensors: [image, Vec::new(), Vec::new()].into(), ..case.clone() },
            &alone,
        )?);
    }
    Some(out)
}
