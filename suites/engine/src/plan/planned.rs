//! Cases of a kernel, and the number of the plan's or the caller's parameters left out.

use crate::case::text::Draft;
use crate::erased::{Domain, Kernel, Params};
use crate::operation::case::Spec;
use crate::operation::errors::CaseError;
use crate::operation::parameter_coverage::ParameterCoverage;
use crate::operation::request::Request;
use crate::plan::plans;
use std::sync::Arc;
use tiebreak_reports::ledger::Unit;
use tiebreak_reports::text as words;

type Specs = plans::Shared;

/// Plan of a kernel.
pub(crate) struct Planned {
    /// Cases within the kernel's domain.
    pub(crate) specs: Specs,
    /// Index of the result that the caller's case names.
    pub(crate) at: Option<usize>,
    /// Count of the parameters that the caller gave in place of the plan.
    pub(crate) coverage: Option<ParameterCoverage>,
    /// Count of the plan's cases; `None` if only the caller's cases run.
    pub(crate) cases: Option<ParameterCoverage>,
}

impl Planned {
    /// Returns the requested cases, or the plan's.
    pub(crate) fn new(request: &Request, kernel: &Kernel) -> Result<Self, CaseError> {
        let domain = &kernel.contract.domain;
        if !request.selection.cases.is_empty() {
            return Self::given(&request.selection.cases, domain);
        }
        let all = plans::plan(domain, &request.selection, &request.effort.budget(), request.seed);
        // A kernel that the caller names runs all cases, including the cases at which kernels take turns.
        let place = plans::place(kernel.op(), kernel.name).filter(|_| request.kernels.is_empty());
        let all = match place {
            Some(place) if all.iter().any(|spec| !spec.turn.is_of(place)) => {
                Arc::new(all.iter().filter(|spec| spec.turn.is_of(place)).cloned().collect())
            }
            _ => all,
        };
        let planned = all.len() as u64;
        let covered = |spec: &&Arc<Spec<Params>>| domain.covers(&spec.params);
        let others: Vec<_> = all.iter().filter(|spec| !covered(spec)).collect();
        let described = |spec: &Arc<Spec<Params>>| {
            let arguments = spec.params.arguments().into_iter().collect();
            (words::case(&arguments), domain.text())
        };
        let cases = ParameterCoverage {
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
            coverage: (kernel.op().capabilities().options.caller_coverage)(
                domain,
                &request.selection,
                &specs.iter().map(|spec| &spec.params).collect::<Vec<_>>(),
                (&request.effort.budget(), request.seed),
            ),
            cases: Some(cases),
            specs,
            at: None,
        })
    }

    /// Returns the caller's cases. If a case of a sequence is outside the domain, no case runs. Fails if a text is not a case of the kernel.
    fn given(texts: &[String], domain: &Domain) -> Result<Self, CaseError> {
        let (mut specs, mut at, mut outside) = (Vec::new(), None, None);
        for text in texts {
            let draft = Draft::read(domain.op(), text)?;
            let spec = Spec::given(draft.case(domain)?);
            at = draft.at(domain)?;
            outside = outside.or_else(|| (!domain.covers(&spec.params)).then_some(text));
            specs.push(Arc::new(spec));
        }
        let reason = outside.map(|text| (text.clone(), domain.text()));
        if reason.is_some() {
            specs.clear();
        }
        let at = at.filter(|_| texts.len() == 1);
        Ok(Self { coverage: Some(by_caller(texts.len(), reason)), cases: None, specs: Arc::new(specs), at })
    }

    /// Records the caller's cases as refused, because a text is not a case of the kernel.
    pub(crate) fn refused(texts: &[String], reason: &str) -> Self {
        let first = texts.first().cloned().unwrap_or_default();
        let given = Some(by_caller(texts.len(), Some((first, reason.to_owned()))));
        Self { specs: Arc::default(), at: None, coverage: given, cases: None }
    }
}

/// Counts the caller's cases; `first` is the first case outside the domain, with the reason.
fn by_caller(cases: usize, first: Option<(String, String)>) -> ParameterCoverage {
    let planned = cases as u64;
    ParameterCoverage {
        unit: Unit::Case,
        by_caller: true,
        planned,
        outside: if first.is_some() { planned } else { 0 },
        first,
    }
}
