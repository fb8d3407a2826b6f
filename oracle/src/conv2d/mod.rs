//! Two-dimensional convolution, NHWC: `out[b,y,x,o] = sum over i,j,c of (in[b, y*stride_h + i*dilation_h - top, ...,
//! g*C/groups + c] - input_zero_point) * (weight[i,j,c,o] - weight_zero_point)`, g the group of o. Outside the image the input is
//! the input zero point.
//!
//! A transposed convolution works in the other direction: input element `(y,x)` adds its products with filter element `(i,j)` to
//! `out[b, y*stride_h + i*dilation_h - top, x*stride_w + j*dilation_w - left, o]`. Padding removes rows and columns of the output, and output padding
//! keeps some below and to the right. Source: TOSA specification, TRANSPOSE_CONV2D; PyTorch documentation, ConvTranspose2d.
//!
//! Source of the shapes: TVM RFC quantized convolution for armv8, input and weight transform. The schemes are those of
//! [`crate::matmul`] over the depth axis of im2col: filter row, filter column, channel of the group.

mod direct;
mod patch;
mod scatter;
pub(crate) mod side;

use crate::matmul::{self, Columns, Lanes, width};
use crate::shape::{self, ShapeError, broken};
use rug::Integer;
use side::{COLUMNS, ROWS};

pub use scatter::patches;

/// Shape and zero points of a convolution. Input `[B,H,W,C]`, weights `[KH,KW,C/groups,O]`, output `[B,OH,OW,O]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// Images.
    pub batches: usize,
    /// Rows of the input.
    pub height: usize,
    /// Columns of the input.
    pub width: usize,
    /// Channels of the input.
    pub channels: usize,
    /// Rows of the filter.
    pub kernel_h: usize,
    /// Columns of the filter.
    pub kernel_w: usize,
    /// Channels of the output.
    pub out_channels: usize,
    /// Number of groups of channels; output channel o belongs to group `o / (O/groups)`.
    pub groups: usize,
    /// Distance of consecutive outputs, in rows.
    pub stride_h: usize,
    /// Distance of consecutive outputs, in columns.
    pub stride_w: usize,
    /// Distance of consecutive filter rows, in rows.
    pub dilation_h: usize,
    /// Distance of consecutive filter columns, in columns.
    pub dilation_w: usize,
    /// Rows of padding above.
    pub top: usize,
    /// Rows of padding below.
    pub bottom: usize,
    /// Columns of padding to the left.
    pub left: usize,
    /// Columns of padding to the right.
    pub right: usize,
    /// Input value that represents 0.
    pub input_zero_point: i32,
    /// Weight value that represents 0.
    pub weight_zero_point: i32,
    /// True if each input element adds to a window of the output. Padding is then removed from the output.
    pub transposed: bool,
    /// Rows of the output after the last window's padding; transposed only.
    pub output_padding_h: usize,
    /// Columns of the output after the last window's padding; transposed only.
    pub output_padding_w: usize,
}

impl Convolution {
    /// Returns rows and columns of the output; the error is the invalid argument.
    pub fn output(&self) -> Result<(usize, usize), ShapeError> {
        let [rows, columns] = [(&ROWS, self.rows()), (&COLUMNS, self.columns())];
        if self.transposed {
            let rows = rows.0.outputs_of_transposed(&rows.1, self.output_padding_h)?;
            return Ok((rows, columns.0.outputs_of_transposed(&columns.1, self.output_padding_w)?));
        }
        for (argument, n) in [("output_padding_h", self.output_padding_h), ("output_padding_w", self.output_padding_w)]
        {
            if n > 0 {
                return Err(broken(argument, "a convolution that is not transposed has none"));
            }
        }
        Ok((rows.0.outputs(&rows.1)?, columns.0.outputs(&columns.1)?))
    }

    fn rows(&self) -> side::Sizes {
        side::Sizes::of(self.height, [self.top, self.bottom], [self.kernel_h, self.stride_h, self.dilation_h])
    }

    fn columns(&self) -> side::Sizes {
        side::Sizes::of(self.width, [self.left, self.right], [self.kernel_w, self.stride_w, self.dilation_w])
    }

    /// Returns the number of elements of input, weights and output; the error is the invalid argument.
    pub fn check(&self) -> Result<[usize; 3], ShapeError> {
        shape::positive(&[
            ("batches", self.batches),
            ("channels", self.channels),
            ("out_channels", self.out_channels),
            ("groups", self.groups),
        ])?;
        for (argument, n) in [("channels", self.channels), ("out_channels", self.out_channels)] {
            if !n.is_multiple_of(self.groups) {
                return Err(broken(argument, format!("{n} do not fall into {} groups", self.groups)));
            }
        }
        let (rows, columns) = self.output()?;
        Ok([
            shape::elements("input", &[self.batches, self.height, self.width, self.channels])?,
            shape::elements("weights", &[self.kernel_h, self.kernel_w, self.group_channels(), self.out_channels])?,
            shape::elements("out", &[self.batches, rows, columns, self.out_channels])?,
        ])
    }

