//! Fuzzing of the readers of cases and of catalogue lines.

use super::refused;
use super::tensor::{Fuzzed, RUN, hold};
use crate::registry::{Visitor, visit_tensors};
use tiebreak_engine::case::catalogue;
use tiebreak_engine::case::text::Draft;
use tiebreak_engine::erased::{Domain, op};

/// Reads `text` as every catalogue and as a case of every operation. A reader may refuse the text with a message, but must not panic. Small cases
/// also run on every kernel that accepts them.
pub fn cases(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else { return };
    visit_tensors(&mut Reads(text));
}

struct Reads<'a>(&'a str);

impl Visitor for Reads<'_> {
    fn visit<O: Fuzzed>(&mut self) {
        operation::<O>(self.0);
    }
}

fn operation<O: Fuzzed>(text: &str) {
    let op = op::<O>();
    refused(catalogue::read(op, text));
    let draft = match Draft::read(op, text) {
        Ok(draft) => draft,
        Err(reason) => return refused(Err::<(), _>(reason)),
    };
    for kernel in super::tensor::kernels::<O>() {
        let domain = &Domain::of::<O>(kernel.contract.domain.clone());
        if draft.work(domain).is_none_or(|work| work > RUN) {
            continue;
        }
        match draft.case(domain) {
            Ok(case) => hold::<O>(kernel, &case.typed::<O>()).unwrap_or_else(|report| panic!("{report}")),
            Err(reason) => refused(Err::<(), _>(reason)),
        }
    }
}
