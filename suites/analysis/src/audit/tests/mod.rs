//! Audits of small models, compared with every choice of activations on rationals.

mod hostile;
mod observed;
mod small;

use super::report::{Audit, ChannelCounts, Input, LayerCounts};
use super::*;
use crate::model::tests::onnx;
use std::collections::BTreeMap;

fn runtime(name: &str) -> Side {
    Side::Runtime(Runtime::find(name).expect("a runtime"))
}

fn scheme(name: &str, derivation: &str) -> Side {
    Side::Scheme(Rescaling::parse(name).expect("a scheme"), Derivation::find(derivation).expect("a derivation"))
}

fn audited(bytes: &[u8], left: Side, right: Side) -> Audit {
    examine(bytes, left, &[right]).expect("a model")
}

/// Channel of a test.
struct Stated<'a> {
    scales: [f32; 3],
    bias: i32,
    /// Weights minus their zero point.
    weights: &'a [i32],
    /// Stored activations minus their zero point.
    activations: std::ops::RangeInclusive<i32>,
    output: Output,
}

impl Stated<'_> {
    /// Returns every accumulator that some activations give.
    fn accumulators(&self) -> std::collections::BTreeSet<i64> {
        let start = std::collections::BTreeSet::from([i64::from(self.bias)]);
        self.weights.iter().fold(start, |sums, w| {
            sums.iter().flat_map(|sum| self.activations.clone().map(move |x| sum + i64::from(w * x))).collect()
        })
    }

    /// Checks the counts against the exact form of both sides on every accumulator.
    #[track_caller]
    fn check(&self, [left, right]: [Way; 2], counts: &ChannelCounts) {
        let [input, weight, output] = self.scales.map(exact);
        let scales = Scales { input, weight, output };
        let [(left, _), (right, _)] = [left, right].map(|way| way.of(&scales).expect("a multiplier"));
        let mut by_delta = BTreeMap::<i64, u64>::new();
        let (mut inputs, mut inside, mut differ_inside) = (0, 0, 0);
        let mut nearest = None::<(i64, i64, i64)>;
        for x in self.accumulators() {
            let values = (left.exact(Some(&self.output), x), right.exact(Some(&self.output), x));
            let (Some(l), Some(r)) = values else { continue };
            inputs += 1;
            let free = l > i64::from(self.output.min) && l < i64::from(self.output.max);
            inside += u64::from(free);
            differ_inside += u64::from(free && l != r);
            if l != r {
                *by_delta.entry(r - l).or_default() += 1;
                nearest = [nearest, Some((x, l, r))].into_iter().flatten().min_by_key(|(x, ..)| (x.abs(), *x < 0));
            }
        }
        assert_eq!((counts.inputs, counts.inside, &counts.by_delta), (inputs, inside, &by_delta));
        assert_eq!((counts.differ, counts.differ_inside), (by_delta.values().sum::<u64>(), differ_inside));
        let witness = counts.witness.map(|w| match w.input {
            Input::Accumulator { x } => (x, w.left, w.right),
            Input::Pair { .. } => panic!("no accumulator"),
        });
        assert_eq!(witness, nearest);
    }
}

fn layer_at(audit: &Audit, index: usize) -> &LayerCounts {
    audit.comparisons[0].layers.iter().find(|l| l.index == index).expect("a layer that was compared")
}
