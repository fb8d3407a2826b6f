//! Limits of a sample.

use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::{Expressed, I8, Storage};

/// Limits of a batch. A kernel that takes less gets a batch within narrower limits.
#[derive(Clone, Copy, Debug)]
pub struct Fitting {
    /// Channels of fpm and of requantize.
    pub channels: usize,
    /// Type of the results of requantize, and of the tensors of add, mul, concat and pool.
    pub element: Element,
    /// Stored type of quantize and of dequantize.
    pub storage: Storage,
    /// Type of the reals of quantize and of dequantize.
    pub expressed: Expressed,
    /// Whether the bias and the zero points may be other than 0.
    pub offsets: bool,
}

impl Fitting {
    /// The limits on the page of the protocol.
    pub const SHOWN: Self =
        Self { channels: 2, element: Element::I8, storage: I8, expressed: Expressed::F32, offsets: true };
    /// The limits that most kernels accept.
    pub const PLAIN: Self = Self { channels: 1, offsets: false, ..Self::SHOWN };

    /// `value` if offsets may be other than 0.
    pub(crate) fn offset(self, value: i32) -> i32 {
        if self.offsets { value } else { 0 }
    }
}
