//! One side of the image: the number of outputs along it, and the input element that a filter element meets.

use crate::shape::{self, ShapeError, broken};

/// Names of the arguments of one side of the image.
pub(crate) struct Side {
    size: &'static str,
    kernel: &'static str,
    stride: &'static str,
    dilation: &'static str,
    padding: [&'static str; 2],
    output_padding: &'static str,
}

pub(crate) const ROWS: Side = Side {
    size: "height",
    kernel: "kernel_h",
    stride: "stride_h",
    dilation: "dilation_h",
    padding: ["top", "bottom"],
    output_padding: "output_padding_h",
};
pub(crate) const COLUMNS: Side = Side {
    size: "width",
    kernel: "kernel_w",
    stride: "stride_w",
    dilation: "dilation_w",
    padding: ["left", "right"],
    output_padding: "output_padding_w",
};

/// Sizes along one side.
pub(crate) struct Sizes {
    size: usize,
    padding: [usize; 2],
    kernel: usize,
    stride: usize,
    dilation: usize,
}

impl Sizes {
    /// Creates the sizes of one side.
    pub(crate) fn of(size: usize, padding: [usize; 2], [kernel, stride, dilation]: [usize; 3]) -> Self {
        Self { size, padding, kernel, stride, dilation }
    }

    /// Returns the input element that a filter element meets for an output.
    pub(super) fn seen(&self, output: usize, element: usize) -> Option<usize> {
        (output * self.stride + element * self.dilation).checked_sub(self.padding[0]).filter(|at| *at < self.size)
    }

    /// Returns the input element that a transposed convolution adds to an output through a filter element.
    pub(super) fn added(&self, output: usize, element: usize) -> Option<usize> {
        let steps = (output + self.padding[0]).checked_sub(element * self.dilation)?;
        (steps.is_multiple_of(self.stride) && steps / self.stride < self.size).then_some(steps / self.stride)
    }

    /// Returns the distance from the first filter element to the last.
    fn reach(&self) -> Option<usize> {
        (self.kernel - 1).checked_mul(self.dilation)
    }
}

impl Side {
    fn positive(&self, sizes: &Sizes) -> Result<(), ShapeError> {
        let Sizes { size, kernel, stride, dilation, .. } = *sizes;
        shape::positive(&[(self.size, size), (self.kernel, kernel), (self.stride, stride), (self.dilation, dilation)])
    }

    /// Returns the number of outputs along this side.
    pub(crate) fn outputs(&self, sizes: &Sizes) -> Result<usize, ShapeError> {
        self.positive(sizes)?;
        let Sizes { size, padding: [before, after], kernel, stride, dilation } = *sizes;
        let padded = size.checked_add(before).and_then(|n| n.checked_add(after)).filter(|n| *n <= shape::MAX_ELEMENTS);
        let padded = padded.ok_or_else(|| broken(self.size, format!("with padding above {}", shape::MAX_ELEMENTS)))?;
        let reach = sizes.reach().and_then(|n| n.checked_add(1)).filter(|n| *n <= padded);
        match reach {
            Some(reach) => Ok((padded - reach) / stride + 1),
            None => Err(broken(
                if dilation > 1 { self.dilation } else { self.kernel },
                format!("{kernel} filter elements {dilation} apart reach beyond the padded input of {padded}"),
            )),
        }
    }

    /// Returns the number of outputs of a transposed convolution along this side: all windows minus the padding, plus the output padding.
    pub(super) fn outputs_of_transposed(&self, sizes: &Sizes, more: usize) -> Result<usize, ShapeError> {
        self.positive(sizes)?;
        let Sizes { size, padding, kernel, stride, dilation } = *sizes;
        let large = |argument| broken(argument, format!("more than {} outputs along this side", shape::MAX_ELEMENTS));
        let fits = |n: &usize| *n <= shape::MAX_ELEMENTS;
        let reach = sizes.reach().filter(fits).ok_or_else(|| large(self.kernel))?;
        for (argument, padding) in self.padding.into_iter().zip(padding) {
            if padding > reach {
                let rule =
                    format!("{padding} is more than {reach}, what {kernel} filter elements {dilation} apart reach");
                return Err(broken(argument, rule));
            }
        }
        let steps = (size - 1).checked_mul(stride).filter(fits).ok_or_else(|| large(self.stride))?;
        let more = Some(more).filter(fits).ok_or_else(|| large(self.output_padding))?;
        let [before, after] = padding;
        match (steps + reach + 1 + more).checked_sub(before + after).filter(|n| *n > 0) {
            Some(n) => Ok(n),
            None => Err(broken(self.padding[0], "the padding takes off the whole output")),
        }
    }
}
