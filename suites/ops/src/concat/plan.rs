//! Cases of concatenations: all values of each input at many scales, scales with many results near a tie, every axis of tensors of one to four
//! axes, every length of a run, long tensors, and random shapes and quantizations.

use super::Concat;
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{Budget, below, int32, stream};
use tiebreak_engine::operation::{Fill, Operation, Spec, Turn, by};
use tiebreak_impls::concat::{Domain, Input, Operand, Params, Scales};
use tiebreak_impls::element::Element;
use tiebreak_impls::quantized::Scale;

/// Number of quantizations with all values of each input, for each effort.
const QUANTIZATIONS: [usize; 2] = [72, 288];
/// Number of quantizations near a half, for each effort.
const HALVES: [usize; 2] = [40, 160];
/// Number of first calls that are followed by similar calls.
const ALIKE: usize = 9;
/// Number of random shapes, for each effort.
const RANDOM: [usize; 2] = [120, 480];
/// Upper bound on draws of a quantization until the domain covers it.
const DRAWS: usize = 16;
/// Lengths of runs.
const LENGTHS: std::ops::RangeInclusive<usize> = 1..=80;
/// Run lengths longer than any block.
const LONGER: [usize; 12] = [96, 127, 128, 129, 144, 200, 255, 256, 257, 513, 1_025, 4_099];

/// Returns every spec of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "concat/parameters");
    let effort = usize::from(budget.every_tail);
    let mut out = Vec::new();
    by("all values", &mut out, |out| all_values(domain, QUANTIZATIONS[effort], &mut rng, out));
    by("scales at which little decides", &mut out, |out| halves(domain, HALVES[effort], &mut rng, out));
    by("every axis", &mut out, |out| every_axis(domain, &mut rng, out));
    by("every length", &mut out, |out| every_length(domain, &mut rng, out));
    by("calls that differ little", &mut out, |out| alike(domain, &mut rng, out));
    by("long tensors", &mut out, |out| long(domain, budget, &mut rng, out));
    by("random shapes", &mut out, |out| random(domain, RANDOM[effort], &mut rng, out));
    out
}

/// Shape without a quantization: sizes of the other axes, the concatenation axis, and the inputs' sizes along it.
#[derive(Clone, Debug)]
struct Shape {
    others: Vec<usize>,
    axis: usize,
    sizes: Vec<usize>,
}

impl Shape {
    /// Builds a shape. The entry of `others` at `axis` is not read.
    fn new(others: &[usize], axis: usize, sizes: &[usize]) -> Self {
        Self { others: others.to_vec(), axis, sizes: sizes.to_vec() }
    }

    fn with(&self, element: Element, operands: &[Operand], out: Operand) -> Params {
        let mut shape = self.others.clone();
        shape[self.axis] = self.sizes.iter().sum();
        let inputs = self.sizes.iter().zip(operands).map(|(size, operand)| Input { size: *size, operand: *operand });
        Params { element, shape, axis: self.axis, inputs: inputs.collect(), out }
    }
}

/// Builds a spec with the given values.
fn spec(params: Params, values: Fill, misalign: usize) -> Spec<Params> {
    Spec::new(params, [values, Fill::None, Fill::None], misalign % 16)
}

fn any(element: Element, rng: &mut ChaCha8Rng) -> i32 {
    let range = element.range();
    *range.start() + below(rng, range.end().abs_diff(*range.start()) + 1) as i32
}

/// Draws a scale from the binades `least` to `most`; one scale in four is a power of two.
fn scale(rng: &mut ChaCha8Rng, least: i32, most: i32) -> f32 {
    let significand = if below(rng, 4) == 0 { 0 } else { int32(rng) as u32 >> 9 };
    let binade = least + below(rng, least.abs_diff(most) + 1) as i32;
    f32::from_bits(((127 + binade) as u32) << 23 | significand)
}

fn operand(scale: f32, zero_point: i32) -> Operand {
    Operand { scale: Scale(scale.into()), zero_point }
}

