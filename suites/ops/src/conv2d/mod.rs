//! Convolutions in the harness: their cases and the possible causes of a difference.

mod changes;
pub(crate) mod conjunctions;
pub mod fuzzed;
pub(crate) mod geometry;
pub(crate) mod large;
pub(crate) mod networks;
pub(crate) mod plan;
pub(crate) mod presented;
mod products;
pub(crate) mod transposed;
pub(crate) mod usual;

use crate::matmul::Matmul;
use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, sizes};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Change, Counted, Expected, Field, Operation, Options,
    Parameter, SharedCode, Spec, Unposable, Wanted, fields, kernels,
};
use tiebreak_impls::conv2d::transposed::takes;
use tiebreak_impls::conv2d::{Domain, Params, Run};
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::matmul::Kernel as OfMatmul;
use tiebreak_oracle::Rational;
use tiebreak_oracle::conv2d::{self as oracle, Convolution};
use tiebreak_oracle::matmul::Scheme;
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Conv2d {}

/// Converts the parameters to the oracle's.
pub fn convolution(p: &Params) -> Convolution {
    mirrored!(p => Convolution {
        batches, height, width, channels, kernel_h, kernel_w, out_channels, groups, stride_h, stride_w, dilation_h,
        dilation_w, top, bottom, left, right, input_zero_point, weight_zero_point, transposed, output_padding_h,
        output_padding_w
    })
}

/// Returns the kernel of `matmul` whose vector code a convolution by matrix product runs.
fn product(kernel: &Kernel<Run, Domain>) -> Option<SharedCode> {
    let symbol = kernel.native.as_ref()?.symbol;
    let shares = |product: &&OfMatmul| product.native.as_ref().is_some_and(|native| native.symbol == symbol);
    let product = kernels::<Matmul>().iter().find(shares)?;
    Some(SharedCode { op: Matmul::OP, kernel: product.name })
}

