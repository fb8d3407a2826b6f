//! The cases of one kernel, and what of the plan or of the caller's parameters they leave out.

use super::super::coverage::{Plan, no_such_case, not_asked_again, nothing_new, outside_domain};
use super::super::{Part, Request};
use super::Kernel;
use crate::lane::Lane;
use crate::tensor::judge::Record;
use crate::tensor::text::Draft;
use crate::tensor::{Asked, CaseError, Given, Operation, Spec, plans};
use std::sync::Arc;
use tiebreak_reports::ledger::Unit;
use tiebreak_reports::text as words;

type Specs<O> = plans::Shared<<O as Operation>::Params>;

/// What a kernel is to run.
pub(super) struct Planned<O: Operation> {
    /// The cases within its domain.
    pub(super) specs: Specs<O>,
    /// The result that the caller's case names.
    pub(super) at: Option<usize>,
    /// What the caller gave in place of the plan.
    given: Option<Given>,
    /// The cases, where the caller's is not all there is.
    cases: Option<Given>,
}

impl<O: Operation> Planned<O> {
    /// The cases asked for, or the plan's.
    pub(super) fn new(request: &Request, kernel: &Kernel<O>) -> Result<Self, CaseError> {
        let domain = &kernel.contract.domain;
        if let Asked { case: Some(case), .. } = &request.asked {
            return Self::one(case, domain);
        }
        let all = plans::plan::<O>(domain, &request.asked, &request.effort.budget(), request.seed);
        // A kernel that the caller names runs what kernels take turns at.
        let place = plans::place::<O>(kernel.name).filter(|_| request.kernels.is_empty());
        let all = match place {
            Some(place) if all.iter().any(|spec| !spec.turn.is_of(place)) => {
                Arc::new(all.iter().filter(|spec| spec.turn.is_of(place)).cloned().collect())
            }
            _ => all,
        };
        let planned = all.len() as u64;
        let covered = |spec: &&Spec<O::Params>| O::covers(domain, &spec.params);
        let others: Vec<_> = all.iter().filter(|spec| !covered(spec)).collect();
        let described = |spec: &Spec<O::Params>| {
            let arguments = O::arguments(&spec.params).into_iter().collect();
            (words::case(&arguments), O::domain_text(domain))
        };
        let cases = Given {
            unit: Unit::Case,
            by_caller: false,
            planned,
            outside: others.len() as u64,
            first: others.first().copied().map(described),
        };
        let specs = match &others[..] {
            [] => Arc::clone(&all),
            _ => Arc::new(all.iter().filter(covered).cloned().collect()),
        };
        Ok(Self {
            given: O::given(domain, &request.asked, &specs, (&request.effort.budget(), request.seed)),
            cases: Some(cases),
            specs,
            at: None,
        })
    }

    /// The caller's case; an error where it is none of this kernel.
    fn one(text: &str, domain: &O::Domain) -> Result<Self, CaseError> {
        let draft = Draft::<O>::read(text)?;
        let (case, at) = (draft.case(domain)?, draft.at(domain)?);
        let specs: Vec<_> = [Spec::given(case)].into_iter().filter(|spec| O::covers(domain, &spec.params)).collect();
        let reason = specs.is_empty().then(|| O::domain_text(domain));
        Ok(Self { given: Some(one(text, reason)), cases: None, specs: Arc::new(specs), at })
    }

    /// A case of the caller's that is none of this kernel.
    pub(super) fn refused(text: &str, reason: &str) -> Self {
        Self { specs: Arc::default(), at: None, given: Some(one(text, Some(reason.to_owned()))), cases: None }
    }

    /// Each count as the plan of a kernel.
    fn plans(&self, kernel: &Kernel<O>) -> Vec<Plan<'static>> {
        let plan = |count: &Given| Plan {
            op: O::OP,
            kernel: kernel.name,
            unit: count.unit,
            given: count.by_caller,
            planned: count.planned,
            outside: outside_domain(count.outside, count.first.clone()),
        };
        self.given.iter().chain(&self.cases).map(plan).collect()
    }

    /// Notes a lane that does not offer the kernel.
    pub(super) fn not_offered(&self, kernel: &Kernel<O>, lane: &Lane, part: &mut Part) {
        let plans = self.plans(kernel);
        let [first, others @ ..] = &plans[..] else { return };
        part.not_offered(first, lane);
        part.planned.extend(others.iter().map(|plan| plan.not_offered(lane)));
    }

    /// Notes a lane in which cases ran, and others did not: those that nothing new was expected of, and those after failures to answer.
    pub(super) fn ran<P>(&self, kernel: &Kernel<O>, lane: &Lane, record: &Record<P>, part: &mut Part) {
        let lost = self.specs.len() as u64 - record.cases - record.given_up - record.spared;
        part.planned.extend(self.plans(kernel).iter().map(|plan| {
            let left_out = match plan.unit {
                Unit::Case => [no_such_case(lost), nothing_new(record.spared), not_asked_again(record.given_up, lane)],
                _ => {
                    let unasked = self.pairs().saturating_sub(self.parameters(record));
                    let (spared, given_up) = if record.given_up > 0 { (0, unasked) } else { (unasked, 0) };
                    [no_such_case(0), nothing_new(spared), not_asked_again(given_up, lane)]
                }
            };
            plan.ran(lane, left_out)
        }));
    }

    /// Multipliers and shifts that the cases have, where those are counted.
    fn pairs(&self) -> u64 {
        let counted = self.specs.iter().any(|spec| !O::pairs(&spec.params).is_empty());
        let given = self.given.iter().filter(|given| counted && given.unit == Unit::Pair);
        given.map(|given| given.planned - given.outside).sum()
    }

    /// Those of them that were run.
    pub(super) fn parameters<P>(&self, record: &Record<P>) -> u64 {
        if record.given_up + record.spared == 0 { self.pairs() } else { record.pairs.len() as u64 }
    }
}

fn one(text: &str, reason: Option<String>) -> Given {
    let outside = u64::from(reason.is_some());
    Given {
        unit: Unit::Case,
        by_caller: true,
        planned: 1,
        outside,
        first: reason.map(|reason| (text.to_owned(), reason)),
    }
}
