//! Patches found from the input: every element of an image is copied into each patch that contains it. The other form, in [`super::patch`], goes from
//! each output to the elements under its filter. In a transposed convolution, each element has a window of outputs.

use super::Convolution;

/// Returns the number of steps of a filter along one side of a padded image.
fn steps(padded: usize, kernel: usize, stride: usize, dilation: usize) -> usize {
    let last = (kernel - 1) * dilation;
    (0..padded).step_by(stride).take_while(|first| first + last < padded).count()
}

/// Returns the step in which a filter element meets a position of the padded image, if any.
fn step(place: usize, element: usize, [stride, dilation, steps]: [usize; 3]) -> Option<usize> {
    let first = place.checked_sub(element * dilation)?;
    (first % stride == 0 && first / stride < steps).then_some(first / stride)
}

/// One side: the number of outputs, and the output at which a filter element meets an input element.
struct Walk {
    outputs: usize,
    to: Box<dyn Fn(usize, usize) -> Option<usize>>,
}

impl Walk {
    fn convolution([before, size, after]: [usize; 3], [kernel, stride, dilation]: [usize; 3]) -> Self {
        let outputs = steps(before + size + after, kernel, stride, dilation);
        let to = move |at: usize, element: usize| step(before + at, element, [stride, dilation, outputs]);
        Self { outputs, to: Box::new(to) }
    }

    /// Builds the transposed side. The last window begins `(size - 1) * stride` after the first; padding is cut off both ends.
    fn transposed([before, size, after]: [usize; 3], [kernel, stride, dilation]: [usize; 3], more: usize) -> Self {
        let last = (0..size).map(|at| at * stride + (kernel - 1) * dilation).max().unwrap_or_default();
        let outputs = (last + 1 + more - after).saturating_sub(before);
        let to = move |at: usize, element: usize| {
            (at * stride + element * dilation).checked_sub(before).filter(|output| *output < outputs)
        };
        Self { outputs, to: Box::new(to) }
    }
}

/// Returns the elements under the filter for each output, in order, for an input of checked length: filter row, filter column, all channels.
/// Elements outside the image, or between its elements, are the zero point.
pub fn patches(p: &Convolution, input: &[i32]) -> Vec<Vec<i32>> {
    let (above, beside) = ([p.top, p.height, p.bottom], [p.left, p.width, p.right]);
    let (of_rows, of_columns) = ([p.kernel_h, p.stride_h, p.dilation_h], [p.kernel_w, p.stride_w, p.dilation_w]);
    let [rows, columns] = if p.transposed {
        [Walk::transposed(above, of_rows, p.output_padding_h), Walk::transposed(beside, of_columns, p.output_padding_w)]
    } else {
        [Walk::convolution(above, of_rows), Walk::convolution(beside, of_columns)]
    };
    let depth = p.kernel_h * p.kernel_w * p.channels;
    let outputs = rows.outputs * columns.outputs;
    let mut out = vec![vec![p.input_zero_point; depth]; p.batches * outputs];
    for (at, pixel) in input.chunks_exact(p.channels).enumerate() {
        let (row, column) = (at / p.width % p.height, at % p.width);
        let image = &mut out[at / (p.width * p.height) * outputs..][..outputs];
        for i in 0..p.kernel_h {
            let Some(y) = (rows.to)(row, i) else { continue };
            for j in 0..p.kernel_w {
                let Some(x) = (columns.to)(column, j) else { continue };
                image[y * columns.outputs + x][(i * p.kernel_w + j) * p.channels..][..p.channels]
                    .copy_from_slice(pixel);
            }
        }
    }
    out
}
