//! Cases of products with output stages: sums around ties and around the ends of `tanh`, corners of fixed point multiply, sizes around vectors and
//! blocks, every number of columns, corner multipliers, combinations of conditions, layers of real networks, and offsets of any size.
//!
//! A product is a convolution with filters of one element, so the plan of [`crate::qconv2d`] fits the outputs of both.

use super::lists::{KINDS, of};
use super::{Qmatmul, quantized};
use crate::qconv2d::plan::{Draft, TIES};
use crate::qconv2d::wide;
use crate::requantize::channels::corners;
use rand_chacha::ChaCha8Rng;
use std::ops::RangeInclusive;
use tiebreak_common::covering::rows;
use tiebreak_common::{Budget, below, stream};
use tiebreak_engine::operation::{Fill, Operation, Spec, Turn, by, kernels};
use tiebreak_impls::contract::Domain as Multipliers;
use tiebreak_impls::element::Element;
use tiebreak_impls::fpm::Channel;
use tiebreak_impls::qmatmul::{Along, Domain, Layer, Lists, Params, Stage};
use tiebreak_impls::{conv2d, matmul, qconv2d, requantize};

/// M, N and K around vectors, blocks and caches.
const SIZES: [[usize; 3]; 34] = [
    [1, 1, 1],
    [1, 1, 16],
    [1, 129, 17],
    [129, 1, 17],
    [1, 10, 64],
    [3, 257, 5],
    [5, 9, 257],
    [17, 33, 31],
    [4, 4, 16],
    [8, 16, 32],
    [2, 8, 15],
    [7, 5, 33],
    [1, 12, 100],
    [16, 3, 8],
    [3, 65, 9],
    [33, 2, 48],
    [6, 20, 7],
    [1, 4, 130],
    [9, 1, 63],
    [2, 31, 12],
    [13, 13, 13],
    [5, 24, 1],
    [48, 47, 3],
    [3, 700, 2],
    [131, 9, 4],
    [2, 20, 300],
    [32, 32, 32],
    [16, 64, 16],
    [65, 35, 2],
    [1100, 2, 1],
    [2, 1100, 1],
    [64, 16, 64],
    [64, 64, 64],
    [70, 75, 80],
];

/// Fully connected layers of MLPerf Tiny's autoencoder, keyword spotting, ResNet-8 and person detection, and of MobileNet: rows, outputs, inputs.
/// Then layers with more than 1,024 and 4,096 inputs, more than 512 and 1,024 outputs, and more
/// results than 16 bits count; a short run has them, too.
const LAYERS: [[usize; 3]; 15] = [
    [1, 10, 64],
    [1, 12, 64],
    [1, 2, 256],
    [1, 8, 128],
    [1, 128, 8],
    [1, 128, 128],
    [1, 128, 640],
    [1, 1001, 1024],
    [1, 4, 1960],
    [3, 5, 2057],
    [2, 9, 1100],
    [1, 3, 4099],
    [1, 520, 9],
    [1, 1030, 6],
    [260, 257, 1],
];
/// Upper bound on products of a layer, for each effort.
const MOST: [usize; 2] = [100_000, 2_000_000];

/// Largest number of rows and columns up to which every number is tried.
const MOST_PLACES: usize = 72;
/// Columns in a batch of corners.
const CORNERS: usize = 48;
/// Sampling step of the corners, for each effort.
const ONE_IN: [usize; 2] = [12, 3];
/// Number of batches around the ends of `tanh`, for each effort.
const ENDS: [usize; 2] = [14, 44];
/// Number of values around each end.
const WINDOW: usize = 32;

/// Number of levels of the kind of the list, rows, columns, depth, both zero points, the fills, and the alignment.
const LEVELS: [usize; 8] = [KINDS, 3, 5, 4, 3, 2, 3, 2];

