//! The kernel's own check accepts all inputs that the operation sizes and covers for a contract. Otherwise a kernel would refuse its own domain, and
//! a user's mistake would be reported as a fault of the kernel.

use std::collections::{BTreeMap, BTreeSet};
use tiebreak_impls::operation::TensorOperation;
use tiebreak_reports::ledger::Value;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::engine::erased::{Domain, Op, Params, op};
use tiebreak_suites::engine::plan::plans;
use tiebreak_suites::fuzzing::tensor::Fuzzed;
use tiebreak_suites::operation::{CaseSelection, parameter_coverage};
use tiebreak_suites::verify::{Visitor, visit_tensors};

/// Returns replacements for an integer: its neighbours, small integers, and the ends of the types and sizes.
fn others(value: i64) -> Vec<i64> {
    let ends = [7, 8, 15, 16, 31].into_iter().flat_map(|bits| [-(1i64 << bits), (1 << bits) - 1, 1 << bits]);
    [value - 1, value + 1, -value, 2 * value, -1, 0, 1, 2, 3, 7, 25_722].into_iter().chain(ends).collect()
}

/// Returns the parameters of a quick run of a kernel.
fn planned(domain: &Domain) -> Vec<Params> {
    let specs = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let params: Vec<_> = specs.iter().map(|spec| &spec.params).collect();
    parameter_coverage::distinct(&params).into_iter().cloned().collect()
}

/// Returns the names of integer arguments in all plans of an operation; default values are not written.
fn integers(op: Op) -> BTreeSet<String> {
    let all = op.kernels().iter().flat_map(|kernel| planned(&kernel.contract.domain));
    let arguments = all.flat_map(|params| params.arguments());
    arguments.filter(|(_, value)| matches!(value, Value::Integer(_))).map(|(name, _)| name).collect()
}

/// Returns the parameters with one of these arguments changed, in every way that can be parsed.
fn changed(params: &Params, names: &BTreeSet<String>) -> Vec<(String, Params)> {
    let arguments: BTreeMap<String, Value> = params.arguments().into_iter().collect();
    let of = |name: &String| match arguments.get(name).unwrap_or(&Value::Integer(0)) {
        Value::Integer(value) => others(*value).into_iter().map(|v| (name.clone(), Value::Integer(v))).collect(),
        Value::Text(_) => Vec::new(),
    };
    let changes: Vec<(String, Value)> = names.iter().flat_map(of).collect();
    let with = |(name, value): (String, Value)| {
        let label = format!("{name}={value:?}");
        let all = arguments.iter().map(|(k, v)| (k.clone(), v.clone())).chain([(name, value)]).collect();
        Some((label, params.op().params_of(&all).ok()?))
    };
    changes.into_iter().filter_map(with).collect()
}

/// Counts of covered and uncovered changed parameters, by operation.
#[derive(Default)]
struct Counted(BTreeMap<&'static str, [usize; 2]>);

impl Visitor for Counted {
    fn visit<O: Fuzzed>(&mut self) {
        let counts = self.0.entry(O::OP).or_default();
        let names = integers(op::<O>());
        for kernel in op::<O>().kernels() {
            let domain = &kernel.contract.domain;
            let all = planned(domain);
            for params in all.iter().step_by(all.len().div_ceil(12)) {
                for (change, params) in changed(params, &names) {
                    let covers = domain.sizes(&params).is_ok() && domain.covers(&params);
                    let accepted = O::Impl::sizes(domain.typed::<O>(), params.typed::<O>());
                    if covers && let Err(error) = &accepted {
                        panic!("{} {}: {change} is covered, and refused: {error}", O::OP, kernel.name);
                    }
                    counts[usize::from(covers)] += 1;
                }
            }
        }
    }
}

#[test]
fn what_is_covered_is_accepted() {
    let mut counted = Counted::default();
    visit_tensors(&mut counted);
    println!("not covered, covered: {:?}", counted.0);
    for (op, [outside, covered]) in &counted.0 {
        assert!(*outside > 0 && *covered > 0, "{op}: {outside} not covered, {covered} covered");
    }
}