impl Operation for Conv2d {
    const TENSORS: &'static [&'static str] = &["input", "weights"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/conv2d.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        counted: Counted {
            products: |p| {
                let results = p.sizes().map_or(0, |sizes| sizes.outputs);
                sizes::product(&[results, p.kernel_h, p.kernel_w, p.channels / p.groups.max(1)])
            },
            ..Counted::NONE
        },
        options: Options {
            takes: &[Parameter::Model],
            caller_coverage: |domain, selection, run, _| {
                (!selection.layers.is_empty()).then(|| plan::caller_coverage(domain, &selection.layers, run))
            },
            ..Options::NONE
        },
        shared_code: product,
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::conv2d::Conv2d, Scheme);

    fn dimensions(_: &Domain, p: &Params, t: usize) -> Vec<usize> {
        let (rows, columns) = p.output().unwrap_or((0, 0));
        let all = [
            [p.batches, p.height, p.width, p.channels],
            [p.kernel_h, p.kernel_w, p.channels / p.groups.max(1), p.out_channels],
            [p.batches, rows, columns, p.out_channels],
        ];
        all[t].to_vec()
    }

    fn range(domain: &Domain, t: usize) -> RangeInclusive<i32> {
        let operands = &domain.operands;
        if t == 0 { operands.lhs_values.clone() } else { operands.rhs_values.clone() }
    }

    fn widest_domain(_: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        let [lhs, rhs] = types::operands(ty)?;
        let (operands, transposed) = (tiebreak_impls::matmul::Domain::all(lhs, rhs), transposed::open(arguments));
        Ok(Domain { operands, grouped: true, transposed })
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        let depth = p.kernel_h * p.kernel_w * (p.channels / p.groups.max(1));
        (p.groups == 1 || domain.grouped)
            && takes(domain.transposed, p).is_ok()
            && domain.operands.depth.contains(&depth)
            && domain.operands.lhs_values.contains(&p.input_zero_point)
            && domain.operands.lhs_offsets.contains(&p.input_zero_point.wrapping_neg())
            && domain.operands.rhs_offsets.contains(&p.weight_zero_point.wrapping_neg())
    }

    fn domain_text(domain: &Domain) -> String {
        let groups = if domain.grouped { "" } else { ", one group" };
        format!("{}{groups}{}", crate::matmul::operands(&domain.operands), transposed::text(domain.transposed))
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [input, weights, _] = &*case.tensors;
        oracle::expected(scheme, &convolution(&case.params), input, weights).map_err(Unposable::new)
    }

    fn rational(_: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let [input, weights, _] = &*case.tensors;
        let sums = convolution(&case.params).sums(input, weights).ok()?;
        Some(sums.into_iter().map(|sum| Some(sum.into())).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let [input, weights, _] = &*case.tensors;
        let exact = oracle::exact(scheme, &convolution(&case.params), input, weights).map_err(Unposable::new)?;
        Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    fn reference(_: &Kernel<Run, Domain>, _: &Wanted) -> Option<String> {
        Some("exact".to_owned())
    }

    fn neutral_element(params: &Params, t: usize) -> i32 {
        [params.input_zero_point, params.weight_zero_point].get(t).copied().unwrap_or(0)
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        match (selection.layers.is_empty(), domain.transposed) {
            (true, Some(_)) => transposed::plan(domain, budget, seed),
            (true, None) => plan::plan(domain, budget, seed),
            (false, Some(_)) => Vec::new(),
            (false, None) => plan::layers(domain, &selection.layers),
        }
    }

    fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Self>> {
        changes::changes(scheme, domain)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let mut out = Vec::new();
        for params in simpler(&case.params) {
            if params.sizes().is_ok() && Self::covers(domain, &params) {
                out.push(cropped(case, params));
            }
        }
        out.extend(case.aligned());
        out
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        fields::written(&FIELDS, p, &Params::default())
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        fields::read_all(&FIELDS, Params::default(), arguments, Self::TENSORS)
    }
}

const FIELDS: [Field<Params>; 21] = fields![
    Params; size batches; size height always; size width always; size channels; size kernel_h; size kernel_w;
    size out_channels; size groups; size stride_h; size stride_w; size dilation_h; size dilation_w; size top;
    size bottom; size left; size right; int32 input_zero_point; int32 weight_zero_point; flag transposed;
    size output_padding_h; size output_padding_w
];

/// Indices into [`FIELDS`], in the order in which a witness is simplified.
const SIMPLEST_FIRST: [usize; 18] = [0, 6, 3, 7, 4, 5, 1, 2, 8, 9, 10, 11, 12, 13, 14, 15, 19, 20];

/// Returns shapes with one simplification each, the simplest first.
pub fn simpler(p: &Params) -> Vec<Params> {
    let mut out = Vec::new();
    for field in SIMPLEST_FIRST.map(|at| &FIELDS[at]) {
        let (least, now) = (field.value(&Params::default()), field.value(p));
        let values = [least, now / 2, now - 1].into_iter().filter(|value| (least..now).contains(value));
        out.extend(values.map(|value| field.with(p, value)));
    }
    // A depthwise convolution keeps the number of groups equal to the number of channels.
    if p.groups > 1 && p.groups == p.channels {
        out.push(Params { groups: 1, channels: 1, out_channels: p.out_channels / p.groups, ..*p });
    }
    for (input_zero_point, weight_zero_point) in crate::matmul::simpler_offsets(p.input_zero_point, p.weight_zero_point)
    {
        out.push(Params { input_zero_point, weight_zero_point, ..*p });
    }
    out
}

/// Crops the case to a smaller shape: the leading elements along every axis.
pub(crate) fn cropped(case: &Case<Params>, params: Params) -> Case<Params> {
    let crop = |t: usize| {
        let from = dimensions(&case.params, t);
        let to = dimensions(&params, t);
        let mut out = Vec::with_capacity(to.iter().product());
        for a in 0..to[0] {
            for b in 0..to[1] {
                for c in 0..to[2] {
                    for d in 0..to[3] {
                        let inside = a < from[0] && b < from[1] && c < from[2] && d < from[3];
                        let at = ((a * from[1] + b) * from[2] + c) * from[3] + d;
                        out.push(if inside { case.tensors[t][at] } else { 0 });
                    }
                }
            }
        }
        out
    };
    Case { params, tensors: [crop(0), crop(1), Vec::new()].into(), misalign: case.misalign }
}

fn dimensions(p: &Params, t: usize) -> [usize; 4] {
    match t {
        0 => [p.batches, p.height, p.width, p.channels],
        _ => [p.kernel_h, p.kernel_w, p.channels / p.groups.max(1), p.out_channels],
    }
}
