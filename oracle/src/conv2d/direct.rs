//! Direct convolution by exact sums, without elements outside the image and without gathered patches.

use super::Convolution;
use super::patch::{Pixel, pixels};
use crate::matmul::width::{Extremes, Width, Work, add_row, add_rows, narrowest, shifted};
use crate::shape::ShapeError;

/// Convolves an input and weights of checked lengths exactly, and fits each sum.
pub(super) fn convolve<T>(
    p: &Convolution,
    input: &[i32],
    weights: &[i32],
    fit: impl Fn(i128) -> T,
) -> Result<Vec<T>, ShapeError> {
    let extremes = [Extremes::of(input), Extremes::of(weights)];
    narrowest(extremes, p.offsets(), p.depth(), Direct { p, input, weights, fit })
}

struct Direct<'a, F> {
    p: &'a Convolution,
    input: &'a [i32],
    weights: &'a [i32],
    fit: F,
}

impl<T, F: Fn(i128) -> T> Work for Direct<'_, F> {
    type Output = Result<Vec<T>, ShapeError>;

    fn run<W: Width>(self) -> Self::Output {
        let [of_input, of_weights] = self.p.offsets();
        let (input, weights) = (shifted::<W>(self.input, of_input), shifted::<W>(self.weights, of_weights));
        let mut sums = vec![W::Sum::default(); self.p.out_channels];
        let mut out = Vec::new();
        for pixel in pixels(self.p)? {
            sums.fill(W::Sum::default());
            add_taps::<W>(self.p, pixel, &input, &weights, &mut sums);
            out.extend(sums.iter().map(|sum| (self.fit)((*sum).into())));
        }
        Ok(out)
    }
}

/// Adds all products of one pixel to the sums of its output channels.
fn add_taps<W: Width>(
    p: &Convolution,
    pixel: Pixel,
    input: &[W::Element],
    weights: &[W::Element],
    sums: &mut [W::Sum],
) {
    let (channels, group) = (p.group_channels(), p.out_channels / p.groups);
    let taps = weights.chunks_exact(channels * p.out_channels);
    for (tap, weights) in taps.enumerate() {
        let Some((row, column)) = p.pixel(pixel.at, (tap / p.kernel_w, tap % p.kernel_w)) else { continue };
        let at = ((pixel.batch * p.height + row) * p.width + column) * p.channels;
        let input = &input[at..at + p.channels];
        if p.groups == 1 {
            add_rows::<W>(sums, input, weights);
        } else if channels == 1 && group == 1 {
            // Depthwise.
            for ((sum, l), r) in sums.iter_mut().zip(input).zip(weights) {
                *sum += W::product(*l, *r);
            }
        } else {
            for (c, weights) in weights.chunks_exact(p.out_channels).enumerate() {
                let groups = sums.chunks_exact_mut(group).zip(weights.chunks_exact(group));
                for (g, (sums, weights)) in groups.enumerate() {
                    add_row::<W>(sums, input[g * channels + c], weights);
                }
            }
        }
    }
}
