//! Changes to a scheme that only an addition may make.

use super::Add;
use tiebreak_common::class::Class;
use tiebreak_engine::operation::Change;
use tiebreak_oracle::elementwise::add::{LeftShift, Parameters, Scheme};

/// Operands lifted by fewer bits.
pub(super) fn lifted(scheme: Scheme, bits: u32) -> Change<Add> {
    let because = format!("operands are shifted left by {bits} bits");
    Change::predicts(Class::LeftShift, because, move |case| {
        let p = Add::parameters(&case.params);
        let narrow = Parameters { own: LeftShift(bits), ..p };
        (bits < p.own.0).then(|| Add::at(&scheme, case, &narrow)).flatten()
    })
}
