//! Requantization in the harness: accumulators at ties and decision boundaries of each multiplier, zero points and clamps at their ends.

pub mod changes;
pub mod channels;
pub(crate) mod corners;
mod everyday;
mod fuzzed;
mod large;
mod path;
mod plan;
mod presented;
pub mod sweep;
pub mod targets;

use crate::pairs::{self, Lists};
use crate::types;
use std::collections::BTreeSet;
use tiebreak_common::Budget;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Counted, Deviations, Expected, Field,
    Operation, Options, Parameter, ParameterCoverage, SelfChecks, Spec, Sweeps, Tensors, Unposable, Wanted, Witnesses,
    arguments, fields, fill,
};
use tiebreak_engine::run::shrink;
use tiebreak_impls::contract::Domain as Multipliers;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::mutants::Witness as Published;
use tiebreak_impls::requantize::{Domain, Params, Run};
use tiebreak_oracle::Rational;
use tiebreak_oracle::requantize::{Definition, Parameters, Scheme};
use tiebreak_reports::ledger::{Unit, Value};

/// The operation.
pub enum Requantize {}

pub(crate) use changes::{multiplication, multiply};
pub(crate) use path::path;
/// Scheme that a contract promises for each result.
pub type Promised = tiebreak_engine::operation::Promised<Scheme>;

/// Name of a kind of results in the ledger: results inside the bounds of the clamp.
pub const INSIDE: &str = "inside the clamp";

/// Counts the results inside the bounds of a clamp, and at its bounds.
pub(crate) fn of_clamp(expected: &Expected, min: i32, max: i32) -> Vec<(&'static str, u64)> {
    let count = |is: &dyn Fn(i32) -> bool| expected.iter().flatten().filter(|v| is(**v)).count() as u64;
    vec![(INSIDE, count(&|v| min < v && v < max)), ("at an end of the clamp", count(&|v| v == min || v == max))]
}

/// Name of the legacy pipeline's scheme.
const LEGACY: &str = "legacy";

/// Converts the parameters to the oracle's.
pub(crate) fn parameters(p: &Params) -> Parameters {
    Parameters {
        channels: p.channels.iter().map(|c| (c.multiplier, c.shift)).collect(),
        bias: p.bias.clone(),
        zero_point: p.zero_point,
        min: p.min,
        max: p.max,
    }
}

/// Returns the results of a scheme for every element of a case.
pub(crate) fn plain(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
    scheme.expected(&parameters(&case.params), &case.tensors[0]).map_err(Unposable::new)
}

