//! Cases of matrix products: every tail, every size up to 80, sizes beyond the first cache block, extreme and alternating fills, single pairs,
//! depths around every bound, offsets of both signs and ends, unaligned operands, combinations of conditions, and layers of networks.

use super::{Matmul, conjunctions, networks, offsets};
use std::ops::RangeInclusive;
use tiebreak_common::{Budget, below, int32_of_any_size, stream};
use tiebreak_engine::operation::{Fill, Spec, by, in_turns, kernels};
use tiebreak_impls::element::Element;
use tiebreak_impls::matmul::{Domain, Params};
use tiebreak_oracle::bounds::{Depth, largest_depth};

/// Offsets: negated zero points, both ends of both types, odd offsets, and the ends of the offset's own type.
pub(crate) const OFFSETS: [(i32, i32); 9] =
    [(0, 0), (-128, 0), (0, 127), (128, -3), (1, 255), (-255, -1), (i32::MIN, 1), (i32::MAX, i32::MIN), (7, -11)];

/// Largest M, N and K of which every size is tried.
const SIZES: usize = 80;

/// Kernels that share the combined conditions in a short run: one of every [`TURNS`] kernels runs each case.
const TURNS: usize = 4;

/// Numbers of rows or columns that are tried with a greater depth: one and two vectors of 16, with every remainder.
const BESIDE_DEPTH: std::ops::RangeInclusive<usize> = 17..=48;
/// Additional depth of shapes in [`BESIDE_DEPTH`].
const DEEP: usize = 64;

/// Depth that exceeds int16 and is not a multiple of a vector.
const BEYOND_INT16: usize = (1 << 15) + 3;

/// M, N and K beyond the first block into which a kernel may split its operands, along one axis or two.
const LARGE: [[usize; 3]; 20] = [
    [3, 5, 257],
    [4, 9, 512],
    [5, 4, 513],
    [2, 7, 1025],
    [3, 6, 4099],
    [1, 3, 9001],
    [6, 3, 300],
    [9, 2, 130],
    [65, 7, 33],
    [7, 65, 33],
    [130, 5, 20],
    [5, 130, 20],
    [65, 130, 9],
    [130, 65, 5],
    [4, 68, 530],
    [68, 4, 512],
    [260, 3, 4],
    [3, 260, 4],
    [2, 1030, 3],
    [1030, 2, 3],
];

/// Depth at which the largest products of bytes sum to more than 2^24.
const BEYOND_F32: usize = 2051;

/// M, N and K with a pairwise product that exceeds 16 bits: indices into the result and into either operand.
const LARGEST: [[usize; 3]; 3] = [[257, 261, 3], [261, 3, 257], [3, 257, 261]];

/// Returns every spec of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut specs = Vec::new();
    by("tails", &mut specs, |out| out.extend(tails(budget)));
    by("patterns", &mut specs, |out| out.extend(patterns(budget)));
    by("pairs", &mut specs, |out| out.extend(pairs(domain, budget)));
    by("depths", &mut specs, |out| out.extend(depths(domain)));
    by("there and back", &mut specs, |out| out.extend(there_and_back(domain)));
    by("varied", &mut specs, |out| {
        out.extend(varied(domain, budget, seed));
        out.extend(offsets::plan(domain));
    });
    by("conjunctions", &mut specs, |out| out.extend(in_turns(conjunctions::plan(domain, budget, seed), TURNS, budget)));
    by("networks", &mut specs, |out| {
        out.extend(networks::plan(domain, budget, seed, kernels::<Matmul>().len()));
    });
    // Depths beyond the kernel's domain are reduced to its largest depth.
    for spec in &mut specs {
        spec.params.k = spec.params.k.min(*domain.depth.end());
    }
    specs
}

pub(super) fn spec(m: usize, n: usize, k: usize, offsets: (i32, i32), lhs: Fill, rhs: Fill) -> Spec<Params> {
    let params = Params { m, n, k, lhs_offset: offsets.0, rhs_offset: offsets.1 };
    Spec::new(params, [lhs, rhs, Fill::None], 0)
}

/// Returns M, N and K from 1 to two blocks, along the axes and the diagonal, or along one axis in a short run.
fn tails(budget: &Budget) -> Vec<Spec<Params>> {
    let mut out = Vec::new();
    for m in 1..=8usize {
        for n in 1..=8usize {
            for k in 1..=33usize {
                let others = (m == n && k % 5 == m % 5) || (k == 17 && (m == 4 || n == 4));
                if !(m == 3 && n == 5 || budget.every_tail && others) {
                    continue;
                }
                let i = out.len();
                let mut one = spec(m, n, k, OFFSETS[i % OFFSETS.len()], Fill::RANDOM[i % 2].clone(), Fill::Uniform);
                one.misalign = i % 16;
                out.push(one);
            }
        }
    }
    out
}

/// Returns every pair of patterns, on a shape with three unequal tails.
fn patterns(budget: &Budget) -> Vec<Spec<Params>> {
    let offsets = if budget.every_tail { 3 } else { 1 };
    let mut out = Vec::new();
    for lhs in Fill::PATTERNS {
        for rhs in Fill::PATTERNS {
            for _ in 0..offsets {
                // 9 is coprime to 4, so over all pairs each pattern meets each of the offsets.
                let offsets = OFFSETS[out.len() * 4 % OFFSETS.len()];
                out.push(spec(5, 6, 37, offsets, lhs.clone(), rhs.clone()));
            }
        }
    }
    out
}

