//! Plans that are made once: kernels of one domain have one plan, and so have their known bugs.

use super::{Asked, Operation, Spec};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use tiebreak_common::budget::Budget;

type Plan = Arc<OnceLock<Arc<dyn Any + Send + Sync>>>;

/// By operation, and by the text of everything that a plan is made of.
static PLANS: LazyLock<Mutex<HashMap<(TypeId, String), Plan>>> = LazyLock::new(Mutex::default);

/// [`Operation::plan`], kept where the caller gave nothing in its place and it is a short one: long ones would take a good part of the memory.
pub fn plan<O: Operation>(domain: &O::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<O::Params>> {
    if !asked.is_nothing() || budget.every_tail {
        return O::plan(domain, asked, budget, seed);
    }
    let key = (TypeId::of::<O>(), format!("{seed} {budget:?} {domain:?}"));
    let place = Arc::clone(PLANS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
    // Whoever comes second waits for the first, and others for nobody.
    let made = place.get_or_init(|| Arc::new(O::plan(domain, asked, budget, seed)));
    made.downcast_ref::<Vec<Spec<O::Params>>>().expect("the plan of this operation").clone()
}
