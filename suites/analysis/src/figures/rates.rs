//! Figure of the number of accumulators on which each scheme differs from the reference, by shift.

use super::{FPM, Grouped, MOST_PIECES, MULTIPLIER, empty, value};
use tiebreak_common::called;
use tiebreak_common::parameters::SHIFTS;
use tiebreak_oracle::census::{Census, Counter};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_reports::ledger::{Figure, FigureKind, Value};

/// Returns the figure; `None` if no scheme differs.
pub(super) fn figure(reference: Scheme, schemes: &[Scheme]) -> Option<Figure> {
    let mut counter = Counter::new(MOST_PIECES);
    let mut grouped = Grouped::default();
    for scheme in schemes {
        grouped.add(scheme.label(), SHIFTS.filter_map(|shift| row(&mut counter, reference, *scheme, shift)).collect());
    }
    grouped.figure(empty(
        FigureKind::RateByShift,
        FPM,
        "How often a scheme differs from the reference, by shift",
        format!(
            "Of all accumulators to which both schemes give an int32, those on which the scheme differs from {}, at multiplier {MULTIPLIER}. \
             Counted in closed form, none sampled. A shift on which they agree has no row.",
            reference.label()
        ),
        format!("{} census --left {} --right {{scheme}} --multiplier={MULTIPLIER} --shift={{shift}}", called::program(), reference.label()),
        &[("scheme", ""), ("shift", "bits, positive = left"), ("inputs", "accumulators"), ("differ", "accumulators"), ("one_up", "accumulators"), ("one_down", "accumulators")],
    ))
}

fn row(counter: &mut Counter, reference: Scheme, scheme: Scheme, shift: i32) -> Option<Vec<Value>> {
    let counts = counter.at_once(&Census::of(reference, scheme, Parameters::q31(MULTIPLIER, shift)))?;
    let of = |delta| counts.by_delta().find(|(known, _)| *known == delta).map_or(0, |(_, count)| count);
    (counts.differ() > 0)
        .then(|| vec![shift.into(), value(counts.inputs), value(counts.differ()), value(of(1)), value(of(-1))])
}
