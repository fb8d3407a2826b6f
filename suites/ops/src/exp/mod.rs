//! Fixed-point exponential in the harness: inputs at the ends, at whole quarters and at powers of two, in every format, and sweeps of all inputs.

mod changes;
mod fuzzed;
mod plan;
mod presented;
mod sweep;

use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Expected, Field, Operation, Spec, Sweeps,
    Tensors, Unposable, Wanted, Witnesses, fields,
};
use tiebreak_impls::exp::{self as impls, Domain, Params, Run};
use tiebreak_impls::kernel::Kernel;
use tiebreak_oracle::exp::{INTEGER_BITS, Scheme};
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Exp {}

/// Scheme against which differences are counted.
const REFERENCE: &str = "nearest";

impl Operation for Exp {
    const TENSORS: &'static [&'static str] = &["x"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/exp.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { has_len: true, ..Tensors::NONE },

        sweeps: Sweeps {
            all: |kernel, runner, selection, _| {
                sweep::sweep(kernel, runner).filter(|_| selection.is_nothing()).into_iter().collect()
            },
            ..Sweeps::NONE
        },
        causes: Causes { contract_cause: |contract, _| Some(Change::own("results", contract)), ..Causes::NONE },
        witnesses: Witnesses {
            isolate_result: |case, _, index| {
                let (params, x) = (Params { len: 1, ..case.params }, case.tensors[0][index]);
                vec![(Case { params, tensors: [vec![x], Vec::new(), Vec::new()].into(), misalign: 0 }, 0)]
            },
            ..Witnesses::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(impls::Exp, Scheme);

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.len]
    }

    fn range(_: &Domain, _: usize) -> RangeInclusive<i32> {
        i32::MIN..=0
    }

    fn widest_domain(_: &Scheme, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        types::none(Self::OP, ty)?;
        Ok(Domain { integer_bits: INTEGER_BITS })
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        INTEGER_BITS.contains(&p.integer_bits) && domain.integer_bits.contains(&p.integer_bits)
    }

    fn domain_text(domain: &Domain) -> String {
        let (least, most) = (domain.integer_bits.start(), domain.integer_bits.end());
        let bits = if least == most { least.to_string() } else { format!("{least} to {most}") };
        format!("{bits} integer bits; inputs that are not positive")
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let out = scheme.expected(case.params.integer_bits, &case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(Some).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let out = scheme.exact(case.params.integer_bits, &case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(|v| v.to_i32()).collect())
    }

    /// Returns the scheme that rounds the real exponential to nearest.
    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        Some(REFERENCE.to_owned())
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn shrink_candidates(case: &Case<Params>, _: &Domain) -> Vec<Case<Params>> {
        let x = &case.tensors[0];
        let part = |x: &[i32]| {
            let params = Params { len: x.len(), ..case.params };
            Case { params, tensors: [x.to_vec(), Vec::new(), Vec::new()].into(), misalign: case.misalign }
        };
        let (half, len) = (x.len() / 2, x.len());
        let mut out = Vec::new();
        if half > 0 {
            out.extend([part(&x[..half]), part(&x[half..]), part(&x[..len - 1]), part(&x[1..])]);
        }
        out.extend(case.aligned());
        out
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        fields::written(&FIELDS, p, &USUAL)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        fields::read_all(&FIELDS, USUAL, arguments, Self::TENSORS)
    }
}

/// Default parameters: five integer bits, as in the softmax of TensorFlow Lite.
const USUAL: Params = Params { len: 1, integer_bits: 5 };
const FIELDS: [Field<Params>; 2] = fields![Params; size len always; int32 integer_bits always];
