//! Validation of shapes: every size, stride and offset is checked before any allocation or multiplication.

/// Defines a structure whose fields have defaults: `field: Type = default`.
macro_rules! with_defaults {
    (
        $(#[$attribute:meta])* pub struct $name:ident {
            $($(#[$of_field:meta])* pub $field:ident: $type:ty = $default:expr,)+
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[$of_field])* pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),+ }
            }
        }
    };
}
pub(crate) use with_defaults;

/// Largest tensor, in elements. The bound is far above any layer, and keeps a garbled size from exhausting memory.
pub const MAX_ELEMENTS: usize = 1 << 24;

/// Argument that breaks a rule of its operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument}: {rule}")]
pub struct ShapeError {
    /// Name of the argument, such as `stride_h`.
    pub argument: &'static str,
    /// Description of the broken rule.
    pub rule: String,
}

/// Makes the error that `argument` breaks `rule`.
pub fn broken(argument: &'static str, rule: impl Into<String>) -> ShapeError {
    ShapeError { argument, rule: rule.into() }
}

/// Returns `n`, or an error if it is 0.
pub fn positive(argument: &'static str, n: usize) -> Result<usize, ShapeError> {
    if n == 0 { Err(broken(argument, "must be at least 1, not 0")) } else { Ok(n) }
}

/// Returns the number of elements of a tensor of these sizes, or an error if it is more than [`MAX_ELEMENTS`].
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

/// Number of elements that a batch of an operation reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Elements of each input tensor, in the order of the payload.
    pub inputs: [usize; 3],
    /// Number of results.
    pub outputs: usize,
}

impl Sizes {
    /// Returns the elements of all inputs.
    pub fn input(&self) -> usize {
        self.inputs.iter().sum()
    }
}
