//! Limits of a sample.

use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::{Expressed, I8, Storage};

/// Limits of a sample batch. A kernel with a smaller domain gets a batch within narrower limits.
#[derive(Clone, Copy, Debug)]
pub struct Fitting {
    /// Upper bound on channels of fpm and requantize.
    pub channels: usize,
    /// Type of the results of requantize, and of the tensors of add, mul, concat and pool.
    pub element: Element,
    /// Stored type of quantize and dequantize.
    pub storage: Storage,
    /// Type of the reals of quantize and dequantize.
    pub expressed: Expressed,
    /// True if the bias and the zero points may differ from 0.
    pub offsets: bool,
}

impl Fitting {
    /// Limits of the samples on the protocol page.
    pub const SHOWN: Self =
        Self { channels: 2, element: Element::I8, storage: I8, expressed: Expressed::F32, offsets: true };
    /// Limits that most kernels accept.
    pub const PLAIN: Self = Self { channels: 1, offsets: false, ..Self::SHOWN };

    /// Returns `value` if offsets may differ from 0, otherwise 0.
    pub(crate) fn offset(self, value: i32) -> i32 {
        if self.offsets { value } else { 0 }
    }
}
