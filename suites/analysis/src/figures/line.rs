//! Figure of the differences along the line of accumulators: scheme above or below the reference.

use super::{FPM, Grouped, MOST_PIECES, MULTIPLIER, empty, value};
use tiebreak_common::called;
use tiebreak_oracle::census::{Census, Counter, Counts};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::ledger::{Figure, FigureKind, Value};

/// Number of parts of the line.
const PARTS: i64 = 64;
/// Usual shift of a converted model.
const SHIFT: i32 = -8;

/// Returns the figure; `None` if no scheme differs.
pub(super) fn figure(reference: Scheme, schemes: &[Scheme]) -> Option<Figure> {
    let mut counter = Counter::new(MOST_PIECES);
    let mut grouped = Grouped::default();
    for scheme in schemes {
        grouped.add(scheme.label(), rows(&mut counter, reference, *scheme));
    }
    let length = (1i64 << 32) / PARTS;
    grouped.figure(empty(
        FigureKind::DeltaByAccumulator,
        FPM,
        "Where on the line of accumulators a scheme differs",
        format!(
            "All accumulators in {PARTS} parts of {length}: in how many of each part the scheme is one above {}, one below, or further off, at multiplier \
             {MULTIPLIER} and shift {SHIFT}. Counted in closed form. Parts without a difference have no row.",
            reference.label()
        ),
        format!(
            "{} census --left {} --right {{scheme}} --multiplier={MULTIPLIER} --shift={SHIFT} --x-min={{first}} --x-max={{last}}",
            called::program(),
            reference.label()
        ),
        &[("scheme", ""), ("first", "accumulator"), ("last", "accumulator"), ("one_up", "accumulators"), ("one_down", "accumulators"), ("further", "accumulators")],
    ))
}

fn rows(counter: &mut Counter, reference: Scheme, scheme: Scheme) -> Vec<Vec<Value>> {
    let whole = Census::of(reference, scheme, Parameters::q31(MULTIPLIER, SHIFT));
    let length = (whole.hi - whole.lo + 1) / PARTS;
    let part = |part: i64| {
        let lo = whole.lo + part * length;
        let census = Census { lo, hi: lo + length - 1, ..whole };
        let counts = counter.at_once(&census)?;
        (counts.differ() > 0).then(|| row(&census, &counts))
    };
    (0..PARTS).filter_map(part).collect()
}

fn row(census: &Census, counts: &Counts) -> Vec<Value> {
    let of = |delta| counts.by_delta().find(|(known, _)| *known == delta).map_or(0, |(_, count)| count);
    let (up, down) = (of(1), of(-1));
    vec![census.lo.into(), census.hi.into(), value(up), value(down), value(counts.differ() - up - down)]
}
