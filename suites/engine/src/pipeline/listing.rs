//! Listing of an operation's kernels.

use crate::erased::{Kernel, Op};
use crate::operation::scheme::overflow;
use serde_json::{Value, json};
use tiebreak_impls::Form;

/// Describes the kernels and mutants of an operation.
pub fn kernels_and_mutants(op: Op) -> Vec<Value> {
    let describe = |k: &Kernel, kind: &str| {
        let promise = k.contract.promise;
        let deviations = k.contract.deviations.iter();
        let deviations = deviations.map(|d| json!({"class": d.class, "instead": d.instead.scheme, "reason": d.reason}));
        let deviations: Vec<Value> = deviations.collect();
        json!({
            "op": op.name(), "kernel": k.name, "kind": kind, "summary": k.summary,
            "scheme": promise.scheme, "overflow": overflow(promise.overflow), "domain": k.contract.domain.text(),
            "deviations": deviations, "vector_instructions": op.instructions(k), "source": k.contract.source,
            "host": op.isa_path(k, Form::Native),
        })
    };
    let kernels = op.kernels().iter().map(|k| describe(k, "kernel"));
    let mutants = op.mutants().iter().map(|mutant| &mutant.kernel).chain(&op.lists().process_mutants);
    kernels.chain(mutants.map(|k| describe(k, "mutant"))).collect()
}
