//! Figure of the exact floats at which the results of a quantizer change.

use super::{Grouped, QUANTIZE, empty};
use tiebreak_common::called;
use tiebreak_common::floats::shortest;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::{Quantization, Runs, Scheme, Storage, Stored};
use tiebreak_reports::ledger::{Figure, FigureKind, Value};

/// `!quant.uniform<i4:f32, 0.3:-1>`: few enough steps to show each, and a scale that no float format has.
const SCALE: f32 = 0.3;
const ZERO_POINT: i64 = -1;
const BITS: u32 = 4;

/// Returns the figure; `None` if no scheme has boundaries.
pub(super) fn figure(schemes: &[Scheme]) -> Option<Figure> {
    let storage = Storage { bits: BITS, signed: true };
    let q = Quantization::whole(Format::F32, SCALE.to_bits().into(), ZERO_POINT, storage);
    let mut grouped = Grouped::default();
    for scheme in schemes {
        let Ok(runs) = Runs::new(scheme, &q) else { continue };
        grouped.add(scheme.label(), rows(&runs));
    }
    let type_name = format!("!quant.uniform<i{BITS}:f32, {SCALE}:{ZERO_POINT}>");
    grouped.figure(empty(
        FigureKind::Staircase,
        QUANTIZE,
        "The staircase of a quantizer",
        format!(
            "Every float of f32 through {type_name}: at each step the last float of the smaller result and the first of the larger one, with nothing between \
             them. Found by bisection, and held against big rationals."
        ),
        format!("{} explain quantize --type '{type_name}' --x={{first}}", called::program()),
        &[("scheme", ""), ("last", "f32"), ("first", "f32"), ("below", "stored value"), ("above", "stored value")],
    ))
}

fn rows(runs: &Runs) -> Vec<Vec<Value>> {
    let stored = |value: Stored| value.value().map_or_else(|| Value::Text("none".to_owned()), Value::Integer);
    let float = |bits: u64| Value::Text(shortest(Format::F32, bits));
    let row = |boundary: tiebreak_oracle::quantize::Boundary| {
        vec![float(boundary.last), float(boundary.first), stored(boundary.below), stored(boundary.above)]
    };
    runs.boundaries().map(row).collect()
}
