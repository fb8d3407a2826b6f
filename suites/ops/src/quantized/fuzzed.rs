//! Quantized types made from a fuzzer's numbers, and values near their decision boundaries.

use super::format;
use crate::dequantize::Dequantize;
use crate::fuzzing::{Fuzzed, Numbers};
use crate::quantize::Quantize;
use rug::Rational;
use tiebreak_engine::operation::{Operation, kernels};
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Scale, Storage};
use tiebreak_reports::ledger::{self, Value};

impl Fuzzed for Quantize {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        params(domain, numbers)
    }

    fn tensors(_: &Domain, params: &Params, numbers: &mut Numbers<'_>) -> [Vec<i32>; 3] {
        let elements = params.shape.iter().product();
        let words = numbers.repeated(elements, |numbers| {
            let bits = expressed(&params.quantized, numbers);
            if params.quantized.expressed.words() == 2 {
                vec![bits as i32, (bits >> 32) as i32]
            } else {
                vec![bits as i32]
            }
        });
        [words.concat(), Vec::new(), Vec::new()]
    }

    fn explained(case: &ledger::Case, kernel: &str, scheme: &str) -> Option<String> {
        explained::<Self>(case, "x", kernel, scheme)
    }
}

impl Fuzzed for Dequantize {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        params(domain, numbers)
    }

    fn tensors(_: &Domain, params: &Params, numbers: &mut Numbers<'_>) -> [Vec<i32>; 3] {
        let elements = params.shape.iter().product();
        let storage = params.quantized.storage;
        let stored = numbers.repeated(elements, |numbers| storage.low_bits(numbers.int32().into()) as i32);
        [stored, Vec::new(), Vec::new()]
    }

    fn explained(case: &ledger::Case, kernel: &str, scheme: &str) -> Option<String> {
        explained::<Self>(case, "q", kernel, scheme)
    }
}

/// Explains a case of one value and one scale. A mutant is explained by the scheme that it should follow.
fn explained<O: Operation>(case: &ledger::Case, value: &str, kernel: &str, scheme: &str) -> Option<String> {
    let ty = case.get("type")?.to_string();
    let one = !case.contains_key("shape") && !ty.contains('{');
    let given = case.get(value).map_or("0".to_owned(), Value::to_string);
    let party = match kernels::<O>().iter().any(|known| known.name == kernel) {
        true => format!("--kernel {kernel}"),
        false => format!("--scheme {scheme}"),
    };
    one.then(|| format!("{} {party} --type '{ty}' --{value}={given}", O::OP))
}

fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
    let expressed = *numbers.one_of(domain.expressed);
    let any = Storage { bits: numbers.size(32) as u32, signed: numbers.byte().is_multiple_of(2) };
    let storage = if domain.storage.is_empty() { any } else { *numbers.one_of(domain.storage) };
    let range = storage.range();
    let (min, max) = match [stored(storage, numbers), stored(storage, numbers)] {
        // Equal bounds are rarely of interest, and come from numbers that are all alike.
        [a, b] if domain.bounds && a != b => (a.min(b), a.max(b)),
        _ => range.into_inner(),
    };
    let container = *numbers.one_of(domain.containers);
    let (granularity, shape) = parts(domain.finest, container, numbers);
    let count = granularity.scales(&shape).unwrap_or(1);
    let scales = (0..count).map(|_| scale(expressed, numbers)).collect();
    let zero_points = (0..count).map(|_| stored(storage, numbers)).collect();
    let quantized = Quantized { storage, min, max, expressed, granularity, scales, zero_points };
    Params { quantized, container, shape }
}

/// Draws the elements that share a scale, and the shape of a small tensor.
fn parts(finest: Finest, container: Container, numbers: &mut Numbers<'_>) -> (Granularity, Vec<usize>) {
    let kind = numbers.byte() % 3;
    let blocks = matches!(finest, Finest::LastAxis | Finest::OneAxis | Finest::Blocks);
    if !finest.takes_layers() {
        let (rows, counts) = (numbers.size(5), vec![numbers.size(4), 1 + numbers.size(18)]);
        let shape = vec![counts[0] * rows, counts[1]];
        return (Granularity::Blocks { sizes: vec![(0, rows), (1, 1)], counts }, shape);
    }
    match (kind, container) {
        (1, Container::Ranked | Container::Unranked) if finest != Finest::Layer => {
            (Granularity::Channel { axis: 0 }, vec![numbers.size(19), numbers.size(5)])
        }
        (2, Container::Ranked) if blocks => {
            let rows = if finest == Finest::Blocks { numbers.size(3) } else { 1 };
            let (columns, counts) = (numbers.size(5), vec![numbers.size(4), 1 + numbers.size(4)]);
            let shape = vec![counts[0] * rows, counts[1] * columns];
            (Granularity::Blocks { sizes: vec![(0, rows), (1, columns)], counts }, shape)
        }
        _ => (Granularity::Layer, vec![numbers.size(70)]),
    }
}

/// Draws a value of the type, often near an end.
fn stored(storage: Storage, numbers: &mut Numbers<'_>) -> i64 {
    storage.low_bits(numbers.int32().into())
}

/// Draws a scale of any magnitude that leaves room for a stored value, often a power of two or its neighbour.
fn scale(expressed: Expressed, numbers: &mut Numbers<'_>) -> Scale {
    let most = if expressed == Expressed::F16 { 12 } else { 100 };
    let exponent = numbers.of(-most..=most);
    let fraction = match numbers.byte() % 4 {
        0 => 0.0,
        1 => f64::EPSILON,
        2 => 1.0 - f64::from(f32::EPSILON),
        _ => f64::from(numbers.int32() as u32) / 2f64.powi(32),
    };
    Scale((1.0 + fraction) * 2f64.powi(exponent))
}

/// Draws any bit pattern, or the float next to a stored value, to a boundary between two stored values, or to a quarter step from it.
fn expressed(quantized: &Quantized, numbers: &mut Numbers<'_>) -> u64 {
    let bits = u64::from(numbers.int32() as u32);
    if numbers.byte().is_multiple_of(4) {
        let mask = u64::MAX >> (64 - quantized.expressed.bits());
        return (bits << 32 | u64::from(numbers.int32() as u32)) & mask;
    }
    let place = numbers.size(quantized.scales.len()) - 1;
    let quarters = Rational::from((i32::from(numbers.byte() % 5) - 2, 4));
    let steps = Rational::from(stored(quantized.storage, numbers)) - quantized.zero_points[place] + quarters;
    let scale = Rational::from_f64(quantized.scales[place].0).unwrap_or_default();
    format(quantized.expressed).nearest(&(steps * scale))
}
