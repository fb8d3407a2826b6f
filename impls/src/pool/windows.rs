//! Loops of a pooling: over results, and for each result over the part of the image under its window.

use super::Params;
use crate::element::Element;

/// Part of a window that is in the image, for one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    params: &'a Params,
    input: &'a [u8],
    element: Element,
    /// First row, and the row after the last.
    rows: [usize; 2],
    /// First column, and the column after the last.
    columns: [usize; 2],
    batch: usize,
    channel: usize,
}

/// Computes `out[..] = result(window)` for every result, in the order of `[B,OH,OW,C]`.
#[inline(always)]
pub(crate) fn each(
    params: &Params,
    element: Element,
    input: &[u8],
    out: &mut [i32],
    result: impl Fn(Window<'_>) -> i32,
) {
    let Ok((rows, columns)) = params.output() else { return };
    let mut out = out.iter_mut();
    for batch in 0..params.batches {
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let (rows, columns) = ends(params, y, x);
            for (channel, out) in (0..params.channels).zip(out.by_ref()) {
                *out = result(Window { params, input, element, rows, columns, batch, channel });
            }
        }
    }
}

/// Computes `out[..] = results(window of the first channel, results of all channels)` for every place of the window.
#[inline(always)]
pub(crate) fn each_place(
    params: &Params,
    element: Element,
    input: &[u8],
    out: &mut [i32],
    mut results: impl FnMut(Window<'_>, &mut [i32]),
) {
    let Ok((rows, columns)) = params.output() else { return };
    let places = (0..params.batches).flat_map(|batch| (0..rows * columns).map(move |at| (batch, at)));
    for ((batch, at), out) in places.zip(out.chunks_exact_mut(params.channels)) {
        let (rows, columns) = ends(params, at / columns, at % columns);
        results(Window { params, input, element, rows, columns, batch, channel: 0 }, out);
    }
}

/// Returns the rows and columns of the image under a window.
#[inline(always)]
fn ends(p: &Params, y: usize, x: usize) -> ([usize; 2], [usize; 2]) {
    let side = |first: usize, kernel: usize, before: usize, size: usize| {
        // Clipped in the coordinates of the padded image, as in the sources.
        let (from, to) = (first.max(before), (first + kernel).min(before + size));
        [from - before, to - before]
    };
    (side(y * p.stride_h, p.kernel_h, p.top, p.height), side(x * p.stride_w, p.kernel_w, p.left, p.width))
}

impl Window<'_> {
    /// Returns the number of elements in the image.
    #[inline(always)]
    pub(crate) fn inside(&self) -> usize {
        (self.rows[1] - self.rows[0]) * (self.columns[1] - self.columns[0])
    }

    /// Returns the divisor that the caller asked for.
    #[inline(always)]
    pub(crate) fn divisor(&self) -> usize {
        if self.params.count_padding { self.params.area() } else { self.inside() }
    }

    /// Folds `step` over all elements, row by row, starting with `first`.
    #[inline(always)]
    pub(crate) fn fold<T>(&self, first: T, mut step: impl FnMut(T, i32) -> T) -> T {
        let size = self.element.bytes();
        let mut value = first;
        for at in self.pixels() {
            value = step(value, self.element.read(&self.input[(at + self.channel) * size..]));
        }
        value
    }

    /// Returns the index of the first channel of every pixel, row by row.
    #[inline(always)]
    pub(crate) fn pixels(&self) -> impl Iterator<Item = usize> {
        let Params { height, width, channels, .. } = *self.params;
        let (batch, [first, last]) = (self.batch, self.columns);
        let row = move |y: usize| (first..last).map(move |x| ((batch * height + y) * width + x) * channels);
        (self.rows[0]..self.rows[1]).flat_map(row)
    }

    /// Returns the sum of the stored values.
    #[inline(always)]
    pub(crate) fn sum(&self) -> i32 {
        self.fold(0i32, i32::wrapping_add)
    }
}

/// Returns `min(max(x, params.min), params.max)`, in the order of the sources.
#[inline(always)]
pub(crate) fn clamp(x: i32, params: &Params) -> i32 {
    x.max(params.min).min(params.max)
}

/// Returns `f32(input scale / f32(output scale * count))`, the multiplier of MLAS, QNNPACK and XNNPACK.
#[inline(always)]
pub(crate) fn single(params: &Params, count: usize) -> f32 {
    params.input.single() / (params.out.single() * count as f32)
}