impl Operation for Requantize {
    const TENSORS: &'static [&'static str] = &["x"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/requantize.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { has_len: true, ..Tensors::NONE },

        deviations: Deviations::IN_TAIL,
        sweeps: Sweeps { all: sweep::sweeps, ..Sweeps::NONE },
        causes: Causes {
            path: |contract, reference, _| path(&contract.scheme, &reference.scheme),
            groups: |contract, p, results| contract.groups(p.len, results),
            in_group: changes::in_group,
            ..Causes::NONE
        },
        options: Options {
            takes: &[Parameter::Pairs, Parameter::Model],
            takes_layer: |layer| layer.output.is_some(),
            caller_coverage: Self::caller_coverage,
            widened: &["per_channel"],
            ..Options::NONE
        },
        self_checks: SelfChecks { trial: Some(plan::trial), published: Self::published, ..SelfChecks::NONE },
        counted: Counted { kinds: Self::kinds, ..Counted::NONE },
        witnesses: Witnesses {
            isolate_result: Self::isolate_result,
            channels: |p, results| crate::fpm::in_turn(p.channels.len(), results),
            ..Witnesses::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::requantize::Requantize, Promised);

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        vec![p.len]
    }

    fn widest_domain(scheme: &Promised, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        let output = types::element(ty)?;
        for (name, end) in [("min", *output.range().start()), ("max", *output.range().end())] {
            arguments.entry(name.to_owned()).or_insert_with(|| end.into());
        }
        let q = if matches!(scheme.scheme.definition, Definition::Fpm(_)) { 31 } else { 0 };
        let channels = Multipliers { q: q..=q, per_channel: true, ..Multipliers::ALL };
        Ok(Domain { output, channels, bias: true, zero_point: true, clamp: true })
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        domain.sizes(p).is_ok() && p.channels.iter().all(|c| domain.takes(*c))
    }

    fn domain_text(domain: &Domain) -> String {
        format!("to {}, {}", domain.output.name(), crate::listing::domain(&domain.channels))
    }

    fn expected(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        scheme.joined(plain(&scheme.scheme, case)?, case.params.len, |scheme| plain(scheme, case))
    }

    fn rational(scheme: &Promised, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let p = parameters(&case.params);
        let one = |(at, acc): (usize, &i32)| Some(scheme.scheme.trace(&p, at % p.channels.len(), *acc).exact);
        Some(case.tensors[0].iter().enumerate().map(one).collect())
    }

    fn exact(scheme: &Promised, case: &Case<Params>) -> Result<Expected, Unposable> {
        let of = |scheme: &Scheme| {
            let exact = scheme.exact(&parameters(&case.params), &case.tensors[0]).map_err(Unposable::new)?;
            Ok(exact.into_iter().map(|v| v.and_then(|v| v.to_i32())).collect())
        };
        scheme.joined(of(&scheme.scheme)?, case.params.len, of)
    }

    /// Returns the caller's scheme of fixed point multiply; for the legacy pipeline, whose multiplier is an integer, its own scheme.
    fn reference(kernel: &Kernel<Run, Domain>, wanted: &Wanted) -> Option<String> {
        let legacy = kernel.contract.promise.scheme.starts_with(LEGACY);
        Some(if legacy { LEGACY.to_owned() } else { wanted.multiplication.clone() })
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, selection, budget, seed)
    }

    fn changes(scheme: &Promised, domain: &Domain) -> Vec<Change<Self>> {
        changes::changes(&scheme.scheme, domain)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        let p = &case.params;
        let mut out = Vec::new();
        if p.len > SPLIT {
            return parts(case);
        }
        if p.len > 1 {
            out.extend((0..p.len).map(|at| one(case, at)));
            out.extend(parts(case));
            out.extend((0..p.channels.len().min(p.len)).filter_map(|channel| of_channel(case, channel)));
        } else if p.channels.len() > 1 {
            out.push(one(case, 0));
        }
        let range = domain.output.range();
        let simpler = [
            Params { bias: vec![0; p.bias.len()], ..p.clone() },
            Params { zero_point: 0.clamp(*range.start(), *range.end()), ..p.clone() },
            Params { zero_point: p.zero_point.signum(), ..p.clone() },
            Params { zero_point: p.zero_point / 2, ..p.clone() },
            Params { min: *range.start(), max: *range.end(), ..p.clone() },
        ];
        out.extend(simpler.into_iter().filter(|s| s != p).map(|params| Case { params, ..case.clone() }));
        out.extend(with_bias_added(case));
        out.extend(case.aligned());
        let Channel { multiplier, shift } = p.channels[0];
        for channel in [(1, 0), (1 << 30, -1), (1 << 30, shift), (multiplier, 0), (multiplier, -1)] {
            let channel = Channel { multiplier: channel.0, shift: channel.1 };
            if channel != p.channels[0] && p.channels.len() == 1 && domain.takes(channel) {
                let order = |c: Channel| (c.multiplier.unsigned_abs().count_ones(), c.shift.unsigned_abs());
                if order(channel) < order(p.channels[0]) {
                    out.push(Case { params: Params { channels: vec![channel], ..p.clone() }, ..case.clone() });
                }
            }
        }
        out
    }

    /// Formats multipliers, shifts and biases, separated by commas if there are several channels.
    fn arguments(p: &Params) -> Vec<(String, Value)> {
        let mut out = pairs::written(&p.channels).to_vec();
        out.extend(p.bias.iter().any(|bias| *bias != 0).then(|| ("bias", arguments::list_value(&p.bias))));
        let out = out.into_iter().map(|(name, value)| (name.to_owned(), value));
        out.chain(fields::written(&FIELDS, p, &usual(Vec::new(), Vec::new()))).collect()
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        let mut left = arguments.clone();
        let lists = Lists::take(&mut left)?;
        let bias = arguments::take_list(&mut left, "bias", 0, i32::MIN..=i32::MAX)?;
        let channels = lists.channels().max(bias.len());
        let channels = lists.pairs(channels)?;
        let bias = arguments::repeated("bias", bias, channels.len())?;
        let params = fields::read(&FIELDS, usual(channels, bias), &mut left)?;
        arguments::nothing_left(&left, &["m", "s", "bias", "zero_point", "min", "max", "len", "x"])?;
        Ok(params)
    }
}

/// Returns the case with the bias added to the accumulators, and a bias of 0; `None` if there is no bias, or if a sum does not fit in 32 bits.
fn with_bias_added(case: &Case<Params>) -> Option<Case<Params>> {
    let p = &case.params;
    p.bias.iter().any(|bias| *bias != 0).then_some(())?;
    let sum = |(at, x): (usize, &i32)| x.checked_add(p.bias[at % p.bias.len()]);
    let acc = case.tensors[0].iter().enumerate().map(sum).collect::<Option<Vec<i32>>>()?;
    let mut out = case.clone();
    out.tensors[0] = acc;
    out.params.bias.fill(0);
    Some(out)
}

