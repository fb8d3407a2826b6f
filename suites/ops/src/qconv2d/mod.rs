//! Quantized convolutions in the harness: cases of a convolution with outputs that reach ties and clamps, and the changes of both parts.

mod changes;
pub(crate) mod fuzzed;
pub(crate) mod outputs;
mod own;
pub(crate) mod plan;
mod presented;
mod rolling;
mod smaller;
pub(crate) mod wide;

use crate::conv2d::{Conv2d, convolution, transposed};
use crate::fused::wide::Wide;
use crate::fused::{Fused, Promised, part_changes};
use crate::pairs::{self, Lists};
use crate::requantize::of_clamp;
use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Counted, Deviations, Expected, Field,
    Layer, Operation, Options, Parameter, ParameterCoverage, Spec, Unposable, Wanted, arguments, fields,
};
use tiebreak_impls::contract::Domain as Multipliers;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::qconv2d::{Domain, Params, Run};
use tiebreak_impls::{matmul, requantize};
use tiebreak_oracle::Rational;
use tiebreak_oracle::qconv2d::{self as oracle, Quantized};
use tiebreak_oracle::requantize::Definition;
use tiebreak_reports::ledger::{Unit, Value};

/// The operation.
pub enum Qconv2d {}

/// Converts the parameters to the oracle's.
fn quantized(p: &Params) -> Quantized {
    Quantized {
        convolution: convolution(&p.shape),
        channels: p.channels.iter().map(|c| (c.multiplier, c.shift)).collect(),
        bias: p.bias.clone(),
        bias64: p.bias64.clone(),
        zero_point: p.zero_point,
        min: p.min,
        max: p.max,
    }
}

impl Operation for Qconv2d {
    const TENSORS: &'static [&'static str] = &["input", "weights"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/qconv2d.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        deviations: Deviations::IN_TAIL,
        causes: Causes {
            path: part_changes::path,
            groups: |contract, p, results| contract.groups(p.shape.out_channels, results),
            in_group: part_changes::in_group,
            ..Causes::NONE
        },
        options: Options {
            takes: &[Parameter::Model],
            takes_layer: |layer| layer.output.is_some(),
            on_types: plan::case_on_types,
            caller_coverage: Self::caller_coverage,
            widened: &["per_channel"],
            ..Options::NONE
        },
        counted: Counted {
            kinds: |_, case, expected| of_clamp(expected, case.params.min, case.params.max),
            products: |p| (Conv2d::CAPABILITIES.counted.products)(&p.shape),
            ..Counted::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::qconv2d::Qconv2d, Promised);

    fn dimensions(domain: &Domain, p: &Params, t: usize) -> Vec<usize> {
        Conv2d::dimensions(&of_conv2d(domain), &p.shape, t)
    }

    fn range(domain: &Domain, t: usize) -> RangeInclusive<i32> {
        Conv2d::range(&of_conv2d(domain), t)
    }

    fn widest_domain(scheme: &Promised, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        let ([lhs, rhs], output) = types::with_output(ty)?;
        for (name, end) in [("min", *output.range().start()), ("max", *output.range().end())] {
            arguments.entry(name.to_owned()).or_insert_with(|| end.into());
        }
        let q = if matches!(scheme.scheme.definition, Definition::Fpm(_)) { 31 } else { 0 };
        let channels = Multipliers { q: q..=q, per_channel: true, ..Multipliers::ALL };
        let requantize = requantize::Domain { output, channels, bias: true, zero_point: true, clamp: true };
        let operands = matmul::Domain::all(lhs, rhs);
        let (transposed, wide) = (transposed::open(arguments), arguments.contains_key("bias64"));
        Ok(Domain { operands, grouped: true, dense: true, spatial: true, wide, transposed, requantize })
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        domain.sizes(p).is_ok()
            && domain.takes_shape(&p.shape).is_ok()
            && Conv2d::covers(&of_conv2d(domain), &p.shape)
            && p.channels.iter().all(|channel| domain.requantize.takes(*channel))
    }

    fn domain_text(domain: &Domain) -> String {
        let kind = match (domain.grouped, domain.dense, domain.spatial) {
            (_, _, false) => ", one place",
            (_, false, _) => ", depthwise",
            (false, ..) => ", one group",
            _ => "",
        };
        let channels = crate::listing::domain(&domain.requantize.channels);
        let operands = crate::matmul::operands(&domain.operands);
        let transposed = transposed::text(domain.transposed);
        let wide = if domain.wide { ", biases of 64 bits" } else { "" };
        format!("{operands} to {}{kind}{transposed}{wide}, {channels}", domain.requantize.output.name())
    }

    fn expected(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [input, weights, _] = &*case.tensors;
        let p = quantized(&case.params);
        let of = |scheme: &oracle::Scheme| oracle::expected(scheme, &p, input, weights).map_err(Unposable::new);
        scheme.joined(of(&scheme.scheme)?, p.convolution.out_channels, of)
    }

    fn exact(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [input, weights, _] = &*case.tensors;
        let p = quantized(&case.params);
        let of = |scheme: &oracle::Scheme| {
            let exact = oracle::exact(scheme, &p, input, weights).map_err(Unposable::new)?;
            Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
        };
        scheme.joined(of(&scheme.scheme)?, p.convolution.out_channels, of)
    }

    fn rational(scheme: &Promised, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let [input, weights, _] = &*case.tensors;
        let exact = oracle::rational(&scheme.scheme, &quantized(&case.params), input, weights).ok()?;
        Some(exact.into_iter().map(Some).collect())
    }

    fn reference(_: &Kernel<Run, Domain>, wanted: &Wanted) -> Option<String> {
        Some(wanted.multiplication.clone())
    }

    fn neutral_element(params: &Params, t: usize) -> i32 {
        Conv2d::neutral_element(&params.shape, t)
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        if selection.layers.is_empty() {
            plan::plan(domain, budget, seed)
        } else {
            plan::layers(domain, &selection.layers)
        }
    }

    fn changes(scheme: &Promised, domain: &Domain) -> Vec<Change<Self>> {
        changes::changes(&scheme.scheme, domain)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        smaller::smaller(case, domain)
    }

    /// Formats multipliers, shifts and biases, separated by commas if there are several.
    fn arguments(p: &Params) -> Vec<(String, Value)> {
        let mut out = Conv2d::arguments(&p.shape);
        let bias = match p.is_wide() {
            true => ("bias64", arguments::list_value(&p.bias64)),
            false => ("bias", arguments::list_value(&p.bias)),
        };
        let lists = pairs::written(&p.channels).into_iter().chain([bias]);
        out.extend(lists.map(|(name, values)| (name.to_owned(), values)));
        out.extend(fields::written(&FIELDS, p, p));
        out
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        let mut left = arguments.clone();
        let lists = Lists::take(&mut left)?;
        let bias = arguments::take_list(&mut left, "bias", 0, i32::MIN..=i32::MAX)?;
        let bias64 = arguments::take_wide_list(&mut left, "bias64")?;
        let channels = lists.channels();
        let channels = lists.pairs(channels)?;
        let usual = Params {
            shape: tiebreak_impls::conv2d::Params::default(),
            channels,
            bias,
            bias64,
            zero_point: 0,
            min: -128,
            max: 127,
        };
        let params = fields::read(&FIELDS, usual, &mut left)?;
        Ok(Params { shape: Conv2d::from_arguments(&left)?, ..params })
    }
}

