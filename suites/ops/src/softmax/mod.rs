//! Softmax in the harness: rows of every length, each pair of differences, rows dominated by one element, and scales from flat to steep.

mod changes;
mod fuzzed;
mod plan;
mod presented;

use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Counted, Expected, Field, Operation, Spec,
    Tensors, Unposable, Wanted, arguments, fields,
};
use tiebreak_impls::element::Element;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::shape::{self, Sizes};
use tiebreak_impls::softmax::{self as impls, Domain, Params, Run};
use tiebreak_oracle::softmax::{Scheme, Softmax as Exact};
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Softmax {}

/// Scheme against which differences are counted.
const REFERENCE: &str = "nearest";

/// Converts the parameters to the oracle's.
pub(crate) fn to_oracle(p: &Params) -> Exact {
    mirrored!(p => Exact {
        rows, depth, multiplier, left_shift, diff_min; input: types::storage(p.input), out: types::storage(p.output)
    })
}

impl Operation for Softmax {
    const TENSORS: &'static [&'static str] = &["input"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/softmax.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { sizes: Self::sizes, ..Tensors::NONE },

        causes: Causes { contract_cause: |contract, _| Some(Change::own("results", contract)), ..Causes::NONE },
        counted: Counted { products: |p| (p.rows * p.depth) as u64, ..Counted::NONE },
        ..Capabilities::NONE
    };
    types_of!(impls::Softmax, Scheme);

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.rows, p.depth]
    }

    fn range(domain: &Domain, _: usize) -> RangeInclusive<i32> {
        domain.input.range()
    }

    fn widest_domain(_: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        let [input, output] = match ty {
            Some(ty) => types::operands(Some(ty))?,
            None => elements(arguments)?,
        };
        for (name, element) in [("type", input), ("out_type", output)] {
            arguments.insert(name.to_owned(), Value::Text(element.name().to_owned()));
        }
        Ok(Domain { input, output })
    }

    /// Checks that the oracle accepts the parameters. No code of a kernel decides on which cases it runs.
    fn covers(domain: &Domain, p: &Params) -> bool {
        let elements = p.rows.saturating_mul(p.depth);
        (p.input, p.output) == (domain.input, domain.output)
            && elements <= shape::MAX_ELEMENTS
            && to_oracle(p).check().is_ok()
    }

    fn domain_text(domain: &Domain) -> String {
        format!("{} to {}; rows of 1 to {} elements", domain.input.name(), domain.output.name(), impls::MOST)
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let out = scheme.expected(&to_oracle(&case.params), &case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(Some).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let out = scheme.exact(&to_oracle(&case.params), &case.tensors[0]).map_err(Unposable::new)?;
        Ok(out.into_iter().map(|v| v.to_i32()).collect())
    }

    /// Returns the scheme that rounds the real softmax to nearest.
    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        Some(REFERENCE.to_owned())
    }

    /// Returns the least value, whose exponential is 0 in most rows.
    fn neutral_element(p: &Params, _: usize) -> i32 {
        *p.input.range().start()
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let p = case.params;
        let cut = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
            let params = Params { rows: rows.len(), depth: columns.len(), ..p };
            let row = |row: usize| case.tensors[0][row * p.depth..][columns.clone()].to_vec();
            let input = rows.flat_map(row).collect();
            Case { params, tensors: [input, Vec::new(), Vec::new()].into(), misalign: case.misalign }
        };
        let mut out = Vec::new();
        for rows in [0..1, 0..p.rows / 2, p.rows / 2..p.rows, 0..p.rows - 1] {
            out.push(cut(rows, 0..p.depth));
        }
        for columns in [0..p.depth / 2, p.depth / 2..p.depth, 0..p.depth - 1, 1..p.depth] {
            out.push(cut(0..p.rows, columns));
        }
        out.retain(|smaller| {
            let q = &smaller.params;
            (q.rows, q.depth) != (p.rows, p.depth) && Self::covers(domain, q)
        });
        out.extend(case.aligned());
        out
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        let mut out = Vec::new();
        for (name, element) in [("type", p.input), ("out_type", p.output)] {
            if element != Element::I8 {
                out.push((name.to_owned(), Value::Text(element.name().to_owned())));
            }
        }
        out.extend(fields::written(&FIELDS, p, &USUAL));
        out
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        let mut left = arguments.clone();
        let [input, output] = elements(&mut left)?;
        fields::read_all(&FIELDS, Params { input, output, ..USUAL }, &left, &["type", "out_type", "input"])
    }
}

/// Takes the types of a case; the default is int8.
fn elements(arguments: &mut Arguments) -> Result<[Element; 2], CaseError> {
    let [input, output] = ["type", "out_type"].map(|name| arguments::take_text(arguments, name));
    Ok([types::element(input.as_deref())?, types::element(output.as_deref())?])
}

impl Softmax {
    /// Returns the tensor sizes for parameters in the domain; for other parameters, the result of [`Domain::sizes`].
    fn sizes(domain: &Domain, p: &Params) -> Result<Sizes, shape::ShapeError> {
        match Self::covers(domain, p) {
            true => Ok(Sizes { inputs: [p.rows * p.depth, 0, 0], outputs: p.rows * p.depth }),
            false => domain.sizes(p),
        }
    }
}

/// Default parameters: a scale of 1/16, which is 2^22 with 26 fractional bits; differences below -31 are omitted.
const USUAL: Params = Params {
    input: Element::I8,
    output: Element::I8,
    rows: 1,
    depth: 1,
    multiplier: 1 << 30,
    left_shift: 23,
    diff_min: -248,
};

const FIELDS: [Field<Params>; 5] = fields![
    Params; size rows; size depth always; int32 multiplier always; int32 left_shift always; int32 diff_min always
];
