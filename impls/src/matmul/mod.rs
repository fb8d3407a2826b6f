//! Integer matrix multiplication: `out[i,j] = sum over k of (lhs[i,k] + lhs_offset) * (rhs[k,j] + rhs_offset)`, int32.
//!
//! Offsets are those of gemmlowp's low-precision paradigm: a zero point is a negative offset. Most kernels multiply the raw elements and add the
//! offsets by the four-term expansion, as the sources do. `arm_offsets` adds offsets to the elements, and `tvm_int16` accepts no offsets.

pub(crate) mod arm_bitserial;
pub(crate) mod arm_dotprod;
pub(crate) mod arm_i8mm;
pub(crate) mod arm_int16;
pub(crate) mod arm_offsets;
pub(crate) mod arm_uadalp;
pub(crate) mod arm_uadalp_8x4;
pub(crate) mod arm_udot_12x4;
pub(crate) mod arm_umlal;
pub(crate) mod blocks;
pub(crate) mod driver;
pub(crate) mod gemmlowp;
mod micro;
mod micro_wide;
pub(crate) mod nvidia_dp4a;
#[cfg(test)]
pub(crate) mod tests;
mod tiles;
pub(crate) mod tvm_int16;
pub(crate) mod x86_avx2;
pub(crate) mod x86_vnni;

use crate::contract::{Contract, Overflow, Promise};
use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Shape and offsets of one matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Params {
    /// Rows of lhs and of the result.
    pub m: usize,
    /// Columns of rhs and of the result.
    pub n: usize,
    /// Depth: columns of lhs, rows of rhs.
    pub k: usize,
    /// Offset added to each element of lhs.
    pub lhs_offset: i32,
    /// Offset added to each element of rhs.
    pub rhs_offset: i32,
}

impl Params {
    /// Sizes of lhs, rhs and the result, in elements. An error names the invalid argument.
    pub fn sizes(&self) -> Result<Sizes, ShapeError> {
        let (m, n, k) = (shape::positive("m", self.m)?, shape::positive("n", self.n)?, shape::positive("k", self.k)?);
        let (lhs, rhs) = (shape::elements("lhs", &[m, k])?, shape::elements("rhs", &[k, n])?);
        Ok(Sizes { inputs: [lhs, rhs, 0], outputs: shape::elements("out", &[m, n])? })
    }
}

/// Operands on which a kernel keeps its promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Type of lhs.
    pub lhs: Element,
    /// Type of rhs.
    pub rhs: Element,
    /// Values of lhs; for most kernels all values of its type.
    pub lhs_values: RangeInclusive<i32>,
    /// Values of rhs.
    pub rhs_values: RangeInclusive<i32>,
    /// Depths.
    pub depth: RangeInclusive<usize>,
    /// Offsets of lhs; for a convolution the negated zero point of the input.
    pub lhs_offsets: RangeInclusive<i32>,
    /// Offsets of rhs; for a convolution the negated zero point of the weights.
    pub rhs_offsets: RangeInclusive<i32>,
}

impl Domain {
    /// Returns the domain of every value, every depth and every offset.
    pub const fn all(lhs: Element, rhs: Element) -> Self {
        let (lhs_offsets, rhs_offsets) = (i32::MIN..=i32::MAX, i32::MIN..=i32::MAX);
        Self {
            lhs,
            rhs,
            lhs_values: lhs.range(),
            rhs_values: rhs.range(),
            depth: 1..=usize::MAX,
            lhs_offsets,
            rhs_offsets,
        }
    }
}

/// `run(params, lhs, rhs, out)`: lhs `[M, K]` and rhs `[K, N]` row-major, little-endian elements of the domain's types at any alignment; out `[M, N]`
/// row-major. Callers have checked `params` and the lengths.
pub type Run = fn(&Params, &[u8], &[u8], &mut [i32]);

/// A matrix multiplication under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Integer matrix products with offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matmul {}

impl TensorOperation for Matmul {
    common_items!(matmul, own sizes);

    fn sizes(_: &Domain, params: &Params) -> Result<Sizes, ShapeError> {
        params.sizes()
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, params, tensors: [lhs, rhs, _], output, misalign, .. } = call;
        let operands = [("lhs", domain.lhs, lhs), ("rhs", domain.rhs, rhs)];
        packed(operands, misalign, |lhs, rhs| code(params, lhs, rhs, output))
    }
}

