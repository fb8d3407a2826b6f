//! Cases that quick and standard effort leave out. In a further lane of the project, code without vector instructions is the code of the first lane,
//! compiled for another target. Such code runs a sample of its cases there, and all cases as soon as one result differs from the first lane.

use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::request::Request;
use crate::operation::{Kernel, Operation, is_compiled};
use crate::run::answers::{Answers, answers};
use crate::run::subject::ExpectedCase;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::budget::Effort;
use tiebreak_common::stream::{below, stream};

/// Returns the sampling rate at an effort: one of `n` cases runs, at random, so that no rhythm of the plan decides; `None` if all cases run.
fn one_in(effort: Effort) -> Option<u32> {
    match effort {
        Effort::Quick => Some(8),
        Effort::Standard => Some(4),
        Effort::Exhaustive => None,
    }
}

/// Lanes of a kernel, with flags for the lanes that are still sampled.
pub(crate) struct Sparing<'a> {
    runners: &'a [Runner<'a>],
    spared: Vec<bool>,
    one_in: u32,
    rng: ChaCha8Rng,
}

impl<'a> Sparing<'a> {
    /// Decides the sampled lanes; a kernel that the caller named runs all cases.
    pub(crate) fn new<O: Operation>(request: &Request, kernel: &Kernel<O>, runners: &'a [Runner<'a>]) -> Self {
        let domain = &kernel.contract.domain;
        let unnamed = request.selection.is_nothing() && request.kernels.is_empty();
        let one_in = one_in(request.effort);
        let any =
            one_in.is_some() && unnamed && !(O::CAPABILITIES.sweeps.exhaustive)(domain) && !is_compiled::<O>(domain);
        let known = any && runners.first().is_some_and(|first| first.lane.runs_our_code());
        let spared = |(at, runner): (usize, &Runner<'_>)| known && at > 0 && is_same_code::<O>(runner.lane, kernel);
        let rng = stream(request.seed, &format!("{}/{}/spared", O::OP, kernel.name));
        Self { runners, spared: runners.iter().enumerate().map(spared).collect(), one_in: one_in.unwrap_or(1), rng }
    }

    /// True if a lane was sampled to the end.
    pub(crate) fn is_spared(&self, lane: &Lane) -> bool {
        self.runners.iter().zip(&self.spared).any(|(runner, spared)| *spared && std::ptr::eq(runner.lane, lane))
    }

    /// Runs cases in each lane, and returns their answers.
    pub(crate) fn answers<O: Operation>(
        &mut self,
        kernel: &Kernel<O>,
        cases: &[ExpectedCase<O::Params>],
        keep: bool,
    ) -> Vec<Answers<O::Params>> {
        let mut given: Vec<Answers<O::Params>> = Vec::with_capacity(self.runners.len());
        for (at, runner) in self.runners.iter().enumerate() {
            if !self.spared[at] {
                given.push(answers::<O>(runner, kernel, cases, keep));
                continue;
            }
            let chosen: Vec<bool> = cases.iter().map(|_| below(&mut self.rng, self.one_in) == 0).collect();
            let mut some = among::<O>(runner, kernel, cases, &chosen);
            self.spared[at] = some.agrees_with(&given[0]);
            if !self.spared[at] {
                // Results that have been seen stay, because they may not recur.
                let others: Vec<bool> = chosen.iter().map(|chosen| !chosen).collect();
                some = some.with(among::<O>(runner, kernel, cases, &others));
            }
            given.push(some);
        }
        given
    }
}

/// Runs the chosen cases in a lane.
fn among<O: Operation>(
    runner: &Runner<'_>,
    kernel: &Kernel<O>,
    cases: &[ExpectedCase<O::Params>],
    chosen: &[bool],
) -> Answers<O::Params> {
    let cases = cases.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(expected_case, _)| expected_case);
    answers::<O>(runner, kernel, cases, false).among(chosen)
}

/// True if a lane runs a kernel of the project without vector instructions. The ISA path is a worker's statement, trusted only from the project.
fn is_same_code<O: Operation>(lane: &Lane, kernel: &Kernel<O>) -> bool {
    lane.runs_our_code()
        && lane.isa_path(O::OP, kernel.name).is_some_and(|path| path == "scalar" || path.starts_with("portable"))
}
