//! One operation through all stages: catalogue, cases of the plan or the caller's, sweeps, and self-checks.

pub mod catalogue;
pub mod kernel;
pub mod listing;

use crate::activity::doing;
use crate::case::text;
use crate::identify::{Identified, identify};
use crate::lane::Lane;
use crate::ledger::kept::{Kept, go_on};
use crate::ledger::part::Part;
use crate::ledger::place::failed_check;
use crate::offline::{Bench, Benched};
use crate::operation::asked::{Asked, Layer, Parameter, ReferenceOption};
use crate::operation::request::Request;
use crate::operation::{Kernel, NamedScheme, Operation, find, is_compiled, kernels, offered};
use crate::pipeline::catalogue::run_catalogue;
use crate::pipeline::kernel::one_kernel;
use crate::plan::plans;
use crate::progress::progress;
use crate::registry::{Verifies, every_name};
use crate::self_check::{Measure, kills, mutants as self_check, planted};
use crate::vectors::{Vectors, Wanted, vectors};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use tiebreak_common::budget::Effort;
use tiebreak_common::parallel;
use tiebreak_impls::protocol::Offer;
use tiebreak_mlir::Function;
use tiebreak_oracle::scheme::Described;
use tiebreak_reports::bite::{Kill, Planted};
use tiebreak_reports::ledger::SelfCheck;

/// The operation `O`.
pub struct Pipeline<O>(PhantomData<O>);

impl<O> Pipeline<O> {
    /// The one value of this type.
    pub const NEW: Self = Self(PhantomData);
}

impl<O: Operation> Verifies for Pipeline<O> {
    fn op(&self) -> &'static str {
        O::OP
    }

    fn names(&self) -> Vec<&'static str> {
        every_name::<O::Impl>()
    }

    fn listed(&self) -> Vec<Value> {
        listing::kernels_and_mutants::<O>()
    }

    fn schemes(&self) -> Vec<Described> {
        O::Scheme::described()
    }

    fn bench(&self) -> Box<dyn Bench> {
        Box::new(Benched::<O>::default())
    }

    fn is_compiled(&self) -> bool {
        kernels::<O>().iter().any(|kernel| is_compiled::<O>(&kernel.contract.domain))
    }

    fn takes(&self, parameter: Parameter) -> bool {
        O::CAPABILITIES.options.takes.contains(&parameter)
    }

    fn takes_layer(&self, layer: &Layer) -> bool {
        self.takes(Parameter::Model) && (O::CAPABILITIES.options.takes_layer)(layer)
    }

    fn reference_option(&self) -> ReferenceOption {
        O::CAPABILITIES.options.reference
    }

    fn functions(&self, request: &Request, names: &[String]) -> Result<Vec<Function>> {
        let compiled = |kernel: &&&Kernel<O>| is_compiled::<O>(&kernel.contract.domain);
        named::<O>(names, &[]).iter().filter(compiled).try_fold(Vec::new(), |mut all, kernel| {
            all.extend(functions::<O>(request, kernel)?);
            Ok(all)
        })
    }

    fn kills(&self, measure: &Measure<'_>) -> Result<Vec<Kill>> {
        kills::matrix::<O>(measure)
    }

    fn planted(&self, measure: &Measure<'_>) -> Result<Vec<Planted>> {
        planted::all::<O>(measure)
    }

    fn vectors(&self, wanted: &Wanted) -> Result<Vectors> {
        vectors::<O>(wanted)
    }

    fn adopt(&self, offer: &Offer) -> Result<()> {
        offered::adopt::<O>(offer)
    }

    fn identify(&self, offer: &Offer, lane: &Lane, effort: Effort, seed: u64) -> Result<Identified> {
        identify::<O>(offer, lane, effort, seed)
    }

    fn verify(&self, (request, kept): (&Request, &Kept), names: &[String], lanes: &[Lane]) -> Result<Part> {
        let named = named::<O>(names, lanes);
        let mut part = Part::default();
        let catalogue =
            if request.asked.is_nothing() { run_catalogue::<O>(request, &named, lanes)? } else { Part::default() };
        if let Err(first) = go_on(request, &catalogue.findings) {
            kept.kernel(O::OP, &catalogue);
            return Err(first.into());
        }
        let checks = || match names.is_empty() && request.asked.is_nothing() {
            true => self_checks::<O>(request, lanes).map(Some),
            false => Ok(None),
        };
        let verified = || each_kernel::<O>((request, kept), &named, lanes);
        // Beside one another: the last kernel of an operation leaves cores idle. A run that ends at its first finding does not wait for checks.
        let (verified, checks) =
            if request.fail_fast { (Ok(verified()?), checks()) } else { parallel::both(verified, checks) };
        verified?.into_iter().for_each(|one| part.extend(one));
        if let (true, [first, ..]) = (part.outside_domain.len() == named.len(), &part.outside_domain[..]) {
            match names {
                [] => bail!("no {} kernel takes this; {}: {}", O::OP, first.kernel, first.domain),
                _ => bail!("{} does not take this: {}", first.kernel, first.domain),
            }
        }
        part.extend(catalogue.without_findings_of(&part));
        if let Some(checks) = checks? {
            part.findings.extend(checks.iter().filter(|c| !c.passed).map(failed_check));
            part.self_checks = checks;
            part.unchecked(O::OP, lanes);
        }
        Ok(part)
    }
}

