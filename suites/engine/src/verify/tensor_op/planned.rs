//! The cases of one kernel, and what of the plan or of the caller's parameters they leave out.

use super::super::coverage::{Plan, no_such_case, not_asked_again, nothing_new, outside_domain};
use super::super::{Part, Request};
use super::Kernel;
use crate::lane::Lane;
use crate::tensor::judge::Record;
use crate::tensor::text::Draft;
use crate::tensor::{CaseError, Given, Operation, Spec, plans};
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
        if !request.asked.cases.is_empty() {
            return Self::given(&request.asked.cases, domain);
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
            given: (O::CAPABILITIES.options.given)(
                domain,
                &request.asked,
                &specs,
                (&request.effort.budget(), request.seed),
            ),
            cases: Some(cases),
            specs,
            at: None,
        })
    }

    /// The caller's cases; an error where one is none of this kernel. Of a sequence all run or none does.
    fn given(texts: &[String], domain: &O::Domain) -> Result<Self, CaseError> {
        let (mut specs, mut at, mut outside) = (Vec::new(), None, None);
        for text in texts {
            let draft = Draft::<O>::read(text)?;
            let spec = Spec::given(draft.case(domain)?);
            at = draft.at(domain)?;
            outside = outside.or_else(|| (!O::covers(domain, &spec.params)).then_some(text));
            specs.push(spec);
        }
        let reason = outside.map(|text| (text.clone(), O::domain_text(domain)));
        if reason.is_some() {
            specs.clear();
        }
        let at = at.filter(|_| texts.len() == 1);
        Ok(Self { given: Some(by_caller(texts.len(), reason)), cases: None, specs: Arc::new(specs), at })
    }

    /// Cases of the caller's of which one is none of this kernel.
    pub(super) fn refused(texts: &[String], reason: &str) -> Self {
        let first = texts.first().cloned().unwrap_or_default();
        let given = Some(by_caller(texts.len(), Some((first, reason.to_owned()))));
        Self { specs: Arc::default(), at: None, given, cases: None }
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
        let counted = self.specs.iter().any(|spec| !(O::CAPABILITIES.counted.pairs)(&spec.params).is_empty());
        let given = self.given.iter().filter(|given| counted && given.unit == Unit::Pair);
        given.map(|given| given.planned - given.outside).sum()
    }

    /// Those of them that were run.
    pub(super) fn parameters<P>(&self, record: &Record<P>) -> u64 {
        if record.given_up + record.spared == 0 { self.pairs() } else { record.pairs.len() as u64 }
    }
}

/// So many cases of the caller's, and the first that is outside of the domain with the reason, where one is.
fn by_caller(cases: usize, first: Option<(String, String)>) -> Given {
    let planned = cases as u64;
    Given { unit: Unit::Case, by_caller: true, planned, outside: if first.is_some() { planned } else { 0 }, first }
}
