//! What each output depends on, found from the input: every element of an image is put into each patch that a filter sees it in. The other
//! form, in [`super::patch`], goes from each output to the elements under its filter.

use super::Convolution;

/// The steps of a filter along one side of a padded image: how many there are.
fn steps(padded: usize, kernel: usize, stride: usize, dilation: usize) -> usize {
    let last = (kernel - 1) * dilation;
    (0..padded).step_by(stride).take_while(|first| first + last < padded).count()
}

/// Where a filter element sees a place of the padded image: in which step, if the filter stops so that it does.
fn step(place: usize, element: usize, [stride, dilation, steps]: [usize; 3]) -> Option<usize> {
    let first = place.checked_sub(element * dilation)?;
    (first % stride == 0 && first / stride < steps).then_some(first / stride)
}

/// Of each output of an input of checked length, in their order, the elements under the filter: filter row, filter column, all channels. What
/// lies outside the image is the zero point.
pub fn patches(p: &Convolution, input: &[i32]) -> Vec<Vec<i32>> {
    let rows = steps(p.top + p.height + p.bottom, p.kernel_h, p.stride_h, p.dilation_h);
    let columns = steps(p.left + p.width + p.right, p.kernel_w, p.stride_w, p.dilation_w);
    let depth = p.kernel_h * p.kernel_w * p.channels;
    let mut out = vec![vec![p.input_zero_point; depth]; p.batches * rows * columns];
    for (at, pixel) in input.chunks_exact(p.channels).enumerate() {
        let (row, column) = (at / p.width % p.height + p.top, at % p.width + p.left);
        let image = &mut out[at / (p.width * p.height) * rows * columns..][..rows * columns];
        for i in 0..p.kernel_h {
            let Some(y) = step(row, i, [p.stride_h, p.dilation_h, rows]) else { continue };
            for j in 0..p.kernel_w {
                let Some(x) = step(column, j, [p.stride_w, p.dilation_w, columns]) else { continue };
                image[y * columns + x][(i * p.kernel_w + j) * p.channels..][..p.channels].copy_from_slice(pixel);
            }
        }
    }
    out
}
