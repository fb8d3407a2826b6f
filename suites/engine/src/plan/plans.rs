//! Plans are made once: all kernels and known bugs of a domain share a plan.

use crate::erased::{Domain, Kernel, Op, Params};
use crate::operation::case::{Case, Spec, numbered};
use crate::operation::case_cache::CaseCache;
use crate::operation::selection::{CaseSelection, Parameter, Stage};
use crate::plan::further;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use tiebreak_common::budget::Budget;

/// Cases of a domain, made once and shared; sublists hold the same cases.
pub type Shared = Arc<Vec<Arc<Spec<Params>>>>;

type Place = Arc<OnceLock<Shared>>;

/// Inputs of a plan.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    operation: TypeId,
    is_long: bool,
    /// Seed, budget and domain.
    text: String,
}

static PLANS: LazyLock<Mutex<HashMap<Key, Place>>> = LazyLock::new(Mutex::default);

fn kept() -> MutexGuard<'static, HashMap<Key, Place>> {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns every case of a plan: the operation's own, and the further cases of every plan.
pub fn whole(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let takes_layers =
        domain.op().capabilities().options.takes.contains(&Parameter::Model) && !selection.layers.is_empty();
    let mut specs: Vec<_> = selection.stages.iter().filter_map(|stage| of_stage(domain, stage)).collect();
    if selection.stages.is_empty() || takes_layers {
        specs.extend(domain.op().own_plan(domain, selection, budget, seed));
    }
    specs = numbered(specs);
    // Each parameter set of a compiled kernel needs its own module, and a plan of every input needs no further cases.
    if selection.is_nothing() && !domain.is_compiled() && !(domain.op().capabilities().sweeps.exhaustive)(domain) {
        specs.extend(further::plan(domain, &specs, budget, seed));
    }
    numbered(specs)
}

/// Returns the case of a network's layer, if the operation computes the layer.
fn of_stage(domain: &Domain, stage: &Stage) -> Option<Spec<Params>> {
    if stage.op != domain.op().name() {
        return None;
    }
    let params = domain.op().params(&stage.params).ok()?;
    let case = Case { params, tensors: stage.tensors.clone(), misalign: 0 };
    let spec = Spec::given((domain.op().capabilities().options.on_types)(domain, case)).by("network");
    Some(Spec { block: Some(stage.place), ..spec })
}

/// True if a kernel of the operation, except kernels of compiled modules, takes the case of a network's layer.
pub fn takes_stage(op: Op, stage: &Stage) -> bool {
    let takes = |kernel: &Kernel| {
        let domain = &kernel.contract.domain;
        !domain.is_compiled() && of_stage(domain, stage).is_some_and(|spec| domain.covers(&spec.params))
    };
    op.kernels().iter().any(takes)
}

/// Returns [`whole`], cached unless the caller gave cases. Short plans stay cached; long plans stay until a [`LongPlanGuard`] of the operation is
/// dropped.
pub fn plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Shared {
    if !selection.is_nothing() {
        return shared(whole(domain, selection, budget, seed));
    }
    let text = format!("{seed} {budget:?} {domain:?}");
    let key = Key { operation: domain.op().id(), is_long: budget.every_tail, text };
    let place = Arc::clone(kept().entry(key).or_default());
    // A second caller of the same plan waits for the first; callers of other plans do not wait.
    let made = place.get_or_init(|| {
        let mut specs = whole(domain, selection, budget, seed);
        if is_of_several(domain) {
            let of_all = specs.iter_mut().filter(|spec| spec.turn.is_all() && spec.later.is_none());
            of_all.for_each(|spec| spec.cache = CaseCache::kept());
        }
        shared(specs)
    });
    Arc::clone(made)
}

/// True if several kernels or known bugs have the domain.
fn is_of_several(domain: &Domain) -> bool {
    let text = format!("{domain:?}");
    let domains = domain.op().kernels().iter().map(|kernel| &kernel.contract.domain);
    let all = domains.chain(domain.op().mutants().iter().map(|mutant| &mutant.kernel.contract.domain));
    all.filter(|known| format!("{known:?}") == text).nth(1).is_some()
}

/// Makes cases that several lists may share.
pub fn shared(specs: Vec<Spec<Params>>) -> Shared {
    Arc::new(specs.into_iter().map(Arc::new).collect())
}

/// Returns the place of a kernel in the operation's list, for turns; `None` if the list does not have the kernel, which then runs everything.
pub fn place(op: Op, kernel: &str) -> Option<usize> {
    op.kernels().iter().position(|known| known.name == kernel)
}

/// Guard while kernels of an operation run. On drop, the operation's long plans and the cached results of the short plans are freed, to save memory.
pub struct LongPlanGuard(Op);

impl LongPlanGuard {
    /// Creates a guard, which acts from now on.
    pub const fn begin(op: Op) -> Self {
        Self(op)
    }
}

impl Drop for LongPlanGuard {
    fn drop(&mut self) {
        kept().retain(|key, place| {
            let is_its_own = key.operation == self.0.id();
            if is_its_own && let Some(specs) = place.get() {
                specs.iter().for_each(|spec| spec.cache.forget());
            }
            !(key.is_long && is_its_own)
        });
    }
}
