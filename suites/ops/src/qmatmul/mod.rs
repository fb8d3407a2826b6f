//! Quantized matrix products in the harness: outputs at ties and ends, lists of stages in many orders, and changes of every part.

mod changes;
mod fuzzed;
mod lists;
mod plan;
mod presented;
mod smaller;
mod text;

use crate::fused::wide::Wide;
use crate::fused::{Fused, Promised, part_changes};
use crate::matmul::Matmul;
use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Counted, Deviations, Expected, Field,
    Operation, Options, Spec, Unposable, Wanted, arguments, fields,
};
use tiebreak_impls::contract::Domain as Multipliers;
use tiebreak_impls::element::Element;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::qmatmul::{self as impls, Along, Domain, Layer64, Lists, Params, Run, Stage};
use tiebreak_impls::{matmul, requantize};
use tiebreak_oracle::Rational;
use tiebreak_oracle::qmatmul::{self as oracle, Quantized, Tanh};
use tiebreak_oracle::quantize::Storage;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Qmatmul {}

/// Converts the parameters to the oracle's.
pub(crate) fn quantized(p: &Params) -> Quantized {
    Quantized { product: crate::matmul::product(&p.shape), stages: p.stages.iter().map(to_oracle).collect() }
}

/// Converts a stage to the oracle's.
fn to_oracle(stage: &Stage) -> oracle::Stage {
    let axis = |along: &Along| match along {
        Along::Rows => oracle::Along::Rows,
        Along::Columns => oracle::Along::Columns,
    };
    match stage {
        Stage::Bias { along, values } => oracle::Stage::Bias { along: axis(along), values: values.clone() },
        Stage::Bias64 { along, values } => oracle::Stage::Bias64 { along: axis(along), values: values.clone() },
        Stage::Down { offset, multiplier, shift } => {
            oracle::Stage::Down { offset: *offset, multiplier: *multiplier, shift: *shift }
        }
        Stage::Scale { along, channels, zero_point } => oracle::Stage::Scale {
            along: axis(along),
            channels: channels.iter().map(|c| (c.multiplier, c.shift)).collect(),
            zero_point: *zero_point,
        },
        Stage::Clamp { min, max } => oracle::Stage::Clamp { min: *min, max: *max },
        Stage::Tanh { zero_point, amplitude } => {
            oracle::Stage::Tanh(Tanh { zero_point: *zero_point, amplitude: *amplitude })
        }
        Stage::Cast { to } => oracle::Stage::Cast(Storage { bits: to.bits(), signed: *to.range().start() < 0 }),
    }
}

