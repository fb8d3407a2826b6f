//! Dot-product steps: the instruction, or the short sequence, that adds a few products to an accumulator. `out[i] = acc[i] + sum over the terms of i
//! of a[..] * b[..]`, int32.

pub(crate) mod arm_bitserial;
pub(crate) mod arm_counts_u8;
mod arm_dotprod;
mod arm_i8mm;
mod arm_int16;
pub(crate) mod arm_low_bits;
pub(crate) mod arm_uadalp;
pub(crate) mod arm_umlal;
pub(crate) mod nvidia_dp4a;
#[cfg(test)]
mod tests;
pub(crate) mod x86_avx2;
mod x86_avx512;
mod x86_vnni;

use crate::element::Element;
use crate::execute::packed;
use crate::job_error::JobError;
use crate::kernel;
use crate::operation::{Call, TensorOperation, common_items, lookups};
use crate::shape::{self, ShapeError, Sizes};
use crate::simd::{BYTES, LANES, Register, WIDE_BYTES, WIDE_LANES, Wide};
use serde::{Deserialize, Serialize};

/// Parameters of one batch; the step is applied vector by vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Params {
    /// Number of results, a multiple of the kernel's [`Domain::results`].
    pub len: usize,
}

/// Operands of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Type of the first operand.
    pub lhs: Element,
    /// Type of the second operand.
    pub rhs: Element,
    /// Number of accumulators, and of results, of one step (one vector).
    pub results: usize,
    /// Number of elements of each operand of one step.
    pub elements: usize,
    /// Positions of the two elements of the first pair sum that is narrower than 32 bits, for each result of a step; empty if there is no narrow pair
    /// sum. A sweep of all pair sums puts its elements at these positions.
    #[serde(deserialize_with = "crate::elsewhere::list")]
    pub pairs: &'static [[usize; 2]],
}

impl Domain {
    /// Sizes of accumulators, first and second operands, and results, in elements. An error names the invalid argument.
    pub fn sizes(&self, params: &Params) -> Result<Sizes, ShapeError> {
        let len = shape::elements("len", &[shape::positive("len", params.len)?])?;
        if !len.is_multiple_of(self.results) {
            return Err(shape::broken(
                "len",
                format!("must be a multiple of {}, the results of one step", self.results),
            ));
        }
        let operand = shape::elements("a", &[len / self.results, self.elements])?;
        Ok(Sizes { inputs: [len, operand, operand], outputs: len })
    }
}

/// `run(acc, a, b, out)`: for each step, `results` accumulators and `elements` elements of each operand, little-endian at any alignment.
pub type Run = fn(&[i32], &[u8], &[u8], &mut [i32]);

/// A dot-product step under test.
pub type Kernel = kernel::Kernel<Run, Domain>;

/// Dot-product steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dot {}

impl TensorOperation for Dot {
    common_items!(dot);

    fn takes_ranges(domain: &Domain, _: &Params) -> bool {
        !domain.pairs.is_empty()
    }

    /// Fills the inputs so that result `i` is the pair sum of the bytes `a0, a1, b0, b1` of `start + i`, at the kernel's positions of a pair.
    fn fill(domain: &Domain, params: &Params, start: i32, input: &mut [i32]) {
        input.fill(0);
        let (_, operands) = input.split_at_mut(params.len);
        let (a, b) = operands.split_at_mut(operands.len() / 2);
        let steps = a.chunks_mut(domain.elements).zip(b.chunks_mut(domain.elements));
        for (step, (a, b)) in steps.enumerate() {
            for (result, [first, second]) in domain.pairs.iter().enumerate() {
                let quadruple = start.wrapping_add((step * domain.results + result) as i32).to_le_bytes();
                let value = |element: Element, at: usize| element.read(&quadruple[at..]);
                (a[*first], a[*second]) = (value(domain.lhs, 0), value(domain.lhs, 1));
                (b[*first], b[*second]) = (value(domain.rhs, 2), value(domain.rhs, 3));
            }
        }
    }

    fn call(call: Call<'_, Self>) -> Result<(), JobError> {
        let Call { code, domain, tensors: [acc, a, b], output, misalign, .. } = call;
        let operands = [("a", domain.lhs, a), ("b", domain.rhs, b)];
        packed(operands, misalign, |a, b| code(acc, a, b, output))
    }
}

