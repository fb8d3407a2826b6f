//! What only an addition may do otherwise.

use super::{Add, Addition};
use crate::elementwise::{Arithmetic, batch};
use tiebreak_common::class::Class;
use tiebreak_engine::operation::Change;
use tiebreak_oracle::add::{Parameters, Scheme};

/// Operands lifted by fewer bits.
pub(super) fn lifted(scheme: Scheme, bits: u32) -> Change<Add> {
    let because = format!("operands are shifted left by {bits} bits");
    Change::predicts(Class::LeftShift, because, move |case| {
        let p = Addition::parameters(&case.params, batch(&case.params));
        let narrow = Parameters { left_shift: bits, ..p };
        (bits < p.left_shift).then(|| Add::with(&scheme, case, &narrow).ok()).flatten()
    })
}
