//! Cases, and specs from which cases are made.
//!
//! Kernels take turns at large cases (`Spec::turn`), and in a short run also at the further cases: one kernel in `n` runs each of these cases, chosen
//! by the seed and the kernel's place in the operation's list, so that all kernels together run all cases. A kernel that the caller names runs all of
//! them; known bugs run none. The ledger's plan of a kernel counts only the cases of that kernel.

use crate::operation::case_cache::CaseCache;
use crate::operation::fill::Fill;
use crate::operation::operands::Operands;
use crate::operation::selection::Block;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use tiebreak_common::budget::Budget;

/// Parameters, and the tensors that a kernel reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<P> {
    /// Parameters: shape, offsets, ...
    pub params: P,
    /// Input tensors, in the order of the payload; elements in int32.
    pub tensors: Operands,
    /// Elements between a 64-byte boundary and the first element of each operand.
    pub misalign: usize,
}

impl<P> Case<P> {
    /// Concatenates the tensors, as a lane takes them.
    pub fn payload(&self) -> Vec<i32> {
        self.tensors.concat()
    }
}

impl<P: Clone> Case<P> {
    /// Returns the case with aligned operands; `None` if the operands are aligned already.
    pub fn aligned(&self) -> Option<Self> {
        (self.misalign != 0).then(|| Self { misalign: 0, ..self.clone() })
    }
}

/// Turn of kernels at a large case: all kernels together run all large cases, and each kernel runs a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// A single kernel in `of` runs the case.
    of: usize,
    at: usize,
}

impl Turn {
    /// Turn of every kernel.
    pub const ALL: Self = Self { of: 1, at: 0 };

    /// Returns the turn of a single kernel in `of`. As `at` grows, all kernels get equally many turns.
    pub fn one_in(of: usize, at: usize) -> Self {
        let of = of.max(1);
        Self { of, at: at % of }
    }

    /// True if every kernel runs the case.
    pub fn is_all(self) -> bool {
        self.of == 1
    }

    /// True if the kernel at a place of the operation's list runs the case.
    pub fn is_of(self, place: usize) -> bool {
        place % self.of == self.at
    }
}

/// Case before its tensors are made.
#[derive(Clone, Debug)]
pub struct Spec<P> {
    /// Parameters: shape, offsets, ...
    pub params: P,
    /// Fill of each tensor.
    pub fills: [Fill; 3],
    /// Misalignment in elements, as in [`Case`].
    pub misalign: usize,
    /// Name of the generator: the part of the plan that made the spec.
    pub generator: &'static str,
    /// Kernels that run the case, if the caller names no kernel.
    pub turn: Turn,
    /// Place of the results in a network, for a case of a network.
    pub block: Option<Block>,
    /// Source of the rest of the spec; until the case runs, the spec is only a frame.
    pub later: Option<Later<P>>,
    /// Place in the whole plan, which decides the random elements.
    pub place: usize,
    /// Cached tensors and expected results.
    pub cache: CaseCache<Case<P>>,
}

/// Makes specs from frames, in turn. A caller may give more parameters than there is memory for their inputs.
pub trait Frames<P>: Send + Sync {
    /// Makes the whole spec of a frame, number `at` of the list.
    fn spec(&self, frame: &P, at: usize) -> Spec<P>;
}

/// Place of a frame in the list of the source.
#[derive(Clone)]
pub struct Later<P> {
    pub(crate) of: Arc<dyn Frames<P>>,
    pub(crate) at: usize,
}

impl<P> Debug for Later<P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Later").field("at", &self.at).finish_non_exhaustive()
    }
}

/// Runs a generator and puts its name into the specs that it adds.
pub fn by<P>(generator: &'static str, specs: &mut Vec<Spec<P>>, make: impl FnOnce(&mut Vec<Spec<P>>)) {
    let first = specs.len();
    make(specs);
    specs[first..].iter_mut().for_each(|spec| spec.generator = generator);
}

/// Gives turns to cases in a short run: a single kernel in `of` runs each case. Existing turns stay.
pub fn in_turns<P>(specs: Vec<Spec<P>>, of: usize, budget: &Budget) -> impl Iterator<Item = Spec<P>> {
    let of = if budget.every_tail { 1 } else { of };
    let turn = move |(at, spec): (usize, Spec<P>)| match spec.turn.is_all() {
        true => Spec { turn: Turn::one_in(of, at), ..spec },
        false => spec,
    };
    specs.into_iter().enumerate().map(turn)
}

/// Numbers the specs by their place in the list.
pub fn numbered<P>(mut specs: Vec<Spec<P>>) -> Vec<Spec<P>> {
    specs.iter_mut().enumerate().for_each(|(at, spec)| spec.place = at);
    specs
}

impl<P> Spec<P> {
    /// Creates a spec without a generator.
    pub fn new(params: P, fills: [Fill; 3], misalign: usize) -> Self {
        Self {
            params,
            fills,
            misalign,
            generator: "plan",
            turn: Turn::ALL,
            block: None,
            later: None,
            place: 0,
            cache: CaseCache::NOTHING,
        }
    }

    /// Creates frame `at` of the list of `frames`, which makes the frame whole before it runs. Frames have every field that a domain examines.
    pub fn later(frame: P, frames: &Arc<dyn Frames<P>>, at: usize) -> Self {
        let later = Some(Later { of: Arc::clone(frames), at });
        Self { later, ..Self::new(frame, [Fill::None, Fill::None, Fill::None], 0) }
    }

    /// Returns the spec with the name of a generator.
    pub fn by(self, generator: &'static str) -> Self {
        Self { generator, ..self }
    }
}

impl<P: Clone> Spec<P> {
    /// Creates a spec for a given case.
    pub fn given(case: Case<P>) -> Self {
        Self::new(case.params, case.tensors.into_inner().map(Fill::Given), case.misalign)
    }
}
