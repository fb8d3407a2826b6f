//! Part of the input on which one output depends.

use super::Convolution;
use crate::shape::ShapeError;

/// Image, and a position in its output.
#[derive(Clone, Copy)]
pub(super) struct Pixel {
    pub(super) batch: usize,
    pub(super) at: (usize, usize),
}

/// Returns every pixel of the output, in order.
pub(super) fn pixels(p: &Convolution) -> Result<impl Iterator<Item = Pixel> + use<>, ShapeError> {
    let (rows, columns) = p.output()?;
    Ok((0..p.batches)
        .flat_map(move |batch| (0..rows).flat_map(move |y| (0..columns).map(move |x| Pixel { batch, at: (y, x) }))))
}

/// Copies the raw elements under the filter for one group, in im2col order; outside the image the zero point.
pub(super) fn gather(p: &Convolution, input: &[i32], pixel: Pixel, group: usize, patch: &mut [i32]) {
    let channels = p.group_channels();
    for (tap, patch) in patch.chunks_exact_mut(channels).enumerate() {
        match p.pixel(pixel.at, (tap / p.kernel_w, tap % p.kernel_w)) {
            Some((row, column)) => {
                let at = ((pixel.batch * p.height + row) * p.width + column) * p.channels + group * channels;
                patch.copy_from_slice(&input[at..at + channels]);
            }
            None => patch.fill(p.input_zero_point),
        }
    }
}
