//! Figure that compares all pairs of schemes, over corner multipliers and right shifts.

use super::{FPM, empty, value};
use crate::atlas::{Atlas, Between, examine};
use tiebreak_common::called;
use tiebreak_common::parameters::CORNER_MULTIPLIERS;
use tiebreak_impls::fpm::Channel;
use tiebreak_oracle::fpm::Scheme;
use tiebreak_reports::ledger::{Figure, FigureKind, Value};

/// Right shifts and no shift, at which no word wraps.
const SHIFTS: std::ops::RangeInclusive<i32> = -31..=0;

/// Returns the figure; `None` if all schemes are one function.
pub(super) fn figure(reference: Scheme, schemes: &[Scheme]) -> Option<Figure> {
    let mut all = vec![reference];
    for scheme in schemes {
        if !all.iter().any(|known| known.label() == scheme.label()) {
            all.push(*scheme);
        }
    }
    let at = |m: i32| SHIFTS.map(move |shift| Channel { multiplier: m, shift });
    let atlas = examine(all, CORNER_MULTIPLIERS.into_iter().flat_map(at).collect(), || ());
    let label = |i: usize| atlas.schemes[i].label();
    let same = atlas.classes.values().filter(|class| class.len() > 1);
    let same = same.map(|class| (label(class[0]), class[1..].iter().map(|i| label(*i)).collect())).collect();
    let figure = empty(
        FigureKind::Atlas,
        FPM,
        "Every two schemes",
        format!(
            "On how many accumulators each two schemes differ, over all accumulators of {} corner multipliers at each shift from {} to {}, and at which of these \
             most differ. Counted in closed form. Schemes that are one function on all of them stand together.",
            CORNER_MULTIPLIERS.len(),
            SHIFTS.start(),
            SHIFTS.end()
        ),
        format!(
            "{} atlas --scheme {{left}} --scheme {{right}} --shift={}..{}",
            called::program(),
            SHIFTS.start(),
            SHIFTS.end()
        ),
        &[
            ("left", ""),
            ("right", ""),
            ("inputs", "accumulators"),
            ("differ", "accumulators"),
            ("most", "accumulators of one pair (m, s)"),
            ("m", "multiplier"),
            ("shift", "bits"),
        ],
    );
    let rows: Vec<Vec<Value>> = atlas.between.iter().map(|between| row(&atlas, between)).collect();
    (!rows.is_empty()).then_some(Figure { rows, same, ..figure })
}

fn row(atlas: &Atlas, between: &Between) -> Vec<Value> {
    let label = |i: usize| Value::Text(atlas.schemes[i].label());
    let (inputs, differ) = between.total();
    let counted = between.cells.iter().zip(&atlas.channels);
    let worst = counted.filter_map(|(cell, channel)| Some((cell.as_ref()?.differ, channel))).max_by_key(|(n, _)| *n);
    let (most, m, shift) = worst.map_or((0, 0, 0), |(n, channel)| (n, channel.multiplier, channel.shift));
    let (left, right) = between.pair;
    vec![label(left), label(right), value(inputs), value(differ), value(most), m.into(), shift.into()]
}
