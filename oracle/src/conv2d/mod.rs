//! Two-dimensional convolution, NHWC: `out[b,y,x,o] = sum over i,j,c of (in[b, y*stride_h + i*dilation_h - top, ...,
//! g*C/groups + c] - input_zero_point) * (weight[i,j,c,o] - weight_zero_point)`, g the group of o. Outside the image the input is
//! its zero point.
//!
//! Source of the shapes: TVM RFC quantized convolution for armv8, input and weight transform. The schemes are those of
//! [`crate::matmul`] over the depth axis of im2col: filter row, filter column, channel of the group.

mod direct;
mod patch;
mod scatter;

use crate::matmul::{self, Columns, Lanes, width};
use crate::shape::{self, ShapeError, broken};
use rug::Integer;

pub use scatter::patches;

/// Shape and zero points of one convolution. Input `[B,H,W,C]`, weights `[KH,KW,C/groups,O]`, output `[B,OH,OW,O]`.
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
    /// Channels fall into so many groups; output channel o belongs to group `o / (O/groups)`.
    pub groups: usize,
    /// Rows from one output to the next.
    pub stride_h: usize,
    /// Columns from one output to the next.
    pub stride_w: usize,
    /// Rows from one filter row to the next.
    pub dilation_h: usize,
    /// Columns from one filter column to the next.
    pub dilation_w: usize,
    /// Rows of padding above.
    pub top: usize,
    /// Rows of padding below.
    pub bottom: usize,
    /// Columns of padding to the left.
    pub left: usize,
    /// Columns of padding to the right.
    pub right: usize,
    /// The input value that stands for 0.
    pub input_zero_point: i32,
    /// The weight value that stands for 0.
    pub weight_zero_point: i32,
}

/// Names of the arguments of one side of the image.
struct Side {
    size: &'static str,
    kernel: &'static str,
    stride: &'static str,
    dilation: &'static str,
}

const ROWS: Side = Side { size: "height", kernel: "kernel_h", stride: "stride_h", dilation: "dilation_h" };
const COLUMNS: Side = Side { size: "width", kernel: "kernel_w", stride: "stride_w", dilation: "dilation_w" };

impl Side {
    /// Outputs along this side.
    fn outputs(
        &self,
        [size, before, after]: [usize; 3],
        [kernel, stride, dilation]: [usize; 3],
    ) -> Result<usize, ShapeError> {
        shape::positive(&[(self.size, size), (self.kernel, kernel), (self.stride, stride), (self.dilation, dilation)])?;
        let padded = size.checked_add(before).and_then(|n| n.checked_add(after)).filter(|n| *n <= shape::MAX_ELEMENTS);
        let padded = padded.ok_or_else(|| broken(self.size, format!("with padding above {}", shape::MAX_ELEMENTS)))?;
        let reach = (kernel - 1).checked_mul(dilation).and_then(|n| n.checked_add(1)).filter(|n| *n <= padded);
        match reach {
            Some(reach) => Ok((padded - reach) / stride + 1),
            None => Err(broken(
                if dilation > 1 { self.dilation } else { self.kernel },
                format!("{kernel} filter elements {dilation} apart reach beyond the padded input of {padded}"),
            )),
        }
    }
}

impl Convolution {
    /// Rows and columns of the output, or the invalid argument.
    pub fn output(&self) -> Result<(usize, usize), ShapeError> {
        let rows =
            ROWS.outputs([self.height, self.top, self.bottom], [self.kernel_h, self.stride_h, self.dilation_h])?;
        let columns =
            COLUMNS.outputs([self.width, self.left, self.right], [self.kernel_w, self.stride_w, self.dilation_w])?;
        Ok((rows, columns))
    }

    /// Elements of input, weights and output, or the invalid argument.
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

    /// The products of one result: `KH * KW * C/groups`.
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

    /// Something of the terms of each result.
    fn each<T>(&self, input: &[i32], weights: &[i32], of: impl Fn(&matmul::Terms) -> T) -> Result<Vec<T>, ShapeError> {
        let mut out = Vec::with_capacity(self.check_lengths(input, weights)?);
        let (each, share) = (self.group_channels(), self.out_channels / self.groups);
        for patch in patches(self, input) {
            for o in 0..self.out_channels {
                // Of each element of the filter the channels of the group.
                let seen = patch.chunks_exact(self.channels).flat_map(|pixel| &pixel[o / share * each..][..each]);
                let column = weights.iter().skip(o).step_by(self.out_channels);
                let terms: matmul::Terms = seen.zip(column).map(|(l, r)| (*l, *r)).collect();
                out.push(of(&terms));
            }
        }
        Ok(out)
    }

    /// The exact sums, which no word limits.
    pub fn sums(&self, input: &[i32], weights: &[i32]) -> Result<Vec<Integer>, ShapeError> {
        self.each(input, weights, |terms| matmul::sum(terms, self.offsets()))
    }

    /// Where tap (i, j) of output (y, x) lies in the image, or `None` if it lies outside.
    pub(crate) fn pixel(&self, (y, x): (usize, usize), (i, j): (usize, usize)) -> Option<(usize, usize)> {
        let row = (y * self.stride_h + i * self.dilation_h).checked_sub(self.top).filter(|row| *row < self.height)?;
        let column =
            (x * self.stride_w + j * self.dilation_w).checked_sub(self.left).filter(|column| *column < self.width)?;
        Some((row, column))
    }
}

/// Each result by big integers, straight from the definition; `None` if it is out of domain. What an output depends on is found from the
/// input, and in [`expected`] from the output.
pub fn exact(
    scheme: &matmul::Scheme,
    p: &Convolution,
    input: &[i32],
    weights: &[i32],
) -> Result<Vec<Option<Integer>>, ShapeError> {
    p.each(input, weights, |terms| matmul::element(scheme, terms, p.offsets()))
}

/// Each result by machine integers, derived independently of [`exact`]; `None` if it is out of domain.
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
        return direct::convolve(p, scheme.overflow, input, weights);
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
