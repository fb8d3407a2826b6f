//! A case, and a spec of which one is made.
//!
//! Large cases have a turn (`Spec::turn`), and in a short run so do the further cases: one kernel in so many runs each of
//! them, by the seed and the kernel's place in the operation's list, so that all kernels together run all cases. A kernel
//! that the caller names runs all of them; known bugs run none. The ledger's plan of a kernel is what that kernel is to
//! run.

use crate::operation::asked::Block;
use crate::operation::fill::Fill;
use crate::operation::worked::Worked;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use tiebreak_common::budget::Budget;

/// Parameters with the tensors a kernel reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case<P> {
    /// Shape, offsets, ...
    pub params: P,
    /// Input tensors, in the order of the payload; elements in int32.
    pub tensors: [Vec<i32>; 3],
    /// Elements between a 64-byte boundary and the first one of each operand.
    pub misalign: usize,
}

impl<P> Case<P> {
    /// The tensors one after the other, as a lane takes them.
    pub fn payload(&self) -> Vec<i32> {
        self.tensors.concat()
    }
}

impl<P: Clone> Case<P> {
    /// The same case with its operands at a boundary; none if they are there.
    pub fn aligned(&self) -> Option<Self> {
        (self.misalign != 0).then(|| Self { misalign: 0, ..self.clone() })
    }
}

/// Kernels take turns at a case that is large: together they run all of them, and each a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// One kernel in so many runs the case.
    of: usize,
    at: usize,
}

impl Turn {
    /// Every kernel.
    pub const ALL: Self = Self { of: 1, at: 0 };

    /// One kernel in `of`; as `at` grows, each as often as the others.
    pub fn one_in(of: usize, at: usize) -> Self {
        let of = of.max(1);
        Self { of, at: at % of }
    }

    /// Whether every kernel runs the case.
    pub fn is_all(self) -> bool {
        self.of == 1
    }

    /// Whether the kernel at this place of its operation's list runs the case.
    pub fn is_of(self, place: usize) -> bool {
        place % self.of == self.at
    }
}

/// A case before its tensors are made.
#[derive(Clone, Debug)]
pub struct Spec<P> {
    /// Shape, offsets, ...
    pub params: P,
    /// What each tensor is filled with.
    pub fills: [Fill; 3],
    /// As in [`Case`].
    pub misalign: usize,
    /// The part of the plan that made it.
    pub generator: &'static str,
    /// Which kernels run it, where the caller names none.
    pub turn: Turn,
    /// Where its results lie in a network, if it is of one.
    pub block: Option<Block>,
    /// What makes the rest of it when it runs; then it is no more than a frame until then.
    pub later: Option<Later<P>>,
    /// Its place in the whole plan, which decides its random elements.
    pub place: usize,
    /// What was worked out of it.
    pub worked: Worked<Case<P>>,
}

/// Makes specs of frames one at a time. A caller may give more parameters than there is memory for their inputs.
pub trait Frames<P>: Send + Sync {
    /// The whole spec of a frame, the `at`th of its list.
    fn spec(&self, frame: &P, at: usize) -> Spec<P>;
}

/// A frame's place in the list of what makes it whole.
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

/// Runs a part of a plan, and names what it makes after it.
pub fn by<P>(generator: &'static str, specs: &mut Vec<Spec<P>>, make: impl FnOnce(&mut Vec<Spec<P>>)) {
    let first = specs.len();
    make(specs);
    specs[first..].iter_mut().for_each(|spec| spec.generator = generator);
}

/// Cases at which kernels take turns in a short run, one kernel in so many at each; where a case has a turn of its own, that counts.
pub fn in_turns<P>(specs: Vec<Spec<P>>, of: usize, budget: &Budget) -> impl Iterator<Item = Spec<P>> {
    let of = if budget.every_tail { 1 } else { of };
    let turn = move |(at, spec): (usize, Spec<P>)| match spec.turn.is_all() {
        true => Spec { turn: Turn::one_in(of, at), ..spec },
        false => spec,
    };
    specs.into_iter().enumerate().map(turn)
}

/// Gives every spec its place in the list.
pub fn numbered<P>(mut specs: Vec<Spec<P>>) -> Vec<Spec<P>> {
    specs.iter_mut().enumerate().for_each(|(at, spec)| spec.place = at);
    specs
}

impl<P> Spec<P> {
    /// A spec of no part of a plan in particular.
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
            worked: Worked::NOTHING,
        }
    }

    /// A frame that `frames` makes whole when it runs, the `at`th of its list. What a kernel's domain looks at is in the frame.
    pub fn later(frame: P, frames: &Arc<dyn Frames<P>>, at: usize) -> Self {
        let later = Some(Later { of: Arc::clone(frames), at });
        Self { later, ..Self::new(frame, [Fill::None, Fill::None, Fill::None], 0) }
    }

    /// The same as one of a part of a plan.
    pub fn by(self, generator: &'static str) -> Self {
        Self { generator, ..self }
    }
}

impl<P: Clone> Spec<P> {
    /// A spec for a case as it is.
    pub fn given(case: Case<P>) -> Self {
        Self::new(case.params, case.tensors.map(Fill::Given), case.misalign)
    }
}
