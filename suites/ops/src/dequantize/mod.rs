//! Dequantization in the harness: all stored values of small types; for larger types, values at the ends and beyond the float's precision.

mod changes;
mod sweep;

use crate::quantize::{isolate_result, smaller};
use crate::quantized::{self, places, plan, quantizations};
use rand_chacha::ChaCha8Rng;
use rug::{Integer, Rational};
use tiebreak_common::{Budget, Class, int32, stream};
use tiebreak_engine::operation::element::bits;
use tiebreak_engine::operation::fault::KnownFault;
use tiebreak_engine::operation::{
    Arguments, Capabilities, Case, CaseError, CaseSelection, Causes, Change, Compiled, Counted, Element, Expected,
    Operation, Options, Parameter, Spec, Sweeps, Tensors, Unposable, Wanted, Witnesses,
};
use tiebreak_impls::dequantize;
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Cast, Expressed, Params};
use tiebreak_mlir::Function;
use tiebreak_oracle::dequantize::Scheme;
use tiebreak_oracle::float::Float;
use tiebreak_oracle::quantize::{AllowedDeviations, Quantization};
use tiebreak_reports::ledger::Value;

/// The operation.
pub enum Dequantize {}

/// Applies `one` to each stored value, with the parameters of its place. NaN patterns are not promised, so NaNs have no expected value.
fn each(case: &Case<Params>, one: impl Fn(&Quantization, i64) -> u64) -> Result<Expected, Unposable> {
    each_of(case, &places::scales(&case.params), one)
}

/// Applies `one` to each stored value, with the parameters at the given scale indices.
fn each_of(
    case: &Case<Params>,
    scales: &[usize],
    one: impl Fn(&Quantization, i64) -> u64,
) -> Result<Expected, Unposable> {
    let p = &case.params;
    let all = quantizations(&p.quantized)?;
    let element = Element::Float(quantized::format(p.quantized.expressed));
    let stored = Element::Integer(p.quantized.storage.range());
    let mut out = Vec::with_capacity(case.tensors[0].len() * element.words());
    for (word, scale) in case.tensors[0].iter().zip(scales) {
        let q = &all[*scale];
        let bits = one(q, stored.place(&[*word]));
        let number = q.format.decode(bits) != Float::Nan;
        out.extend(element.of(bits).into_iter().map(|word| number.then_some(word)));
    }
    Ok(out)
}

/// Returns, for each stored value, the words of all results possible with the allowed deviations. NaNs are left out: their patterns are not promised.
fn possible(scheme: &Scheme, case: &Case<Params>, allowed: &AllowedDeviations) -> Result<Vec<Vec<i32>>, Unposable> {
    let p = &case.params;
    let all = quantizations(&p.quantized)?;
    let element = Element::Float(quantized::format(p.quantized.expressed));
    let stored = Element::Integer(p.quantized.storage.range());
    let values = |(word, scale): (&i32, usize)| {
        let (q, stored) = (&all[scale], stored.place(&[*word]));
        let results = if allowed.ties { scheme.either_way(q, stored) } else { vec![scheme.expected(q, stored)] };
        results
            .into_iter()
            .filter(|bits| q.format.decode(*bits) != Float::Nan)
            .flat_map(|bits| element.of(bits))
            .collect()
    };
    Ok(case.tensors[0].iter().zip(places::scales(p)).map(values).collect())
}

