//! Fixed point multiplies that round in the wrong direction, or do not round.

use super::{Mutant, scalar};
use crate::contract::Domain;
use crate::instruction::model;

/// `fixup = (y & -s) >> 31` is always 0 for `s < 0` and is never used: ties go up instead of away from zero.
pub(crate) const DEAD_FIXUP: Mutant = scalar!(
    "mutant-dead-fixup", "srshl of sqrdmulh where ties away from zero is promised",
    claims "gemmlowp-double" on Domain::ALL, "tie-direction", "tvm pull request 5980",
    |x: i32, m, s: i32| srshl(sqrdmulh(x.wrapping_shl(s.max(0) as u32), m), s.min(0)),
    [(-1, (1 << 30) + 1, -1): 0, not -1]
);

/// `w32(y + (y & e)) >> e`: the fixup lacks its `>> 31`, and the shift truncates.
pub(crate) const FIXUP_WITHOUT_SHIFT: Mutant = scalar!(
    "mutant-fixup-lost", "fixup without its sign mask, and a truncating shift",
    claims "gemmlowp-double" on Domain { shifts: -31..=0, ..Domain::ALL }, "fixup-lost", "tvm pull request 12659",
    |x, m, s: i32| {
        let (y, e) = (sqrdmulh(x, m), -s);
        y.wrapping_add(y & e) >> e
    },
    [(-1, (1 << 30) + 1, -1): 0, not -1]
);

/// `SRDHM` with a floor instead of C++'s truncation: the nudge of a negative product is then one too low.
pub(crate) const FLOOR_FOR_TRUNCATION: Mutant = scalar!(
    "mutant-floor-for-truncation", "SRDHM with an arithmetic shift for the truncating division",
    claims "gemmlowp-double" on Domain { shifts: 0..=0, ..Domain::ALL }, "directed-rounding", "tensorflow pull request 103028",
    |x, m, _| {
        if x == i32::MIN && m == i32::MIN {
            return i32::MAX;
        }
        let product = i64::from(x) * i64::from(m);
        let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
        ((product + nudge) >> 31) as i32
    },
    [(-1, 1 << 30, 0): -1, not 0]
);

/// Ties towards -inf instead of towards +inf.
pub(crate) const TIES_DOWN: Mutant = scalar!(
    "mutant-ties-down", "ties down where ties up is promised",
    claims "ties-up" on Domain { shifts: -31..=0, ..Domain::ALL }, "tie-direction", "of our own: the other way",
    |x, m, s| ((i64::from(x) * i64::from(m) + (1i64 << (30 - s)) - 1) >> (31 - s)) as i32,
    [(1, 1 << 30, 0): 0, not 1]
);

/// Ties away from zero instead of towards +inf.
pub(crate) const TIES_AWAY: Mutant = scalar!(
    "mutant-ties-away", "ties away from zero where ties up is promised",
    claims "ties-up" on Domain { shifts: -31..=0, ..Domain::ALL }, "tie-direction", "of our own: TVM's TONEAREST for UPWARD",
    |x, m, s| {
        let product = i64::from(x) * i64::from(m);
        ((product + (1i64 << (30 - s)) - i64::from(product < 0)) >> (31 - s)) as i32
    },
    [(-1, 1 << 30, 0): -1, not 0]
);

/// `srshl` as a ceiling, because its documentation says that it rounds upward: every fraction goes up, not only a tie.
pub(crate) const CEILING: Mutant = scalar!(
    "mutant-srshl-ceiling", "a ceiling for srshl, which rounds to nearest, ties up",
    claims "sqrdmulh-srshl" on Domain { shifts: -31..=0, ..Domain::ALL }, "directed-rounding",
    "of our own: \"rounds always upward\" of TVM's RFC on fixed point multiplication, read as a ceiling",
    |x, m, s: i32| ((i64::from(sqrdmulh(x, m)) + (1i64 << -s) - 1) >> -s) as i32,
    [(2, 1 << 30, -2): 1, not 0]
);

/// A shift without the rounding constant.
pub(crate) const NO_ROUNDING: Mutant = scalar!(
    "mutant-no-rounding", "the rounding constant is missing",
    claims "ties-up" on Domain { shifts: -31..=0, ..Domain::ALL }, "directed-rounding", "of our own: a plain arithmetic shift",
    |x, m, s| ((i64::from(x) * i64::from(m)) >> (31 - s)) as i32,
    [(1, 1 << 30, 0): 0, not 1]
);

fn sqrdmulh(x: i32, m: i32) -> i32 {
    model::sqrdmulh::<32>(i64::from(x), i64::from(m)).0 as i32
}

fn srshl(y: i32, s: i32) -> i32 {
    model::srshl::<32>(i64::from(y), i64::from(s)).0 as i32
}
