//! Dot-product steps in the harness: every pair of 8-bit operands in every place, extreme accumulators, and sweeps of all 16-bit pair sums.

mod fuzzed;
mod plan;
mod presented;
mod sweep;

use crate::matmul::{either, other_sign, round_24};
use crate::types;
use rug::Integer;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Change, Expected, Field, Operation, Spec, Sweeps, Tensors,
    Unposable, Wanted, Witnesses, fields, fill,
};
use tiebreak_impls::dot::{Domain, Params, Run};
use tiebreak_impls::kernel::Kernel;
use tiebreak_oracle::Rational;
use tiebreak_oracle::dot::{DEFINITIONS, Scheme, Terms};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Dot {}

impl Operation for Dot {
    const TENSORS: &'static [&'static str] = &["acc", "a", "b"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/dot.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { has_len: true, ..Tensors::NONE },
        sweeps: Sweeps {
            all: |kernel, runner, selection, _| {
                sweep::sweep(kernel, runner).filter(|_| selection.is_nothing()).into_iter().collect()
            },
            ..Sweeps::NONE
        },
        witnesses: Witnesses { isolate_result: Self::isolate_result, ..Witnesses::NONE },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::dot::Dot, Scheme);

    fn dimensions(domain: &Domain, params: &Params, t: usize) -> Vec<usize> {
        let elements = params.len / domain.results * domain.elements;
        vec![if t == 1 || t == 2 { elements } else { params.len }]
    }

    fn range(domain: &Domain, t: usize) -> RangeInclusive<i32> {
        match t {
            1 => domain.lhs.range(),
            2 => domain.rhs.range(),
            _ => i32::MIN..=i32::MAX,
        }
    }

    fn widest_domain(scheme: &Scheme, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        let ([lhs, rhs], definition) = (types::operands(ty)?, scheme.definition);
        Ok(Domain { lhs, rhs, results: definition.results, elements: definition.elements, pairs: &[] })
    }

    fn covers(_: &Domain, _: &Params) -> bool {
        true
    }

    fn domain_text(domain: &Domain) -> String {
        format!(
            "{} x {}, {} results of {} elements",
            domain.lhs.name(),
            domain.rhs.name(),
            domain.results,
            domain.elements
        )
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [acc, a, b] = &*case.tensors;
        scheme.expected(acc, a, b).map_err(Unposable::new)
    }

    fn rational(scheme: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let [acc, a, b] = &*case.tensors;
        let unbounded = Scheme { overflow: Overflow::OutOfDomain, ..*scheme };
        // The sum of products fits an int32, except for 2^31. A start of -1 covers that sum.
        let [zero, below] = [0, -1].map(|start| unbounded.exact(&vec![start; acc.len()], a, b).ok());
        let sum = |((acc, zero), below): ((&i32, Option<Integer>), Option<Integer>)| {
            Some(Rational::from(zero.or_else(|| Some(below? + 1))? + *acc))
        };
        Some(acc.iter().zip(zero?).zip(below?).map(sum).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [acc, a, b] = &*case.tensors;
        let exact = scheme.exact(acc, a, b).map_err(Unposable::new)?;
        Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    /// Returns the scheme with the same sums in unbounded integers.
    fn reference(kernel: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        let scheme = kernel.contract.promise.scheme;
        let exact = match scheme {
            _ if scheme.starts_with("products-4-halves") => "products-4-halves",
            _ if scheme.starts_with("products-4") => "products-4",
            "products-32-counts-u8-wrap" => "products-32",
            other => other,
        };
        Some(exact.to_owned())
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Self>> {
        let mut out = widths(scheme);
        let base = match scheme.overflow {
            Overflow::OutOfDomain => Scheme { overflow: Overflow::Wrap, ..*scheme },
            _ => *scheme,
        };
        let types = [domain.lhs, domain.rhs];
        let because = ["a read with the other sign", "b read with the other sign", "a and b read with the other sign"];
        out.extend(either(Class::Signedness, base, because, move |case, t| {
            case.tensors[t + 1].iter_mut().for_each(|v| *v = other_sign(types[t], *v));
        }));
        out.extend(in_f32(base));
        out
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let mut out = Vec::new();
        let steps = case.params.len / domain.results;
        if steps > 1 {
            for half in [0, 1] {
                let kept = if half == 0 { 0..steps.div_ceil(2) } else { steps / 2..steps };
                let cut = |tensor: &[i32], each: usize| tensor[kept.start * each..kept.end * each].to_vec();
                let [acc, a, b] = &*case.tensors;
                let tensors = [cut(acc, domain.results), cut(a, domain.elements), cut(b, domain.elements)];
                out.push(Case {
                    params: Params { len: kept.len() * domain.results },
                    tensors: tensors.into(),
                    misalign: case.misalign,
                });
            }
        }
        out.extend(case.aligned());
        out
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        fields::written(&[LEN], p, &ONE)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        fields::read_all(&[LEN], ONE, arguments, Self::TENSORS)
    }
}

impl Dot {
    fn isolate_result(case: &Case<Params>, domain: &Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        let Domain { results, elements, .. } = *domain;
        let step = index / results;
        let cut = |t: usize, each: usize| case.tensors[t][step * each..(step + 1) * each].to_vec();
        let tensors = [cut(0, results), cut(1, elements), cut(2, elements)];
        let one = Case { params: Params { len: results }, tensors: tensors.into(), misalign: 0 };
        vec![(one, index % results), (fill::only(case, [results, elements, elements], step), index)]
    }
}

const ONE: Params = Params { len: 1 };
const LEN: Field<Params> = Field::<Params>::size("len", |p| &mut p.len).always();

/// Predicts an f32 accumulator, rounded at each product or once for each step. The products of one step together fit 24 bits.
fn in_f32(base: Scheme) -> [Change<Dot>; 2] {
    let each = base.definition.elements / base.definition.results;
    // Sums of the products at the kept places of each group of `each`, independent of the order in which a step takes them.
    let sums = move |case: &Case<Params>, keep: &dyn Fn(usize) -> bool| {
        let mut some = case.clone();
        some.tensors[0].fill(0);
        some.tensors[2].iter_mut().enumerate().filter(|(at, _)| !keep(at % each)).for_each(|(_, b)| *b = 0);
        Dot::expected(&base, &some).ok()?.into_iter().collect::<Option<Vec<i32>>>()
    };
    let fitted = |sum: i128| Some(sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32);
    let start = |case: &Case<Params>| case.tensors[0].iter().map(|acc| round_24((*acc).into())).collect::<Vec<_>>();
    let add = |sums: &mut [i128], products: Vec<i32>| {
        sums.iter_mut().zip(products).for_each(|(sum, product)| *sum = round_24(*sum + i128::from(product)));
    };
    let stepwise = move |case: &Case<Params>| {
        let mut all = start(case);
        (0..each).try_for_each(|k| sums(case, &|at| at == k).map(|products| add(&mut all, products)))?;
        Some(all.into_iter().map(fitted).collect())
    };
    let once = move |case: &Case<Params>| {
        let mut all = start(case);
        add(&mut all, sums(case, &|_| true)?);
        Some(all.into_iter().map(fitted).collect())
    };
    [
        Change::predicts(Class::F32Step, "the accumulator is kept in f32", stepwise),
        Change::predicts(Class::F32Step, "the accumulator is kept in f32, and products are added to it together", once),
    ]
}

/// Returns the index of the scheme of 32 products whose bits mean 0 or 1.
fn unipolar() -> usize {
    DEFINITIONS.iter().position(|definition| definition.terms == Terms::Adjacent(32)).unwrap_or_default()
}

/// Returns changes to another width or overflow rule of pair sums or accumulators.
fn widths(scheme: &Scheme) -> Vec<Change<Dot>> {
    let definition = scheme.definition;
    let mut out = Vec::new();
    for (class, because, overflow) in [
        (Class::MissingSaturation, "the 32-bit accumulator wraps", Overflow::Wrap),
        (Class::Saturation, "the 32-bit accumulator saturates", Overflow::Saturate),
    ] {
        out.push(Change::scheme(class, because, Scheme { overflow, ..*scheme }));
    }
    for other in DEFINITIONS.iter().filter(|d| (d.results, d.elements) == (definition.results, definition.elements)) {
        let changed = Scheme { definition: other, overflow: Overflow::Wrap };
        out.extend(changed.pair().map(|sum| Change::scheme(Class::pair_sum(sum), other.summary, changed)));
        let narrow = matches!(other.terms, Terms::CountsU8) && other.terms != definition.terms;
        out.extend(narrow.then(|| Change::scheme(Class::Wrap, other.summary, changed)));
    }
    if let Terms::Bipolar(_) = definition.terms {
        let changed = Scheme { definition: &DEFINITIONS[unipolar()], overflow: Overflow::Wrap };
        out.push(Change::scheme(Class::Signedness, "an unset bit of b is 0 where it must be -1", changed));
    }
    out
}
