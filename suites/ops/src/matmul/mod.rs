//! Integer matrix products in the harness: their cases and the possible causes of a difference.

mod changes;
mod conjunctions;
mod fuzzed;
pub(crate) mod layers;
mod networks;
mod nibbles;
mod offsets;
pub(crate) mod plan;
mod presented;

use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, sizes};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Change, Counted, Expected, Field, Operation, Options,
    Parameter, Spec, Unposable, Wanted, fields,
};
use tiebreak_impls::element::Element;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::matmul::{Domain, Params, Run};
use tiebreak_impls::shape::MAX_ELEMENTS;
use tiebreak_oracle::Rational;
use tiebreak_oracle::matmul::{Product, Scheme};
use tiebreak_reports::ledger::Value;

pub(crate) use changes::either;
pub use changes::{changes, orders, other_sign, reproduced, round_24, widths, wrapped_to, wrapping};

/// The operation.
pub enum Matmul {}

/// Converts the parameters to the oracle's.
pub fn product(p: &Params) -> Product {
    Product { m: p.m, n: p.n, k: p.k, lhs_offset: p.lhs_offset, rhs_offset: p.rhs_offset }
}

impl Operation for Matmul {
    const TENSORS: &'static [&'static str] = &["lhs", "rhs"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/matmul.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        counted: Counted { products: |p| sizes::product(&[p.m, p.n, p.k]), ..Counted::NONE },
        options: Options {
            takes: &[Parameter::Model],
            takes_layer: layers::is_product,
            caller_coverage: |domain, selection, run, _| {
                (!selection.layers.is_empty()).then(|| layers::caller_coverage(domain, &selection.layers, run))
            },
            ..Options::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::matmul::Matmul, Scheme);

    fn dimensions(_: &Domain, p: &Params, t: usize) -> Vec<usize> {
        [[p.m, p.k], [p.k, p.n], [p.m, p.n]][t].to_vec()
    }

    fn range(domain: &Domain, t: usize) -> RangeInclusive<i32> {
        if t == 0 { domain.lhs_values.clone() } else { domain.rhs_values.clone() }
    }

    fn widest_domain(_: &Scheme, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        types::operands(ty).map(|[lhs, rhs]| Domain::all(lhs, rhs))
    }

    fn covers(domain: &Domain, params: &Params) -> bool {
        domain.depth.contains(&params.k)
            && domain.lhs_offsets.contains(&params.lhs_offset)
            && domain.rhs_offsets.contains(&params.rhs_offset)
    }

    fn domain_text(domain: &Domain) -> String {
        operands(domain)
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [lhs, rhs, _] = &*case.tensors;
        scheme.expected(&product(&case.params), lhs, rhs).map_err(Unposable::new)
    }

    fn rational(_: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let [lhs, rhs, _] = &*case.tensors;
        Some(product(&case.params).sums(lhs, rhs).ok()?.into_iter().map(|sum| Some(sum.into())).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [lhs, rhs, _] = &*case.tensors;
        let exact = scheme.exact(&product(&case.params), lhs, rhs).map_err(Unposable::new)?;
        Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        Some("exact".to_owned())
    }

    fn neutral_element(params: &Params, t: usize) -> i32 {
        [params.lhs_offset, params.rhs_offset].get(t).map_or(0, |offset| offset.wrapping_neg())
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        if !selection.layers.is_empty() {
            return layers::specs(domain, &selection.layers);
        }
        let within = |offset: i32, range: &RangeInclusive<i32>| offset.clamp(*range.start(), *range.end());
        let mut specs = plan::plan(domain, budget, seed);
        // For a kernel with restricted offsets, each case gets the nearest accepted offsets.
        for Spec { params, .. } in &mut specs {
            params.lhs_offset = within(params.lhs_offset, &domain.lhs_offsets);
            params.rhs_offset = within(params.rhs_offset, &domain.rhs_offsets);
        }
        specs
    }

    fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Self>> {
        changes::changes(scheme, domain)
    }

    fn shrink_candidates(case: &Case<Params>, _: &Domain) -> Vec<Case<Params>> {
        let p = case.params;
        let mut out = Vec::new();
        for (m, n, k) in [(1, p.n, p.k), (p.m, 1, p.k), (p.m, p.n, 1)] {
            out.extend([false, true].map(|last| cropped(case, (m, n, k), last)));
        }
        for (m, n, k) in [(p.m / 2, p.n, p.k), (p.m, p.n / 2, p.k), (p.m, p.n, p.k / 2)] {
            out.extend([false, true].map(|last| cropped(case, (m, n, k), last)));
        }
        for (m, n, k) in [(p.m - 1, p.n, p.k), (p.m, p.n - 1, p.k), (p.m, p.n, p.k - 1)] {
            out.extend([false, true].map(|last| cropped(case, (m, n, k), last)));
        }
        out.retain(|c| c.params.sizes().is_ok() && (c.params.m, c.params.n, c.params.k) != (p.m, p.n, p.k));
        for (lhs_offset, rhs_offset) in simpler_offsets(p.lhs_offset, p.rhs_offset) {
            out.push(Case { params: Params { lhs_offset, rhs_offset, ..p }, ..case.clone() });
        }
        out.extend(case.aligned());
        out
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        fields::written(&FIELDS, p, &ONE)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        fields::read_all(&FIELDS, ONE, arguments, Self::TENSORS)
    }
}

const ONE: Params = Params { m: 1, n: 1, k: 1, lhs_offset: 0, rhs_offset: 0 };

const FIELDS: [Field<Params>; 5] = fields![
    Params; size m always; size n always; size k always; int32 lhs_offset; int32 rhs_offset
];

/// Formats the operand types, with their values if not all are covered, and with the depth if it is bounded.
pub fn operands(domain: &Domain) -> String {
    let operand = |element: Element, values: &RangeInclusive<i32>| {
        let some = if *values == element.range() {
            String::new()
        } else {
            format!(" in {}..={}", values.start(), values.end())
        };
        format!("{}{some}", element.name())
    };
    let depth = match *domain.depth.end() {
        end if end >= MAX_ELEMENTS => String::new(),
        end => format!(", K up to {end}"),
    };
    let offsets = |name: &str, range: &RangeInclusive<i32>| match (*range.start(), *range.end()) {
        (i32::MIN, i32::MAX) => String::new(),
        (first, last) if first == last => format!(", {name} offset {first}"),
        (first, last) => format!(", {name} offset in {first}..={last}"),
    };
    let offsets = offsets("lhs", &domain.lhs_offsets) + &offsets("rhs", &domain.rhs_offsets);
    format!("{} x {}{depth}{offsets}", operand(domain.lhs, &domain.lhs_values), operand(domain.rhs, &domain.rhs_values))
}

/// Returns offsets with one simplification each, the simplest first.
pub fn simpler_offsets(lhs: i32, rhs: i32) -> Vec<(i32, i32)> {
    let mut out = Vec::new();
    for simple in [0, 1, -1] {
        let simpler = |offset: i32| offset != simple && (offset.unsigned_abs() > 1 || simple == 0);
        if simpler(lhs) {
            out.push((simple, rhs));
        }
        if simpler(rhs) {
            out.push((lhs, simple));
        }
    }
    out
}

/// Crops a case to its first or last rows, columns and depths.
pub(crate) fn cropped(case: &Case<Params>, (m, n, k): (usize, usize, usize), last: bool) -> Case<Params> {
    let p = case.params;
    let crop = |tensor: &[i32], (rows, columns): (usize, usize), (to_rows, to_columns): (usize, usize)| -> Vec<i32> {
        let (row, column) = if last { (rows - to_rows, columns - to_columns) } else { (0, 0) };
        let kept = &tensor[row * columns..(row + to_rows) * columns];
        if to_columns == columns {
            return kept.to_vec();
        }
        // Deep cases have many rows of one element, so the rows share one allocation.
        let mut out = Vec::with_capacity(to_rows * to_columns);
        kept.chunks(columns.max(1)).for_each(|r| out.extend_from_slice(&r[column..column + to_columns]));
        out
    };
    let [lhs, rhs, rest] = &*case.tensors;
    Case {
        params: Params { m, n, k, ..p },
        tensors: [crop(lhs, (p.m, p.k), (m, k)), crop(rhs, (p.k, p.n), (k, n)), rest.clone()].into(),
        misalign: case.misalign,
    }
}