/// Draws the `i`th quantization of four inputs and an output.
fn quantized(element: Element, i: usize, rng: &mut ChaCha8Rng) -> ([Operand; 4], Operand) {
    let (lo, hi) = element.range().into_inner();
    // `midpoint` rounds toward zero, which gives another value for signed types.
    let middle = (lo + hi + 1) / 2;
    // Every 8-bit zero point occurs in 256 turns, in a different order for each tensor.
    let zero_point = |turn: usize, stride: usize| match turn % 6 {
        0 => middle,
        1 => [lo, hi][turn / 6 % 2],
        _ => lo + ((turn * stride) % 256) as i32,
    };
    let points = [0, 1, 2, 3].map(|k| zero_point(i + 5 * k, 37 + 2 * k));
    let placed = zero_point(i / 2 + i % 2 * 131, 101);
    let one = scale(rng, -20, 9);
    let out = operand(one, placed);
    let of = |k: usize, rng: &mut ChaCha8Rng| match (i + k) % 9 {
        // The output's quantization, the output's scale, and the output's zero point.
        0 => out,
        1 => operand(one, points[k]),
        2 => operand(one * scale(rng, -4, 2), placed),
        // Scales whose ratio is a power of two.
        3 => operand(one * 2f32.powi(k as i32 - 2 + (i / 9 % 3) as i32 * 3 - 3), points[k]),
        // Scales a few units in the last place above the output's.
        4 => operand(f32::from_bits(one.to_bits() + 1 + (i as u32 / 9 % 3)), points[k]),
        // Scales far from the output's.
        5 => operand(one * scale(rng, -15, 14), points[k]),
        _ => operand(one * scale(rng, -3, 1), points[k]),
    };
    ([0, 1, 2, 3].map(|k| of(k, rng)), out)
}

/// Returns a shape with the `i`th quantization, redrawn until the domain covers it. After [`DRAWS`] draws every input is a copy.
fn covered(domain: &Domain, i: usize, shape: &Shape, rng: &mut ChaCha8Rng) -> Params {
    let drawn = (0..DRAWS).find_map(|_| {
        let (operands, out) = quantized(domain.element, i, rng);
        fitting(domain, shape, &operands, out)
    });
    drawn.unwrap_or_else(|| {
        let (_, out) = quantized(domain.element, i, rng);
        shape.with(domain.element, &[out; 4], out)
    })
}

/// Returns a shape with a quantization. An input that the kernel does not accept gets the output's quantization. `None` if that makes every input a
/// copy, or if the domain does not cover the parameters.
fn fitting(domain: &Domain, shape: &Shape, operands: &[Operand; 4], out: Operand) -> Option<Params> {
    let mut params = shape.with(domain.element, operands, out);
    let alone = |input: Operand| shape.with(domain.element, &[input; 4], out);
    for input in &mut params.inputs {
        if !Concat::covers(domain, &alone(input.operand)) {
            input.operand = out;
        }
    }
    let copied = domain.scales == Scales::Equal || params.inputs.iter().any(|input| input.operand != out);
    (copied && Concat::covers(domain, &params)).then_some(params)
}

/// Adds cases with all values of each of two to four inputs.
fn all_values(domain: &Domain, count: usize, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for i in 0..count {
        let inputs = 2 + i % 3;
        let params = covered(domain, i, &Shape::new(&[0], 0, &vec![256; inputs]), rng);
        out.push(spec(params, every_value(domain.element, inputs), i));
    }
}

fn every_value(element: Element, inputs: usize) -> Fill {
    Fill::Given((0..inputs).flat_map(|_| element.range()).collect())
}