/// Returns every spec of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let (layers, long) = (of_qconv2d(domain), usize::from(budget.every_tail));
    let draft = Draft { domain: &layers, seed, long, kernels: kernels::<Qmatmul>().len() };
    let plan = Plan { domain, draft };
    let mut out = Vec::new();
    by("ties", &mut out, |out| {
        let specs = (0..TIES[long]).map(|i| plan.draft.ties(i));
        out.extend(specs.enumerate().map(|(i, spec)| plan.with_stages(spec, 0, i)));
    });
    by("corners of fixed point multiply", &mut out, |out| {
        let specs = plan.draft.corners_of_multiply().into_iter().enumerate();
        out.extend(specs.map(|(i, spec)| plan.with_stages(spec, 0, i)));
    });
    by("sums of 64 bits", &mut out, |out| {
        if domain.lists == Lists::Layer64 {
            let specs = wide::sums(&layers, long, seed).into_iter().enumerate();
            out.extend(specs.map(|(i, spec)| plan.with_stages(spec, 0, i)));
        }
    });
    by("ends of tanh", &mut out, |out| {
        if domain.lists == Lists::Any {
            out.extend((0..ENDS[long]).map(|i| plan.ends(i)));
        }
    });
    by("sizes", &mut out, |out| {
        let of_all = |spec| Spec { turn: Turn::ALL, ..spec };
        out.extend(plan.around(SIZES.map(shaped).to_vec(), |i| i).into_iter().map(of_all));
        out.extend(plan.corners(budget));
        out.extend(plan.offsets());
    });
    by("every number of rows and columns", &mut out, |out| {
        let every = (1..=MOST_PLACES).flat_map(|n| {
            let (other, depth) = (1 + n % 3, 1 + n * 37 % 23);
            [[other, n, depth], [n, other, depth]].map(|sizes| Spec { misalign: n % 16, ..shaped(sizes) })
        });
        out.extend(plan.around(every.collect(), |i| i * 4));
    });
    by("conjunctions", &mut out, |out| out.extend(plan.conjunctions(budget)));
    by("networks", &mut out, |out| {
        let small = LAYERS.into_iter().filter(|sizes| sizes.iter().product::<usize>() < MOST[long]);
        out.extend(plan.around(small.map(shaped).collect(), |_| 0));
    });
    out.retain(|spec| Qmatmul::covers(domain, &spec.params) && quantized(&spec.params).check().is_ok());
    out
}

/// Returns the same layers as convolutions with filters of one element, in Q0.31.
fn of_qconv2d(domain: &Domain) -> qconv2d::Domain {
    let channels = match domain.lists {
        Lists::Legacy => Multipliers { shifts: -31..=0, ..Multipliers::ALL },
        _ => domain.requantize.channels.clone(),
    };
    let requantize = requantize::Domain { channels, zero_point: true, clamp: true, ..domain.requantize.clone() };
    let (operands, wide) = (domain.operands.clone(), domain.lists == Lists::Layer64);
    qconv2d::Domain { operands, grouped: false, dense: true, spatial: false, wide, transposed: None, requantize }
}

/// Converts a product to a convolution with filters of one element.
fn shaped([m, n, k]: [usize; 3]) -> Spec<conv2d::Params> {
    let shape = conv2d::Params { width: m, channels: k, out_channels: n, ..conv2d::Params::default() };
    Spec::new(shape, [Fill::Varied, Fill::Varied, Fill::None], 0)
}

/// Returns a zero point for a level: the value nearest to 0, any value, or the upper end.
fn zero_point(range: &RangeInclusive<i32>, level: usize, rng: &mut ChaCha8Rng) -> i32 {
    match level {
        0 => 0.clamp(*range.start(), *range.end()),
        1 => range.start() + below(rng, (range.end() - range.start() + 1) as u32) as i32,
        _ => *range.end(),
    }
}

/// Plan for a domain.
struct Plan<'a> {
    domain: &'a Domain,
    draft: Draft<'a>,
}

