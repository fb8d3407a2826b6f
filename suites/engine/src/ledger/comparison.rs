//! Ledger entries of a comparison with a scheme: row, witness and findings.

use crate::case::again::{again, command, display_case};
use crate::count::Count;
use crate::erased::Params;
use crate::explain::comparison::Comparison;
use crate::explain::groups::Explained;
use crate::explain::lines::Line;
use crate::judge::side::Side;
use crate::lane::runner::FailedBatch;
use crate::ledger::place::Place;
use crate::operation::case::Case;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_reports::ledger::{Against, Coverage, Finding, Mismatch, Row};
use tiebreak_reports::{ledger, text as words};

impl Comparison<'_> {
    fn place(&self) -> Place<'_> {
        self.subject.place(self.lane)
    }

    fn command(&self, case: &Case<Params>, index: usize) -> String {
        again(&self.request.command, self.subject.kernel, &self.lane.name, (case, index))
    }

    pub(crate) fn witness(&self, seen: &Explained) -> ledger::Witness {
        let Explained { explanation, witness, command, .. } = seen;
        ledger::Witness {
            case: display_case(self.domain(), &witness.case, Some(witness.index), Some(explanation.class)),
            got: witness.got.clone(),
            expected: Some(witness.expected.clone()),
            scheme: self.scheme.label(),
            class: explanation.class.into(),
            because: explanation.because.clone(),
            command: command.clone().unwrap_or_else(|| self.command(&witness.case, witness.index)),
        }
    }

    /// Builds the row. Differences with a known class are counted by `count`, the remaining differences by `rest`.
    pub(crate) fn row(
        &self,
        count: &Count,
        witness: Option<ledger::Witness>,
        rest: &BTreeMap<Class, u64>,
        coverage: Coverage,
        seconds: f64,
    ) -> Row {
        let row = self.place().row(self.against, self.scheme.label(), count, coverage);
        let mut classes = row.classes;
        for (class, n) in rest {
            *classes.entry(class.name().to_owned()).or_default() += n;
        }
        Row { classes, witness, seconds, ..row }
    }

    /// Returns the finding: any difference from the contract, or an unexplained difference from the reference.
    pub(crate) fn finding(
        &self,
        side: &Side,
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

    /// Formats a difference for `mismatches.csv`.
    pub(crate) fn mismatch(&self, line: &Line) -> Option<Mismatch> {
        let Line { witness, mut case, class, at, command } = line.clone();
        let command = command.unwrap_or_else(|| self::command(self.request, self.subject.kernel, self.lane, &case));
        if let Some(at) = at {
            case.insert("at".to_owned(), (at as i64).into());
        }
        let (got, expected, class) = (witness.got, Some(witness.expected), class.into());
        let (scheme, because) = (self.scheme.label(), String::new());
        let witness = ledger::Witness { case, got, expected, scheme, class, because, command };
        self.place().mismatch(self.against, witness)
    }

    /// Returns the findings of failed batches.
    pub(crate) fn failed(&self, failures: &[FailedBatch<Case<Params>>]) -> Vec<Finding> {
        let size = |case: &Case<Params>| case.tensors.iter().map(Vec::len).sum::<usize>();
        self.place()
            .failed(failures, size, |case| (display_case(self.domain(), case, None, None), self.command(case, 0)))
    }
}
