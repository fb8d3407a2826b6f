//! Contracts: the scheme that a kernel implements, its domain, and its known deviations. A scheme is named here as text, because this crate does not
//! know the oracle that executes schemes; a test of the harness looks up every name in the oracle's registry.
//!
//! Overflow is part of a promise, not of a scheme: `ties-up:wrap` and `ties-up` (undefined if int32 cannot hold the result) are the same mathematics.
//! The default reference is `ties-up`. For an undefined result no kernel differs from the reference, and reports count such inputs separately.
//!
//! A kernel that cannot be exact promises its actual arithmetic. The fast paths through 16-bit lanes promise `pairs-u16-wrap` and similar schemes on
//! all operands, and reports count their differences from `exact`. `bounds` derives the operands for which they are exact.

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Policy for an exact result that does not fit in the output type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Two's-complement wrap, as a cast does.
    Wrap,
    /// Clamped to the nearest representable value.
    Saturate,
    /// No promise: the input is outside the domain.
    OutOfDomain,
}

/// Scheme by name, with the policy for results that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Promise {
    /// Name in the oracle's registry, such as `gemmlowp-double`.
    pub scheme: &'static str,
    /// Policy for a final result that does not fit in int32.
    pub overflow: Overflow,
}

/// Parameters on which a kernel keeps its promise. The accumulator is always any int32.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Multipliers, as Q0.31 integers (or Q0.q for another `q`).
    pub multipliers: RangeInclusive<i32>,
    /// Power of two that divides every multiplier (2^7 for a 24-bit significand, otherwise 1).
    pub multiple_of: i32,
    /// Shifts, positive = left.
    pub shifts: RangeInclusive<i32>,
    /// Fractional bits of the multiplier.
    pub q: RangeInclusive<u32>,
    /// Bounds on the whole right shift `q - shift`.
    pub right_shifts: RangeInclusive<i32>,
    /// True if several channels may share a batch.
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

    /// [`Domain::ALL`] with several channels in a batch.
    pub(crate) const PER_CHANNEL: Self = Self { per_channel: true, ..Self::ALL };

    /// True if the promise covers these parameters.
    pub fn contains(&self, multiplier: i32, shift: i32, q: u32) -> bool {
        self.multipliers.contains(&multiplier)
            && multiplier % self.multiple_of == 0
            && self.shifts.contains(&shift)
            && self.q.contains(&q)
            && self.right_shifts.contains(&(q as i32 - shift))
    }
}

/// Elements on which a declared deviation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Last `n mod lanes` elements of a run of `n`, which a vector body does not reach.
    VectorTail {
        /// Elements in one vector.
        lanes: usize,
    },
    /// Every element, if the multiplier is not Q0.31.
    QNot31,
}

impl Region {
    /// True if the region contains element `index` of `len`, for a multiplier of `q` fractional bits.
    pub fn contains(self, index: usize, len: usize, q: u32) -> bool {
        match self {
            Self::VectorTail { lanes } => index >= len - len % lanes,
            Self::QNot31 => q != 31,
        }
    }
}

/// Known and kept difference from the contract's scheme: in `region` the kernel follows `instead`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Class of the difference, as the judge names it (`position`, `fallback`, ...).
    pub class: &'static str,
    /// Elements on which the deviation holds.
    pub region: Region,
    /// Scheme that the kernel follows in the region.
    pub instead: Promise,
    /// Reason for the deviation, in a sentence that a reviewer can use.
    pub reason: &'static str,
}

/// Promise of one kernel. `D` is the domain type of its operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract<D = Domain> {
    /// Promised scheme.
    pub promise: Promise,
    /// Parameters for which the promise holds.
    pub domain: D,
    /// Known deviations; the first whose region contains an element decides.
    pub deviations: &'static [Deviation],
    /// Source of the semantics: document and section, or repository and file.
    pub source: &'static str,
}

impl<D> Contract<D> {
    /// Makes a contract without deviations.
    pub(crate) const fn new(scheme: &'static str, overflow: Overflow, domain: D, source: &'static str) -> Self {
        Self { promise: Promise { scheme, overflow }, domain, deviations: &[], source }
    }

    /// Returns the promise that binds element `index` of `len`, and the deviation that replaces the contract's promise, if any.
    pub fn at(&self, index: usize, len: usize, q: u32) -> (Promise, Option<&'static Deviation>) {
        match self.deviations.iter().find(|d| d.region.contains(index, len, q)) {
            Some(deviation) => (deviation.instead, Some(deviation)),
            None => (self.promise, None),
        }
    }
}
