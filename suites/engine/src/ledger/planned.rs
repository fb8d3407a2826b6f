//! Numbers of cases and parameters planned and run, with reasons for the rest.

use crate::erased::Kernel;
use crate::judge::record::Record;
use crate::lane::Lane;
use crate::ledger::coverage::{
    PlannedCount, as_the_worker_says, no_such_case, not_asked_again, nothing_new, outside_domain,
};
use crate::ledger::section::LedgerSection;
use crate::operation::outside::Outside;
use crate::operation::parameter_coverage::ParameterCoverage;
use crate::plan::planned::Planned;
use tiebreak_reports::ledger::Unit;

impl Planned {
    /// Returns the planned counts of a kernel.
    fn plans(&self, kernel: &Kernel) -> Vec<PlannedCount<'static>> {
        let plan = |count: &ParameterCoverage| PlannedCount {
            op: kernel.op().name(),
            kernel: kernel.name,
            unit: count.unit,
            given: count.by_caller,
            planned: count.planned,
            outside: outside_domain(count.outside, count.first.clone()),
        };
        self.coverage.iter().chain(&self.cases).map(plan).collect()
    }

    /// Notes a lane that does not offer the kernel.
    pub(crate) fn not_offered(&self, kernel: &Kernel, lane: &Lane, section: &mut LedgerSection) {
        let plans = self.plans(kernel);
        let [first, others @ ..] = &plans[..] else { return };
        section.not_offered(first, lane);
        section.planned.extend(others.iter().map(|plan| plan.not_offered(lane)));
    }

    /// Notes a lane that ran cases, and counts the cases left out: spared, given up, refused, or impossible.
    pub(crate) fn ran(&self, kernel: &Kernel, lane: &Lane, record: &Record, section: &mut LedgerSection) {
        let Outside { count: outside, .. } = &record.outside;
        let lost = self.specs.len() as u64 - record.cases - record.given_up - record.spared - outside;
        section.planned.extend(self.plans(kernel).iter().map(|plan| {
            let left_out = match plan.unit {
                Unit::Case => [
                    no_such_case(lost),
                    nothing_new(record.spared),
                    not_asked_again(record.given_up, lane),
                    as_the_worker_says(*outside, &record.outside),
                ],
                _ => {
                    let unasked = self.pairs().saturating_sub(self.parameters(record));
                    let (spared, given_up, outside) = match (record.given_up, record.spared) {
                        (0, 0) => (0, 0, unasked),
                        (0, _) => (unasked, 0, 0),
                        _ => (0, unasked, 0),
                    };
                    [
                        no_such_case(0),
                        nothing_new(spared),
                        not_asked_again(given_up, lane),
                        as_the_worker_says(outside, &record.outside),
                    ]
                }
            };
            plan.ran(lane, left_out)
        }));
    }

    /// Returns the number of multipliers and shifts in the cases, if the operation counts them.
    fn pairs(&self) -> u64 {
        let counted = self.specs.iter().any(|spec| !spec.params.pairs().is_empty());
        let given = self.coverage.iter().filter(|given| counted && given.unit == Unit::Pair);
        given.map(|given| given.planned - given.outside).sum()
    }

    /// Returns the number of multipliers and shifts that were run.
    pub(crate) fn parameters(&self, record: &Record) -> u64 {
        if record.given_up + record.spared + record.outside.count == 0 {
            self.pairs()
        } else {
            record.pairs.len() as u64
        }
    }
}