    /// Returns the number of products in one result: `KH * KW * C/groups`.
    pub fn depth(&self) -> usize {
        self.kernel_h * self.kernel_w * self.group_channels()
    }

    fn group_channels(&self) -> usize {
        self.channels / self.groups
    }

    fn offsets(&self) -> [i64; 2] {
        [-i64::from(self.input_zero_point), -i64::from(self.weight_zero_point)]
    }

    fn check_lengths(&self, input: &[i32], weights: &[i32]) -> Result<usize, ShapeError> {
        let [of_input, of_weights, outputs] = self.check()?;
        shape::length("input", input.len(), of_input)?;
        shape::length("weights", weights.len(), of_weights)?;
        Ok(outputs)
    }

    /// Applies `of` to the terms of each result.
    fn each<T>(&self, input: &[i32], weights: &[i32], of: impl Fn(&matmul::Terms) -> T) -> Result<Vec<T>, ShapeError> {
        let mut out = Vec::with_capacity(self.check_lengths(input, weights)?);
        let (each, share) = (self.group_channels(), self.out_channels / self.groups);
        for patch in patches(self, input) {
            for o in 0..self.out_channels {
                // For each element of the filter, the channels of the group.
                let seen = patch.chunks_exact(self.channels).flat_map(|pixel| &pixel[o / share * each..][..each]);
                let column = weights.iter().skip(o).step_by(self.out_channels);
                let terms: matmul::Terms = seen.zip(column).map(|(l, r)| (*l, *r)).collect();
                out.push(of(&terms));
            }
        }
        Ok(out)
    }

    /// Computes the exact sums by machine integers; `None` for a sum beyond int64.
    pub fn wide_sums(&self, input: &[i32], weights: &[i32]) -> Result<Vec<Option<i64>>, ShapeError> {
        self.check_lengths(input, weights)?;
        direct::convolve(self, input, weights, |sum| i64::try_from(sum).ok())
    }

    /// Computes the exact sums, without a limit on width.
    pub fn sums(&self, input: &[i32], weights: &[i32]) -> Result<Vec<Integer>, ShapeError> {
        self.each(input, weights, |terms| matmul::sum(terms, self.offsets()))
    }

    /// Returns the image position of tap (i, j) of output (y, x), or `None` if it is outside the image or between two elements.
    pub(crate) fn pixel(&self, (y, x): (usize, usize), (i, j): (usize, usize)) -> Option<(usize, usize)> {
        let seen = if self.transposed { side::Sizes::added } else { side::Sizes::seen };
        Some((seen(&self.rows(), y, i)?, seen(&self.columns(), x, j)?))
    }
}

/// Computes each result by big integers, straight from the definition; `None` if it is out of domain. The elements of each output are found by
/// scattering the input, whereas [`expected`] gathers them for each output.
pub fn exact(
    scheme: &matmul::Scheme,
    p: &Convolution,
    input: &[i32],
    weights: &[i32],
) -> Result<Vec<Option<Integer>>, ShapeError> {
    p.each(input, weights, |terms| matmul::element(scheme, terms, p.offsets()))
}

/// Computes each result by machine integers, derived independently of [`exact`]; `None` if it is out of domain.
pub fn expected(
    scheme: &matmul::Scheme,
    p: &Convolution,
    input: &[i32],
    weights: &[i32],
) -> Result<Vec<Option<i32>>, ShapeError> {
    let outputs = p.check_lengths(input, weights)?;
    let with_outside = width::Extremes::of(input).and(p.input_zero_point);
    let of_weights = width::Extremes::of(weights);
    let Some(narrow) = scheme.narrow_for(with_outside, of_weights, p.depth()) else {
        return direct::convolve(p, input, weights, |sum| scheme.overflow.fit_int32(sum));
    };
    let group = p.out_channels / p.groups;
    let pairs_bound = width::bound(with_outside, of_weights, [0, 0], 2);
    let groups: Vec<Lanes> = (0..p.groups)
        .map(|g| Columns { matrix: weights, stride: p.out_channels, first: g * group, len: group })
        .map(|columns| Lanes::new(narrow, scheme.overflow, columns, p.offsets(), pairs_bound))
        .collect();
    let mut out = vec![None; outputs];
    let mut patch = vec![0; p.depth()];
    for (pixel, out) in patch::pixels(p)?.zip(out.chunks_exact_mut(p.out_channels)) {
        for (g, (lanes, out)) in groups.iter().zip(out.chunks_exact_mut(group)).enumerate() {
            patch::gather(p, input, pixel, g, &mut patch);
            lanes.row(&patch, out);
        }
    }
    Ok(out)
}
