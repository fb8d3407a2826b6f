//! What quick and standard effort spare: in a further lane of the project's, code without vector instructions is the first lane's, compiled for another target. It
//! runs a part of its cases there, and all of them as soon as one result is not that of the first lane.

use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::request::Request;
use crate::operation::{Kernel, Operation, is_compiled};
use crate::run::answers::{Answers, answers};
use crate::run::subject::Posed;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::budget::Effort;
use tiebreak_common::stream::{below, stream};

/// One of so many cases runs at an effort, at random, so that no rhythm of the plan decides which; none is spared if all run.
fn one_in(effort: Effort) -> Option<u32> {
    match effort {
        Effort::Quick => Some(8),
        Effort::Standard => Some(4),
        Effort::Exhaustive => None,
    }
}

/// The lanes of a kernel, and which of them are spared cases so far.
pub(crate) struct Sparing<'a> {
    runners: &'a [Runner<'a>],
    spared: Vec<bool>,
    one_in: u32,
    rng: ChaCha8Rng,
}

impl<'a> Sparing<'a> {
    /// A kernel that the caller did not name, in the lanes that have it.
    pub(crate) fn new<O: Operation>(request: &Request, kernel: &Kernel<O>, runners: &'a [Runner<'a>]) -> Self {
        let domain = &kernel.contract.domain;
        let unnamed = request.asked.is_nothing() && request.kernels.is_empty();
        let one_in = one_in(request.effort);
        let any =
            one_in.is_some() && unnamed && !(O::CAPABILITIES.sweeps.exhaustive)(domain) && !is_compiled::<O>(domain);
        let known = any && runners.first().is_some_and(|first| first.lane.runs_our_code());
        let spared = |(at, runner): (usize, &Runner<'_>)| known && at > 0 && is_same_code::<O>(runner.lane, kernel);
        let rng = stream(request.seed, &format!("{}/{}/spared", O::OP, kernel.name));
        Self { runners, spared: runners.iter().enumerate().map(spared).collect(), one_in: one_in.unwrap_or(1), rng }
    }

    /// Whether a lane was spared cases to the end.
    pub(crate) fn is_spared(&self, lane: &Lane) -> bool {
        self.runners.iter().zip(&self.spared).any(|(runner, spared)| *spared && std::ptr::eq(runner.lane, lane))
    }

    /// What each lane gives for some cases.
    pub(crate) fn answers<O: Operation>(
        &mut self,
        kernel: &Kernel<O>,
        posed: &[Posed<O::Params>],
        keep: bool,
    ) -> Vec<Answers<O::Params>> {
        let mut given: Vec<Answers<O::Params>> = Vec::with_capacity(self.runners.len());
        for (at, runner) in self.runners.iter().enumerate() {
            if !self.spared[at] {
                given.push(answers::<O>(runner, kernel, posed, keep));
                continue;
            }
            let chosen: Vec<bool> = posed.iter().map(|_| below(&mut self.rng, self.one_in) == 0).collect();
            let mut some = among::<O>(runner, kernel, posed, &chosen);
            self.spared[at] = some.agrees_with(&given[0]);
            if !self.spared[at] {
                // What has been seen stays: it may not happen again.
                let others: Vec<bool> = chosen.iter().map(|chosen| !chosen).collect();
                some = some.with(among::<O>(runner, kernel, posed, &others));
            }
            given.push(some);
        }
        given
    }
}

/// What a lane gives for the chosen ones of the cases.
fn among<O: Operation>(
    runner: &Runner<'_>,
    kernel: &Kernel<O>,
    posed: &[Posed<O::Params>],
    chosen: &[bool],
) -> Answers<O::Params> {
    let cases = posed.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(posed, _)| posed);
    answers::<O>(runner, kernel, cases, false).among(chosen)
}

/// Whether a lane runs a kernel of the project's without vector instructions. The path is the word of its worker, which counts where the worker is the
/// project's own program.
fn is_same_code<O: Operation>(lane: &Lane, kernel: &Kernel<O>) -> bool {
    lane.runs_our_code()
        && lane.isa_path(O::OP, kernel.name).is_some_and(|path| path == "scalar" || path.starts_with("portable"))
}
