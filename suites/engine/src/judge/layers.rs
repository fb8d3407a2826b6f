//! Layers of a network: of each the results that were judged, those that differ from the contract, and the first of these.

use crate::operation::asked::Block;
use crate::run::answers::Answers;
use crate::run::subject::Posed;
use std::collections::BTreeMap;
use tiebreak_reports::ledger::{AtLayer, LayerCount};

/// Of each layer, by its number in the network, what a kernel gave in a lane.
pub(crate) type Layers = BTreeMap<usize, LayerCount>;

/// Adds what a lane gave for cases, each at its place of the network if it is of one. Results to which the contract gives no value are not counted.
pub(crate) fn add<P>(layers: &mut Layers, blocks: &[Option<Block>], posed: &[Posed<P>], given: &Answers<P>) {
    for ((block, posed), outs) in blocks.iter().zip(posed).zip(&given.each) {
        let (Some(block), Some(outs)) = (block, outs) else { continue };
        let count =
            layers.entry(block.layer).or_insert_with(|| LayerCount { layer: block.layer, ..LayerCount::default() });
        for (index, (expected, got)) in posed.contract.iter().zip(outs).enumerate() {
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
