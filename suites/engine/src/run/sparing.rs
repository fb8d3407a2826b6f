//! Cases that quick and standard effort leave out in further lanes of the project, for two kinds of code: code without vector instructions is the code
//! of the first lane, compiled for another target; and vector code that a kernel of another operation runs in the same lane. Such code runs a sample
//! of its cases, and all cases as soon as one result differs from the first lane.

use crate::erased::Kernel;
use crate::lane::Lane;
use crate::lane::runner::Runner;
use crate::operation::request::Request;
use crate::run::answers::{Answers, answers};
use crate::run::subject::ExpectedCase;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::budget::Effort;
use tiebreak_common::stream::{below, stream};

/// Number of cases of a plan from which quick effort draws half as large a share: some sixty cases then still run.
const MANY: usize = 1000;

/// Returns the sampling rate of the first lane's code in a plan of some cases: one of `n` cases runs, at random, so that no rhythm of the plan
/// decides; `None` if all cases run.
fn of_same_code(effort: Effort, cases: usize) -> Option<u32> {
    match effort {
        Effort::Quick => Some(if cases < MANY { 8 } else { 16 }),
        Effort::Standard => Some(4),
        Effort::Exhaustive => None,
    }
}

/// Returns the sampling rate of vector code that a kernel of another operation runs in the same lane; `None` if all cases run.
fn of_shared_code(effort: Effort) -> Option<u32> {
    match effort {
        Effort::Quick => Some(4),
        Effort::Standard | Effort::Exhaustive => None,
    }
}

/// Lanes of a kernel, with the sampling rate of each lane that is still sampled.
pub(crate) struct Sparing<'a> {
    runners: &'a [Runner<'a>],
    one_in: Vec<Option<u32>>,
    rng: ChaCha8Rng,
}

impl<'a> Sparing<'a> {
    /// Decides the sampled lanes for a plan of some cases; a kernel that the caller named runs all cases.
    pub(crate) fn new(request: &Request, kernel: &Kernel, cases: usize, runners: &'a [Runner<'a>]) -> Self {
        let domain = &kernel.contract.domain;
        let unnamed = request.selection.is_nothing() && request.kernels.is_empty();
        let any = unnamed && !(kernel.op().capabilities().sweeps.exhaustive)(domain) && !domain.is_compiled();
        let known = any && runners.first().is_some_and(|first| first.lane.runs_our_code());
        let one_in = |(at, runner): (usize, &Runner<'_>)| match runner.lane {
            _ if at == 0 || !known => None,
            lane if is_same_code(lane, kernel) => of_same_code(request.effort, cases),
            lane if runs_elsewhere(request, lane, kernel) => of_shared_code(request.effort),
            _ => None,
        };
        let rng = stream(request.seed, &format!("{}/{}/spared", kernel.op().name(), kernel.name));
        Self { runners, one_in: runners.iter().enumerate().map(one_in).collect(), rng }
    }

    /// True if a lane was sampled to the end.
    pub(crate) fn is_spared(&self, lane: &Lane) -> bool {
        self.runners.iter().zip(&self.one_in).any(|(runner, rate)| rate.is_some() && std::ptr::eq(runner.lane, lane))
    }

    /// Runs cases in each lane, and returns their answers.
    pub(crate) fn answers(&mut self, kernel: &Kernel, cases: &[ExpectedCase], keep: bool) -> Vec<Answers> {
        let mut given: Vec<Answers> = Vec::with_capacity(self.runners.len());
        for (at, runner) in self.runners.iter().enumerate() {
            let Some(one_in) = self.one_in[at] else {
                given.push(answers(runner, kernel, cases, keep));
                continue;
            };
            let chosen: Vec<bool> = cases.iter().map(|_| below(&mut self.rng, one_in) == 0).collect();
            let mut some = among(runner, kernel, cases, &chosen);
            if !some.agrees_with(&given[0]) {
                self.one_in[at] = None;
                // Results that have been seen stay, because they may not recur.
                let others: Vec<bool> = chosen.iter().map(|chosen| !chosen).collect();
                some = some.with(among(runner, kernel, cases, &others));
            }
            given.push(some);
        }
        given
    }
}

/// Runs the chosen cases in a lane.
fn among(runner: &Runner<'_>, kernel: &Kernel, cases: &[ExpectedCase], chosen: &[bool]) -> Answers {
    let cases = cases.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(expected_case, _)| expected_case);
    answers(runner, kernel, cases, false).among(chosen)
}

/// True if a lane runs a kernel of the project without vector instructions. The ISA path is a worker's statement, trusted only from the project.
fn is_same_code(lane: &Lane, kernel: &Kernel) -> bool {
    lane.runs_our_code()
        && lane
            .isa_path(kernel.op().name(), kernel.name)
            .is_some_and(|path| path == "scalar" || path.starts_with("portable"))
}

/// True if the run sends all cases of another operation to the same vector code in the lane.
fn runs_elsewhere(request: &Request, lane: &Lane, kernel: &Kernel) -> bool {
    (kernel.op().capabilities().shared_code)(kernel).is_some_and(|shared| {
        let path = lane.isa_path(kernel.op().name(), kernel.name);
        let is_asked = request.ops.iter().any(|op| op == shared.op);
        is_asked && lane.runs_our_code() && path.is_some() && path == lane.isa_path(shared.op, shared.kernel)
    })
}
