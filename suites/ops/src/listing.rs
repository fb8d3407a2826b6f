//! The lists of `kernels` and `schemes`: every kernel and every scheme, operation by operation. The operations are those of
//! the registry, so that none is left out.

use crate::registry::OPERATIONS;
use serde_json::{Value, json};
use tiebreak_impls::contract::Domain;
use tiebreak_impls::{fpm, mutants};
use tiebreak_oracle::scheme::Described;

/// Every kernel and mutant with its contract.
pub fn kernels() -> Vec<Value> {
    OPERATIONS.iter().flat_map(|op| op.listed()).collect()
}

/// Every scheme with its operation.
pub fn schemes() -> Vec<(&'static str, Described)> {
    OPERATIONS.iter().flat_map(|op| op.schemes().into_iter().map(move |scheme| (op.op(), scheme))).collect()
}

/// Kernels and mutants of fixed point multiply.
pub fn fixed_point_multiply() -> Vec<Value> {
    let kernels = fpm::kernels().iter().map(|k| describe(k, "kernel"));
    let broken = mutants::fpm::mutants().iter().map(|m| &m.kernel);
    let broken = broken.chain(mutants::process());
    kernels.chain(broken.map(|k| describe(k, "mutant"))).collect()
}

/// A domain in words, without what is usual.
pub fn domain(domain: &Domain) -> String {
    let mut parts = Vec::new();
    if domain.multipliers != Domain::ALL.multipliers {
        parts.push(format!("m {}..={}", domain.multipliers.start(), domain.multipliers.end()));
    }
    if domain.multiple_of != 1 {
        parts.push(format!("m a multiple of {}", domain.multiple_of));
    }
    if domain.shifts != Domain::ALL.shifts {
        parts.push(format!("s {}..={}", domain.shifts.start(), domain.shifts.end()));
    }
    if domain.q != Domain::ALL.q {
        parts.push(format!("Q {}..={}", domain.q.start(), domain.q.end()));
    }
    if parts.is_empty() { "everything".to_owned() } else { parts.join(", ") }
}

fn describe(kernel: &fpm::Kernel, kind: &str) -> Value {
    let c = &kernel.contract;
    json!({
        "op": "fpm", "kernel": kernel.name, "kind": kind, "summary": kernel.summary,
        "scheme": c.promise.scheme, "overflow": tiebreak_engine::verify::tensor_op::listing::overflow(c.promise.overflow), "domain": domain(&c.domain),
        "deviations": c.deviations.iter().map(|d| json!({"class": d.class, "instead": d.instead.scheme, "reason": d.reason})).collect::<Vec<_>>(),
        "vector_instructions": kernel.native.as_ref().map(|n| n.instructions), "source": c.source,
    })
}