impl Operation for Dequantize {
    const TENSORS: &'static [&'static str] = &["q"];
    const CATALOGUE: &'static str = include_str!("../../catalogue/dequantize.txt");
    const CAPABILITIES: Capabilities<Self> = Capabilities {
        tensors: Tensors { element: Self::element, ..Tensors::NONE },

        compiled: Compiled {
            compared: true,
            is: |domain| domain.compiled,
            function: |params| Some(Function { cast: Cast::Dequantize, params: params.clone() }),
            faults: quantized::faults,
            at_fault: Self::at_fault,
        },
        sweeps: Sweeps {
            params: sweep::params,
            small_sweeps: sweep::small_sweeps,
            all: |kernel, runner, selection, _| sweep::many(kernel, runner, selection),
            ..Sweeps::NONE
        },
        causes: Causes {
            // A step may overflow so that infinities meet; no contract promises the pattern of that NaN.
            undefined_class: Some(Class::Overflow),
            matches_undefined: Self::matches_undefined,
            contract_cause: |contract, _| Some(Change::own("values", contract)),
            ..Causes::NONE
        },
        options: Options { takes: &[Parameter::Types], caller_coverage: quantized::caller_coverage, ..Options::NONE },
        counted: Counted { kinds: Self::kinds, ..Counted::NONE },
        witnesses: Witnesses {
            isolate_result: |case, _, index| isolate_result(case, 1, index),
            channels: |p, _| places::channels(p),
            ..Witnesses::NONE
        },
        ..Capabilities::NONE
    };
    types_of!(tiebreak_impls::dequantize::Dequantize, Scheme);

    fn dimensions(_: &Domain, p: &Params, _: usize) -> Vec<usize> {
        p.shape.clone()
    }

    fn widest_domain(_: &Scheme, ty: Option<&str>, arguments: &mut Arguments) -> Result<Domain, CaseError> {
        Ok(quantized::open(ty, arguments))
    }

    fn covers(domain: &Domain, p: &Params) -> bool {
        quantized::covers(domain, p)
    }

    fn domain_text(domain: &Domain) -> String {
        quantized::domain_text(domain)
    }

    fn expected(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        each(case, |q, stored| scheme.expected(q, stored))
    }

    fn rational(_: &Scheme, case: &Case<Params>) -> Option<Vec<Option<Rational>>> {
        let all = quantizations(&case.params.quantized).ok()?;
        let stored = Element::Integer(case.params.quantized.storage.range());
        let one = |(word, scale): (&i32, usize)| {
            let q = &all[scale];
            Some(Rational::from(stored.place(&[*word]) - q.zero_point) * q.exact_scale())
        };
        Some(case.tensors[0].iter().zip(places::scales(&case.params)).map(one).collect())
    }

    fn exact(scheme: &Scheme, case: &Case<Params>) -> Result<Expected, Unposable> {
        each(case, |q, stored| scheme.exact(q, stored))
    }

    fn reference(_: &dequantize::Kernel, _: &Wanted) -> Option<String> {
        Some("ideal".to_owned())
    }

    fn neutral_element(params: &Params, _: usize) -> i32 {
        params.quantized.zero_points.first().map_or(0, |point| *point as i32)
    }

    fn own_plan(domain: &Domain, selection: &CaseSelection, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
        plan::plan(domain, selection, budget, seed, &Stored)
    }

    fn changes(scheme: &Scheme, _: &Domain) -> Vec<Change<Self>> {
        changes::changes(scheme)
    }

    fn shrink_candidates(case: &Case<Params>, domain: &Domain) -> Vec<Case<Params>> {
        smaller(case, 1, domain)
    }

    fn arguments(p: &Params) -> Vec<(String, Value)> {
        quantized::arguments(p)
    }

    fn from_arguments(arguments: &Arguments) -> Result<Params, CaseError> {
        quantized::from_arguments(arguments, "q")
    }
}

impl Dequantize {
    fn element(_: &Domain, p: &Params, t: usize) -> Element {
        match t {
            0 => Element::Integer(p.quantized.storage.range()),
            _ => Element::Float(quantized::format(p.quantized.expressed)),
        }
    }

    fn at_fault(kernel: &str, lane: &str, contract: &Scheme, case: &Case<Params>) -> Vec<KnownFault> {
        quantized::at_fault::<Self>(kernel, lane, contract, case, possible)
    }

    fn kinds(_: &Scheme, case: &Case<Params>, expected: &Expected) -> Vec<(&'static str, u64)> {
        let (expressed, words) = (case.params.quantized.expressed, case.params.quantized.expressed.words());
        let result = |at: usize| {
            let given = expected[at * words..][..words].iter().map(|word| word.unwrap_or_default());
            bits(&given.collect::<Vec<_>>())
        };
        let subnormal = |at| quantized::is_subnormal(quantized::format(expressed), result(at));
        quantized::kinds(case, expected, words, ("subnormal", subnormal))
    }

