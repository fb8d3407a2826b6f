//! The logic of the fuzz targets, which themselves are only glue.

use crate::audit::{self, Runtime, Side};
use crate::space::journal;
use tiebreak_impls::protocol::{Answer, Request};
use tiebreak_reports::{html, ledger, space};

pub use tiebreak_ops::fuzzing::texts::refused;
pub use tiebreak_ops::fuzzing::{numbers, quant_type, seeds, tensor};

/// Reads `text` as a model, also for an audit, a ledger, a journal, a line of the wire protocol, and as everything that the operations read. Each reader may refuse it, in
/// words; none may panic, and a ledger that is read is drawn.
pub fn texts(text: &[u8]) {
    refused(crate::model::parse(text));
    let [left, right] = ["tflite-reference", "xnnpack"].map(|name| Runtime::find(name).expect("a runtime"));
    refused(audit::examine(text, Side::Runtime(left), &[Side::Runtime(right)]));
    let ledger = serde_json::from_slice::<ledger::Ledger>(text);
    if let Some(ledger) = ledger.as_ref().ok().filter(|ledger| ledger.adds_up()) {
        html::render(ledger, html::Earlier::default());
    }
    refused(ledger);
    refused(serde_json::from_slice::<Request>(text));
    refused(serde_json::from_slice::<Answer>(text));
    refused(journal::read(text));
    if let Ok(text) = std::str::from_utf8(text) {
        refused(space::Ledger::parse(text));
    }
    tiebreak_ops::fuzzing::texts::texts(text);
}
