//! Shape validation errors. Every size is checked before anything is allocated or multiplied.

use thiserror::Error;

/// Largest tensor, in elements, so that a garbled size can neither exhaust memory nor make an index exceed its word.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// Argument that breaks a rule of its operation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{argument}: {rule}")]
pub struct ShapeError {
    /// Argument, such as `stride_h`.
    pub argument: &'static str,
    /// Broken rule, as text.
    pub rule: String,
}

/// Creates the error that `argument` breaks `rule`.
pub(crate) fn broken(argument: &'static str, rule: impl Into<String>) -> ShapeError {
    ShapeError { argument, rule: rule.into() }
}

/// Checks that each size is at least 1.
pub(crate) fn positive(sizes: &[(&'static str, usize)]) -> Result<(), ShapeError> {
    match sizes.iter().find(|(_, n)| *n == 0) {
        Some((argument, _)) => Err(broken(argument, "must be at least 1, not 0")),
        None => Ok(()),
    }
}

/// Returns the number of elements of a tensor of these sizes, at most [`MAX_ELEMENTS`].
pub(crate) fn elements(argument: &'static str, sizes: &[usize]) -> Result<usize, ShapeError> {
    let product = sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
    product.filter(|n| *n <= MAX_ELEMENTS).ok_or_else(|| {
        let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
        broken(argument, format!("{} elements are more than {MAX_ELEMENTS}", sizes.join("*")))
    })
}

/// Checks that the slice given for `argument` has the length of its shape.
pub(crate) fn length(argument: &'static str, given: usize, wanted: usize) -> Result<(), ShapeError> {
    if given == wanted {
        return Ok(());
    }
    Err(broken(argument, format!("{given} elements where the shape gives {wanted}")))
}
