//! Values of an operation, with and without its types.

use super::operation::{Erased, Op};
use super::values::{Domain, Kernel, Lists, Mutant, Params, Scheme};
use crate::operation::case::{Case, Frames, Later, Spec};
use crate::operation::case_cache::CaseCache;
use crate::operation::change::{AppliesTo, Change, Condition, Kind, Lead, LeadsTo, PathStep};
use crate::operation::observed::{Observed, Witness};
use crate::operation::{self, Operation};
use std::any::TypeId;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tiebreak_impls::contract::Contract;
use tiebreak_impls::operation::TensorOperation;

/// Operation with its types.
pub(super) struct Of<O>(PhantomData<fn() -> O>);

/// Returns an operation without its types.
pub const fn op<O: Operation>() -> Op {
    const { &Of::<O>(PhantomData) }
}

impl Params {
    /// Wraps parameters of an operation.
    pub fn of<O: Operation>(params: O::Params) -> Self {
        Self::new(op::<O>(), params)
    }
}

impl Domain {
    /// Wraps a domain of an operation.
    pub fn of<O: Operation>(domain: O::Domain) -> Self {
        Self::new(op::<O>(), domain)
    }
}

impl Scheme {
    /// Wraps a scheme of an operation.
    pub fn of<O: Operation>(scheme: O::Scheme) -> Self {
        Self::new(op::<O>(), scheme)
    }
}

impl Kernel {
    /// Wraps a kernel of an operation.
    pub fn of<O: Operation>(kernel: &operation::Kernel<O>) -> Self {
        let Contract { promise, ref domain, deviations, source } = kernel.contract;
        let contract = Contract { promise, domain: Domain::of::<O>(domain.clone()), deviations, source };
        Self { name: kernel.name, summary: kernel.summary, contract, typed: Arc::new(kernel.clone()) }
    }
}

impl Lists {
    /// Returns the lists of an operation, made at the first call.
    pub(super) fn of<O: Operation>() -> &'static Self {
        static MADE: LazyLock<Mutex<HashMap<TypeId, &'static Lists>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry(TypeId::of::<O>()).or_insert_with(|| Box::leak(Box::new(Self::new::<O>())))
    }

    fn new<O: Operation>() -> Self {
        let mutant = |mutant: &operation::Mutant<O>| Mutant {
            kernel: Kernel::of::<O>(&mutant.kernel),
            class: mutant.class,
            origin: mutant.origin,
            witnesses: mutant.witnesses,
        };
        Self {
            kernels: O::Impl::kernels().iter().map(Kernel::of::<O>).collect(),
            mutants: O::Impl::mutants().iter().map(mutant).collect(),
            process_mutants: <O::Impl as TensorOperation>::process_mutants().iter().map(Kernel::of::<O>).collect(),
        }
    }

    /// Returns a caller's kernel, made at the first call.
    pub(super) fn elsewhere<O: Operation>(kernel: &'static operation::Kernel<O>) -> &'static Kernel {
        static MADE: LazyLock<Mutex<HashMap<(TypeId, usize), &'static Kernel>>> = LazyLock::new(Mutex::default);
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller's kernel is kept until the process ends, so that its address is its own.
        made.entry((TypeId::of::<O>(), std::ptr::from_ref(kernel).addr()))
            .or_insert_with(|| Box::leak(Box::new(Kernel::of::<O>(kernel))))
    }
}

impl<P> Case<P> {
    fn with<Q>(self, params: impl FnOnce(P) -> Q) -> Case<Q> {
        Case { params: params(self.params), tensors: self.tensors, misalign: self.misalign }
    }
}

impl Case<Params> {
    /// Wraps a case of an operation.
    pub fn of<O: Operation>(case: Case<O::Params>) -> Self {
        case.with(Params::of::<O>)
    }

