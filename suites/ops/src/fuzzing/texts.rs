//! Every reader of a text or file that a user gives.

use super::tensor::{Fuzzed, hold};
use crate::registry::{Visitor, visit_tensors};
use std::path::Path;
use tiebreak_common::parameters::parse_csv;
use tiebreak_engine::tensor::text::Draft;
use tiebreak_engine::tensor::{Operation, catalogue};

/// Results times elements of the largest input of a case that is also run.
const RUN: usize = 1 << 12;

/// Reads `text` as a parameter file, as every catalogue and as a case of every operation. Each may refuse it, in
/// words; none may panic. Small cases are also run by every kernel that takes them.
pub fn texts(text: &[u8]) {
    refused(parse_csv(Path::new("fuzz.csv"), text));
    let Ok(text) = std::str::from_utf8(text) else { return };
    visit_tensors(&mut Reads(text));
}

struct Reads<'a>(&'a str);

impl Visitor for Reads<'_> {
    fn visit<O: Fuzzed>(&mut self) {
        operation::<O>(self.0);
    }
}

/// A reader that refuses a text says why.
pub fn refused<T, E: ToString>(read: Result<T, E>) {
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}

fn operation<O: Operation>(text: &str) {
    refused(catalogue::read::<O>(text));
    let draft = match Draft::<O>::read(text) {
        Ok(draft) => draft,
        Err(reason) => return refused(Err::<(), _>(reason)),
    };
    for kernel in O::kernels() {
        let domain = &kernel.contract.domain;
        // What a compiler makes runs in lanes of its own.
        if O::compiled(domain) || draft.work(domain).is_none_or(|work| work > RUN) {
            continue;
        }
        match draft.case(domain) {
            Ok(case) => hold::<O>(kernel, &case).unwrap_or_else(|report| panic!("{report}")),
            Err(reason) => refused(Err::<(), _>(reason)),
        }
    }
}