lookups! {
    arm_uadalp: UADALP SADALP;
    arm_umlal: UMLAL SMLAL;
    arm_int16: SMLAL UMLAL;
    arm_dotprod: UDOT SDOT;
    arm_i8mm: UMMLA SMMLA;
    arm_bitserial: BITSERIAL SIGNED;
    arm_low_bits: A1W1 A1W2 A1W3 A1W4 A2W1 A2W2 A2W3 A2W4 A3W1 A3W2 A3W3 A3W4 A4W1 A4W2 A4W3 A4W4 A1W1_BIPOLAR
        A1W2_BIPOLAR A1W3_BIPOLAR A1W4_BIPOLAR A2W1_BIPOLAR A2W2_BIPOLAR A2W3_BIPOLAR A2W4_BIPOLAR A3W1_BIPOLAR
        A3W2_BIPOLAR A3W3_BIPOLAR A3W4_BIPOLAR A4W1_BIPOLAR A4W2_BIPOLAR A4W3_BIPOLAR A4W4_BIPOLAR;
    arm_counts_u8: SHIFTED;
    x86_avx2: MADDUBS MADD;
    x86_vnni: VNNI SATURATING;
    x86_avx512: MADDUBS VNNI;
    nvidia_dp4a: S8 U8 MIXED;
}

/// Applies `step(accumulators, a, b)` to each group of four accumulators, with 16 bytes of each operand.
#[inline(always)]
fn each_register<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32], step: impl Fn(R, R, R) -> R) {
    let operands = a.as_chunks::<BYTES>().0.iter().zip(b.as_chunks::<BYTES>().0);
    let results = acc.as_chunks::<LANES>().0.iter().zip(out.as_chunks_mut::<LANES>().0);
    for ((acc, out), (a, b)) in results.zip(operands) {
        step(R::load(acc), R::load_bytes(a), R::load_bytes(b)).store(out);
    }
}

/// Applies `step(accumulators, a, b)` to each group of eight accumulators, with 32 bytes of each operand.
#[inline(always)]
fn each_wide<W: Wide>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32], step: impl Fn(W, W, W) -> W) {
    let operands = a.as_chunks::<WIDE_BYTES>().0.iter().zip(b.as_chunks::<WIDE_BYTES>().0);
    let results = acc.as_chunks::<WIDE_LANES>().0.iter().zip(out.as_chunks_mut::<WIDE_LANES>().0);
    for ((acc, out), (a, b)) in results.zip(operands) {
        step(W::load(acc), W::load_bytes(a), W::load_bytes(b)).store(out);
    }
}

/// Defines functions that apply a step on a register to a batch, by the name of each function.
macro_rules! register_steps {
    ($($visibility:vis $name:ident: $step:expr),+) => {$(
        #[inline(always)]
        $visibility fn $name<R: Register>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
            $crate::dot::each_register(acc, a, b, out, $step);
        }
    )+};
}
use register_steps;

/// Defines functions that apply a step on a wide register to a batch, by the name of each function.
macro_rules! wide_steps {
    ($($visibility:vis $name:ident: $step:expr),+) => {$(
        #[inline(always)]
        $visibility fn $name<W: Wide>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
            $crate::dot::each_wide(acc, a, b, out, $step);
        }
    )+};
}
use wide_steps;

/// Builds the native form of a step that is generic over [`Register`].
macro_rules! form {
    ($isa:ident, $symbol:literal, $instructions:tt, $run:ident) => {
        $crate::simd::form::neon_form!(
            $isa,
            $symbol,
            $instructions,
            $crate::dot::Run,
            $run::<Neon>(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32])
        )
    };
}
use form;

/// Defines kernels on [`Register`], one on each row: constant, generic function, name, summary, scheme, domain, source, and the native form's
/// instruction set, symbol and instructions.
macro_rules! register_kernels {
    ($($constant:ident by $run:ident: $name:literal, $summary:expr, $scheme:literal on $domain:expr, $source:expr,
       $isa:ident $symbol:literal $instructions:tt;)+) => {$(
        pub(super) const $constant: $crate::dot::Kernel = $crate::dot::Kernel {
            name: $name,
            summary: $summary,
            contract: $crate::contract::Contract::new($scheme, $crate::contract::Overflow::Wrap, $domain, $source),
            portable: $run::<$crate::simd::Portable>,
            native: Some($crate::dot::form!($isa, $symbol, $instructions, $run)),
        };
    )+};
}
use register_kernels;

/// Builds the native form of a step that is generic over [`Wide`].
macro_rules! wide_form {
    ($isa:ident, $symbol:literal, $instructions:tt, $run:ident) => {
        $crate::simd::form::avx2_form!(
            $isa,
            $symbol,
            $instructions,
            $crate::dot::Run,
            fn run(acc: &[i32], a: &[u8], b: &[u8], out: &mut [i32]) {
                $crate::simd::form::on_avx2!($isa, $run(acc, a, b, out));
            },
            run
        )
    };
}
use wide_form;
