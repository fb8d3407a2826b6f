//! Bounds of the kernels, each derived from operand ranges and accumulator widths.

use super::{BoundCase, Claim, Reading};
use crate::matmul::Matmul;
use std::ops::RangeInclusive;
use tiebreak_engine::operation::{Case, promise};
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::{dot, matmul, requantize};
use tiebreak_oracle::bounds::{self, Depth};
use tiebreak_oracle::matmul::Narrow;
use tiebreak_oracle::pair_sum::PairSum;

/// Returns all bounds of all kernels.
pub(super) fn all() -> Vec<Claim> {
    let mut out = Vec::new();
    for kernel in matmul::kernels() {
        out.extend(depths(kernel));
        out.extend(pair_sums(kernel));
    }
    for kernel in dot::kernels() {
        out.extend(lanes(kernel));
    }
    for kernel in requantize::kernels().iter().filter(|k| k.contract.promise.scheme == "legacy") {
        out.push(legacy(kernel));
    }
    out
}

fn wide(range: &RangeInclusive<i32>) -> RangeInclusive<i64> {
    i64::from(*range.start())..=i64::from(*range.end())
}

fn word(reading: Reading) -> (i128, i128) {
    match reading {
        Reading::Signed => (i32::MIN.into(), i32::MAX.into()),
        Reading::Unsigned => (0, u32::MAX.into()),
    }
}

/// Claims that inputs up to a bound are right, and that the next is not. `probe` builds the case of an input, with its exact result.
fn bounded(
    (op, kernel): (&'static str, &'static str),
    quantity: impl Into<String>,
    bound: i64,
    because: String,
    probe: impl Fn(i64) -> (BoundCase, i64),
) -> Claim {
    let (at, past) = (Some(probe(bound)), Some(probe(bound + 1)));
    Claim { op, kernel, quantity: quantity.into(), bound: Some(bound), because, at, past }
}

/// Builds a step of dot products with one value in all accumulators.
fn step(domain: &dot::Domain, acc: i64, [a, b]: [Vec<i32>; 2], reading: Reading) -> BoundCase {
    let params = dot::Params { len: domain.results };
    BoundCase::Dot(Case { params, tensors: [vec![acc as i32; domain.results], a, b].into(), misalign: 0 }, reading)
}

/// Builds a product of one row and one column, each filled with one value, and returns its exact result.
fn filled(k: usize, (lhs, rhs): (i32, i32), reading: Reading) -> (BoundCase, i64) {
    let params = matmul::Params { m: 1, n: 1, k, lhs_offset: 0, rhs_offset: 0 };
    let case = Case { params, tensors: [vec![lhs; k], vec![rhs; k], Vec::new()].into(), misalign: 0 };
    (BoundCase::Matmul(case, reading), i64::from(lhs) * i64::from(rhs) * k as i64)
}

/// Returns the rhs values for which every pair sum fits 16 bits; for a kernel without 16-bit pair sums, all rhs values.
fn safe_rhs(kernel: &matmul::Kernel) -> RangeInclusive<i32> {
    let domain = &kernel.contract.domain;
    match pair_word(kernel) {
        None => domain.rhs_values.clone(),
        Some(word) => {
            let safe =
                bounds::largest_pair_weight(wide(&domain.lhs_values), wide(&domain.rhs.range()), 2, word.0, word.1);
            *safe.start() as i32..=*safe.end() as i32
        }
    }
}

/// Returns the range of a 16-bit pair sum; `None` if the scheme has no 16-bit pair sums.
fn pair_word(kernel: &matmul::Kernel) -> Option<(i128, i128)> {
    match promise::<Matmul>(kernel).ok()?.definition.narrow? {
        Narrow::Pairs { sum: PairSum::WrapUnsigned, .. } => Some((0, u16::MAX.into())),
        Narrow::Pairs { .. } => Some((i16::MIN.into(), i16::MAX.into())),
        Narrow::Quads | Narrow::Sum16 => None,
    }
}

