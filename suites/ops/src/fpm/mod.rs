//! Fixed point multiply in the harness: accumulators at ties and decision boundaries of each multiplier, in bodies and tails of every length.

pub mod changes;
pub mod corners;
mod fuzzed;
pub mod hypotheses;
mod large;
mod plan;
mod presented;
pub mod promised;
mod simpler;
pub mod sweep;

use crate::pairs::{self, Lists};
use crate::{listing, types};
use promised::{Promised, ShiftDirection};
use std::collections::BTreeSet;
use tiebreak_common::{Budget, Class};
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Control, Counted, Deviations, Expected,
    Observed, Operation, Options, Parameter, ParameterCoverage, SelfChecks, Spec, Spelling, Sweeps, Tensors, Unposable,
    Wanted, Witness, Witnesses, arguments, promised,
};
use tiebreak_impls::contract::{Contract, Domain};
use tiebreak_impls::fpm::{Batch, Channel, FpmTensor, Kernel, Params};
use tiebreak_impls::mutants::{self, Witness as Published};
use tiebreak_impls::operation::TensorOperation;
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::{Parameters, Scheme, exact};
use tiebreak_oracle::names::UnknownName;
use tiebreak_reports::ledger::{self, Unit, Value};

/// The operation.
pub enum FixedPointMultiply {}

/// Default number of fractional bits of multipliers.
pub const Q31: u32 = 31;

/// Converts a channel to the oracle's parameters.
pub fn parameters(channel: Channel, q: u32) -> Parameters {
    Parameters { q, ..Parameters::q31(channel.multiplier, channel.shift) }
}

/// Builds a case of the given accumulators. Element `i` is of channel `i % channels.len()`.
pub fn case(q: u32, channels: Vec<Channel>, xs: Vec<i32>) -> Case<Batch> {
    let params = Batch { params: Params { q, channels }, len: xs.len() };
    Case { params, tensors: [xs, Vec::new(), Vec::new()].into(), misalign: 0 }
}

/// Returns the channel of an element.
pub fn channel_at(batch: &Batch, index: usize) -> Channel {
    batch.params.channels[index % batch.params.channels.len()]
}

/// Computes every result of a case. `value` gets the index of an accumulator, the accumulator and the oracle's parameters.
fn each<T>(case: &Case<Batch>, value: impl Fn(usize, i64, &Parameters) -> T) -> Vec<T> {
    let Params { q, channels } = &case.params.params;
    let all: Vec<Parameters> = channels.iter().map(|channel| parameters(*channel, *q)).collect();
    let inputs = case.tensors[0].iter().zip(all.iter().cycle()).enumerate();
    inputs.map(|(index, (x, p))| value(index, (*x).into(), p)).collect()
}

/// Returns the channel of each result, if channels take turns; nothing for one channel.
pub(crate) fn in_turn(channels: usize, results: usize) -> Vec<usize> {
    if channels > 1 { (0..results).map(|at| at % channels).collect() } else { Vec::new() }
}

