//! Seeds of fuzzing reach the code that they are for.

use tiebreak_suites::engine::case::text::Draft;
use tiebreak_suites::engine::erased::{Op, op};
use tiebreak_suites::fuzzing;
use tiebreak_suites::fuzzing::seeds::{cases, quant_types};
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::quant_type::parse;
use tiebreak_suites::registry::{Visitor, visit_tensors};

/// A minute of fuzzing without seeds never reached the reader of types.
#[test]
fn the_reader_of_types_is_entered() {
    let all = quant_types();
    let read = all.iter().filter(|text| parse(text).is_ok()).count();
    // Every stage rejects some texts, not only the first.
    let reasons: std::collections::BTreeSet<String> =
        all.iter().filter_map(|text| Some(parse(text).err()?.to_string().lines().last()?.to_owned())).collect();
    assert!(
        all.len() >= 150 && read >= 50 && reasons.len() >= 40,
        "{read} of {}, {} reasons",
        all.len(),
        reasons.len()
    );
    all.iter().for_each(|text| fuzzing::quant_type(text.as_bytes()));
}

fn read_as(op: Op, all: &[String]) -> usize {
    all.iter().filter(|text| Draft::read(op, text).is_ok()).count()
}

#[test]
fn every_operation_reads_cases() {
    let all = cases();
    struct Read<'a>(&'a [String], Vec<usize>);
    impl Visitor for Read<'_> {
        fn visit<O: Fuzzed>(&mut self) {
            self.1.push(read_as(op::<O>(), self.0));
        }
    }
    let mut read = Read(&all, Vec::new());
    visit_tensors(&mut read);
    let read = read.1;
    assert!(read.iter().all(|n| *n >= 5), "{read:?}");
    all.iter().for_each(|text| fuzzing::cases::cases(text.as_bytes()));
}