/// Returns the range of the word that holds a sum under this reading, and the name of the word.
fn sum_word(kernel: &matmul::Kernel, reading: Reading) -> ((i128, i128), &'static str) {
    match promise::<Matmul>(kernel).ok().and_then(|scheme| scheme.definition.narrow) {
        Some(Narrow::Sum16) => ((i16::MIN.into(), i16::MAX.into()), "int16"),
        _ => (word(reading), reading.name()),
    }
}

/// Claims the largest depth whose result fits, read as signed and, if no product is negative, as unsigned.
fn depths(kernel: &matmul::Kernel) -> Vec<Claim> {
    let domain = &kernel.contract.domain;
    let rhs = safe_rhs(kernel);
    let restricted =
        if rhs == domain.rhs_values { String::new() } else { format!(", rhs in {}..={}", rhs.start(), rhs.end()) };
    let readings =
        [Some(Reading::Signed), (*domain.lhs_values.start() >= 0 && *rhs.start() >= 0).then_some(Reading::Unsigned)];
    let mut out = Vec::new();
    for reading in readings.into_iter().flatten() {
        let ((low, high), name) = sum_word(kernel, reading);
        let reach = bounds::largest_depth(wide(&domain.lhs_values), wide(&rhs), low, high);
        let Depth::Bounded { depth, pair, .. } = reach else { continue };
        let extreme = (pair.0 as i32, pair.1 as i32);
        let because = format!(
            "products reach {} * {} = {}; {depth} of them stay in {low}..={high}, {} do not",
            extreme.0,
            extreme.1,
            i64::from(extreme.0) * i64::from(extreme.1),
            depth + 1
        );
        let quantity = format!("depth K, result as {name}{restricted}");
        let probe = |k| filled(k as usize, extreme, reading);
        out.push(bounded(("matmul", kernel.name), quantity, depth as i64, because, probe));
    }
    let promised = *domain.depth.end();
    if promised < tiebreak_impls::shape::MAX_ELEMENTS {
        let (whole, rest) = (promised / 128, promised % 128);
        let because = format!(
            "a lane takes 16 bits of each 128: {} of {whole} times 128, and one more for each of the next {rest}, which makes {}",
            16 * whole,
            16 * whole + rest
        );
        let probe = |k| filled(k as usize, (1, 1), Reading::Signed);
        out.push(bounded(("matmul", kernel.name), "depth K, 16-bit lane of counts", promised as i64, because, probe));
    }
    out
}

/// Builds a product of depth 16 with exactly one non-zero pair sum, and returns its exact result.
fn pair(kernel: &matmul::Kernel, lhs: [i32; 2], rhs: [i32; 2]) -> (BoundCase, i64) {
    let apart = if kernel.contract.promise.scheme == "pairs-s16-saturate" { 1 } else { 8 };
    let mut tensors = [vec![0; 16], vec![0; 16], Vec::new()];
    for (place, i) in [(0, 0), (apart, 1)] {
        (tensors[0][place], tensors[1][place]) = (lhs[i], rhs[i]);
    }
    let params = matmul::Params { m: 1, n: 1, k: 16, lhs_offset: 0, rhs_offset: 0 };
    let exact = (0..2).map(|i| i64::from(lhs[i]) * i64::from(rhs[i])).sum();
    (BoundCase::Matmul(Case { params, tensors: tensors.into(), misalign: 0 }, Reading::Signed), exact)
}

