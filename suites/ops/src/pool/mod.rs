//! Average and max pooling in the harness: their cases and the possible causes of a difference.

mod changes;
mod fuzzed;
mod networks;
mod parts;
mod plan;
mod presented;
mod windows;

use crate::elementwise::operand;
use crate::types;
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, sizes};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Counted, Expected, Field, Operation,
    Options, ReferenceOption, Spec, Tensors, Unposable, Wanted, arguments, fields,
};
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::pool::{self as impls, Counted as Counts, Domain, Operand, Params, Run, Scales};
use tiebreak_impls::shape::{self, Sizes};
use tiebreak_oracle::Rational;
use tiebreak_oracle::pool::{EXPONENTS, Pooling, SUM, Scheme};
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Pool {}

/// Converts the parameters to the oracle's.
pub fn pooling(p: &Params) -> Pooling {
    mirrored!(p => Pooling {
        batches, height, width, channels, kernel_h, kernel_w, stride_h, stride_w, top, bottom, left, right,
        count_padding, min, max;
        input: operand::to_oracle(p.input), out: operand::to_oracle(p.out), storage: types::storage(p.element), sum: SUM
    })
}

impl Operation for Pool {
    const TENSORS: &'static [&'static str] = &["input"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/pool.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { sizes: Self::sizes, ..Tensors::NONE },

        causes: Causes { contract_cause: |contract, _| Some(Change::own("results", contract)), ..Causes::NONE },
        counted: Counted { products: Self::additions, ..Counted::NONE },
        options: Options { reference: ReferenceOption::Rounding, ..Options::NONE },
        ..Capabilities::NONE
    };
    types_of!(impls::Pool, Scheme);

    fn dimensions(_: &Domain, p: &Params, t: usize) -> Vec<usize> {
        let (rows, columns) = p.output().unwrap_or((0, 0));
        let (height, width) = if t == 0 { (p.height, p.width) } else { (rows, columns) };
        vec![p.batches, height, width, p.channels]
    }

    fn range(domain: &Domain, _: usize) -> RangeInclusive<i32> {
        domain.element.range()
    }

    fn widest_domain(scheme: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        let element = types::opened(ty, arguments)?;
        let scales = if scheme.definition.has_one_scale() { Scales::Equal } else { Scales::Quotient };
        // A maximum has no divisor, and TensorFlow Lite's divisor never counts the padding.
        let counted = match scheme.definition.name {
            "max" | "tflite" | "half-added" | "tosa" => Counts::Never,
            _ => Counts::Either,
        };
        Ok(Domain { element, scales, counted, global: false, clamp: true })
    }

    /// Checks that the oracle and the domain's text accept the parameters. No code of a kernel decides on its own cases.
    fn covers(domain: &Domain, p: &Params) -> bool {
        let range = domain.element.range();
        let whole = (p.min, p.max) == (*range.start(), *range.end());
        let stored = |v: &i32| range.contains(v);
        p.element == domain.element
            && [p.input, p.out].into_iter().all(|o| operand::is_single(o) && in_binades(o))
            && [p.input.zero_point, p.out.zero_point].iter().all(stored)
            && within(p)
            && pooling(p).check().is_ok()
            && (domain.clamp || whole)
            && match domain.scales {
                Scales::Equal => p.input == p.out,
                Scales::Quotient => quotient_is_taken(p),
            }
            && match domain.counted {
                Counts::Never => !p.count_padding,
                Counts::Always => p.count_padding,
                Counts::Either => true,
            }
            && (!domain.global
                || (p.kernel_h, p.kernel_w) == (p.height, p.width)
                    && [p.top, p.bottom, p.left, p.right].iter().all(|padding| *padding == 0))
    }

    fn domain_text(domain: &Domain) -> String {
        let scales = match domain.scales {
            Scales::Equal => "one scale and zero point",
            Scales::Quotient => "input/out in [2^-16, 2^8)",
        };
        let counted = match domain.counted {
            Counts::Never => "padding not counted",
            Counts::Always => "padding counted",
            Counts::Either => "padding counted or not",
        };
        let window = if domain.global { "; the whole image" } else { "" };
        let bounds = if domain.clamp { "any bounds" } else { "all stored values" };
        format!("{}; {scales}; {counted}{window}; {bounds}", domain.element.name())
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        scheme.expected(&pooling(&case.params), &case.tensors[0]).map_err(Unposable::new)
    }

    fn rational(scheme: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let (p, input) = (pooling(&case.params), &case.tensors[0]);
        let exact = if scheme.definition.is_largest() { p.largest(input) } else { p.averages(input) };
        Some(exact.ok()?.into_iter().map(Some).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        let exact = scheme.exact(&pooling(&case.params), &case.tensors[0]).map_err(Unposable::new)?;
        Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
    }

    /// Returns the scheme that rounds the exact average once by the caller's rule; `None` for a maximum.
    fn reference(kernel: &Kernel<Run, Domain>, wanted: &Wanted) -> Option<String> {
        (kernel.contract.promise.scheme != "max").then(|| Scheme::ideal(wanted.rounding).label())
    }

    fn neutral_element(params: &Params, _: usize) -> i32 {
        params.input.zero_point
    }

    fn own_plan(domain: &Domain, _: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, budget, seed)
    }

    fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Self>> {
        changes::changes(*scheme, domain)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let mut out = Vec::new();
        for params in simpler(&case.params) {
            if params != case.params && Self::covers(domain, &params) {
                out.push(cropped(case, params));
            }
        }
        out.extend(case.aligned());
        out
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        let mut out: Vec<_> = types::argument(p.element).into_iter().collect();
        out.extend(fields::written(&SIZES, p, &Params::of(p.element)));
        if p.count_padding {
            out.push(("count_padding".to_owned(), 1.into()));
        }
        for (name, Operand { scale, .. }) in [("input", p.input), ("out", p.out)] {
            let scale = operand::spelled(scale);
            if scale != Value::Integer(1) {
                out.push((format!("{name}_scale"), scale));
            }
        }
        out.extend(fields::written(&VALUES, p, &Params::of(p.element)));
        out
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        let mut left = arguments.clone();
        let mut params = fields::read(&SIZES, Params::of(types::take(&mut left)?), &mut left)?;
        params.count_padding = arguments::take(&mut left, "count_padding", 0, 0, 1)? == 1;
        for (name, tensor) in [("input_scale", &mut params.input), ("out_scale", &mut params.out)] {
            let text = arguments::take_text(&mut left, name).unwrap_or_else(|| "1".to_owned());
            tensor.scale = operand::scale(name, &text)?;
        }
        let params = fields::read(&VALUES, params, &mut left)?;
        let fields = SIZES.iter().chain(&VALUES).map(|field| field.name);
        let names: Vec<&str> = fields.chain(["type", "count_padding", "input_scale", "out_scale", "input"]).collect();
        arguments::nothing_left(&left, &names)?;
        Ok(params)
    }
}

