//! Blocks of an ONNX node along one axis, as text of a type.
//!
//! Source: ONNX operators, QuantizeLinear, `block_size`: scales have the rank of the values, and one scale covers a block of indices of the axis.

/// Dimensions of a node's values and scales.
pub(super) struct Blocks<'a> {
    /// Dimensions of the values.
    pub(super) values: &'a [usize],
    /// Dimensions of the scales.
    pub(super) scales: &'a [usize],
    /// Axis that is cut into blocks.
    pub(super) axis: usize,
    /// Number of indices of a block. 0 if the node has no `block_size`.
    pub(super) size: i64,
}

impl Blocks<'_> {
    /// Formats the sizes of the blocks, and the scales in braces, as in a type.
    pub(super) fn text(&self, each: &[String]) -> Result<String, String> {
        let size = usize::try_from(self.size).ok().filter(|size| *size > 0).ok_or_else(|| {
            format!(
                "scales of {:?} for values of {:?} along axis {}, without a block_size",
                self.scales, self.values, self.axis
            )
        })?;
        let cut = |axis: usize| if axis == self.axis { size } else { 1 };
        let fits =
            |(axis, (values, scales)): (usize, (&usize, &usize))| cut(axis).checked_mul(*scales) == Some(*values);
        let ranks = self.values.len() == self.scales.len() && self.axis < self.values.len();
        if !(ranks && self.values.iter().zip(self.scales).enumerate().all(fits)) {
            return Err(format!(
                "scales of {:?} for values of {:?} in blocks of {size} along axis {}: whole blocks are read",
                self.scales, self.values, self.axis
            ));
        }
        let sizes: Vec<String> = (0..self.values.len()).map(|axis| format!("{axis}:{}", cut(axis))).collect();
        Ok(format!("{{{}}}, {}", sizes.join(","), nested(each, self.scales)))
    }
}

/// Formats row-major values in braces, one pair of braces for each index of each dimension but the last.
fn nested(each: &[String], dims: &[usize]) -> String {
    let inner = match dims {
        [] | [_] => each.to_vec(),
        [first, rest @ ..] => each.chunks((each.len() / first).max(1)).map(|part| nested(part, rest)).collect(),
    };
    format!("{{{}}}", inner.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(values: &[usize], scales: &[usize], axis: usize, size: i64) -> Result<String, String> {
        let count: usize = scales.iter().product();
        let each: Vec<String> = (0..count).map(|at| format!("{at}.0:0")).collect();
        Blocks { values, scales, axis, size }.text(&each)
    }

    #[test]
    fn blocks_have_an_axis_and_a_size() {
        assert_eq!(text(&[2, 4], &[2, 2], 1, 2).unwrap(), "{0:1,1:2}, {{0.0:0, 1.0:0}, {2.0:0, 3.0:0}}");
        assert_eq!(text(&[4, 2], &[2, 2], 0, 2).unwrap(), "{0:2,1:1}, {{0.0:0, 1.0:0}, {2.0:0, 3.0:0}}");
        assert_eq!(text(&[1, 2, 2], &[1, 1, 2], 1, 2).unwrap(), "{0:1,1:2,2:1}, {{{0.0:0, 1.0:0}}}");
    }

    #[test]
    fn blocks_that_are_not_whole_are_refused() {
        for (values, scales, axis, size) in [
            (&[3, 2][..], &[2, 2][..], 0, 2),
            (&[4, 2], &[2, 1], 0, 2),
            (&[4, 2], &[2], 0, 2),
            (&[4, 2], &[2, 2], 2, 2),
            (&[4, 2], &[2, 2], 0, i64::MAX),
        ] {
            assert!(text(values, scales, axis, size).unwrap_err().contains("whole blocks are read"), "{values:?}");
        }
        assert!(text(&[2, 2], &[2, 1], 1, 0).unwrap_err().contains("without a block_size"));
    }
}