/// Claims the largest and the smallest rhs value for which every 16-bit pair sum is right.
fn pair_sums(kernel: &matmul::Kernel) -> Vec<Claim> {
    let Some((low, high)) = pair_word(kernel) else { return Vec::new() };
    let domain = &kernel.contract.domain;
    let safe = safe_rhs(kernel);
    let claim = |quantity: &str, bound: Option<i64>, because: String, at, past| Claim {
        op: "matmul",
        kernel: kernel.name,
        quantity: quantity.to_owned(),
        bound,
        because,
        at: Some(at),
        past,
    };
    let worst = |w: i32| {
        // The lhs value with the most extreme pair sum.
        let ends = [*domain.lhs_values.start(), *domain.lhs_values.end()];
        let outside = |l: &i32| !(low..=high).contains(&(2 * i128::from(*l) * i128::from(w)));
        ends.into_iter().find(outside).unwrap_or(*domain.lhs_values.end())
    };
    let both = |w: i32, l: i32| pair(kernel, [l; 2], [w; 2]);
    let mut out = Vec::new();
    for (quantity, end, next, last) in [
        ("largest rhs value", *safe.end(), *safe.end() + 1, *domain.rhs.range().end()),
        ("smallest rhs value", *safe.start(), *safe.start() - 1, *domain.rhs.range().start()),
    ] {
        if end == last {
            let because = format!("it is the type's: two products with it stay in {low}..={high} for every lhs");
            out.push(claim(quantity, None, because, both(end, worst(end)), None));
            continue;
        }
        let l = worst(next);
        let because = format!(
            "2 * {l} * {end} = {} is in {low}..={high}, 2 * {l} * {next} = {} is not",
            2 * l * end,
            2 * l * next
        );
        out.push(claim(quantity, Some(end.into()), because, both(end, l), Some(both(next, l))));
    }
    match (domain.lhs, domain.rhs) {
        (Element::U8, Element::U8) => {
            let limit = high / 255;
            let split = |sum: i32| [sum - 255.min(sum), 255.min(sum)];
            let probe = |sum: i32| pair(kernel, [255; 2], split(sum));
            let sum = limit as i32;
            let because = format!(
                "255 * {sum} = {} is at most {high}, 255 * {} = {} is not",
                255 * sum,
                sum + 1,
                255 * (sum + 1)
            );
            out.push(claim(
                "sum of the two rhs values of a pair",
                Some(sum.into()),
                because,
                probe(sum),
                Some(probe(sum + 1)),
            ));
            let (claimed, largest) = (254, *safe.end());
            let because = format!(
                "refuted: the source calls weights of 0..={claimed} safe, but 255 * {claimed} twice is {}, beyond {high}; the largest safe weight is {largest}",
                2 * 255 * claimed
            );
            out.push(claim(
                &format!("rhs values 0..={claimed}, claimed safe by the Arm GEMM RFC"),
                Some(largest.into()),
                because,
                both(largest, 255),
                Some(both(claimed, 255)),
            ));
        }
        (Element::I8, Element::I8) => {
            let because = "(-128)*(-128) = 16384 with any other product is at most 16384 + 127*127 = 32513; twice it is 32768 = 2^15, the only pair sum that leaves 16 bits";
            let at = pair(kernel, [-128, 127], [-128, 127]);
            let past = pair(kernel, [-128; 2], [-128; 2]);
            out.push(claim("(-128)*(-128) products in one pair sum", Some(1), because.to_owned(), at, Some(past)));
        }
        _ => {}
    }
    out
}

