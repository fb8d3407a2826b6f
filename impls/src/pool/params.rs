//! Parameters of a batch, and their checks for every kernel.

use crate::element::Element;
use crate::elementwise::Operand;
use crate::quantized::Scale;
use crate::shape::{self, ShapeError, Sizes, broken, positive};
use serde::{Deserialize, Serialize};

/// Shape, quantization and bounds of one pooling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Type of all stored values.
    pub element: Element,
    /// Number of images.
    pub batches: usize,
    /// Rows of the input.
    pub height: usize,
    /// Columns of the input.
    pub width: usize,
    /// Channels of both tensors.
    pub channels: usize,
    /// Rows of the window.
    pub kernel_h: usize,
    /// Columns of the window.
    pub kernel_w: usize,
    /// Rows from one output to the next.
    pub stride_h: usize,
    /// Columns from one output to the next.
    pub stride_w: usize,
    /// Rows of padding above.
    pub top: usize,
    /// Rows of padding below.
    pub bottom: usize,
    /// Columns of padding to the left.
    pub left: usize,
    /// Columns of padding to the right.
    pub right: usize,
    /// True if the divisor of an average counts the padding.
    pub count_padding: bool,
    /// Scale and zero point of the input.
    pub input: Operand,
    /// Scale and zero point of the output.
    pub out: Operand,
    /// Smallest result.
    pub min: i32,
    /// Largest result.
    pub max: i32,
}

impl Params {
    /// Makes parameters of one element under a window of 1 by 1, with scale 1, zero point 0, and the bounds of the type.
    pub fn of(element: Element) -> Self {
        let (min, max) = (*element.range().start(), *element.range().end());
        let operand = Operand { scale: Scale(1.0), zero_point: 0 };
        Self {
            element,
            batches: 1,
            height: 1,
            width: 1,
            channels: 1,
            kernel_h: 1,
            kernel_w: 1,
            stride_h: 1,
            stride_w: 1,
            top: 0,
            bottom: 0,
            left: 0,
            right: 0,
            count_padding: false,
            input: operand,
            out: operand,
            min,
            max,
        }
    }

    /// Returns the rows and columns of the output. An error names the invalid argument.
    pub fn output(&self) -> Result<(usize, usize), ShapeError> {
        let [rows, columns] = [
            Side {
                names: ["height", "kernel_h", "stride_h"],
                borders: ["top", "bottom"],
                before: self.top,
                after: self.bottom,
            },
            Side {
                names: ["width", "kernel_w", "stride_w"],
                borders: ["left", "right"],
                before: self.left,
                after: self.right,
            },
        ];
        let rows = rows.outputs(self.height, self.kernel_h, self.stride_h)?;
        Ok((rows, columns.outputs(self.width, self.kernel_w, self.stride_w)?))
    }

    /// Returns the sizes of the input `[B,H,W,C]` and of the output `[B,OH,OW,C]`. An error names the invalid argument.
    pub fn sizes(&self) -> Result<Sizes, ShapeError> {
        let (batches, channels) = (positive("batches", self.batches)?, positive("channels", self.channels)?);
        let (rows, columns) = self.output()?;
        let input = shape::elements("input", &[batches, self.height, self.width, channels])?;
        let window = shape::elements("kernel_h", &[self.kernel_h, self.kernel_w])?;
        let outputs = shape::elements("out", &[batches, rows, columns, channels])?;
        let largest = self.element.range().end().unsigned_abs() as usize + 1;
        if window * 2 * largest >= 1 << 31 {
            return Err(broken("kernel_h", format!("a sum of {window} differences is no int32")));
        }
        Ok(Sizes { inputs: [input, 0, 0], outputs })
    }

    /// Returns the elements of the window.
    pub(crate) fn area(&self) -> usize {
        self.kernel_h * self.kernel_w
    }
}

/// Names of the arguments of one axis, and its padding.
struct Side {
    names: [&'static str; 3],
    borders: [&'static str; 2],
    before: usize,
    after: usize,
}

impl Side {
    fn outputs(&self, size: usize, kernel: usize, stride: usize) -> Result<usize, ShapeError> {
        let [of_size, of_kernel, of_stride] = self.names;
        let (size, kernel) = (positive(of_size, size)?, positive(of_kernel, kernel)?);
        let stride = positive(of_stride, stride)?;
        for (name, padding) in self.borders.into_iter().zip([self.before, self.after]) {
            if padding >= kernel {
                return Err(broken(name, format!("padding of {padding} is no less than the window of {kernel}")));
            }
        }
        let padded = size.checked_add(self.before).and_then(|n| n.checked_add(self.after));
        match padded.and_then(|padded| padded.checked_sub(kernel)) {
            Some(rest) => Ok(rest / stride + 1),
            None => Err(broken(of_kernel, format!("a window of {kernel} reaches beyond the padded input"))),
        }
    }
}