impl Pool {
    /// Returns the tensor sizes for parameters in the domain; for other parameters, the result of [`Domain::sizes`].
    fn sizes(domain: &Domain, p: &Params) -> Result<Sizes, shape::ShapeError> {
        match pooling(p).check() {
            Ok([input, outputs]) if Self::covers(domain, p) => Ok(Sizes { inputs: [input, 0, 0], outputs }),
            _ => domain.sizes(p),
        }
    }

    /// Returns the results of a scheme for parameters that may differ from the case's; `None` if the oracle does not accept them.
    fn at(scheme: &Scheme, case: &Case<Params>, p: &Pooling) -> Option<Expected> {
        scheme.expected(p, &case.tensors[0]).ok()
    }

    fn additions(p: &Params) -> u64 {
        let results = p.output().map_or(0, |(rows, columns)| rows * columns);
        let factors = [p.batches, p.channels, results, p.kernel_h, p.kernel_w];
        sizes::product(&factors)
    }
}

/// Checks that the scale is in 2^-30 to 2^30.
fn in_binades(operand: Operand) -> bool {
    let (least, most) = (2f64.powi(*EXPONENTS.start()), 2f64.powi(*EXPONENTS.end()));
    (least..=most).contains(&operand.scale.0)
}

/// Checks that the input's scale divided by the output's is in `[2^-16, 2^8)`. Products by powers of two are exact.
fn quotient_is_taken(p: &Params) -> bool {
    let (input, out) = (p.input.scale.0, p.out.scale.0);
    input >= out * 2f64.powi(-16) && input < out * 256.0
}