    /// Returns the case of the operation, with the same tensors.
    pub fn typed<O: Operation>(&self) -> Case<O::Params> {
        self.clone().with(|params| params.typed::<O>().clone())
    }
}

impl Spec<Params> {
    /// Wraps a spec of an operation.
    pub fn of<O: Operation>(spec: Spec<O::Params>) -> Self {
        let Spec { params, fills, misalign, generator, turn, block, later, place, cache: _ } = spec;
        let later = later.map(|later| {
            let of: Arc<dyn Frames<Params>> = Arc::new(FramesOf::<O>(later.of));
            Later { of, at: later.at }
        });
        let params = Params::of::<O>(params);
        Self { params, fills, misalign, generator, turn, block, later, place, cache: CaseCache::NOTHING }
    }
}

/// Frames of an operation.
struct FramesOf<O: Operation>(Arc<dyn Frames<O::Params>>);

impl<O: Operation> Frames<Params> for FramesOf<O> {
    fn spec(&self, frame: &Params, at: usize) -> Spec<Params> {
        Spec::of::<O>(self.0.spec(frame.typed::<O>(), at))
    }
}

impl Observed<Params> {
    /// Wraps the evidence of an operation.
    pub fn of<O: Operation>(seen: Observed<O::Params>) -> Self {
        let Observed { case, outs, expected, differ, faulty, due } = seen;
        Self { case: Case::of::<O>(case), outs, expected, differ, faulty, due }
    }

    /// Returns the evidence with the operation's types.
    pub fn typed<O: Operation>(&self) -> Observed<O::Params> {
        let Self { case, outs, expected, differ, faulty, due } = self;
        Observed {
            case: case.typed::<O>(),
            outs: outs.clone(),
            expected: expected.clone(),
            differ: *differ,
            faulty: faulty.clone(),
            due: due.clone(),
        }
    }
}

impl Witness<Params> {
    /// Returns the witness with the operation's types.
    pub fn typed<O: Operation>(&self) -> Witness<O::Params> {
        let Self { case, index, got, expected } = self;
        Witness { case: case.typed::<O>(), index: *index, got: got.clone(), expected: expected.clone() }
    }
}

impl<O: Operation> Change<O> {
    /// Returns the change without the operation's types.
    pub fn erased(self) -> Change<Erased> {
        let Self { class, kind, may_be, applies, leads } = self;
        let seen = |evidence: &[&Observed<Params>]| -> Vec<Observed<O::Params>> {
            evidence.iter().map(|seen| seen.typed::<O>()).collect()
        };
        let kind = match kind {
            Kind::Predicts(because, predict) => {
                Kind::Predicts(because, Box::new(move |case: &Case<Params>| predict(&case.typed::<O>())))
            }
            Kind::Found(search) => Kind::Found(Box::new(move |evidence: &[&Observed<Params>]| {
                search(&seen(evidence).iter().collect::<Vec<_>>())
            })),
        };
        let may_be = may_be.map(|may_be| -> Condition<Erased> {
            Box::new(move |evidence| may_be(&seen(evidence).iter().collect::<Vec<_>>()))
        });
        let applies =
            applies.map(|applies| -> AppliesTo<Erased> { Box::new(move |params| applies(params.typed::<O>())) });
        let leads = leads.map(|leads| -> LeadsTo<Erased> {
            Box::new(move |target| match leads(target.typed::<O>()) {
                Lead::Away => Lead::Away,
                Lead::Nearer => Lead::Nearer,
                Lead::To(scheme) => Lead::To(Scheme::of::<O>(scheme)),
            })
        });
        Change { class, kind, may_be, applies, leads }
    }
}

impl<O: Operation> PathStep<O> {
    /// Returns the step without the operation's types.
    pub fn erased(self) -> PathStep<Erased> {
        let changes = self.changes.into_iter().map(Change::erased).collect();
        PathStep { changes, scheme: self.scheme.map(Scheme::of::<O>), is_last: self.is_last }
    }
}
