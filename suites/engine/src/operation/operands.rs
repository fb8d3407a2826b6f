//! Input tensors of a case.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Input tensors, which copies of a case share until one of them changes.
#[derive(Clone, PartialEq, Eq)]
pub struct Operands(Arc<[Vec<i32>; 3]>);

impl Operands {
    /// Returns the tensors themselves.
    pub fn into_inner(self) -> [Vec<i32>; 3] {
        Arc::unwrap_or_clone(self.0)
    }
}

impl From<[Vec<i32>; 3]> for Operands {
    fn from(tensors: [Vec<i32>; 3]) -> Self {
        Self(Arc::new(tensors))
    }
}

impl Deref for Operands {
    type Target = [Vec<i32>; 3];

    fn deref(&self) -> &[Vec<i32>; 3] {
        &self.0
    }
}

impl DerefMut for Operands {
    fn deref_mut(&mut self) -> &mut [Vec<i32>; 3] {
        Arc::make_mut(&mut self.0)
    }
}

impl Debug for Operands {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