/// Checks that tensors are no larger than those of any kernel, and that sums of differences fit int32.
fn within(p: &Params) -> bool {
    let area = p.kernel_h.saturating_mul(p.kernel_w) as u64;
    let span = p.element.range().end().unsigned_abs() as u64 + 1;
    let input = [p.batches, p.height, p.width, p.channels].iter().fold(1, |n: usize, size| n.saturating_mul(*size));
    area.saturating_mul(2 * span) < 1 << 31
        && input <= shape::MAX_ELEMENTS
        && area <= shape::MAX_ELEMENTS as u64
        && pooling(p).check().is_ok_and(|[_, outputs]| outputs <= shape::MAX_ELEMENTS)
}

const SIZES: [Field<Params>; 12] = fields![
    Params; size batches; size height always; size width always; size channels; size kernel_h; size kernel_w;
    size stride_h; size stride_w; size top; size bottom; size left; size right
];

const VALUES: [Field<Params>; 4] = fields![
    Params; int32 input_zero_point [input.zero_point]; int32 out_zero_point [out.zero_point]; int32 min; int32 max
];

/// Returns parameters with one simplification each, the simplest first.
fn simpler(p: &Params) -> Vec<Params> {
    let mut out = Vec::new();
    for field in &SIZES {
        let (least, now) = (field.value(&Params::of(p.element)), field.value(p));
        let values = [least, now / 2, now - 1].into_iter().filter(|value| (least..now).contains(value));
        out.extend(values.map(|value| field.with(p, value)));
    }
    // A window over the whole image remains a window over the whole image.
    for (height, width) in [(1, p.width), (p.height, 1), (p.height / 2, p.width), (p.height, p.width / 2)]
        .into_iter()
        .chain([(p.height - 1, p.width), (p.height, p.width - 1)])
    {
        let (kernel_h, kernel_w) = (p.kernel_h.min(height.max(1)), p.kernel_w.min(width.max(1)));
        out.push(Params { height, width, kernel_h, kernel_w, ..*p });
    }
    let (min, max) = (*p.element.range().start(), *p.element.range().end());
    let placed = |o: Operand, zero_point| Operand { zero_point, ..o };
    let zero = placed(p.input, 0.clamp(min, max));
    out.push(Params { min, max, ..*p });
    out.push(Params { count_padding: false, ..*p });
    out.push(Params { input: zero, ..*p });
    out.push(Params { out: placed(p.out, 0.clamp(min, max)), ..*p });
    out.push(Params { input: zero, out: Operand { zero_point: zero.zero_point, ..p.out }, ..*p });
    // Scales with few digits. A scale that already has few digits is kept.
    for plain in operand::PLAIN {
        let (input, output) = (operand::plainer(p.input, plain), operand::plainer(p.out, plain));
        out.extend(input.map(|input| Params { input, ..*p }));
        out.extend(output.map(|out| Params { out, ..*p }));
        out.extend(input.zip(output).map(|(input, out)| Params { input, out, ..*p }));
    }
    out
}

/// Crops the case to a smaller shape: the leading elements along every axis. New elements are the zero point.
fn cropped(case: &Case<Params>, params: Params) -> Case<Params> {
    let of = |p: &Params| [p.batches, p.height, p.width, p.channels];
    let (from, to) = (of(&case.params), of(&params));
    let mut out = Vec::with_capacity(to.iter().product());
    for at in 0..to.iter().product::<usize>() {
        let place = [at / to[3] / to[2] / to[1], at / to[3] / to[2] % to[1], at / to[3] % to[2], at % to[3]];
        let inside = place.iter().zip(&from).all(|(at, size)| at < size);
        let index = ((place[0] * from[1] + place[1]) * from[2] + place[2]) * from[3] + place[3];
        out.push(if inside { case.tensors[0][index] } else { params.input.zero_point });
    }
    Case { params, tensors: [out, Vec::new(), Vec::new()].into(), misalign: case.misalign }
}
