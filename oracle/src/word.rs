//! Signed two's-complement words of any width up to 64 bits, and the policies for a value that does not fit.

use rug::Integer;
use rug::ops::RemRounding;
use serde::Serialize;

/// Signed word of `bits` bits, 2..=64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Word {
    /// Width in bits.
    pub bits: u32,
}

/// Word of the operations of today's kernels.
pub const INT32: Word = Word { bits: 32 };

impl Word {
    /// Returns the smallest value.
    pub fn min(self) -> i128 {
        -(1 << (self.bits - 1))
    }

    /// Returns the largest value.
    pub fn max(self) -> i128 {
        (1 << (self.bits - 1)) - 1
    }

    /// True if `v` is representable.
    pub fn holds(self, v: i128) -> bool {
        (self.min()..=self.max()).contains(&v)
    }

    /// Computes `v` modulo `2^bits`, as a signed value.
    pub fn wrap(self, v: i128) -> i128 {
        let unused = 128 - self.bits;
        v << unused >> unused
    }

    /// Returns the representable value nearest to `v`.
    pub fn saturate(self, v: i128) -> i128 {
        v.clamp(self.min(), self.max())
    }

    /// Computes [`Word::wrap`] on big integers: the residue in `[-2^(bits-1), 2^(bits-1))`.
    pub fn wrap_exact(self, v: &Integer) -> Integer {
        let half = Integer::from(1) << (self.bits - 1);
        let modulus = Integer::from(1) << self.bits;
        Integer::from(v + &half).rem_euc(&modulus) - half
    }

    /// Computes [`Word::saturate`] on big integers.
    pub fn saturate_exact(self, v: &Integer) -> Integer {
        let half = Integer::from(1) << (self.bits - 1);
        let bottom = Integer::from(-&half);
        v.clone().clamp(&bottom, &(half - 1u32))
    }

    /// True if the big integer `v` is representable.
    pub fn holds_exact(self, v: &Integer) -> bool {
        self.saturate_exact(v) == *v
    }
}

/// Policy for an exact result that does not fit in the output word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// Two's-complement wrap, like a cast.
    Wrap,
    /// Nearest representable value.
    Saturate,
    /// No value: the input is outside the domain.
    OutOfDomain,
}

impl Overflow {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Wrap, Self::Saturate, Self::OutOfDomain];

    /// Returns the name in `SCHEME:POLICY`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrap => "wrap",
            Self::Saturate => "saturate",
            Self::OutOfDomain => "out-of-domain",
        }
    }

    /// Fits `v` to `word`; `None` if it is out of domain.
    #[inline]
    pub fn fit(self, word: Word, v: i128) -> Option<i128> {
        match self {
            Self::Wrap => Some(word.wrap(v)),
            Self::Saturate => Some(word.saturate(v)),
            Self::OutOfDomain => word.holds(v).then_some(v),
        }
    }

    /// Computes [`Overflow::fit`] for int32.
    #[inline]
    pub fn fit_int32(self, v: i128) -> Option<i32> {
        match i32::try_from(v) {
            Ok(v) => Some(v),
            Err(_) => self.fit(INT32, v).map(|v| v as i32),
        }
    }

    /// Computes [`Overflow::fit`] on big integers.
    pub fn fit_exact(self, word: Word, v: &Integer) -> Option<Integer> {
        match self {
            Self::Wrap => Some(word.wrap_exact(v)),
            Self::Saturate => Some(word.saturate_exact(v)),
            Self::OutOfDomain => word.holds_exact(v).then(|| v.clone()),
        }
    }
}