/// Claims the number of steps that one accumulator lane holds. Only the last step is run, on the sum of the steps before.
fn lanes(kernel: &dot::Kernel) -> Vec<Claim> {
    let domain = &kernel.contract.domain;
    let scheme = kernel.contract.promise.scheme;
    match scheme {
        "popcount-2" => return vec![counts(kernel, 1 << 16)],
        "popcount-2-signed" => return vec![counts(kernel, 1 << 15)],
        "products-32-counts-u8-wrap" => return vec![shifted_counts(kernel)],
        "products-4-s16-saturate" => return vec![saturating_pair(kernel)],
        _ if scheme.starts_with("products-32") => return vec![low_bits(kernel)],
        _ => {}
    }
    if scheme.contains("16") {
        return Vec::new();
    }
    let terms = terms(scheme);
    let mut out: Vec<Claim> = product_lane(kernel).into_iter().collect();
    let (lhs, rhs) = (wide(&domain.lhs.range()), wide(&domain.rhs.range()));
    let readings = [Some(Reading::Signed), (*lhs.start() >= 0 && *rhs.start() >= 0).then_some(Reading::Unsigned)];
    for reading in readings.into_iter().flatten() {
        let (low, high) = word(reading);
        let reach = bounds::largest_depth(lhs.clone(), rhs.clone(), low, high);
        let Depth::Bounded { depth, pair: (lhs, rhs), .. } = reach else { continue };
        let steps = depth as i64 / terms;
        let each = lhs * rhs * terms;
        let probe = |steps: i64| {
            let operands = [vec![lhs as i32; domain.elements], vec![rhs as i32; domain.elements]];
            (step(domain, (steps - 1) * each, operands, reading), steps * each)
        };
        let quantity = format!("steps of {terms} products into one 32-bit lane, read as {}", reading.name());
        let because =
            format!("a step adds at most {each}; {steps} of them stay in {low}..={high}, {} do not", steps + 1);
        out.push(bounded(("dot", kernel.name), quantity, steps, because, probe));
    }
    out
}

/// Claims that the 16-bit lane of a product of two bytes holds every product; `None` if the scheme has no such lane.
fn product_lane(kernel: &dot::Kernel) -> Option<Claim> {
    if kernel.contract.promise.scheme != "products-4-halves" {
        return None;
    }
    let domain = &kernel.contract.domain;
    let (low, high, name) = match domain.lhs {
        Element::U8 => (0, i64::from(u16::MAX), "uint16"),
        _ => (i64::from(i16::MIN), i64::from(i16::MAX), "int16"),
    };
    let (lhs, rhs) = (wide(&domain.lhs.range()), wide(&domain.rhs.range()));
    let corners = [(lhs.end(), rhs.end()), (lhs.start(), rhs.start()), (lhs.start(), rhs.end())];
    let (l, r) = corners.into_iter().max_by_key(|(l, r)| (*l * *r).abs())?;
    let product = l * r;
    if !(low..=high).contains(&product) {
        return None;
    }
    let mut operands = [vec![0; domain.elements], vec![0; domain.elements]];
    (operands[0][0], operands[1][0]) = (*l as i32, *r as i32);
    Some(Claim {
        op: "dot",
        kernel: kernel.name,
        quantity: format!("one product in its 16-bit lane, {name}"),
        bound: None,
        because: format!(
            "the largest product, {l} * {r} = {product}, is in {low}..={high}: no depth and no weight makes it wrap"
        ),
        at: Some((step(domain, 0, operands, Reading::Signed), product)),
        past: None,
    })
}

/// Returns the number of products that a step adds to one lane, read from the scheme's name.
fn terms(scheme: &str) -> i64 {
    let digits: String = scheme.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(1)
}

/// Claims the largest rhs value for both products of a 16-bit pair when both lhs values are the largest unsigned byte.
fn saturating_pair(kernel: &dot::Kernel) -> Claim {
    let domain = &kernel.contract.domain;
    let lhs = *domain.lhs.range().end();
    let bound = i32::from(i16::MAX) / (2 * lhs);
    let probe = |weight: i64| {
        let pair = |value: i32| (0..domain.elements).map(|k| if k < 2 { value } else { 0 }).collect();
        (step(domain, 0, [pair(lhs), pair(weight as i32)], Reading::Signed), i64::from(2 * lhs) * weight)
    };
    let because = format!(
        "2 * {lhs} * {bound} = {} is below 2^15, 2 * {lhs} * {} = {} is not",
        2 * lhs * bound,
        bound + 1,
        2 * lhs * (bound + 1)
    );
    let quantity = "largest rhs value of both products of a pair";
    bounded(("dot", kernel.name), quantity, bound.into(), because, probe)
}

