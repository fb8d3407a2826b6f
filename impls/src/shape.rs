//! Shape validation: every size, stride and offset is checked before anything is allocated or multiplied.

/// Largest tensor, in elements. Far above any layer; it keeps a garbled size from exhausting memory.
pub const MAX_ELEMENTS: usize = 1 << 24;

/// An argument that breaks a rule of its operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: {rule}")]
pub struct ShapeError {
    /// The argument, such as `stride_h`.
    pub argument: &'static str,
    /// The rule it breaks, in words.
    pub rule: String,
}

/// `argument` breaks `rule`.
pub fn broken(argument: &'static str, rule: impl Into<String>) -> ShapeError {
    ShapeError { argument, rule: rule.into() }
}

/// `n`, where it is at least 1.
pub fn positive(argument: &'static str, n: usize) -> Result<usize, ShapeError> {
    if n == 0 { Err(broken(argument, "must be at least 1, not 0")) } else { Ok(n) }
}

/// The number of elements of a tensor of these sizes, where it is no more than [`MAX_ELEMENTS`].
pub fn elements(argument: &'static str, sizes: &[usize]) -> Result<usize, ShapeError> {
    let product = sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
    match product {
        Some(n) if n <= MAX_ELEMENTS => Ok(n),
        _ => {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            Err(broken(argument, format!("{} elements are more than {MAX_ELEMENTS}", sizes.join("*"))))
        }
    }
}

/// How many elements a batch of an operation reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements of each input tensor, in the order of the payload.
    pub inputs: [usize; 3],
    /// Results.
    pub outputs: usize,
}

impl Sizes {
    /// Elements of all inputs.
    pub fn input(&self) -> usize {
        self.inputs.iter().sum()
    }
}
