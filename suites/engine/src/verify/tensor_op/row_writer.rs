//! How one side of a record reads in the ledger: its row, witness and findings.

use super::super::place::Place;
use super::super::{Command, Request};
use super::Kernel;
use super::kernel::Subject;
use super::mismatches::Line;
use crate::count::Count;
use crate::lane::Lane;
use crate::runner::FailedBatch;
use crate::tensor::explained::Explained;
use crate::tensor::label;
use crate::tensor::shrink::Witness;
use crate::tensor::side::Side;
use crate::tensor::{Case, Operation, text};
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{self, Against, Coverage, Finding, Mismatch, Row};
use tiebreak_reports::text as words;

/// A kernel in a lane, compared with one scheme.
pub(super) struct Comparison<'a, O: Operation> {
    pub(super) request: &'a Request,
    pub(super) subject: &'a Subject<O>,
    pub(super) lane: &'a Lane,
    pub(super) against: Against,
    pub(super) scheme: &'a O::Scheme,
}

impl<O: Operation> Comparison<'_, O> {
    pub(super) fn place(&self) -> Place<'_> {
        self.subject.place(self.lane)
    }

    pub(super) fn domain(&self) -> &'static O::Domain {
        &self.subject.kernel.contract.domain
    }

    fn command(&self, case: &Case<O::Params>, index: usize) -> String {
        again::<O>(&self.request.command, self.subject.kernel, &self.lane.name, (case, index))
    }

    pub(super) fn witness(&self, seen: &Explained<O::Params>) -> ledger::Witness {
        let Explained { explanation, witness, command, .. } = seen;
        ledger::Witness {
            case: spelled::<O>(self.domain(), &witness.case, Some(witness.index), Some(explanation.class)),
            got: witness.got.clone(),
            expected: Some(witness.expected.clone()),
            scheme: label::<O>(self.scheme),
            class: explanation.class.into(),
            because: explanation.because.clone(),
            command: command.clone().unwrap_or_else(|| self.command(&witness.case, witness.index)),
        }
    }

    /// What is due to a known change is counted as that, the rest by `classes`.
    pub(super) fn row(
        &self,
        count: &Count,
        witness: Option<ledger::Witness>,
        rest: &BTreeMap<Class, u64>,
        coverage: Coverage,
        seconds: f64,
    ) -> Row {
        let row = self.place().row(self.against, label::<O>(self.scheme), count, coverage);
        let mut classes = row.classes;
        for (class, n) in rest {
            *classes.entry(class.name().to_owned()).or_default() += n;
        }
        Row { classes, witness, seconds, ..row }
    }

    /// Any difference from the contract; and, from the reference, one that nothing explains.
    pub(super) fn finding(
        &self,
        side: &Side<O::Params>,
        witness: Option<ledger::Witness>,
        rest: &BTreeMap<Class, u64>,
    ) -> Option<Finding> {
        let witness = witness?;
        let unexplained = rest.get(&Class::Unexplained).copied().unwrap_or(0);
        let (differ, inputs) = (words::count(side.count.differ), words::count(side.count.inputs));
        let message = match self.against {
            Against::Contract => format!("differs from its contract on {differ} of {inputs} results"),
            Against::Reference if unexplained > 0 => {
                let unexplained = words::count(unexplained);
                let message = format!("differs from the reference on {unexplained} results for no known reason");
                return Some(self.place().finding(Class::Unexplained, message, Some(witness)));
            }
            Against::Reference => return None,
        };
        Some(self.place().finding(witness.class.clone(), message, Some(witness)))
    }

    /// A kept difference, as `mismatches.csv` has it.
    pub(super) fn mismatch(&self, line: &Line<O::Params>) -> Option<Mismatch> {
        let Line { witness, mut case, class, at, command } = line.clone();
        let command =
            command.unwrap_or_else(|| self::command::<O>(self.request, self.subject.kernel, self.lane, &case));
        if let Some(at) = at {
            case.insert("at".to_owned(), (at as i64).into());
        }
        let (got, expected, class) = (witness.got, Some(witness.expected), class.into());
        let (scheme, because) = (label::<O>(self.scheme), String::new());
        let witness = ledger::Witness { case, got, expected, scheme, class, because, command };
        self.place().mismatch(self.against, witness)
    }

    /// Batches without an output.
    pub(super) fn failed(&self, failures: &[FailedBatch<Case<O::Params>>]) -> Vec<Finding> {
        let size = |case: &Case<O::Params>| case.tensors.iter().map(Vec::len).sum::<usize>();
        self.place()
            .failed(failures, size, |case| (spelled::<O>(self.domain(), case, None, None), self.command(case, 0)))
    }
}

/// A case for a reader: spelled out where it is small, otherwise its shape.
pub(super) fn spelled<O: Operation>(
    domain: &O::Domain,
    case: &Case<O::Params>,
    index: Option<usize>,
    class: Option<Class>,
) -> ledger::Case {
    if let Some(mut spelled) = (O::CAPABILITIES.spelling.result)(case, index.unwrap_or(0), class) {
        if !(O::CAPABILITIES.spelling.stands_alone)(case) {
            let outputs = O::sizes(domain, &case.params).map_or(0, |sizes| sizes.outputs);
            let place = [("index", index), ("len", Some(outputs))];
            let place = place.into_iter().filter_map(|(name, at)| Some((name.to_owned(), (at? as i64).into())));
            spelled.extend(place);
        }
        return spelled;
    }
    let mut out =
        text::arguments::<O>(domain, case).unwrap_or_else(|| O::arguments(&case.params).into_iter().collect());
    if let Some(index) = index {
        out.insert("at".to_owned(), (index as i64).into());
    }
    out
}

/// The command that runs a kernel in a lane again.
pub(super) fn kernel_again<O: Operation>(request: &Request, kernel: &Kernel<O>, lane: &Lane) -> String {
    request.command.kernel(O::OP, kernel.name, &lane.name)
}

/// The command that runs a case in words again.
pub(super) fn command<O: Operation>(request: &Request, kernel: &Kernel<O>, lane: &Lane, case: &ledger::Case) -> String {
    format!("{} {}", kernel_again::<O>(request, kernel, lane), (O::CAPABILITIES.spelling.command)(case))
}

/// The command that runs the case again; the whole kernel where the case is too large to spell out, or what is spelled does not stand alone.
pub fn again<O: Operation>(
    command: &Command,
    kernel: &Kernel<O>,
    lane: &str,
    (case, index): (&Case<O::Params>, usize),
) -> String {
    let whole = command.kernel(O::OP, kernel.name, lane);
    let arguments = match (O::CAPABILITIES.spelling.result)(case, index, None) {
        Some(spelled) => (O::CAPABILITIES.spelling.stands_alone)(case).then_some(spelled),
        None => text::arguments::<O>(&kernel.contract.domain, case),
    };
    arguments.map_or_else(
        || whole.clone(),
        |arguments| format!("{whole} {}", (O::CAPABILITIES.spelling.command)(&arguments)),
    )
}

/// A witness in one line.
pub fn line<O: Operation>(domain: &O::Domain, witness: &Witness<O::Params>, scheme: &str, class: Class) -> String {
    let case = words::case(&spelled::<O>(domain, &witness.case, Some(witness.index), None));
    format!("{case}: got {}, {scheme} {}, class {class}", witness.got, witness.expected)
}