/// Adds scales whose quotient maps some difference to a half, as nearly as an f32 can, and scales one unit in the last place above and below.
fn halves(domain: &Domain, count: usize, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let shape = Shape::new(&[0], 0, &[256; 4]);
    for i in 0..count {
        let one = scale(rng, -12, 3);
        let difference = 1 + below(rng, 200);
        let halves = 2 * below(rng, 100) + 1;
        let near = (f64::from(one) * f64::from(halves) / f64::from(2 * difference)) as f32;
        let points = [any(domain.element, rng), any(domain.element, rng), any(domain.element, rng)];
        let moved = |units: i32| f32::from_bits(near.to_bits().wrapping_add_signed(units));
        let [a, b] = [points[0], points[1]];
        let operands = [operand(near, a), operand(moved(1), a), operand(moved(-1), b), operand(near, b)];
        // By turns the zero point with which most results fit the type.
        let placed = if i % 2 == 0 { a } else { points[2] };
        out.extend(
            fitting(domain, &shape, &operands, operand(one, placed))
                .map(|params| spec(params, every_value(domain.element, 4), i)),
        );
    }
}

/// Sizes of the axes other than the concatenation axis, and of the inputs along it.
const OTHERS: [[usize; 4]; 6] = [[1, 1, 1, 1], [2, 3, 4, 5], [5, 2, 3, 1], [1, 7, 2, 3], [3, 1, 5, 2], [4, 4, 2, 9]];
const ALONG: [&[usize]; 6] = [&[1, 1], &[1, 2], &[3, 1], &[2, 5, 1], &[4, 4, 4], &[1, 3, 2, 6]];

/// Adds every axis of tensors of one to four axes, with two to four inputs of equal and of unequal sizes, and sizes that are all large.
fn every_axis(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let mut i = 0;
    for rank in 1..=4 {
        for (axis, others) in (0..rank).flat_map(|axis| OTHERS.map(|others| (axis, others))) {
            for sizes in [ALONG[i % ALONG.len()], ALONG[(i / 2 + 3) % ALONG.len()]] {
                let shape = Shape::new(&others[4 - rank..], axis, sizes);
                out.push(spec(covered(domain, i, &shape, rng), Fill::Varied, i));
                i += 1;
            }
        }
        for (axis, n) in (0..rank).flat_map(|axis| [2, 3, 5, 8, 9, 16, 17].map(|n| (axis, n))) {
            let sizes = vec![n; 2 + n % 3];
            // Four axes of 17 exceed the number of elements that every kernel accepts.
            let n = if rank == 4 { n.min(9) } else { n };
            let shape = Shape::new(&vec![n; rank], axis, &sizes);
            out.push(spec(covered(domain, i, &shape, rng), Fill::Varied, i));
            i += 1;
        }
    }
}

/// Adds every length of a run of each input, along the axis and within a step of the axis, and every number of rows.
fn every_length(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for (i, n) in LENGTHS.chain(LONGER).enumerate() {
        let other = 1 + i * 37 % 40;
        let shapes = [
            Shape::new(&[1 + i % 3, 0], 1, &[n, other]),
            Shape::new(&[2 - i % 2, 0, 1], 1, &[other, 1 + i % 5, n]),
            Shape::new(&[1 + i % 2, 0, n], 1, &[1 + i % 2, 1 + i % 3]),
        ];
        for (k, shape) in shapes.into_iter().enumerate() {
            // By turns the first input has the output's quantization, so that its results do not saturate and every place shows a fault.
            let params = covered(domain, if k == i % 3 { 9 * i } else { i + k }, &shape, rng);
            out.push(spec(params, Fill::Varied, i + 5 * k));
        }
        if n <= *LENGTHS.end() {
            let shape = Shape::new(&[n, 0], 1, &[1 + i % 4, 1 + i % 3]);
            out.push(spec(covered(domain, i, &shape, rng), Fill::Varied, i));
            let shape = Shape::new(&[0, n], 0, &[1 + i % 2, 2]);
            out.push(spec(covered(domain, i + 3, &shape, rng), Fill::Varied, i));
        }
    }
    for (i, rows) in [129, 1_000, 2_100].into_iter().enumerate() {
        out.push(spec(covered(domain, i, &Shape::new(&[rows, 0], 1, &[1, 2]), rng), Fill::Varied, i));
    }
}

