//! Windows of a pooling, found from the input: every element is copied into each window that contains it. The other form, in
//! [`super::expected`], finds the ends of each window from its output.

use super::Pooling;

/// Elements of the image in a window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Stored values of one channel, row by row.
    pub(super) stored: Vec<i32>,
}

impl Window {
    /// Returns the divisor of an average.
    pub(super) fn count(&self, p: &Pooling) -> usize {
        if p.count_padding { p.kernel_h * p.kernel_w } else { self.stored.len() }
    }
}

/// Returns the outputs along one side whose window, `kernel` long, contains a position of the padded image.
fn seeing(place: usize, padded: usize, kernel: usize, stride: usize) -> impl Iterator<Item = usize> + Clone {
    let windows = (0..padded).step_by(stride).take_while(move |first| first + kernel <= padded);
    windows.enumerate().filter(move |(_, first)| (*first..first + kernel).contains(&place)).map(|(at, _)| at)
}

/// Returns the window of each output, in the order of outputs, for an input of checked length.
pub(super) fn scattered(p: &Pooling, input: &[i32]) -> Vec<Window> {
    let (rows, columns) = p.output().expect("a checked shape");
    let mut out = vec![Window { stored: Vec::new() }; p.batches * rows * columns * p.channels];
    let (tall, wide) = (p.top + p.height + p.bottom, p.left + p.width + p.right);
    for (at, pixel) in input.chunks_exact(p.channels).enumerate() {
        let (image, row, column) = (at / p.width / p.height, at / p.width % p.height, at % p.width);
        for y in seeing(row + p.top, tall, p.kernel_h, p.stride_h) {
            for x in seeing(column + p.left, wide, p.kernel_w, p.stride_w) {
                let first = ((image * rows + y) * columns + x) * p.channels;
                out[first..][..p.channels].iter_mut().zip(pixel).for_each(|(window, v)| window.stored.push(*v));
            }
        }
    }
    out
}