lookups! {
    arm_uadalp: UADALP SADALP;
    arm_uadalp_8x4: UADALP;
    arm_umlal: UMLAL SMLAL;
    arm_int16: SMLAL UMLAL;
    arm_offsets: IN_LOOP IN_BLOCKS;
    arm_dotprod: UDOT SDOT;
    arm_udot_12x4: UDOT;
    arm_i8mm: UMMLA SMMLA;
    arm_bitserial: BITSERIAL;
    x86_avx2: MADDUBS MADD;
    x86_vnni: VNNI SATURATING;
    nvidia_dp4a: S8 U8 MIXED;
    tvm_int16: I8;
    gemmlowp: REFERENCE;
}

/// Returns a contract without deviations. A result beyond int32 wraps, as sums in 32-bit lanes do.
const fn contract(scheme: &'static str, domain: Domain, source: &'static str) -> Contract<Domain> {
    Contract { promise: Promise { scheme, overflow: Overflow::Wrap }, domain, deviations: &[], source }
}

/// Builds the portable form: a micro-kernel between the steps of [`driver`]. Elements have one byte, or the byte type given.
macro_rules! portable {
    ($lhs:ident, $rhs:ident, $micro_kernel:expr) => {
        $crate::matmul::portable!($lhs, $rhs, u8, $micro_kernel)
    };
    ($lhs:ident, $rhs:ident, $bytes:ty, $micro_kernel:expr) => {
        |params, lhs, rhs, out| {
            use $crate::element::Element;
            use $crate::matmul::driver::{Steps, product};
            const STEPS: Steps<$bytes> = Steps::new(Element::$lhs, Element::$rhs, $micro_kernel);
            product(&STEPS, params, lhs, rhs, out)
        }
    };
}
pub(crate) use portable;

/// Builds the native form of a micro-kernel that is generic over [`crate::simd::Register`], on elements of one byte.
macro_rules! form {
    ($isa:ident, $symbol:literal, $instructions:tt, $lhs:ident, $rhs:ident, $micro_kernel:ident) => {
        $crate::simd::form::neon_form!(
            $isa,
            $symbol,
            $instructions,
            $crate::matmul::Run,
            fn micro_kernel(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
                $micro_kernel::<$crate::simd::Neon>(depth_blocks, a, b, c);
            },
            $crate::matmul::portable!($lhs, $rhs, micro_kernel)
        )
    };
}
use form;

/// Defines kernels on [`crate::simd::Register`], one on each row: constant, generic micro-kernel, name, summary, type of both operands, scheme,
/// source, and the native form's instruction set, symbol and instructions.
macro_rules! register_kernels {
    ($($constant:ident by $run:ident: $name:literal, $summary:literal, $element:ident $scheme:literal, $source:expr,
       $isa:ident $symbol:literal $instructions:tt;)+) => {$(
        pub(crate) const $constant: $crate::matmul::Kernel = $crate::matmul::Kernel {
            name: $name,
            summary: $summary,
            contract: {
                use $crate::element::Element;
                $crate::matmul::contract($scheme, $crate::matmul::Domain::all(Element::$element, Element::$element), $source)
            },
            portable: $crate::matmul::portable!($element, $element, $run::<$crate::simd::Portable>),
            native: Some($crate::matmul::form!($isa, $symbol, $instructions, $element, $element, $run)),
        };
    )+};
}
use register_kernels;

/// Builds the native form of a micro-kernel that is generic over [`crate::simd::Wide`], on elements of the byte type given.
macro_rules! wide_form {
    ($isa:ident, $symbol:literal, $instructions:tt, $lhs:ident, $rhs:ident, $bytes:ty, $micro_kernel:ident) => {
        $crate::simd::form::avx2_form!(
            $isa,
            $symbol,
            $instructions,
            $crate::matmul::Run,
            fn micro_kernel(depth_blocks: usize, a: &[u8], b: &[u8], c: &mut [i32; 16]) {
                $crate::simd::form::on_avx2!($isa, $micro_kernel(depth_blocks, a, b, c));
            },
            $crate::matmul::portable!($lhs, $rhs, $bytes, micro_kernel)
        )
    };
}
use wide_form;
