//! Blocks of a convolution by output rows and output channels, for a layer that exceeds one call.

use crate::operation::{Block, Case};
use std::ops::Range;
use tiebreak_impls::{conv2d, qconv2d};

/// Block of a convolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Index of the image.
    pub batch: usize,
    /// Input rows that the block reads.
    pub rows: Range<usize>,
    /// Output channels of the block.
    pub channels: Range<usize>,
    /// First output row of the block.
    pub first: usize,
    /// Shape of the block.
    pub shape: conv2d::Params,
}

/// Splits a convolution into blocks that `fits` accepts: per image, with as many rows as fit, then with fewer output channels. Returns the whole
/// if it fits. `None` if a row of one channel does not fit, or if a transposed convolution does not fit.
pub fn pieces(p: &conv2d::Params, fits: impl Fn(&conv2d::Params) -> bool) -> Option<Vec<Piece>> {
    if fits(p) {
        return Some(vec![Piece { batch: 0, rows: 0..p.height, channels: 0..p.out_channels, first: 0, shape: *p }]);
    }
    // An output row of a transposed convolution sums overlapping windows.
    if p.transposed {
        return None;
    }
    let (rows, _) = p.output().ok()?;
    let (mut high, mut wide) = (rows, p.out_channels);
    loop {
        let all = cut(p, rows, high, wide)?;
        if all.iter().all(|piece| fits(&piece.shape)) {
            return Some(all);
        }
        match (high, wide) {
            (1, 1) => return None,
            (1, _) if p.groups > 1 => return None,
            (1, _) => wide = wide.div_ceil(2),
            _ => high = high.div_ceil(2),
        }
    }
}

fn cut(p: &conv2d::Params, rows: usize, high: usize, wide: usize) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    for batch in 0..p.batches {
        for first in (0..rows).step_by(high) {
            let last = (first + high).min(rows) - 1;
            // Rows of the padded input.
            let (from, to) = (first * p.stride_h, last * p.stride_h + (p.kernel_h - 1) * p.dilation_h + 1);
            let (top, bottom) = (p.top.saturating_sub(from), to.saturating_sub(p.top + p.height));
            let read = from.saturating_sub(p.top)..(to - p.top.min(to)).min(p.height);
            if read.is_empty() {
                return None;
            }
            for from in (0..p.out_channels).step_by(wide) {
                let channels = from..(from + wide).min(p.out_channels);
                let shape =
                    conv2d::Params { batches: 1, height: read.len(), top, bottom, out_channels: channels.len(), ..*p };
                all.push(Piece { batch, rows: read.clone(), channels, first, shape });
            }
        }
    }
    Some(all)
}

impl Piece {
    /// Selects the weights `[KH,KW,C/groups,O]` of the block's channels.
    pub fn weights(&self, p: &conv2d::Params, weights: &[i32]) -> Vec<i32> {
        let rows = weights.chunks(p.out_channels);
        rows.flat_map(|row| row[self.channels.clone()].iter().copied()).collect()
    }

    /// Returns the case of the block, and the place of its results in layer number `layer`.
    pub fn of(&self, whole: &Case<qconv2d::Params>, layer: usize, input: usize) -> (Block, Case<qconv2d::Params>) {
        let p = &whole.params.shape;
        let (rows, columns) = p.output().unwrap_or((0, 0));
        let from = ((self.batch * rows + self.first) * columns) * p.out_channels + self.channels.start;
        let place = Block { layer, input, from, channels: self.channels.len(), of: p.out_channels };
        if self.shape == *p {
            return (place, whole.clone());
        }
        let row = p.width * p.channels;
        let read = (self.batch * p.height + self.rows.start) * row..(self.batch * p.height + self.rows.end) * row;
        let some = |len: usize| if len == 1 { 0..1 } else { self.channels.clone() };
        let params = qconv2d::Params {
            shape: self.shape,
            channels: whole.params.channels[some(whole.params.channels.len())].to_vec(),
            bias: whole.params.bias[some(whole.params.bias.len())].to_vec(),
            bias64: whole.params.bias64.get(some(whole.params.bias64.len())).unwrap_or_default().to_vec(),
            ..whole.params
        };
        let tensors = [whole.tensors[0][read].to_vec(), self.weights(p, &whole.tensors[1]), Vec::new()];
        (place, Case { params, tensors: tensors.into(), misalign: whole.misalign })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qconv2d::Qconv2d;
    use tiebreak_engine::operation::{Operation, contract, find};
    use tiebreak_impls::fpm::Channel;

    /// Blocks of every size give the results of the whole, each result at its place.
    #[test]
    fn blocks_are_the_whole() {
        let kernel = find::<Qconv2d>("tflite-conv-i8").expect("a kernel");
        let scheme = contract::<Qconv2d>(kernel).expect("a scheme");
        let base = conv2d::Params {
            batches: 2,
            height: 9,
            width: 5,
            channels: 4,
            out_channels: 6,
            kernel_h: 3,
            kernel_w: 2,
            top: 1,
            bottom: 1,
            right: 1,
            input_zero_point: -7,
            ..conv2d::Params::default()
        };
        for shape in [
            base,
            conv2d::Params { stride_h: 2, dilation_h: 2, top: 2, bottom: 2, ..base },
            conv2d::Params { groups: 2, ..base },
        ] {
            let sizes = shape.sizes().expect("a shape");
            let tensor = |len: usize, by: i32| (0..len as i32).map(|i| (i * by) % 251 - 125).collect::<Vec<i32>>();
            let channel = |o: i32| Channel { multiplier: (1 << 30) + o * 1_234_567, shift: -6 };
            let params = qconv2d::Params {
                shape,
                channels: (0..6).map(channel).collect(),
                bias: vec![5, -3, 900, 0, 1, -700],
                bias64: Vec::new(),
                zero_point: 3,
                min: -128,
                max: 120,
            };
            let whole = Case {
                params,
                tensors: [tensor(sizes.inputs[0], 37), tensor(sizes.inputs[1], 91), Vec::new()].into(),
                misalign: 0,
            };
            let expected = Qconv2d::expected(&scheme, &whole).expect("results");
            let mut counts = Vec::new();
            for most in [usize::MAX, 60, 30, 15] {
                let fits = |p: &conv2d::Params| p.sizes().is_ok_and(|sizes| sizes.outputs <= most);
                let Some(all) = pieces(&shape, fits) else { continue };
                let mut got = vec![None; expected.len()];
                for piece in &all {
                    let (block, case) = piece.of(&whole, 0, 0);
                    for (index, value) in Qconv2d::expected(&scheme, &case).expect("results").into_iter().enumerate() {
                        assert!(got[block.at(index)].replace(value).is_none(), "{piece:?}");
                    }
                }
                counts.push(all.len());
                assert_eq!(got.into_iter().flatten().collect::<Vec<_>>(), expected, "{shape:?} {most}");
            }
            assert!(counts[0] == 1 && counts.len() > 1 && counts.windows(2).all(|n| n[0] < n[1]), "{counts:?}");
        }
    }

    #[test]
    fn a_row_that_does_not_fit_has_no_blocks() {
        assert_eq!(pieces(&conv2d::Params { width: 40, ..conv2d::Params::default() }, |p| p.width < 40), None);
    }
}
