//! Kernels that lanes offer under new names: adopted by their operations before the kernels of a run are selected.

use crate::lane::Lane;
use crate::registry::Registry;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use tiebreak_oracle::names::unknown;
use tiebreak_worker::protocol::Own;

/// Operation and name of each adopted kernel.
pub(crate) type Adopted = Vec<(String, String)>;

/// Adopts the kernels that the lanes offer. Fails for a wrong offer, with lane and offer in the message.
pub(crate) fn adopt(lanes: &[Lane], registry: &Registry) -> Result<Adopted> {
    let mut known: BTreeMap<(String, String), &Own> = BTreeMap::new();
    for lane in lanes {
        for offer in lane.hello.kernels.iter().filter(|offer| offer.own.is_given()) {
            let at = || format!("lane `{}` offers `{}`", lane.name, offer.kernel);
            match known.insert((offer.op.clone(), offer.kernel.clone()), &offer.own) {
                Some(other) if *other == offer.own => continue,
                Some(_) => return Err(other_promise(&offer.kernel)).with_context(at),
                None => {}
            }
            let names = || registry.operations.iter().map(|op| op.op());
            let op =
                registry.find(&offer.op).ok_or_else(|| unknown("operation", &offer.op, names())).with_context(at)?;
            op.adopt(offer).with_context(at)?;
        }
    }
    Ok(known.into_keys().collect())
}

fn other_promise(kernel: &str) -> anyhow::Error {
    anyhow::anyhow!("another offer of `{kernel}` promises something else; a name is one kernel, with one promise")
}
