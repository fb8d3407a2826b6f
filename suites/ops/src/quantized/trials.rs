//! Plans of self-checks, each made once: most mutants of an operation have the domain of another one.

use std::sync::{Mutex, PoisonError};
use tiebreak_engine::tensor::Spec;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::Params;

type Plan = Vec<Spec<Params>>;

/// Those of one operation, by domain and seed.
#[derive(Debug, Default)]
pub struct Trials(Mutex<Vec<(Domain, u64, Plan)>>);

impl Trials {
    /// None yet.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The plan of a domain, which `make` makes if it is not known.
    pub fn of(&self, domain: &Domain, seed: u64, make: impl FnOnce() -> Plan) -> Plan {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., plan)) = known().iter().find(|(of, with, _)| (of, *with) == (domain, seed)) {
            return plan.clone();
        }
        let plan = make();
        known().push((domain.clone(), seed, plan.clone()));
        plan
    }
}
