//! Contracts: the scheme that a kernel implements, the domain on which it does, and its known deviations. Schemes are named
//! here as text, because this crate does not know the oracle that executes them; a test of the harness looks every name up
//! in the oracle's registry.
//!
//! Overflow is part of a promise, not of a scheme: `ties-up:wrap` and `ties-up` (undefined if int32 cannot hold the result)
//! are the same mathematics. The default reference is the second form. If no int32 is right, no result can differ from the
//! reference, and reports count those inputs separately.
//!
//! A kernel that cannot be exact promises what it computes: the fast paths through 16-bit lanes promise `pairs-u16-wrap`
//! and similar schemes on all operands, and are counted against `exact`. `bounds` derives the operands for which they are
//! exact.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The policy for an exact result that does not fit in the output type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Two's-complement wrap, as a cast does.
    Wrap,
    /// Clamped to the nearest representable value.
    Saturate,
    /// No promise: such an input is outside the domain.
    OutOfDomain,
}

/// A scheme by name, with the policy for results that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Promise {
    /// Name in the oracle's registry, such as `gemmlowp-double`.
    pub scheme: &'static str,
    /// The policy for a final result that does not fit in int32.
    pub overflow: Overflow,
}

/// The parameters on which a kernel keeps its promise. The accumulator is always any int32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Multipliers, as Q0.31 integers (or Q0.q where `q` is another).
    pub multipliers: RangeInclusive<i32>,
    /// Every multiplier is a multiple of this power of two (2^7 for a 24-bit significand, otherwise 1).
    pub multiple_of: i32,
    /// Shifts, positive = left.
    pub shifts: RangeInclusive<i32>,
    /// Fractional bits of the multiplier.
    pub q: RangeInclusive<u32>,
    /// Bounds on the whole right shift `q - shift`.
    pub right_shifts: RangeInclusive<i32>,
    /// Whether several channels may share a batch.
    pub per_channel: bool,
}

impl Domain {
    /// Every int32 multiplier, every shift in -31..=31, Q = 31.
    pub const ALL: Self = Self {
        multipliers: i32::MIN..=i32::MAX,
        multiple_of: 1,
        shifts: -31..=31,
        q: 31..=31,
        right_shifts: i32::MIN..=i32::MAX,
        per_channel: false,
    };

    /// Whether the promise covers these parameters.
    pub fn contains(&self, multiplier: i32, shift: i32, q: u32) -> bool {
        self.multipliers.contains(&multiplier)
            && multiplier % self.multiple_of == 0
            && self.shifts.contains(&shift)
            && self.q.contains(&q)
            && self.right_shifts.contains(&(q as i32 - shift))
    }
}

/// Where a declared deviation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// The last `n mod lanes` elements of a run of `n`, which a vector body does not reach.
    VectorTail {
        /// Elements in one vector.
        lanes: usize,
    },
    /// Every element when the multiplier is not Q0.31.
    QNot31,
}

impl Region {
    /// Whether element `index` of `len`, with a multiplier of `q` fractional bits, lies in the region.
    pub fn contains(self, index: usize, len: usize, q: u32) -> bool {
        match self {
            Self::VectorTail { lanes } => index >= len - len % lanes,
            Self::QNot31 => q != 31,
        }
    }
}

/// A difference from the contract's scheme that is known and kept: in `region` the kernel follows `instead`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Class of the difference, as the judge names it (`position`, `fallback`, ...).
    pub class: &'static str,
    /// Where it holds.
    pub region: Region,
    /// The scheme that the kernel follows there.
    pub instead: Promise,
    /// Why, in a sentence a reviewer can use.
    pub reason: &'static str,
}

/// The promise of one kernel. `D` is the domain type of its operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract<D = Domain> {
    /// The promised scheme.
    pub promise: Promise,
    /// For which parameters.
    pub domain: D,
    /// Known deviations; the first region that contains an element decides.
    pub deviations: &'static [Deviation],
    /// Document and section, or repository and file, that the semantics come from.
    pub source: &'static str,
}

impl<D> Contract<D> {
    /// A promise without deviations.
    pub(crate) const fn new(scheme: &'static str, overflow: Overflow, domain: D, source: &'static str) -> Self {
        Self { promise: Promise { scheme, overflow }, domain, deviations: &[], source }
    }

    /// The promise that binds element `index` of `len`, and the deviation it comes from, if one does.
    pub fn at(&self, index: usize, len: usize, q: u32) -> (Promise, Option<&'static Deviation>) {
        match self.deviations.iter().find(|d| d.region.contains(index, len, q)) {
            Some(deviation) => (deviation.instead, Some(deviation)),
            None => (self.promise, None),
        }
    }
}