impl Requantize {
    fn isolate_result(case: &Case<Params>, _: &Domain, index: usize) -> Vec<(Case<Params>, usize)> {
        // One accumulator alone, and in its original place, which may matter.
        vec![(one(case, index), 0), (fill::only(case, [1, 0, 0], index), index)]
    }

    fn published(witness: &Published) -> Option<(Case<Params>, usize)> {
        let channels = vec![Channel { multiplier: witness.m, shift: witness.s }];
        let tensors = [vec![witness.x], Vec::new(), Vec::new()];
        Some((Case { params: usual(channels, vec![0]), tensors: tensors.into(), misalign: 0 }, 0))
    }

    /// Counts results by kind.
    pub fn kinds(_: &Promised, case: &Case<Params>, expected: &Expected) -> Vec<(&'static str, u64)> {
        let p = &case.params;
        let channels = p.channels.len();
        let given = || expected.iter().enumerate().filter_map(|(at, v)| Some((at, (*v)?)));
        let count = |is: &dyn Fn(usize, i32) -> bool| given().filter(|(at, v)| is(*at, *v)).count() as u64;
        let mut kinds = of_clamp(expected, p.min, p.max);
        if channels > 1 {
            kinds.push(("in channels from the ninth on", count(&|at, _| at % channels >= 8)));
            kinds.push(("in a partial row", count(&|at, _| at >= p.len - p.len % channels)));
        }
        kinds
    }

    fn caller_coverage(
        domain: &Domain,
        selection: &CaseSelection,
        run: &[&Params],
        _: (&Budget, u64),
    ) -> Option<ParameterCoverage> {
        let run: BTreeSet<Channel> = run.iter().flat_map(|params| params.channels.iter().copied()).collect();
        let described = |_, c: &Channel| (format!("m={} s={}", c.multiplier, c.shift), Self::domain_text(domain));
        let layers: Vec<&Params> = selection.layers.iter().filter_map(|layer| layer.output.as_ref()).collect();
        if !layers.is_empty() {
            let runs = |layer: &&Params| layer.channels.iter().all(|channel| run.contains(channel));
            let described = |at: usize, _: &&Params| (format!("layer {}", at + 1), Self::domain_text(domain));
            return Some(ParameterCoverage::of(Unit::Layer, &layers, runs, described));
        }
        (!selection.channels.is_empty())
            .then(|| ParameterCoverage::of(Unit::Pair, &selection.channels, |c| run.contains(c), described))
    }
}

/// Returns the default parameters: one int8 result, with the given channels and without a zero point.
fn usual(channels: Vec<Channel>, bias: Vec<i32>) -> Params {
    Params { len: 1, channels, bias, zero_point: 0, min: -128, max: 127 }
}

const FIELDS: [Field<Params>; 4] = fields![
    Params; int32 zero_point always; int32 min always; int32 max always; size len
];

/// Largest batch that is reduced element by element.
const SPLIT: usize = 1 << 15;

/// Returns parts of a batch, each beginning with a row.
fn parts(case: &Case<Params>) -> Vec<Case<Params>> {
    let width = case.params.channels.len();
    let part = |part: std::ops::Range<usize>| {
        let part = part.start.next_multiple_of(width)..part.end;
        let params = Params { len: part.len(), ..case.params.clone() };
        let words = case.tensors[0].get(part).filter(|words| !words.is_empty())?;
        Some(Case { params, tensors: [words.to_vec(), Vec::new(), Vec::new()].into(), misalign: 0 })
    };
    shrink::cuts(case.params.len).into_iter().filter_map(part).collect()
}

/// Returns the case with the parameters of one channel at every element; `None` without other channels.
fn of_channel(case: &Case<Params>, channel: usize) -> Option<Case<Params>> {
    let p = &case.params;
    let params = Params { channels: vec![p.channels[channel]], bias: vec![p.bias[channel]], ..p.clone() };
    (p.channels.len() > 1).then(|| Case { params, ..case.clone() })
}

/// Returns the case of one accumulator with the parameters of its channel.
fn one(case: &Case<Params>, at: usize) -> Case<Params> {
    let p = &case.params;
    let channel = at % p.channels.len();
    let params = Params { len: 1, channels: vec![p.channels[channel]], bias: vec![p.bias[channel]], ..p.clone() };
    Case { params, tensors: [vec![case.tensors[0][at]], Vec::new(), Vec::new()].into(), misalign: 0 }
}