/// Adds pairs of calls with one difference: a scale, a zero point, two exchanged scales or zero points, or the inputs' share.
fn alike(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let shape = Shape::new(&[3, 0], 1, &[9, 11]);
    for i in 0..ALIKE {
        let first = covered(domain, i, &shape, rng);
        let mut input = first.clone();
        let mut placed = first.clone();
        let mut moved = first.clone();
        let mut output = first.clone();
        let mut exchanged = first.clone();
        let mut shared = first.clone();
        input.inputs[0].operand.scale = Scale(f64::from(2.0 * first.inputs[0].operand.scale.0 as f32));
        placed.inputs[0].operand.zero_point = any(domain.element, rng);
        moved.out.zero_point = any(domain.element, rng);
        output.out.scale = Scale(f64::from(0.5 * first.out.scale.0 as f32));
        std::mem::swap(&mut exchanged.inputs[0].operand.scale, &mut exchanged.out.scale);
        (shared.inputs[0].size, shared.inputs[1].size) = (11, 9);
        let other = [input, placed, moved, output, exchanged, shared];
        for params in other.into_iter().filter(|params| Concat::covers(domain, params)) {
            out.extend([first.clone(), params].map(|params| spec(params, Fill::Varied, 0)));
        }
        // Calls whose inputs all have one quantization, which the next call has, too, with another scale or zero point of
        // the output.
        let mut all = first;
        all.inputs[1].operand = all.inputs[0].operand;
        let mut rescaled = all.clone();
        rescaled.out.scale = Scale(f64::from(0.5 * all.out.scale.0 as f32));
        let mut replaced = all.clone();
        replaced.out.zero_point = any(domain.element, rng);
        for next in [rescaled, replaced] {
            if [&all, &next].iter().all(|params| Concat::covers(domain, params)) {
                out.extend([all.clone(), next].map(|params| spec(params, Fill::Varied, 0)));
            }
        }
    }
}

/// Adds tensors with more elements than 16 bits count: in a run, in an input, in rows, and in a step along the axis.
fn long(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let shapes = [
        Shape::new(&[0, 4], 0, &[9_000, 8_000]),
        Shape::new(&[2, 0], 1, &[20_000, 15_001]),
        Shape::new(&[35_003, 0], 1, &[1, 1]),
        Shape::new(&[0, 33_000, 1], 0, &[1, 1, 1]),
        Shape::new(&[3, 0, 67, 61], 1, &[2, 1, 3]),
        Shape::new(&[0], 0, &[40_000, 40_000]),
        Shape::new(&[0], 0, &[65_609, 3]),
    ];
    let of = if budget.every_tail { 2 } else { 4 };
    for (i, shape) in shapes.into_iter().enumerate() {
        let params = covered(domain, i, &shape, rng);
        let turn = if i == 0 { Turn::ALL } else { Turn::one_in(of, i) };
        if Concat::covers(domain, &params) {
            out.push(Spec { turn, ..spec(params, Fill::Varied, i) });
        }
    }
}

/// Adds small shapes with every number of axes and of inputs.
fn random(domain: &Domain, count: usize, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for i in 0..count {
        let mut size = |most: u32| 1 + below(rng, most) as usize;
        let rank = size(4);
        let others: Vec<usize> = (0..rank).map(|_| size(6)).collect();
        let axis = size(rank as u32) - 1;
        let sizes: Vec<usize> = (0..size(3) + 1).map(|_| size(12)).collect();
        let shape = Shape::new(&others, axis, &sizes);
        let fill = [Fill::Varied, Fill::Varied, Fill::Extremes, Fill::Uniform][i % 4].clone();
        let params = covered(domain, i, &shape, rng);
        let misalign = below(rng, 16) as usize;
        out.push(spec(params, fill, misalign));
    }
}
