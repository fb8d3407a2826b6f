//! Counts for the layers of a network: judged results, differences from the contract, and the first difference.

use crate::operation::selection::Block;
use crate::run::answers::Answers;
use crate::run::subject::ExpectedCase;
use std::collections::BTreeMap;
use tiebreak_reports::ledger::{AtLayer, LayerCount};

/// Counts of a kernel in a lane, by the layer's number in the network.
pub(crate) type Layers = BTreeMap<usize, LayerCount>;

/// Adds a lane's answers for cases of a network. Results without a value by the contract are not counted.
pub(crate) fn add(layers: &mut Layers, blocks: &[Option<Block>], cases: &[ExpectedCase], given: &Answers) {
    for ((block, expected_case), outs) in blocks.iter().zip(cases).zip(&given.each) {
        let (Some(block), Some(outs)) = (block, outs) else { continue };
        let count =
            layers.entry(block.layer).or_insert_with(|| LayerCount { layer: block.layer, ..LayerCount::default() });
        for (index, (expected, got)) in expected_case.contract.iter().zip(outs).enumerate() {
            let Some(expected) = *expected else { continue };
            count.outputs += 1;
            if expected != *got {
                count.differ += 1;
                let here = AtLayer { input: block.input, at: block.at(index), got: *got, expected };
                count.first =
                    count.first.filter(|first| (first.input, first.at) <= (here.input, here.at)).or(Some(here));
            }
        }
    }
}