/// Claims the number of steps of 32 few-bit products into one 32-bit lane. The largest product has all bits set, whatever an unset bit means.
fn low_bits(kernel: &dot::Kernel) -> Claim {
    let domain = &kernel.contract.domain;
    let (lhs, rhs) = (*domain.lhs.range().end(), *domain.rhs.range().end());
    let each = domain.elements as i64 * i64::from(lhs) * i64::from(rhs);
    let steps = i64::from(i32::MAX) / each;
    let probe = |steps: i64| {
        let operands = [lhs, rhs].map(|value| vec![value; domain.elements]);
        (step(domain, (steps - 1) * each, operands, Reading::Signed), steps * each)
    };
    let because = format!("{steps} * {each} is below 2^31, {} * {each} is not", steps + 1);
    let quantity = "steps of 32 products into one 32-bit lane, read as int32";
    bounded(("dot", kernel.name), quantity, steps, because, probe)
}

/// Claims the largest sum of plane weights by which an 8-bit count can be shifted in its lane.
fn shifted_counts(kernel: &dot::Kernel) -> Claim {
    let domain = &kernel.contract.domain;
    // Eight elements have one bit each, in planes whose weights multiply to 2^weight; the other elements are 0.
    let probe = |weight: i64| {
        let plane = weight.min(3);
        let one = |bit: i64| (0..domain.elements).map(|k| if k < 8 { 1 << bit } else { 0 }).collect();
        (step(domain, 0, [one(plane), one(weight - plane)], Reading::Signed), 8 << weight)
    };
    let because = "8 << 4 = 128 is below 2^8, 8 << 5 = 256 is not; operands of six bits together shift by 4 at most";
    let quantity = "places by which a count of 8 bits is shifted in an 8-bit lane";
    bounded(("dot", kernel.name), quantity, 4, because.to_owned(), probe)
}

/// Claims the number of steps whose bit counts fit a 16-bit lane that holds values below `end`.
fn counts(kernel: &dot::Kernel, end: i64) -> Claim {
    // A step adds the set bits of two bytes.
    const EACH: i64 = 16;
    let steps = (end - 1) / EACH;
    let domain = &kernel.contract.domain;
    let probe = |steps: i64| {
        let ones = [255, 255].map(|value| vec![value; domain.elements]);
        (step(domain, (steps - 1) * EACH, ones, Reading::Signed), steps * EACH)
    };
    let because = format!(
        "{steps} * {EACH} = {} is below 2^{}, {} * {EACH} = {} is not",
        steps * EACH,
        end.ilog2(),
        steps + 1,
        (steps + 1) * EACH
    );
    bounded(("dot", kernel.name), "steps of 16 set bits into one 16-bit lane", steps, because, probe)
}

/// Claims the largest accumulator without int32 overflow in the legacy requantization, at one multiplier (gemmlowp's document warns of it).
fn legacy(kernel: &requantize::Kernel) -> Claim {
    const MULTIPLIER: i64 = 1000;
    const SHIFT: u32 = 10;
    let range = kernel.contract.domain.output.range();
    let half = 1i64 << (SHIFT - 1);
    let bound = (i64::from(i32::MAX) - half) / MULTIPLIER;
    let probe = |acc: i64| {
        let params = requantize::Params {
            len: 1,
            channels: vec![Channel { multiplier: MULTIPLIER as i32, shift: -(SHIFT as i32) }],
            bias: vec![0],
            zero_point: 0,
            min: *range.start(),
            max: *range.end(),
        };
        let exact = ((acc * MULTIPLIER + half) >> SHIFT).clamp((*range.start()).into(), (*range.end()).into());
        let tensors = [vec![acc as i32], Vec::new(), Vec::new()];
        (BoundCase::Requantize(Case { params, tensors: tensors.into(), misalign: 0 }), exact)
    };
    let quantity = format!("acc + result_offset, result_mult_int={MULTIPLIER} result_shift={SHIFT}");
    let because =
        format!("{bound} * {MULTIPLIER} + {half} is below 2^31, {} * {MULTIPLIER} + {half} is not", bound + 1);
    bounded(("requantize", kernel.name), quantity, bound, because, probe)
}
