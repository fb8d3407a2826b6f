//! Loops of a direct convolution: over the results, and over the elements under the filter for each result.

use super::Params;
use super::im2col::inside;

/// Elements that the filter covers for one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<'a> {
    params: &'a Params,
    batch: usize,
    y: usize,
    x: usize,
    out_channel: usize,
}

/// Computes `out[..] = result(window)` for every result, in the order of `[B,OH,OW,O]`.
#[inline(always)]
pub(crate) fn each(params: &Params, out: &mut [i32], result: impl Fn(Window) -> i32) {
    let Ok((rows, columns)) = params.output() else { return };
    let mut out = out.iter_mut();
    for batch in 0..params.batches {
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            for (out_channel, out) in (0..params.out_channels).zip(out.by_ref()) {
                *out = result(Window { params, batch, y, x, out_channel });
            }
        }
    }
}

impl Window<'_> {
    /// Returns the output channel.
    pub(crate) fn out_channel(&self) -> usize {
        self.out_channel
    }

    /// Calls `element(input, weight)` with the indices of every filter element and its input, over the group's channels; `None` outside the image.
    #[inline(always)]
    pub(crate) fn elements(&self, mut element: impl FnMut(Option<usize>, usize)) {
        let Params { height, width, channels, kernel_h, kernel_w, out_channels, groups, .. } = *self.params;
        let depth = channels / groups;
        let first = self.out_channel / (out_channels / groups) * depth;
        for i in 0..kernel_h {
            let y = inside(self.y * self.params.stride_h + i * self.params.dilation_h, self.params.top, height);
            for j in 0..kernel_w {
                let x = inside(self.x * self.params.stride_w + j * self.params.dilation_w, self.params.left, width);
                let pixel = y.zip(x).map(|(y, x)| ((self.batch * height + y) * width + x) * channels + first);
                for c in 0..depth {
                    let weight = ((i * kernel_w + j) * depth + c) * out_channels + self.out_channel;
                    element(pixel.map(|pixel| pixel + c), weight);
                }
            }
        }
    }
}