    fn matches_undefined(p: &Params, outs: &[i32], word: usize) -> Option<bool> {
        let words = p.quantized.expressed.words();
        let result = &outs[word / words * words..][..words];
        Some(quantized::format(p.quantized.expressed).decode(bits(result)) == Float::Nan)
    }
}

/// Number of random stored values for a type that is not tried in full.
const RANDOM: usize = 256;

/// Stored values as inputs of dequantize.
struct Stored;

impl plan::Elements for Stored {
    fn words(&self, _: Expressed) -> usize {
        1
    }

    /// Returns values at power-of-two distances from the ends, the zero point and 0, with their neighbours, and random values.
    fn elements(&self, q: &Quantization, seed: u64) -> Vec<i32> {
        let mut out: Vec<i64> = Vec::new();
        for centre in [q.min, q.max, q.zero_point, 0] {
            for power in 0..=32 {
                for sign in [-1, 1] {
                    let at = centre + sign * (1i64 << power);
                    out.extend([at - 1, at, at + 1]);
                }
            }
        }
        let mut rng = stream(seed, "dequantize/stored");
        let width = i128::from(q.max - q.min);
        out.extend((0..RANDOM).map(|_| q.min + ((width * i128::from(int32(&mut rng) as u32)) >> 32) as i64));
        out.retain(|v| (q.min..=q.max).contains(v));
        out.sort_unstable();
        out.dedup();
        out.into_iter().map(|v| v as i32).collect()
    }

    fn some(&self, q: &Quantization, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
        let width = i128::from(q.max - q.min) + 1;
        let mut stored = || {
            let bits = int32(rng) as u32;
            let centre = [q.min, q.max, q.zero_point, q.zero_point][(bits >> 4 & 3) as usize];
            // Near the zero point, where results are smallest; at a random magnitude from a centre; or any value.
            match bits % 4 {
                0 => centre + i64::from(bits >> 6) % 9 - 4,
                1 => centre + (i64::from(int32(rng)) >> (bits >> 6 & 31)),
                _ => q.min + ((width * i128::from(int32(rng) as u32)) >> 32) as i64,
            }
        };
        (0..count).map(|_| stored().clamp(q.min, q.max) as i32).collect()
    }

    fn every(&self, q: &Quantization) -> Option<Vec<i32>> {
        (q.storage.bits <= 16).then(|| (q.min..=q.max).map(|v| v as i32).collect())
    }

    fn beyond(&self, q: &Quantization) -> Vec<i32> {
        let beside = |centre: i64| (-2..=2).map(move |more| centre + more);
        let all = [q.min, q.max, q.zero_point, 0].into_iter().flat_map(beside);
        all.filter(|stored| (q.min..=q.max).contains(stored)).map(|stored| stored as i32).collect()
    }

    /// Returns scales with which the distance of a stored value from the zero point is on the overflow edge, for both ends and a value between.
    fn scales_at_overflow(&self, q: &Quantization) -> Vec<Rational> {
        let edge = q.format.infinite_from();
        distances(q).into_iter().map(|distance| Rational::from(&edge / Integer::from(distance.abs()))).collect()
    }

    /// Returns the stored values at these distances on both sides of the zero point, and their neighbours.
    fn overflowing(&self, q: &Quantization) -> Vec<i32> {
        let beside =
            |distance: i64| [-distance, distance].into_iter().flat_map(|far| (-1..=1).map(move |more| far + more));
        let all = distances(q).into_iter().flat_map(beside).chain([0]).map(|distance| q.zero_point + distance);
        all.filter(|stored| (q.min..=q.max).contains(stored)).map(|stored| stored as i32).collect()
    }

    fn repeated(&self, q: &Quantization) -> Vec<Vec<i32>> {
        vec![vec![q.min as i32], vec![(q.min.midpoint(q.max)) as i32]]
    }
}

/// Returns distances of stored values from the zero point: both ends and an odd distance between, without 0.
fn distances(q: &Quantization) -> Vec<i64> {
    let ends = [q.max - q.zero_point, q.min - q.zero_point];
    let far = ends.into_iter().max_by_key(|distance| distance.abs()).unwrap_or(1);
    ends.into_iter().chain([(far / 3) | 1]).filter(|distance| *distance != 0).collect()
}