/// Returns the convolution's part of a domain.
fn of_conv2d(domain: &Domain) -> tiebreak_impls::conv2d::Domain {
    let Domain { operands, grouped, transposed, .. } = domain;
    tiebreak_impls::conv2d::Domain { operands: operands.clone(), grouped: *grouped, transposed: *transposed }
}

const FIELDS: [Field<Params>; 3] = fields![Params; int32 zero_point always; int32 min always; int32 max always];

impl Fused for Qconv2d {
    type Product = Conv2d;

    fn product_domain(domain: &Domain) -> tiebreak_impls::conv2d::Domain {
        of_conv2d(domain)
    }

    fn product(case: &Case<Params>) -> Case<tiebreak_impls::conv2d::Params> {
        Case { params: case.params.shape, tensors: case.tensors.clone(), misalign: case.misalign }
    }

    fn requantize_domain(domain: &Domain) -> &requantize::Domain {
        &domain.requantize
    }

    fn sums(case: &Case<Params>) -> Option<Vec<i64>> {
        if !case.params.is_wide() {
            return part_changes::wrapped::<Self>(case);
        }
        let [input, weights, _] = &*case.tensors;
        convolution(&case.params.shape).wide_sums(input, weights).ok()?.into_iter().collect()
    }

    fn requantize(p: &Params, len: usize) -> Option<requantize::Params> {
        (!p.is_wide()).then(|| p.requantize(len))
    }

    fn wide(p: &Params) -> Option<Wide> {
        let ends = [p.zero_point, p.min, p.max];
        let wide = Wide { columns: p.shape.out_channels, bias: p.bias64.clone(), channels: p.channels.clone(), ends };
        p.is_wide().then_some(wide)
    }

    fn with_wide(p: &Params, wide: Wide) -> Params {
        let Wide { bias: bias64, channels, ends: [zero_point, min, max], .. } = wide;
        Params { bias64, channels, zero_point, min, max, ..p.clone() }
    }

    fn finished(scheme: &oracle::Scheme, p: &Params, sums: &[i64]) -> Option<Expected> {
        if p.is_wide() {
            let sums: Vec<Option<i64>> = sums.iter().copied().map(Some).collect();
            return oracle::finished_wide(scheme, &quantized(p), &sums).ok();
        }
        let sums: Vec<i32> = sums.iter().map(|sum| *sum as i32).collect();
        scheme.expected(&quantized(p).output(), &sums).ok()
    }
}

impl Qconv2d {
    fn caller_coverage(
        domain: &Domain,
        selection: &CaseSelection,
        run: &[&Params],
        _: (&Budget, u64),
    ) -> Option<ParameterCoverage> {
        let layers: Vec<&Layer> = selection.layers.iter().filter(|layer| layer.output.is_some()).collect();
        let runs = |layer: &&Layer| {
            let case = plan::of_layer(domain, layer);
            case.is_some_and(|params| run.contains(&&params))
        };
        let described = |at: usize, _: &&Layer| (format!("layer {}", at + 1), Self::domain_text(domain));
        (!layers.is_empty()).then(|| ParameterCoverage::of(Unit::Layer, &layers, runs, described))
    }
}
