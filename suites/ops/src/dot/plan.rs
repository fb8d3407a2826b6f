//! Cases of dot-product steps: every pair of 8-bit operands in every place, extremes with extreme accumulators, and batches of every length.

use tiebreak_common::{Budget, below, sizes, stream};
use tiebreak_engine::operation::{Fill, Spec, by};
use tiebreak_impls::dot::{Domain, Params};
use tiebreak_impls::element::Element;

/// Upper bound on steps in a case of pairs.
const STEPS: usize = 4096;
/// Batch lengths in steps: every short length, and lengths longer than any block.
const SHORT: std::ops::RangeInclusive<usize> = 1..=80;
const LONG: [usize; 8] = [128, 257, 512, 513, 1025, 1500, 2049, 4099];

/// Returns the cases of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    if domain.lhs != Element::I16 {
        by("all pairs, in every place", &mut out, |out| pairs(domain, |_| true, out));
        for apart in 0..if !budget.every_tail {
            0
        } else if domain.elements > 8 {
            4
        } else {
            2
        } {
            let holds = |place: usize| place % 2 == apart % 2 && (apart < 2) == (place / 8).is_multiple_of(2);
            by("all pairs, in some places", &mut out, |out| pairs(domain, holds, out));
        }
    }
    out.extend(patterns(domain).into_iter().map(|spec| spec.by("patterns")));
    out.extend(lengths(domain, budget, seed).into_iter().map(|spec| spec.by("lengths")));
    out
}

/// Adds all pairs in each of these places of a step, with a different pair in each place. If all places have one parity, no two pairs meet in a
/// lane of two adjacent places. If all places are in one half of 16, no pairs of different halves meet.
fn pairs(domain: &Domain, holds: impl Fn(usize) -> bool, out: &mut Vec<Spec<Params>>) {
    let [lhs, rhs] = [domain.lhs, domain.rhs].map(|element| element.range().collect::<Vec<i32>>());
    let places: Vec<usize> = (0..domain.elements).filter(|place| holds(*place)).collect();
    let all = lhs.len() * rhs.len();
    let steps = all.min(STEPS);
    for (at, first) in (0..all).step_by(steps).enumerate() {
        let mut tensors = [vec![0; steps * domain.elements], vec![0; steps * domain.elements]];
        for step in 0..steps {
            for place in &places {
                // The factors are odd, so each place has each pair once over all steps.
                let pair = ((first + step) * (2 * place + 1) + 40_503 * place) % all;
                let (a, b) = (lhs[pair / rhs.len()], rhs[pair % rhs.len()]);
                tensors[0][step * domain.elements + place] = a;
                tensors[1][step * domain.elements + place] = b;
                // In an outer product each element meets both rows of the other operand; in other steps this element meets a zero.
                let other = (place + domain.elements / 2) % domain.elements;
                if !holds(other) {
                    tensors[1][step * domain.elements + other] = b;
                }
            }
        }
        let [a, b] = tensors.map(Fill::Given);
        let params = Params { len: steps * domain.results };
        out.push(Spec::new(params, [Fill::AnySize, a, b], at));
    }
}

/// Returns extreme and alternating operands with extreme accumulators: a step for each accumulator, and another accumulator for each result.
fn patterns(domain: &Domain) -> Vec<Spec<Params>> {
    let accumulators = [0, 1, -1, i32::MAX, i32::MAX - 1, i32::MIN, i32::MIN + 1, 1 << 30, 65535, -65536];
    let made = |fill: &Fill, element: Element| fill.make(domain.elements, &element.range(), 0, "");
    let of = |a: &Fill| {
        let mut tensors = [Vec::new(), Vec::new(), Vec::new()];
        for b in Fill::PATTERNS {
            for at in 0..accumulators.len() {
                tensors[0].extend((0..domain.results).map(|i| accumulators[(at + i) % accumulators.len()]));
                tensors[1].extend(made(a, domain.lhs));
                tensors[2].extend(made(&b, domain.rhs));
            }
        }
        Spec::new(Params { len: tensors[0].len() }, tensors.map(Fill::Given), 5)
    };
    // All products of the batch are 0.
    let zeros = |steps: usize| {
        let params = Params { len: steps * domain.results };
        Spec::new(params, [Fill::AnySize, Fill::Constant(0), Fill::Constant(0)], steps)
    };
    Fill::PATTERNS.iter().map(of).chain([1, 7].map(zeros)).collect()
}

fn lengths(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "dot/shape");
    // A case whose steps have more than 16 elements tries more elements at once.
    let cases = budget.random_tensors * 16 / domain.elements.max(16);
    let short = (0..cases).filter(|_| budget.every_tail).map(|_| 1 + below(&mut rng, 80) as usize);
    // More results than 16 bits count. The longest fixed length already has more elements than that.
    let beyond = sizes::LENGTHS[..1].iter().filter(|_| budget.every_tail).map(|len| len.div_ceil(domain.results));
    let fixed: Vec<usize> = SHORT.chain(LONG).chain(beyond).collect();
    let differing = fixed.len();
    let all: Vec<usize> = fixed.into_iter().chain(short.collect::<Vec<_>>()).collect();
    let mut misalign = || below(&mut rng, 16) as usize;
    let spec = |(i, steps): (usize, usize)| {
        let acc = [Fill::AnySize, Fill::Uniform, Fill::AnySize, Fill::Extremes][i % 4].clone();
        // The first spec of each length has operands that differ by place.
        let varied = [Fill::Uniform, Fill::Uniform, Fill::Extremes, Fill::Uniform, Fill::Sparse];
        let fill = |i: usize| if i < differing { Fill::Varied } else { varied[i % 5].clone() };
        let params = Params { len: domain.results * steps };
        Spec::new(params, [acc, fill(i), fill(i + i / 5)], misalign())
    };
    all.into_iter().enumerate().map(spec).collect()
}
