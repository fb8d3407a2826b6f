//! Step lists executed in machine integers, fast enough to try many hypotheses on many outputs. A value is `n / 2^f`.

use super::Parameters;
use super::steps::{Multiplier, Step, power_of_two_shift};
use crate::rounding::RoundingRule;

/// Returns the multiplier that a product uses, in machine integers.
pub fn effective_multiplier(kind: Multiplier, p: &Parameters) -> i128 {
    let m = i128::from(p.m);
    match kind {
        Multiplier::Full => m,
        Multiplier::HighHalfSaturated => ((m + (1 << 15)) >> 16).min(0x7FFF),
        Multiplier::HighHalfWrapped => p.word.wrap(m + (1 << 15)) >> 16,
        Multiplier::Significand24 => {
            let excess = (128 - m.unsigned_abs().leading_zeros()).saturating_sub(24);
            RoundingRule::TiesEven.shift_right(m, excess) << excess
        }
    }
}

/// Runs `steps` on the accumulator `x`, and returns the final integer. `None` if a step rejects
/// the input or a fraction remains.
pub fn run(steps: &[Step], x: i64, p: &Parameters) -> Option<i128> {
    let (mut n, mut f) = (i128::from(x), 0u32);
    for step in steps {
        match *step {
            Step::Scale(e) => match e.at(p) {
                e if e < 0 => f += e.unsigned_abs(),
                e => {
                    let cancelled = f.min(e as u32);
                    f -= cancelled;
                    n <<= e as u32 - cancelled;
                }
            },
            Step::Multiply(kind) => n *= effective_multiplier(kind, p),
            Step::Round(rule) => {
                n = rule.shift_right(n, f);
                f = 0;
            }
            // A scaling does not change the significand.
            Step::F32 => {
                let excess = (128 - n.unsigned_abs().leading_zeros()).saturating_sub(24);
                n = RoundingRule::TiesEven.shift_right(n, excess) << excess;
            }
            Step::RequireBits(e) => {
                let half = 1i128 << (e.at(p) + f as i32 - 1).max(0);
                if e.at(p) < 1 || !(-half..half).contains(&n) {
                    return None;
                }
            }
            Step::RequireNonNegativeMultiplier if p.m < 0 => return None,
            Step::RequireNonNegativeMultiplier => {}
            Step::NudgeAwayFromZero if p.s < 0 => {
                let nudge = p.half() << f;
                n += if n < 0 { -nudge } else { nudge };
            }
            Step::NudgeAwayFromZero => {}
            Step::Add(k) | Step::Offset(k) => n += i128::from(k) << f,
            Step::FixupNegative => n -= i128::from(n < 0 && p.s < 0) << f,
            Step::Wrap => n = p.word.wrap(integer(n, f)?),
            Step::Saturate => n = p.word.saturate(integer(n, f)?),
            Step::NudgeBySign => {
                n += if n < 0 { (1 - p.half()).min(0) } else { p.half() } << f;
            }
            Step::PowerOfTwoShift => {
                let k = power_of_two_shift(p)?;
                n = p.word.wrap(integer(n, f)? + (1i128 << ((k + 31) % 32))) >> k;
            }
            Step::FixupMasked if p.s < 0 => n = p.word.wrap(integer(n, f)? + (n & i128::from(-p.s))),
            Step::FixupMasked => {}
            Step::Clamp(min, max) => n = integer(n, f)?.clamp(min.into(), max.into()),
        }
    }
    integer(n, f)
}

fn integer(n: i128, f: u32) -> Option<i128> {
    (f == 0).then_some(n)
}