/// What each kernel gives in every lane.
fn each_kernel<O: Operation>(
    (request, kept): (&Request, &Kept),
    named: &[&'static Kernel<O>],
    lanes: &[Lane],
) -> Result<Vec<Part>> {
    let bar = progress(O::OP, named.len() * lanes.len().max(1));
    let _plans = plans::Long::<O>::BEGUN;
    let one = |kernel: &&'static Kernel<O>| {
        let _doing = doing(|| format!("{} {}", O::OP, kernel.name));
        let part = one_kernel::<O>(request, kernel, lanes)?;
        kept.kernel(O::OP, &part);
        bar.inc(lanes.len() as u64);
        go_on(request, &part.findings)?;
        Ok(part)
    };
    parallel::try_map(named, one)
}

/// The kernels of these names; all where there is none, those of the lanes' own after them.
fn named<O: Operation>(names: &[String], lanes: &[Lane]) -> Vec<&'static Kernel<O>> {
    match names {
        [] => {
            let offers: BTreeSet<&str> = lanes.iter().flat_map(|lane| lane.own_kernels(O::OP)).collect();
            kernels::<O>().iter().chain(offers.into_iter().filter_map(find::<O>)).collect()
        }
        names => names.iter().filter_map(|name| find::<O>(name)).collect(),
    }
}

/// What a run may ask of a compiled kernel: its own cases, the catalogue's, and those by which one case is explained.
fn functions<O: Operation>(request: &Request, kernel: &Kernel<O>) -> Result<Vec<Function>> {
    let domain = &kernel.contract.domain;
    let mut params: Vec<O::Params> = match &request.asked {
        Asked { cases, .. } if !cases.is_empty() => {
            let given = cases.iter().filter_map(|case| Some(text::parse::<O>(case, domain).ok()?.params));
            let short = plans::plan::<O>(domain, &Asked::default(), &Effort::Quick.budget(), request.seed);
            given.chain(short.iter().map(|spec| spec.params.clone())).collect()
        }
        asked => {
            let specs = plans::plan::<O>(domain, asked, &request.effort.budget(), request.seed);
            specs.iter().map(|spec| spec.params.clone()).collect()
        }
    };
    if request.asked.cases.is_empty() {
        params.extend((O::CAPABILITIES.sweeps.params)(domain, &request.asked));
    }
    if request.asked.is_nothing() {
        let entries = crate::case::catalogue::read::<O>(O::CATALOGUE)
            .with_context(|| format!("suites/catalogue/{}.txt", O::OP))?;
        params.extend(entries.iter().filter_map(|entry| Some(text::parse::<O>(&entry.case, domain).ok()?.params)));
    }
    Ok(params.iter().filter(|params| O::covers(domain, params)).filter_map(O::CAPABILITIES.compiled.function).collect())
}

fn self_checks<O: Operation>(request: &Request, lanes: &[Lane]) -> Result<Vec<SelfCheck>> {
    // A lane of the caller's own is asked for what it offers.
    let due = |lane: &Lane, kernel: &Kernel<O>| {
        let fits = lane.is_compiled() == is_compiled::<O>(&kernel.contract.domain);
        fits && (lane.must_offer() || lane.isa_path(O::OP, kernel.name).is_some())
    };
    Ok(self_check::all::<O>(lanes, due, request.seed)?)
}