/// Returns cases with exactly two nonzero products, at their extremes: adjacent and eight apart, in every place of a block and every row.
fn pairs(domain: &Domain, budget: &Budget) -> Vec<Spec<Params>> {
    let ends = |range: &RangeInclusive<i32>| [*range.start(), *range.end()];
    let mut out = Vec::new();
    for at in 0..if budget.every_tail { 32 } else { 16 } {
        for apart in [1, 8] {
            for l in ends(&domain.lhs_values) {
                for r in ends(&domain.rhs_values) {
                    // A short run has all four products in each fourth place, and only the largest product in the other places.
                    let largest = l == *domain.lhs_values.end() && r == *domain.rhs_values.end();
                    if !budget.every_tail && at % 4 > 0 && !largest {
                        continue;
                    }
                    let (k, row, column) = (48, at % 5, at % 6);
                    let only = |index: [usize; 2], v| Fill::Only(index.map(|i| (i, v)).to_vec());
                    let lhs = only([row * k + at, row * k + at + apart], l);
                    let rhs = only([at * 6 + column, (at + apart) * 6 + column], r);
                    out.push(spec(5, 6, k, OFFSETS[at % 3], lhs, rhs));
                }
            }
        }
    }
    out
}

/// Returns depths just below and above the bounds at which the signed or unsigned result exceeds 32 bits, with the operands that reach the bound,
/// and a depth beyond int16 with offsets, whose product has the depth as a factor.
fn depths(domain: &Domain) -> Vec<Spec<Params>> {
    let wide = |range: &RangeInclusive<i32>| i64::from(*range.start())..=i64::from(*range.end());
    let mut out = Vec::new();
    for (low, high) in [(i32::MIN.into(), i32::MAX.into()), (0, u32::MAX.into())] {
        let reach = largest_depth(wide(&domain.lhs_values), wide(&domain.rhs_values), low, high);
        let Depth::Bounded { depth, pair, .. } = reach else { continue };
        for k in [depth, depth + 1].map(|k| k as usize).into_iter().filter(|k| domain.depth.contains(k)) {
            out.push(spec(1, 1, k, (0, 0), Fill::Constant(pair.0 as i32), Fill::Constant(pair.1 as i32)));
        }
    }
    // Deep products whose offsets are both those of the middle of unsigned bytes.
    out.extend([-128, 128].map(|both| spec(2, 3, BEYOND_F32, (both, both), Fill::Varied, Fill::Varied)));
    // Odd products, with sums that a float of 24 bits does not hold: without offsets, with one and with two.
    let pairs = [(0, 0), (-2, 0), (0, 2), (2, -4)];
    out.extend(pairs.map(|offsets| spec(2, 3, BEYOND_F32, offsets, Fill::Largest, Fill::Largest)));
    if domain.depth.contains(&BEYOND_INT16) {
        out.push(spec(1, 1, BEYOND_INT16, (128, -3), Fill::Varied, Fill::Varied));
    }
    out
}

/// Returns a product so deep that each of four lanes passes the end of 32 bits halfway and returns: the sum fits, but a partial sum does not. Only
/// for operand types of instructions that saturate.
fn there_and_back(domain: &Domain) -> Option<Spec<Params>> {
    let half = (1usize << 31) / (255 * 128) * 4 + 64;
    let k = 2 * half.next_multiple_of(16);
    let signs = (domain.lhs, domain.rhs) == (Element::U8, Element::I8) && domain.depth.contains(&k);
    signs.then(|| spec(1, 1, k, (0, 0), Fill::Largest, Fill::Alternating { run: k / 2 }))
}

/// Returns every size up to 80 along each axis, then sizes beyond the first block. All elements are random, and differ by position in the first
/// round. The zero points of the operand types occur equally often.
fn varied(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "matmul/shape");
    let mut out = Vec::new();
    let rounds = if budget.every_tail { 2 } else { 1 };
    let large = [&LARGE[..], if budget.every_tail { &LARGEST[..] } else { &[] }].concat();
    for i in 0..3 * SIZES * rounds + large.len() {
        let mut size = |most: u32| 1 + below(&mut rng, most) as usize;
        let [m, n, k] = match i.checked_sub(3 * SIZES * rounds) {
            Some(at) => large[at],
            None => {
                let mut sizes = [size(8), size(8), size(24)];
                sizes[i % 3] = 1 + i / 3 * 37 % SIZES;
                // Every remainder of rows and columns also occurs with a depth of several blocks.
                if i % 3 < 2 && BESIDE_DEPTH.contains(&sizes[i % 3]) {
                    sizes[2] += DEEP;
                }
                sizes
            }
        };
        let offsets = match i % 8 {
            7 => (int32_of_any_size(&mut rng), int32_of_any_size(&mut rng)),
            _ => (-by_turns(&domain.lhs.range(), i * 77), -by_turns(&domain.rhs.range(), i * 59)),
        };
        let others = [Fill::Extremes, Fill::Uniform, Fill::Sparse];
        let fill = |i: usize| if i < 3 * SIZES { Fill::Varied } else { others[i % others.len()].clone() };
        let (lhs, rhs) = if i < 3 * SIZES * rounds { (fill(i), fill(i + i / 3)) } else { (Fill::Varied, Fill::Varied) };
        let mut one = spec(m, n, k, offsets, lhs, rhs);
        one.misalign = below(&mut rng, 16) as usize;
        out.push(one);
    }
    out
}

/// Returns the `i`th value of a range in turn, so that each value occurs equally often.
pub(crate) fn by_turns(range: &RangeInclusive<i32>, i: usize) -> i32 {
    *range.start() + (i % (range.start().abs_diff(*range.end()) as usize + 1)) as i32
}
