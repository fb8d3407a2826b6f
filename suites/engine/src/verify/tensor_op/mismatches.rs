//! The lines of `mismatches.csv`. Each holds a case that is complete, and the command that runs it again.
//!
//! Rows are reduced before they are written: if the kernel gives the same result for the operands of that result alone, the
//! row has only those operands. A row has whole tensors only if the place in the batch matters, or if many elements make
//! one result.

use super::row_writer::{RowWriter, command};
use crate::lane::Lane;
use crate::tensor::answers::lacks;
use crate::tensor::explain::Observed;
use crate::tensor::explained::Explained;
use crate::tensor::judge::{due_to, run};
use crate::tensor::shrink::{Witness, any_difference, first_difference};
use crate::tensor::side::Side;
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
    explained: &[Explained<O::Params>],
) -> Vec<Mismatch> {
    let mut smallest: Vec<_> =
        side.groups.iter().flat_map(|(group, seen)| seen.differing.iter().map(move |seen| (*group, seen))).collect();
    smallest.sort_by_cached_key(|(_, seen)| O::start(seen));
    let row = |(group, seen): (usize, &Observed<O::Params>)| {
        let unexcused = first_difference::<O>(writer.domain(), seen);
        let first = unexcused.or_else(|| any_difference::<O>(writer.domain(), seen))?;
        let of_group = explained.iter().find(|explained| explained.group == group)?;
        let class = class(writer, seen, first.index).unwrap_or(of_group.explanation.class);
        let spelled = |witness: &Witness<O::Params>| O::spelled(&witness.case, witness.index, Some(class));
        let command = |case: &ledger::Case| command::<O>(writer.request, writer.subject.kernel, writer.lane, case);
        let (witness, case, command) = match spelled(&first) {
            Some(case) => {
                // Where the place is said, it is that of the shortest case.
                let says_place = O::spelled(&first.case, first.index, None).as_ref() != Some(&case);
                let alone = if says_place { alone(writer, &first, |witness| spelled(witness)) } else { None };
                let (witness, case) = alone.unwrap_or((first, case));
                let command = command(&case);
                (witness, case, command)
            }
            None => {
                let (witness, mut case) = complete(writer, specs, first)?;
                let command = command(&case);
                case.insert("at".to_owned(), (witness.index as i64).into());
                (witness, case, command)
            }
        };
        // What depends on the calls before is shown by them alone.
        let after_others = of_group.explanation.class == Class::DependsOnHistory;
        let command = of_group.command.clone().filter(|_| after_others).unwrap_or(command);
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
    let is_it = |text: &&String| text::parse::<O>(text, domain).is_ok_and(|case| case == witness.case);
    if let Some(given) = writer.request.asked.cases.iter().find(is_it) {
        return Draft::<O>::described(given).map(|case| (witness, case));
    }
    if let Some(alone) = alone(writer, &witness, |alone| text::arguments::<O>(domain, &alone.case)) {
        return Some(alone);
    }
    let of = |(i, spec): (usize, &Spec<O::Params>)| {
        let same = (&spec.params, spec.misalign) == (&witness.case.params, witness.case.misalign);
        let made = same.then(|| spec.case::<O>(domain, writer.request.seed, i)).flatten()?;
        (made == witness.case).then(|| spec.made(writer.request.seed, i))
    };
    let made = specs.iter().enumerate().find_map(of).unwrap_or_default();
    text::complete::<O>(domain, &witness.case, &made).map(|case| (witness, case))
}

/// The difference in a case of little more than its own operands, in words, where the kernel gives the same for them.
fn alone<O: Operation>(
    writer: &RowWriter<'_, O>,
    witness: &Witness<O::Params>,
    spelled: impl Fn(&Witness<O::Params>) -> Option<ledger::Case>,
) -> Option<(Witness<O::Params>, ledger::Case)> {
    O::alone(&witness.case, writer.domain(), witness.index).into_iter().find_map(|(case, index)| {
        let case = spelled(&Witness { case: case.clone(), index, ..witness.clone() }).map(|spelled| (case, spelled));
        let (case, spelled) = case?;
        let same = |alone: &Witness<O::Params>| {
            (alone.index, &alone.got, &alone.expected) == (index, &witness.got, &witness.expected)
        };
        Some((shown(writer, writer.lane, case).filter(same)?, spelled))
    })
}

/// The first difference that a case shows by itself, judged as a run judges it.
fn shown<O: Operation>(writer: &RowWriter<'_, O>, lane: &Lane, case: Case<O::Params>) -> Option<Witness<O::Params>> {
    let subject = writer.subject;
    if !O::covers(writer.domain(), &case.params) || lacks::<O>(lane, &case.params) {
        return None;
    }
    let posed = subject.pose(case).ok()?;
    let record = run::<O>(lane, subject.kernel, &subject.contract, &subject.path, &[posed]);
    let side = if writer.against == Against::Contract { &record.contract } else { &record.reference };
    let seen = side.smallest()?;
    first_difference::<O>(writer.domain(), seen).or_else(|| any_difference::<O>(writer.domain(), seen))
}
