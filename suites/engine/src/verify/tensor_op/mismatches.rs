//! The lines of `mismatches.csv`. Each holds a case that is complete, and the command that runs it again.

use super::row_writer::{RowWriter, command};
use crate::lane::Lane;
use crate::tensor::explain::{Explanation, Observed};
use crate::tensor::judge::{Side, due_to, run};
use crate::tensor::shrink::{Witness, any_difference, first_difference};
use crate::tensor::text::{self, Draft};
use crate::tensor::{Case, Operation, Spec};
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against, Mismatch};

/// Mismatches kept for the CSV file, for each side.
const KEPT: usize = 64;

/// The smallest cases of a side, each by its first difference. `specs` are what the cases were made of.
pub(super) fn rows<O: Operation>(
    writer: &RowWriter<'_, O>,
    side: &Side<O::Params>,
    specs: &[Spec<O::Params>],
    explanation: &Explanation,
) -> Vec<Mismatch> {
    let mut smallest: Vec<_> = side.differing.iter().collect();
    smallest.sort_by_key(|seen| seen.case.tensors.iter().map(Vec::len).sum::<usize>() + seen.outs.len());
    let row = |seen: &Observed<O::Params>| {
        let unexcused = first_difference::<O>(writer.domain(), writer.scheme, seen);
        let first = unexcused.or_else(|| any_difference::<O>(writer.domain(), writer.scheme, seen))?;
        let class = class(writer, seen, first.index).unwrap_or(explanation.class);
        let (witness, mut case) = complete(writer, specs, first)?;
        let command = command::<O>(writer.request, writer.subject.kernel, writer.lane, &case);
        case.insert("at".to_owned(), (witness.index as i64).into());
        let (got, expected, class) = (witness.got, Some(witness.expected), class.into());
        let (scheme, because) = (O::label(writer.scheme), String::new());
        writer
            .place()
            .mismatch(writer.against, ledger::Witness { case, got, expected, scheme, class, because, command })
    };
    smallest.into_iter().take(KEPT).filter_map(row).collect()
}

/// The class of one difference from the reference by itself, where it is due to a known change.
fn class<O: Operation>(writer: &RowWriter<'_, O>, seen: &Observed<O::Params>, index: usize) -> Option<Class> {
    if writer.against != Against::Reference || writer.subject.path.is_empty() {
        return None;
    }
    let posed = writer.subject.pose(seen.case.clone()).ok()?;
    let element = O::element(writer.domain(), &seen.case.params, O::TENSORS.len());
    due_to(&writer.subject.path, &element, &posed, &seen.outs, &seen.faulty).get(index).copied().flatten()
}

/// A difference with its case in words: as the caller gave it, spelled out where it is small, cut down to the operands of this result
/// where the kernel gives the same for them, and otherwise with what fills its tensors.
fn complete<O: Operation>(
    writer: &RowWriter<'_, O>,
    specs: &[Spec<O::Params>],
    witness: Witness<O::Params>,
) -> Option<(Witness<O::Params>, ledger::Case)> {
    let domain = writer.domain();
    if let Some(case) = text::arguments::<O>(domain, &witness.case) {
        return Some((witness, case));
    }
    if let Some(given) = &writer.request.asked.case {
        return Draft::<O>::told(given).map(|case| (witness, case));
    }
    for (case, index) in O::alone(&witness.case, domain, witness.index) {
        let Some(spelled) = text::arguments::<O>(domain, &case) else { continue };
        let same = |alone: &Witness<O::Params>| {
            (alone.index, &alone.got, &alone.expected) == (index, &witness.got, &witness.expected)
        };
        if let Some(alone) = shown(writer, writer.lane, case).filter(same) {
            return Some((alone, spelled));
        }
    }
    let of = |(i, spec): (usize, &Spec<O::Params>)| {
        let same = (&spec.params, spec.misalign) == (&witness.case.params, witness.case.misalign);
        let made = same.then(|| spec.case::<O>(domain, writer.request.seed, i)).flatten()?;
        (made == witness.case).then(|| spec.made(writer.request.seed, i))
    };
    let made = specs.iter().enumerate().find_map(of).unwrap_or_default();
    text::complete::<O>(domain, &witness.case, &made).map(|case| (witness, case))
}

/// The first difference that a case shows by itself, judged as a run judges it.
fn shown<O: Operation>(writer: &RowWriter<'_, O>, lane: &Lane, case: Case<O::Params>) -> Option<Witness<O::Params>> {
    let subject = writer.subject;
    if !O::covers(writer.domain(), &case.params) {
        return None;
    }
    let posed = subject.pose(case).ok()?;
    let record = run::<O>(lane, subject.kernel, &subject.contract, &subject.path, &[posed]);
    let side = if writer.against == Against::Contract { &record.contract } else { &record.reference };
    let seen = side.smallest()?;
    let unexcused = first_difference::<O>(writer.domain(), writer.scheme, seen);
    unexcused.or_else(|| any_difference::<O>(writer.domain(), writer.scheme, seen))
}
