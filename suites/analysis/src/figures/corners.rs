//! Figure of the accumulators nearest to zero on which a scheme is one above, or one below, the reference, for each shift.

use super::{FPM, Grouped, MOST_PIECES, MULTIPLIER, empty};
use tiebreak_common::called;
use tiebreak_common::parameters::SHIFTS;
use tiebreak_oracle::census::{Census, Counter};
use tiebreak_oracle::fpm::{Parameters, Scheme, exact};
use tiebreak_reports::ledger::{Figure, FigureKind, Value};

/// Normalised multipliers: the smallest, the next, one without a special form, and the largest.
const MULTIPLIERS: [i32; 4] = [1 << 30, (1 << 30) + 1, MULTIPLIER, i32::MAX];

/// Returns the figure; `None` if no scheme differs by one.
pub(super) fn figure(reference: Scheme, schemes: &[Scheme]) -> Option<Figure> {
    let mut grouped = Grouped::default();
    let mut counter = Counter::new(MOST_PIECES);
    for scheme in schemes {
        let rows = SHIFTS.flat_map(|shift| [1, -1].map(|delta| (shift, delta)));
        grouped.add(
            scheme.label(),
            rows.filter_map(|(shift, delta)| row(&mut counter, reference, *scheme, shift, delta)).collect(),
        );
    }
    grouped.figure(empty(
        FigureKind::CornerCases,
        FPM,
        "Corner cases: one above and one below",
        format!(
            "For each shift and sign the accumulator nearest to zero on which the scheme differs from {} by one, over the multipliers {}, with the exact value. \
             Found in closed form: no nearer one exists for these multipliers. A sign that never occurs has no row.",
            reference.label(),
            MULTIPLIERS.map(|m| m.to_string()).join(", ")
        ),
        format!("{} case --x={{x}} --multiplier={{m}} --shift={{shift}}", called::program()),
        &[("scheme", ""), ("shift", "bits, positive = left"), ("delta", "scheme less reference"), ("x", "accumulator"), ("m", "multiplier"), ("exact", "exact value, a fraction"), ("reference", "int32"), ("result", "int32")],
    ))
}

fn row(counter: &mut Counter, reference: Scheme, scheme: Scheme, shift: i32, delta: i64) -> Option<Vec<Value>> {
    let mut best: Option<(i64, i32)> = None;
    for m in MULTIPLIERS {
        let whole = Census::of(reference, scheme, Parameters::q31(m, shift));
        // Only accumulators nearer to zero than the best so far.
        let bound = best.map_or(i64::MAX, |(x, _)| x.abs() - 1);
        let nearer = Census { lo: whole.lo.max(-bound), hi: whole.hi.min(bound), ..whole };
        best = nearest(counter, nearer, delta).map(|x| (x, m)).or(best);
    }
    let (x, m) = best?;
    let p = Parameters::q31(m, shift);
    let (expected, got) = (reference.exact(x, &p)?, scheme.exact(x, &p)?);
    let exact = Value::Text(exact(x, &p).to_string());
    Some(vec![shift.into(), delta.into(), x.into(), m.into(), exact, expected.into(), got.into()])
}

/// Returns the accumulator nearest to zero with this difference; at equal distance, the positive one.
fn nearest(counter: &mut Counter, census: Census, delta: i64) -> Option<i64> {
    let up = Census { lo: census.lo.max(0), ..census };
    let down = Census { hi: census.hi.min(-1), ..census };
    let found = [first(counter, up, delta, true), first(counter, down, delta, false)];
    found.into_iter().flatten().min_by_key(|x| (x.unsigned_abs(), *x < 0))
}

/// Returns the accumulator of a half line that is nearest to zero and has this difference. Bisection by counts; no accumulator is tried.
fn first(counter: &mut Counter, half: Census, delta: i64, upwards: bool) -> Option<i64> {
    let mut holds = |lo: i64, hi: i64| {
        let counts = counter.at_once(&Census { lo, hi, ..half })?;
        Some(counts.by_delta().any(|(known, _)| known == delta))
    };
    let (mut lo, mut hi) = (half.lo, half.hi);
    if lo > hi || !holds(lo, hi)? {
        return None;
    }
    while lo < hi {
        let middle = lo + (hi - lo) / 2;
        match upwards {
            true if holds(lo, middle)? => hi = middle,
            true => lo = middle + 1,
            false if holds(middle + 1, hi)? => lo = middle + 1,
            false => hi = middle,
        }
    }
    Some(lo)
}
