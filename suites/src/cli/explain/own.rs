//! `explain --library` and `explain --program`: kernels of the caller's on one case.

use super::show::{Shown, show};
use crate::cli::{Listing, library, worker};
use crate::explain::case::{OwnKernels, Wanted, explain_of};
use crate::lane::Lane;
use crate::lane::config::Lanes;
use crate::presented::Presented;
use crate::verify::OPERATIONS;
use anyhow::{Context, Result, anyhow, ensure};
use tiebreak_worker::library::Promise;
use tiebreak_worker::protocol::{Offer, Own};

/// Place of the caller's kernels.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    place: library::Place,
    /// Kernel of this project whose domain the caller's kernels have; without it, the first that promises the scheme
    #[arg(long, value_name = "KERNEL", requires = "place")]
    like: Option<String>,
}

impl Args {
    /// True if the caller names a place.
    pub(super) fn is_given(&self) -> bool {
        self.place.written().is_some()
    }

    /// Explains the case by the steps of the schemes and the results of the caller's kernels, which promise the first scheme.
    pub(super) fn explain<O: Presented>(&self, wanted: &Wanted, format: Listing) -> Result<()> {
        let place = self.place.written().context("no library and no program is given")?;
        let scheme = wanted.schemes.first().cloned();
        ensure!(scheme.is_some(), "{place}: which scheme do the kernels promise? Add --scheme NAME");
        ensure!(!wanted.case.is_empty(), "{place}: give the input as --case, such as the `case` that verify prints");
        let lanes = Lanes { own_worker: worker::command(), ..Lanes::given(None)? };
        let own = Own { scheme, like: self.like.clone(), ..Own::default() };
        let promise = Promise { ops: vec![O::OP.to_owned()], own, ..Promise::default() };
        let entry = self.place.entry(&promise, &lanes)?.context("no library and no program is given")?;
        let lanes = Lanes { lanes: vec![entry.clone()], ..lanes };
        let lane = Lane::open(&entry.name, &lanes)?.map_err(|reason| anyhow!("{place}: {reason}"))?;
        let offers: Vec<&Offer> = lane.hello.kernels.iter().filter(|offer| offer.op == O::OP).collect();
        ensure!(!offers.is_empty(), "{place} has no kernel of {}", O::OP);
        let op = OPERATIONS.iter().find(|op| op.op() == O::OP).context("an operation of the registry")?;
        for offer in &offers {
            op.adopt(offer).with_context(|| place.clone())?;
        }
        let names: Vec<String> = offers.iter().map(|offer| offer.kernel.clone()).collect();
        let (input, sheet) = explain_of::<O>(wanted, Some(OwnKernels { lane: &lane, names: &names }))?;
        show(&Shown { op: O::OP, input, sheet }, format)
    }
}
