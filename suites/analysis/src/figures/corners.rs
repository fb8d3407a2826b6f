//! The accumulators nearest to zero on which a scheme is one above, and one below the reference, for each shift.

use super::{FPM, Grouped, MOST_PIECES, MULTIPLIER, empty};
use tiebreak_common::parameters::SHIFTS;
use tiebreak_oracle::census::{Census, Counter};
use tiebreak_oracle::fpm::{Parameters, Scheme, exact};
use tiebreak_reports::ledger::{Figure, FigureKind, Value};

/// Normalised multipliers: the smallest, the next, one of no special form, and the largest.
const MULTIPLIERS: [i32; 4] = [1 << 30, (1 << 30) + 1, MULTIPLIER, i32::MAX];
/// Differing accumulators that are looked at for one with the wanted sign.
const MOST: usize = 64;

/// Nothing where no scheme is one off.
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
        "cargo xtask case --x={x} --multiplier={m} --shift={shift}".to_owned(),
        &[("scheme", ""), ("shift", "bits, positive = left"), ("delta", "scheme less reference"), ("x", "accumulator"), ("m", "multiplier"), ("exact", "exact value, a fraction"), ("reference", "int32"), ("result", "int32")],
    ))
}

fn row(counter: &mut Counter, reference: Scheme, scheme: Scheme, shift: i32, delta: i64) -> Option<Vec<Value>> {
    let found =
        MULTIPLIERS.into_iter().filter_map(|m| Some((nearest(counter, reference, scheme, m, shift, delta)?, m)));
    let (x, m) = found.min_by_key(|(x, _)| (x.unsigned_abs(), *x < 0))?;
    let p = Parameters::q31(m, shift);
    let (expected, got) = (reference.exact(x, &p)?, scheme.exact(x, &p)?);
    let exact = Value::Text(exact(x, &p).to_string());
    Some(vec![shift.into(), delta.into(), x.into(), m.into(), exact, expected.into(), got.into()])
}

/// The accumulator nearest to zero with this difference.
fn nearest(counter: &mut Counter, reference: Scheme, scheme: Scheme, m: i32, shift: i32, delta: i64) -> Option<i64> {
    let census = Census::of(reference, scheme, Parameters::q31(m, shift));
    let counts = counter.at_once(&census)?;
    counts.by_delta().find(|(known, _)| *known == delta)?;
    let wanted = |x: &i64| census.values(*x).is_some_and(|(left, right)| right - left == delta);
    // The wanted sign may be of one half of the line only.
    let halves = [Census { lo: 0, ..census }, Census { hi: -1, ..census }];
    let of_half = |half: Census| half.differing()?.take(MOST).find(wanted);
    halves.into_iter().filter_map(of_half).min_by_key(|x| (x.unsigned_abs(), *x < 0))
}
