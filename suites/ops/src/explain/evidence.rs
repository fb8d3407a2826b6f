//! What a kernel puts out around one input, and the cause of where that is not what a scheme expects: at the input's multiplier and
//! shift and where sequences part, in whole vectors and alone.

use crate::fpm::Case;
use crate::fpm::classify::{Explanation, Observation, explain, probe_channels};
use crate::fpm::tally::Regime;
use crate::fpm::yardstick::Yardstick;
use tiebreak_common::accumulators::accumulators;
use tiebreak_common::budget::{Budget, Effort};
use tiebreak_common::class::Class;
use tiebreak_engine::lane::FORM;
use tiebreak_impls::fpm::{Channel, Kernel, Params};

/// Elements of a batch of which all are in whole vectors, whatever the vector's length up to this.
const WHOLE: usize = 16;

/// Outputs at the input's own multiplier and shift, and at those where sequences part.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// At the input's own.
    pub near: Vec<Observation>,
    /// At the others, in the direction of the input's shift.
    pub far: Vec<Observation>,
}

impl Evidence {
    /// Both.
    pub(super) fn all(&self) -> Vec<Observation> {
        [&self.near[..], &self.far].concat()
    }

    /// Both, or nothing but the first where that alone can be explained.
    pub fn cause(&self, yardstick: &Yardstick, zone: usize, holds: bool) -> Option<Explanation> {
        let everywhere = cause(yardstick, zone, &self.all(), holds);
        match everywhere {
            Some(found) if found.class == Class::Unexplained => {
                cause(yardstick, zone, &self.near, holds).or(Some(found))
            }
            found => found,
        }
    }

    /// The accumulator nearest to zero on which it differs at the input's own multiplier and shift.
    pub fn nearest_difference(&self, yardstick: &Yardstick) -> Option<i32> {
        let differs = |o: &&Observation| yardstick.expected(&o.case).1.is_some_and(|v| v != i64::from(o.got));
        self.near.iter().filter(differs).map(|o| o.case.x).min_by_key(|x| (x.unsigned_abs(), *x < 0))
    }
}

/// Why outputs differ from what `yardstick` expects of a zone; `None` if none does.
fn cause(yardstick: &Yardstick, zone: usize, observations: &[Observation], holds: bool) -> Option<Explanation> {
    let judged = observations.iter().filter_map(|o| Some((yardstick.expected(&o.case).1? == i64::from(o.got), *o)));
    let (agreeing, differing): (Vec<_>, Vec<_>) = judged.partition(|(same, _)| *same);
    if differing.is_empty() {
        return None;
    }
    let evidence: Vec<Observation> = differing.into_iter().chain(agreeing).map(|(_, o)| o).collect();
    Some(explain(yardstick, zone, &evidence, holds).unwrap_or_else(Explanation::none))
}

/// Outputs of the kernel, all in whole vectors or each alone in its batch; the input comes first.
pub(super) fn observed(kernel: &Kernel, x: i32, channel: Channel, q: u32, whole: bool) -> Evidence {
    let few = Budget { random_accumulators: 32, near_ties: 16, ..Effort::Quick.budget() };
    let run =
        |channel, xs: &[i32]| if whole { together(kernel, channel, q, xs) } else { alone(kernel, channel, q, xs) };
    let mut xs = vec![x];
    xs.extend(accumulators(channel, q, &Effort::Quick.budget(), 0));
    let near = run(channel, &xs);
    let probes = probe_channels(&kernel.contract.domain, q, Regime::of(channel.shift));
    let far = probes.filter(|c| *c != channel).flat_map(|c| run(c, &accumulators(c, q, &few, 0))).collect();
    Evidence { near, far }
}

fn together(kernel: &Kernel, channel: Channel, q: u32, xs: &[i32]) -> Vec<Observation> {
    let mut padded = xs.to_vec();
    padded.resize(xs.len().next_multiple_of(WHOLE), 0);
    let outs = outputs(kernel, channel, q, &padded);
    let case = |index| Case { x: xs[index], channel, q, index, len: padded.len() };
    (0..xs.len()).map(|index| Observation { case: case(index), got: outs[index] }).collect()
}

fn alone(kernel: &Kernel, channel: Channel, q: u32, xs: &[i32]) -> Vec<Observation> {
    let one = |x: &i32| {
        let case = Case { x: *x, channel, q, index: 0, len: 1 };
        Observation { case, got: outputs(kernel, channel, q, &[*x])[0] }
    };
    xs.iter().map(one).collect()
}

fn outputs(kernel: &Kernel, channel: Channel, q: u32, xs: &[i32]) -> Vec<i32> {
    let mut out = vec![0; xs.len()];
    kernel.run(FORM)(&Params { q, channels: vec![channel] }, xs, &mut out);
    out
}