impl Operation for FixedPointMultiply {
    const TENSORS: &'static [&'static str] = &["x"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/fpm.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { has_len: true, ..Tensors::NONE },

        deviations: Deviations { contract: Self::contract, declared: Self::declared, in_case: Self::deviations },
        sweeps: Sweeps { all: sweep::sweeps, ..Sweeps::NONE },
        causes: Causes {
            // No reference expects a result where the contract promises none.
            undefined_class: None,
            groups: Self::groups,
            in_group: changes::changes_in,
            ..Causes::NONE
        },
        options: Options {
            takes: &[Parameter::Pairs],
            caller_coverage: Self::caller_coverage,
            widened: &["per_channel"],
            is_asked: |selection, batch| {
                let asked = &selection.channels;
                asked.is_empty() || batch.params.channels.iter().all(|channel| asked.contains(channel))
            },
            ..Options::NONE
        },
        self_checks: SelfChecks {
            trial: Some(|domain, seed| plan::trial(domain, seed, 1)),
            controls: Self::controls,
            published: Self::published,
        },
        counted: Counted { pairs: Self::pairs, ..Counted::NONE },
        spelling: Spelling { result: Self::spelled, is_replayable: simpler::is_single, command: Self::command },
        witnesses: Witnesses {
            isolate_result: |case, _, index| simpler::isolate_result(case, index),
            simpler: simpler::simpler,
            shrink_priority: Self::shrink_priority,
            rank: Self::rank,
            channels: |batch, results| in_turn(batch.params.channels.len(), results),
        },
        ..Capabilities::NONE
    };
    types_of!(FpmTensor, Promised);

    fn dimensions(_: &Domain, batch: &Batch, _: usize) -> Vec<usize> {
        vec![batch.len]
    }

    fn widest_domain(_: &Promised, ty: Option<&str>, _: &mut Arguments) -> Result<Domain, CaseError> {
        types::none(Self::OP, ty)?;
        Ok(Domain { q: 0..=Q31, per_channel: true, ..Domain::ALL })
    }

    fn covers(domain: &Domain, batch: &Batch) -> bool {
        let inside = |c: &Channel| domain.contains(c.multiplier, c.shift, batch.params.q);
        FpmTensor::sizes(domain, batch).is_ok() && batch.params.channels.iter().all(inside)
    }

    fn domain_text(domain: &Domain) -> String {
        listing::domain_with_format(domain)
    }

    fn expected(scheme: &Promised, case: &Case<Batch>) -> Result<Expected, Unposable> {
        // A search for the deviation of each element would cost as much as the results, so it is skipped if no element is in a deviation.
        if scheme.is_uniform(&case.params) {
            return Ok(each(case, |_, x, p| scheme.scheme.fast(x, p).map(|v| v as i32)));
        }
        let value = |index, x, p: &_| scheme.at(scheme.zone_at(index, &case.params)).fast(x, p).map(|v| v as i32);
        Ok(each(case, value))
    }

    fn rational(_: &Promised, case: &Case<Batch>) -> Option<Vec<Option<Rational>>> {
        Some(each(case, |_, x, p| Some(exact(x, p))))
    }

    fn exact(scheme: &Promised, case: &Case<Batch>) -> Result<Expected, Unposable> {
        let value = |index, x, p: &_| scheme.at(scheme.zone_at(index, &case.params)).exact(x, p).map(|v| v as i32);
        Ok(each(case, value))
    }

    fn reference(_: &Kernel, wanted: &Wanted) -> Option<String> {
        Some(wanted.multiplication.clone())
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Batch>> {
        plan::plan(domain, selection, budget, seed)
    }

    fn changes(scheme: &Promised, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(&scheme.scheme)
    }

    fn shrink_candidates(case: &Case<Batch>, _: &Domain) -> Vec<Case<Batch>> {
        simpler::halves(case)
    }

    /// Formats multipliers and shifts, separated by commas if there are several channels.
    fn arguments(batch: &Batch) -> Vec<(String, Value)> {
        let Params { q, channels } = &batch.params;
        let mut out = pairs::written(channels).to_vec();
        out.extend((*q != Q31).then(|| ("q", Value::Integer((*q).into()))));
        out.extend((batch.len != 1).then_some(("len", Value::Integer(batch.len as i64))));
        out.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn from_arguments(arguments: &Arguments) -> Result<Batch, CaseError> {
        let mut left = arguments.clone();
        let lists = Lists::take(&mut left)?;
        let q = arguments::take(&mut left, "q", Q31.into(), 0, Q31.into())? as u32;
        let len = arguments::take_size(&mut left, "len", 1)?;
        arguments::nothing_left(&left, &["m", "s", "q", "len", "x"])?;
        let count = lists.channels();
        let channels = lists.pairs(count)?;
        Ok(Batch { params: Params { q, channels }, len })
    }
}

impl FixedPointMultiply {
    /// Returns the scheme of a kernel's contract, with its deviations.
    pub fn contract(kernel: &Kernel) -> Result<Promised, UnknownName> {
        Promised::by(&kernel.contract)
    }

    fn declared(contract: &Promised) -> Vec<(Class, &'static str)> {
        contract.zones.iter().map(|zone| (zone.class, zone.reason)).collect()
    }

    fn deviations(contract: &Promised, case: &Case<Batch>) -> Vec<Option<Class>> {
        if contract.zones.is_empty() {
            return Vec::new();
        }
        each(case, |index, x, p| {
            let zone = contract.zones.get(contract.zone_at(index, &case.params))?;
            (zone.scheme.fast(x, p) != contract.scheme.fast(x, p)).then_some(zone.class)
        })
    }

    fn caller_coverage(
        domain: &Domain,
        selection: &CaseSelection,
        run: &[&Batch],
        (budget, seed): (&Budget, u64),
    ) -> Option<ParameterCoverage> {
        let run: BTreeSet<(Channel, u32)> = run.iter().flat_map(|params| Self::pairs(params)).collect();
        let planned = plan::pairs(selection, budget, seed);
        let outside = || planned.iter().filter(|pair| !run.contains(pair));
        let described = |(c, q): &(Channel, u32)| {
            let pair = format!("m={} s={}", c.multiplier, c.shift);
            match *q {
                Q31 => (pair, listing::domain(domain)),
                q => (format!("{pair} q={q}"), "another format of the multiplier".to_owned()),
            }
        };
        Some(ParameterCoverage {
            unit: Unit::Pair,
            by_caller: !selection.channels.is_empty(),
            planned: planned.len() as u64,
            outside: outside().count() as u64,
            first: outside().next().map(described),
        })
    }

    fn groups(contract: &Promised, batch: &Batch, results: usize) -> Vec<usize> {
        let regimes: Vec<ShiftDirection> = batch.params.channels.iter().map(|c| ShiftDirection::of(c.shift)).collect();
        let of =
            |(index, direction): (usize, &ShiftDirection)| contract.group(contract.zone_at(index, batch), *direction);
        (0..results).zip(regimes.iter().cycle()).map(of).collect()
    }

    fn shrink_priority(seen: &Observed<Batch>) -> Vec<u64> {
        let size = |index: usize, x: i64, _: &_| {
            let differs = seen.expected[index].is_some_and(|expected| expected != seen.outs[index]);
            differs.then(|| simpler::size(x as i32, channel_at(&seen.case.params, index)))
        };
        let smallest = each(&seen.case, size).into_iter().flatten().min();
        smallest.map_or_else(Vec::new, |size| size.map(u64::from).to_vec())
    }

    fn rank(witness: &Witness<Batch>) -> Vec<u64> {
        let x = witness.case.tensors[0][witness.index];
        simpler::size(x, channel_at(&witness.case.params, witness.index)).map(u64::from).to_vec()
    }

    /// Returns pairs of kernels that must give equal results.
    pub fn controls() -> Vec<Control<Self>> {
        let control = |control: mutants::Control| {
            let contract =
                Contract { promise: control.against, domain: control.domain, ..control.left.contract.clone() };
            let origin = promised::<Scheme>(control.against).map_or("", |scheme| scheme.definition.source);
            Control { name: control.name, kernel: Kernel { contract, ..control.left.clone() }, origin }
        };
        mutants::controls().into_iter().map(control).collect()
    }

    fn published(witness: &Published) -> Option<(Case<Batch>, usize)> {
        Some((case(Q31, vec![Channel { multiplier: witness.m, shift: witness.s }], vec![witness.x]), 0))
    }

    fn pairs(batch: &Batch) -> Vec<(Channel, u32)> {
        batch.params.channels.iter().map(|channel| (*channel, batch.params.q)).collect()
    }

    /// Formats one accumulator, with its place only if the place is the cause.
    fn spelled(case: &Case<Batch>, index: usize, class: Option<Class>) -> Option<ledger::Case> {
        let Channel { multiplier, shift } = channel_at(&case.params, index);
        let mut out = vec![("x", *case.tensors[0].get(index)?), ("m", multiplier), ("s", shift)];
        if case.params.params.q != Q31 {
            out.push(("q", case.params.params.q as i32));
        }
        if matches!(class, Some(Class::Position | Class::StaleDeviation)) {
            out.extend([("index", index as i32), ("len", case.params.len as i32)]);
        }
        Some(out.into_iter().map(|(name, value)| (name.to_owned(), i64::from(value).into())).collect())
    }

    fn command(case: &ledger::Case) -> String {
        // A batch without an accumulator, or a batch that is written in full.
        if !case.contains_key("x") {
            return format!("--case '{}'", tiebreak_reports::text::case(case));
        }
        let of = |name: &str| case.get(name).map_or(String::new(), Value::to_string);
        let q = if case.contains_key("q") { format!(" --q {}", of("q")) } else { String::new() };
        format!("--multiplier={} --shift={}{q} --x={}", of("m"), of("s"), of("x"))
    }
}
