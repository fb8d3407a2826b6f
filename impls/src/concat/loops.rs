//! The two orders in which systems concatenate: row by row of the output, and input by input.

use super::{Input, Params};
use crate::element::Element;

/// Calls `run(input, bytes, out)` for each contiguous run of an input, in the order of the output.
#[inline(always)]
pub(crate) fn by_rows(params: &Params, inputs: &[u8], out: &mut [i32], run: impl Fn(&Input, &[u8], &mut [i32])) {
    let (rows, step, bytes) = (params.rows(), params.step(), params.element.bytes());
    let mut out = out;
    for row in 0..rows {
        let mut begin = 0;
        for input in &params.inputs {
            let len = input.size * step;
            let (to, rest) = std::mem::take(&mut out).split_at_mut(len);
            let from = (begin + row * len) * bytes;
            run(input, &inputs[from..from + len * bytes], to);
            (out, begin) = (rest, begin + rows * len);
        }
    }
}

/// Calls `run(input, bytes, out)` for each contiguous run, input by input. Two runs of an input start one output row apart.
#[inline(always)]
pub(crate) fn by_inputs(params: &Params, inputs: &[u8], out: &mut [i32], run: impl Fn(&Input, &[u8], &mut [i32])) {
    let (rows, step, bytes) = (params.rows(), params.step(), params.element.bytes());
    let pitch = params.shape[params.axis] * step;
    let (mut rest, mut offset) = (inputs, 0);
    for input in &params.inputs {
        let len = input.size * step;
        let (own, others) = rest.split_at(rows * len * bytes);
        for (row, from) in own.chunks_exact(len * bytes).enumerate() {
            run(input, from, &mut out[row * pitch + offset..][..len]);
        }
        (rest, offset) = (others, offset + len);
    }
}

/// Applies `f` to each element.
#[inline(always)]
pub(crate) fn each(element: Element, from: &[u8], out: &mut [i32], f: impl Fn(i32) -> i32) {
    let elements = from.chunks_exact(element.bytes());
    elements.zip(out).for_each(|(bytes, out)| *out = f(element.read(bytes)));
}

/// Copies stored values unchanged.
#[inline(always)]
pub(crate) fn copy(element: Element, from: &[u8], out: &mut [i32]) {
    each(element, from, out, |stored| stored);
}

/// Clamps `x` to the range of a type: `max(x, least)`, then `min(.., greatest)`.
#[inline(always)]
pub(crate) fn clamp(x: i32, element: Element) -> i32 {
    x.max(*element.range().start()).min(*element.range().end())
}
