//! Plans that are made once: kernels of one domain have one plan, and so have their known bugs.

use crate::operation::asked::Asked;
use crate::operation::case::Spec;
use crate::operation::{Operation, is_compiled, kernels};
use crate::plan::further;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use tiebreak_common::budget::Budget;

/// Cases of a domain, made once for all who run them: lists of a part of them hold the same cases.
pub type Shared<P> = Arc<Vec<Arc<Spec<P>>>>;

type Place = Arc<OnceLock<Arc<dyn Any + Send + Sync>>>;

/// What a plan is made of.
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

/// Every case that is tried: the operation's own, and those that every plan has beside them.
pub fn whole<O: Operation>(domain: &O::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Vec<Spec<O::Params>> {
    let mut specs = O::own_plan(domain, asked, budget, seed);
    // A compiled module is made for each of its parameters, and a plan of every input needs no further one.
    if asked.is_nothing() && !is_compiled::<O>(domain) && !(O::CAPABILITIES.sweeps.exhaustive)(domain) {
        specs.extend(further::plan::<O>(domain, &specs, budget, seed));
    }
    specs
}

/// [`whole`], kept where the caller gave nothing in its place: short plans for good, long ones as long as a [`Long`] of the operation says.
pub fn plan<O: Operation>(domain: &O::Domain, asked: &Asked, budget: &Budget, seed: u64) -> Shared<O::Params> {
    if !asked.is_nothing() {
        return shared(whole::<O>(domain, asked, budget, seed));
    }
    let text = format!("{seed} {budget:?} {domain:?}");
    let key = Key { operation: TypeId::of::<O>(), is_long: budget.every_tail, text };
    let place = Arc::clone(kept().entry(key).or_default());
    // Whoever comes second waits for the first, and others for nobody.
    let made = place.get_or_init(|| shared(whole::<O>(domain, asked, budget, seed)));
    Arc::clone(made).downcast::<Vec<Arc<Spec<O::Params>>>>().expect("the plan of this operation")
}

/// Cases that several lists may hold.
pub fn shared<P>(specs: Vec<Spec<P>>) -> Shared<P> {
    Arc::new(specs.into_iter().map(Arc::new).collect())
}

/// The place of a kernel in its operation's list, by which kernels take turns; nothing where it is none of them, and runs everything.
pub fn place<O: Operation>(kernel: &str) -> Option<usize> {
    kernels::<O>().iter().position(|known| known.name == kernel)
}

/// While kernels of an operation run: when it goes, so do the operation's long plans, which take a good part of the memory.
pub struct Long<O: Operation>(PhantomData<O>);

impl<O: Operation> Long<O> {
    /// From now on.
    pub const BEGUN: Self = Self(PhantomData);
}

impl<O: Operation> Drop for Long<O> {
    fn drop(&mut self) {
        kept().retain(|key, _| !(key.is_long && key.operation == TypeId::of::<O>()));
    }
}
