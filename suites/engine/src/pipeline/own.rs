//! Kernels that the project does not have: a worker offers each under a name of its own, with the contract that it claims.

use crate::lane::Lane;
use crate::operation::{Kernel, Operation, find, is_compiled, kernels, promise, scheme_named};
use crate::operation::{NamedScheme, label};
use anyhow::{Result, bail};
use tiebreak_impls::contract::{Contract, Overflow, Promise};
use tiebreak_impls::protocol::Offer;
use tiebreak_oracle::names::unknown;

/// Characters of the longest name.
const LONGEST: usize = 64;

/// Where the claim of such a kernel comes from.
const SOURCE: &str = "as its worker claims";

/// The kernels of their own that lanes offer of an operation, in the order of the lanes. Two lanes may offer the same one, with the same claim.
pub(crate) fn offered<O: Operation>(lanes: &[Lane]) -> Result<Vec<&'static Kernel<O>>> {
    let mut all: Vec<(&Offer, &'static Kernel<O>)> = Vec::new();
    for lane in lanes {
        for offer in lane.hello.kernels.iter().filter(|offer| offer.op == O::OP && offer.is_own()) {
            let refused = |why: &str| format!("lane {} offers {} {}: {why}", lane.name, O::OP, offer.kernel);
            match all.iter().find(|(known, _)| known.kernel == offer.kernel) {
                Some((known, _)) if (&known.like, &known.scheme) == (&offer.like, &offer.scheme) => {}
                Some(_) => bail!(refused("another offer of that name claims another contract")),
                None => all.push((offer, claimed::<O>(offer).map_err(|why| anyhow::anyhow!(refused(&why)))?)),
            }
        }
    }
    Ok(all.into_iter().map(|(_, kernel)| kernel).collect())
}

/// The kernel of an offer. It lives as long as the program, like every other kernel: a run has a few of them.
fn claimed<O: Operation>(offer: &Offer) -> Result<&'static Kernel<O>, String> {
    let name = named(&offer.kernel)?;
    if find::<O>(name).is_some() {
        return Err("the project has a kernel of that name; give yours another name".to_owned());
    }
    let scheme = offer.scheme.as_ref().map(|text| scheme_named::<O>(text).map_err(|unknown| unknown.to_string()));
    let scheme = scheme.transpose()?;
    let base = base::<O>(offer.like.as_deref(), scheme.as_ref())?;
    let contract = match &scheme {
        None => base.contract.clone(),
        Some(scheme) => Contract { promise: promised(&label::<O>(scheme)), deviations: &[], ..base.contract.clone() },
    };
    let contract = Contract { source: SOURCE, ..contract };
    let summary = "a kernel that its worker names";
    Ok(Box::leak(Box::new(Kernel::<O> { name, summary, contract, portable: base.portable, native: None })))
}

/// A name that a command line and a report can print as it is.
fn named(name: &str) -> Result<&'static str, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > LONGEST || name.starts_with('-') || !name.chars().all(plain) {
        return Err(format!("name it with at most {LONGEST} letters, digits, `-`, `_` and `.`"));
    }
    Ok(name.to_owned().leak())
}

/// The kernel whose domain a claim takes: the one that it names, otherwise the first that promises the scheme.
fn base<O: Operation>(like: Option<&str>, scheme: Option<&O::Scheme>) -> Result<&'static Kernel<O>, String> {
    let own = || kernels::<O>().iter().filter(|kernel| !is_compiled::<O>(&kernel.contract.domain));
    if let Some(like) = like {
        let found = own().find(|kernel| kernel.name == like);
        return found.ok_or_else(|| unknown("kernel", like, own().map(|kernel| kernel.name)).to_string());
    }
    let wanted = scheme.map(|scheme| label::<O>(scheme)).unwrap_or_default();
    let bare = |label: &str| label.split(':').next().unwrap_or_default().to_owned();
    let promises = |kernel: &&Kernel<O>, same: &dyn Fn(&str) -> bool| {
        promise::<O>(kernel).is_ok_and(|scheme| same(&scheme.label()))
    };
    let found = own().find(|kernel| promises(kernel, &|label| label == wanted));
    found.or_else(|| own().find(|kernel| promises(kernel, &|label| bare(label) == bare(&wanted)))).ok_or_else(|| {
        format!("no kernel of the project promises {wanted}; add \"like\", with the kernel whose domain yours has")
    })
}

/// The promise of a scheme by its label, `NAME` or `NAME:POLICY`.
fn promised(label: &str) -> Promise {
    let (scheme, policy) = label.split_once(':').unwrap_or((label, ""));
    let overflow = match policy {
        "wrap" => Overflow::Wrap,
        "saturate" => Overflow::Saturate,
        _ => Overflow::OutOfDomain,
    };
    Promise { scheme: scheme.to_owned().leak(), overflow }
}
