//! Types with the places of their parts, so that an error shows the place of a broken rule.

use super::Type;
use std::ops::Range;

/// Range of bytes in a text.
pub(super) type Span = Range<usize>;

/// Type with the places of its parts.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) ty: Type,
    pub(super) span: Span,
    /// Place of each dimension of a ranked tensor.
    pub(super) dims: Vec<Span>,
    /// Places of the parts of a quantized element.
    pub(super) parts: Parts,
}

/// Places of the parts of a `!quant.uniform`; empty for other types.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) storage: Span,
    pub(super) expressed: Span,
    /// Axis, or each axis with its block.
    pub(super) axes: Vec<Span>,
    /// Braces of the scales.
    pub(super) scales: Span,
}