impl Plan<'_> {
    /// Converts a convolution with filters of one element to a product with a list of this kind.
    fn with_stages(&self, spec: Spec<qconv2d::Params>, kind: usize, i: usize) -> Spec<Params> {
        let Spec { params, fills, misalign, generator, turn, .. } = spec;
        let qconv2d::Params { shape, channels, bias, bias64, zero_point, min, max } = params;
        let shape = matmul::Params {
            m: shape.width,
            n: shape.out_channels,
            k: shape.channels,
            lhs_offset: shape.input_zero_point.wrapping_neg(),
            rhs_offset: shape.weight_zero_point.wrapping_neg(),
        };
        let requantize = &self.domain.requantize;
        let (output, range) = (requantize.output, requantize.output.range());
        let [min, max] = if requantize.clamp { [min, max] } else { [*range.start(), *range.end()] };
        let zero_point = if requantize.zero_point { zero_point } else { 0 };
        let layer = Layer { bias: &bias, channels: &channels, zero_point, min, max, output };
        let mut rng = stream(self.draft.seed, &format!("qmatmul/{kind}/{i}/{shape:?}"));
        let stages = of(self.domain, &shape, (&layer, &bias64), [kind, i], &mut rng);
        let spec = Spec::new(Params { shape, stages }, fills, misalign).by(generator);
        Spec { turn, ..spec }
    }

    /// Returns products with output parameters that fit their sums. The kind of the `i`th list is `kind(i)`.
    fn around(&self, specs: Vec<Spec<conv2d::Params>>, kind: impl Fn(usize) -> usize) -> Vec<Spec<Params>> {
        let fitted = self.draft.around(specs).into_iter().enumerate();
        fitted.map(|(i, spec)| self.with_stages(spec, kind(i), i)).collect()
    }

    /// Builds products with biases that take the values to both sides of both ends of `tanh`.
    fn ends(&self, i: usize) -> Spec<Params> {
        let mut rng = stream(self.draft.seed, &format!("qmatmul/tanh/{i}"));
        let operands = &self.domain.operands;
        let middle = operands.lhs_values.start().midpoint(*operands.lhs_values.end());
        let n = [7, 4, 5, 9, 1, 8][i % 6];
        let amplitude = if i % 4 == 3 { 1 + below(&mut rng, 1 << 12) as i32 } else { 1 << (1 + i * 5 % 20) };
        let point = [0, -3, 1 << 10, below(&mut rng, 1 << 20) as i32][i / 2 % 4];
        let target = |j: usize| match (i + j) % 4 {
            0 | 1 => point + 8 * amplitude,
            2 => point - 8 * amplitude,
            _ => point + (below(&mut rng.clone(), 16) as i32 - 8) * amplitude,
        };
        let shape = matmul::Params { m: WINDOW, n, k: 1, lhs_offset: -middle, rhs_offset: 0 };
        let mut stages = vec![
            Stage::Bias { along: Along::Columns, values: (0..n).map(target).collect() },
            Stage::Tanh { zero_point: point, amplitude },
        ];
        if amplitude < 1 << 13 && i.is_multiple_of(3) {
            stages.push(Stage::Cast { to: Element::I16 });
        }
        let lhs = (0..WINDOW).map(|at| middle + at as i32 - WINDOW as i32 / 2).collect();
        Spec::new(Params { shape, stages }, [Fill::Given(lhs), Fill::Constant(1), Fill::None], i % 16)
    }

    /// Returns multipliers and shifts at the corners of fixed point multiply, one for each column.
    fn corners(&self, budget: &Budget) -> Vec<Spec<Params>> {
        let domain = &self.draft.domain.requantize;
        let every = corners(domain, budget, self.draft.seed).into_iter();
        let corners: Vec<Channel> = every.step_by(ONE_IN[self.draft.long]).collect();
        let per = if domain.channels.per_channel { CORNERS } else { 1 };
        let of = |(i, channels): (usize, &[Channel])| {
            let mut spec =
                self.draft.around(vec![shaped([3, channels.len() * if per == 1 { 5 } else { 1 }, 2 + i % 5])]);
            let mut spec = spec.remove(0);
            spec.params.channels = channels.to_vec();
            self.with_stages(spec, i % 3, i)
        };
        corners.chunks(per).step_by(if per == 1 { 7 } else { 1 }).enumerate().map(of).collect()
    }

    /// Returns specs in which every three conditions occur together.
    fn conjunctions(&self, budget: &Budget) -> Vec<Spec<Params>> {
        let mut rng = stream(self.draft.seed, "qmatmul/conjunctions");
        let mut levels = LEVELS;
        if self.domain.lists != Lists::Any {
            levels[0] = 1;
        }
        let rows = rows(&levels, &[0], budget.every_tail, &mut rng);
        let specs = rows.iter().map(|row| self.together(row, &mut rng)).collect();
        self.around(specs, |i| rows[i][0])
    }

    fn together(&self, row: &[usize], rng: &mut ChaCha8Rng) -> Spec<conv2d::Params> {
        let mut between = |least: usize, most: usize| least + below(rng, (most - least + 1) as u32) as usize;
        let m = [1, between(2, 5), between(6, 12)][row[1]];
        let n = [between(5, 7), 1, between(2, 4), 8, 8 * between(1, 3) + between(1, 7)][row[2]];
        let k = [between(1, 7), 16, between(4, 10) * 2 + 1, 32][row[3]];
        let operands = &self.domain.operands;
        let fill = [Fill::Varied, Fill::Extremes, Fill::Sparse][row[6]].clone();
        let weights = [Fill::Varied, Fill::Sparse, Fill::Extremes][(row[4] + row[6]) % 3].clone();
        let misalign = if row[7] == 0 { 0 } else { between(1, 15) };
        let Spec { params, .. } = shaped([m, n, k]);
        let shape = conv2d::Params {
            input_zero_point: zero_point(&operands.lhs.range(), row[4], rng),
            weight_zero_point: zero_point(&operands.rhs.range(), row[5], rng),
            ..params
        };
        Spec::new(shape, [fill, weights, Fill::None], misalign)
    }

    /// Returns offsets that are not negated zero points of the types.
    fn offsets(&self) -> Vec<Spec<Params>> {
        let specs = crate::matmul::plan::OFFSETS.map(|_| shaped([3, 9, 5])).to_vec();
        let mut specs = self.around(specs, |_| 0);
        for (spec, (lhs_offset, rhs_offset)) in specs.iter_mut().zip(crate::matmul::plan::OFFSETS) {
            (spec.params.shape.lhs_offset, spec.params.shape.rhs_offset) = (lhs_offset, rhs_offset);
        }
        specs
    }
}
