//! Types with the places of their parts, so that a rule that is broken is shown where.

use super::Type;
use std::ops::Range;

/// Bytes of a text.
pub(super) type Span = Range<usize>;

/// A type and where its parts are.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) ty: Type,
    pub(super) span: Span,
    /// Of each dimension of a ranked tensor.
    pub(super) dims: Vec<Span>,
    /// Of a quantized element's parts.
    pub(super) parts: Parts,
}

/// Where the parts of a `!quant.uniform` are; empty elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) storage: Span,
    pub(super) expressed: Span,
    /// The axis, or each axis with its block.
    pub(super) axes: Vec<Span>,
    /// The braces of the scales.
    pub(super) scales: Span,
}
