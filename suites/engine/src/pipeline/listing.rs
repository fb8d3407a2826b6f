//! Listing of an operation's kernels.

use crate::operation::scheme::overflow;
use crate::operation::{Kernel, Operation, kernels, mutants};
use serde_json::{Value, json};
use tiebreak_impls::Form;
use tiebreak_impls::operation::TensorOperation;

/// Describes the kernels and mutants of an operation.
pub fn kernels_and_mutants<O: Operation>() -> Vec<Value> {
    let describe = |k: &Kernel<O>, kind: &str| {
        let promise = k.contract.promise;
        let deviations = k.contract.deviations.iter();
        let deviations = deviations.map(|d| json!({"class": d.class, "instead": d.instead.scheme, "reason": d.reason}));
        let deviations: Vec<Value> = deviations.collect();
        json!({
            "op": O::OP, "kernel": k.name, "kind": kind, "summary": k.summary,
            "scheme": promise.scheme, "overflow": overflow(promise.overflow), "domain": O::domain_text(&k.contract.domain),
            "deviations": deviations, "vector_instructions": k.native.as_ref().map(|n| n.instructions), "source": k.contract.source,
            "host": k.isa_path(Form::Native),
        })
    };
    let kernels = kernels::<O>().iter().map(|k| describe(k, "kernel"));
    let mutants =
        mutants::<O>().iter().map(|mutant| &mutant.kernel).chain(<O::Impl as TensorOperation>::process_mutants());
    kernels.chain(mutants.map(|k| describe(k, "mutant"))).collect()
}