impl Operation for Qmatmul {
    const TENSORS: &'static [&'static str] = &["lhs", "rhs"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/qmatmul.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        deviations: Deviations::IN_TAIL,
        causes: Causes {
            path: part_changes::path,
            groups: |contract, p, results| contract.groups(p.shape.n, results),
            in_group: part_changes::in_group,
            ..Causes::NONE
        },
        options: Options { widened: &["per_channel"], ..Options::NONE },
        counted: Counted {
            kinds: Self::kinds,
            products: |p| (Matmul::CAPABILITIES.counted.products)(&p.shape),
            ..Counted::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(impls::Qmatmul, Promised);

    fn dimensions(domain: &Domain, p: &Params, t: usize) -> Vec<usize> {
        Matmul::dimensions(&domain.operands, &p.shape, t)
    }

    fn range(domain: &Domain, t: usize) -> RangeInclusive<i32> {
        Matmul::range(&domain.operands, t)
    }

    /// Returns the domain of any list; of layers with 64-bit biases if the stages begin with such a bias.
    fn widest_domain(_: &Promised, ty: Option<&str>, given: &mut Arguments) -> Result<Domain, CaseError> {
        let ([lhs, rhs], output) = types::with_output(ty)?;
        let channels = Multipliers { per_channel: true, ..Multipliers::ALL };
        let requantize = requantize::Domain { output, channels, bias: true, zero_point: true, clamp: true };
        let wide = matches!(given.get("stages"), Some(Value::Text(text)) if text.starts_with(text::WIDE));
        let lists = if wide { Lists::Layer64 } else { Lists::Any };
        Ok(Domain { operands: matmul::Domain::all(lhs, rhs), lists, requantize })
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        domain.sizes(p).is_ok()
            && domain.takes_stages(p).is_ok()
            && domain.takes_channels(p)
            && Matmul::covers(&domain.operands, &p.shape)
    }

    fn domain_text(domain: &Domain) -> String {
        let operands = crate::matmul::operands(&domain.operands);
        let channels = crate::listing::domain(&domain.requantize.channels);
        match domain.lists {
            Lists::Any => format!("{operands}, any stages, {channels}"),
            Lists::Layer => format!("{operands} to {}, {channels}", domain.requantize.output.name()),
            Lists::Layer64 => {
                format!("{operands} to {}, biases of 64 bits, {channels}", domain.requantize.output.name())
            }
            Lists::Legacy => format!("{operands} to {}, down and cast, {channels}", domain.requantize.output.name()),
        }
    }

    fn expected(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [lhs, rhs, _] = &*case.tensors;
        let p = quantized(&case.params);
        let of = |scheme: &oracle::Scheme| oracle::expected(scheme, &p, lhs, rhs).map_err(Unposable::new);
        scheme.joined(of(&scheme.scheme)?, p.product.n, of)
    }

    fn exact(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [lhs, rhs, _] = &*case.tensors;
        let p = quantized(&case.params);
        let of = |scheme: &oracle::Scheme| {
            let exact = oracle::exact(scheme, &p, lhs, rhs).map_err(Unposable::new)?;
            Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
        };
        scheme.joined(of(&scheme.scheme)?, p.product.n, of)
    }

    fn rational(_: &Promised, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let [lhs, rhs, _] = &*case.tensors;
        let exact = oracle::rational(&quantized(&case.params), lhs, rhs).ok()??;
        Some(exact.into_iter().map(Some).collect())
    }

    fn reference(kernel: &Kernel<Run, Domain>, wanted: &Wanted) -> Option<String> {
        match kernel.contract.domain.lists {
            Lists::Legacy => Some("legacy".to_owned()),
            _ => Some(wanted.multiplication.clone()),
        }
    }

    fn neutral_element(params: &Params, t: usize) -> i32 {
        Matmul::neutral_element(&params.shape, t)
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Promised, domain: &Domain) -> Vec<Change<Self>> {
        changes::changes(&scheme.scheme, domain)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        smaller::smaller(case, domain)
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        let mut out = fields::written(&FIELDS, p, &usual());
        if !p.stages.is_empty() {
            out.push(("stages".to_owned(), Value::Text(text::written(&p.stages))));
        }
        out
    }

    fn from_arguments(given: &Arguments) -> Result<Params, CaseError> {
        let mut left = given.clone();
        let stages = arguments::take_text(&mut left, "stages").unwrap_or_default();
        let stages = text::read(&stages).map_err(|error| error.of("stages"))?;
        fields::read_all(&FIELDS, Params { stages, ..usual() }, &left, &["stages", "lhs", "rhs"])
    }
}

/// Returns the default parameters: one product without stages.
fn usual() -> Params {
    Params { shape: matmul::Params { m: 1, n: 1, k: 1, lhs_offset: 0, rhs_offset: 0 }, stages: Vec::new() }
}

const FIELDS: [Field<Params>; 5] = fields![
    Params; size m [shape.m] always; size n [shape.n] always; size k [shape.k] always;
    int32 lhs_offset [shape.lhs_offset]; int32 rhs_offset [shape.rhs_offset]
];

impl Fused for Qmatmul {
    type Product = Matmul;

    fn product_domain(domain: &Domain) -> matmul::Domain {
        domain.operands.clone()
    }

    fn product(case: &Case<Params>) -> Case<matmul::Params> {
        Case { params: case.params.shape, tensors: case.tensors.clone(), misalign: case.misalign }
    }

    fn requantize_domain(domain: &Domain) -> &requantize::Domain {
        &domain.requantize
    }

    fn sums(case: &Case<Params>) -> Option<Vec<i64>> {
        if !case.params.is_wide() {
            return part_changes::wrapped::<Self>(case);
        }
        let [lhs, rhs, _] = &*case.tensors;
        crate::matmul::product(&case.params.shape).wide_sums(lhs, rhs).ok()?.into_iter().collect()
    }

    /// Converts the list of a layer, or of the legacy paradigm with its integers.
    fn requantize(p: &Params, len: usize) -> Option<requantize::Params> {
        if let Some(layer) = p.layer() {
            return Some(layer.requantize(len, p.shape.n));
        }
        let [Stage::Down { offset, multiplier, shift }, Stage::Cast { to: Element::U8 }] = p.stages[..] else {
            return None;
        };
        let channel = tiebreak_impls::fpm::Channel { multiplier, shift };
        Some(requantize::Params { len, channels: vec![channel], bias: vec![offset], zero_point: 0, min: 0, max: 255 })
    }

    fn wide(p: &Params) -> Option<Wide> {
        let layer = p.layer64()?;
        let ends = [layer.zero_point, layer.min, layer.max];
        Some(Wide { columns: p.shape.n, bias: layer.bias.to_vec(), channels: layer.channels.to_vec(), ends })
    }

    fn with_wide(p: &Params, wide: Wide) -> Params {
        let Wide { bias, channels, ends: [zero_point, min, max], .. } = wide;
        let output = p.layer64().map_or(Element::I16, |layer| layer.output);
        let layer = Layer64 { bias: &bias, channels: &channels, zero_point, min, max, output };
        Params { stages: layer.stages(), ..p.clone() }
    }

    fn finished(scheme: &oracle::Scheme, p: &Params, sums: &[i64]) -> Option<Expected> {
        if p.is_wide() {
            let sums: Vec<Option<i64>> = sums.iter().copied().map(Some).collect();
            return oracle::finished_wide(scheme, &quantized(p), &sums).ok();
        }
        let sums: Expected = sums.iter().map(|sum| Some(*sum as i32)).collect();
        oracle::finished(scheme, &quantized(p), &sums).ok()
    }
}

impl Qmatmul {
    /// Counts results by kind, with the ends of the last clamp or cast.
    fn kinds(_: &Promised, case: &Case<Params>, expected: &Expected) -> Vec<(&'static str, u64)> {
        let ends = case.params.stages.iter().rev().find_map(|stage| match stage {
            Stage::Clamp { min, max } => Some((*min, *max)),
            Stage::Cast { to } => Some((*to.range().start(), *to.range().end())),
            _ => None,
        });
        let (min, max) = ends.unwrap_or((i32::MIN, i32::MAX));
        crate::requantize::of_clamp(expected, min, max)
    }
}
