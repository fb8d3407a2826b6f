//! Cases of poolings: every sum of windows of many counts, borders, sizes, large windows, random shapes and quantizations, and networks.

use super::{Pool, networks};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{Budget, below, int32, stream};
use tiebreak_engine::operation::{Fill, Operation, Spec, Turn, by};
use tiebreak_impls::element::Element;
use tiebreak_impls::pool::{Counted, Domain, Operand, Params, Scales};
use tiebreak_impls::quantized::Scale;

/// Elements of windows for which every sum is tried, or as many sums as [`ELEMENTS`] allows for each effort.
const COUNTS: [usize; 13] = [1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 25, 49, 64];
const ELEMENTS: [usize; 2] = [6_000, 30_000];
/// Channels in a case of sums, which is small enough to be kept as evidence.
const CHANNELS: usize = 256;
/// Number of random shapes, for each effort.
const RANDOM: [usize; 2] = [120, 480];
/// Largest number of channels, width and height of which every size is tried.
const SIZES: usize = 80;
/// Upper bound on draws of a quantization until the domain covers it.
const DRAWS: usize = 16;

/// Returns every spec of a run.
pub(super) fn plan(domain: &Domain, budget: &Budget, seed: u64) -> Vec<Spec<Params>> {
    let mut rng = stream(seed, "pool/parameters");
    let mut specs = Vec::new();
    by("all sums", &mut specs, |out| sums(domain, budget, &mut rng, out));
    by("halves", &mut specs, |out| halves(domain, budget, &mut rng, out));
    by("borders", &mut specs, |out| borders(domain, budget, &mut rng, out));
    by("every size", &mut specs, |out| every_size(domain, &mut rng, out));
    by("large windows", &mut specs, |out| large(domain, budget, &mut rng, out));
    by("long tensors", &mut specs, |out| long(domain, budget, &mut rng, out));
    by("random shapes", &mut specs, |out| random(domain, budget, &mut rng, out));
    by("sizes together", &mut specs, |out| together(domain, &mut rng, out));
    by("networks", &mut specs, |out| networks::plan(domain, budget, seed, &mut rng, out));
    specs
}

/// Adapts parameters to the domain's type, window and counting, with the `i`th quantization and bounds.
pub(super) fn posed(domain: &Domain, i: usize, p: Params, rng: &mut ChaCha8Rng) -> Params {
    let mut p = Params { element: domain.element, ..p };
    if domain.global {
        p = Params { kernel_h: p.height, kernel_w: p.width, top: 0, bottom: 0, left: 0, right: 0, ..p };
    }
    p.count_padding = match domain.counted {
        Counted::Never => false,
        Counted::Always => true,
        Counted::Either => i % 2 == 1,
    };
    let plain = Params { min: *p.element.range().start(), max: *p.element.range().end(), ..p };
    let drawn = (0..DRAWS).map(|_| quantized(domain, i, plain, rng)).find(|drawn| Pool::covers(domain, drawn));
    drawn.unwrap_or(plain)
}

/// Draws the `i`th quantization: extreme, middle or random zero points; equal, special or random scales; bounds of the type or an activation.
fn quantized(domain: &Domain, i: usize, p: Params, rng: &mut ChaCha8Rng) -> Params {
    let range = p.element.range();
    let (lo, hi) = (*range.start(), *range.end());
    // `midpoint` rounds toward zero, which gives another value for signed types.
    let middle = (lo + hi + 1) / 2;
    let zero_point = |turn: usize, rng: &mut ChaCha8Rng| match turn % 5 {
        0 => middle,
        1 => [lo, hi][turn / 5 % 2],
        _ => any(p.element, rng),
    };
    let mut scale = |least: i32, most: i32| {
        let significand = if below(rng, 4) == 0 { 0 } else { int32(rng) as u32 >> 9 };
        let binade = least + below(rng, least.abs_diff(most) + 1) as i32;
        f32::from_bits(((127 + binade) as u32) << 23 | significand)
    };
    let (one, by) = (scale(-12, 3), scale(-4, 2));
    let other = match i % 6 {
        0 => one,
        1 => one * 2f32.powi(1 - (i / 6 % 3) as i32),
        // Averages that are halves: an odd sum in units of half of a result.
        2 => one * ((2 * (i / 6 % 7) + 1) as f32) / (2 * p.kernel_h * p.kernel_w) as f32,
        _ => one * by,
    };
    let input = Operand { scale: Scale(one.into()), zero_point: zero_point(i, rng) };
    let out = match domain.scales {
        Scales::Equal => input,
        Scales::Quotient => Operand { scale: Scale(other.into()), zero_point: zero_point(i / 2, rng) },
    };
    let (a, b) = (any(p.element, rng), any(p.element, rng));
    let (min, max) = match i % 4 {
        _ if !domain.clamp => (lo, hi),
        1 => (out.zero_point, hi),
        2 => (a.min(b), a.max(b)),
        _ => (lo, hi),
    };
    Params { input, out, min, max, ..p }
}

fn any(element: Element, rng: &mut ChaCha8Rng) -> i32 {
    let range = element.range();
    *range.start() + below(rng, range.end().abs_diff(*range.start()) + 1) as i32
}

/// Builds a spec with the given input.
pub(super) fn spec(params: Params, input: Fill, misalign: usize) -> Spec<Params> {
    Spec::new(params, [input, Fill::None, Fill::None], misalign % 16)
}

/// Adds every sum of one-row windows, one channel for each sum. An exact average depends on the sum only. The elements of a window are as equal as
/// possible, or both ends of the type and one value between.
fn sums(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let range = domain.element.range();
    let (lo, hi) = (i64::from(*range.start()), i64::from(*range.end()));
    let most = ELEMENTS[usize::from(budget.every_tail)];
    for (i, count) in COUNTS.into_iter().enumerate() {
        let n = count as i64;
        let sums = (hi - lo) * n + 1;
        // Steps that reach every remainder.
        let step = (sums as usize * count).div_ceil(most) as i64;
        let step = if step == 1 { 1 } else { step + i64::from((step + 1) % n == 0) + 1 };
        let all: Vec<i64> = (0..sums).step_by(step as usize).map(|at| lo * n + at).collect();
        for (part, sums) in all.chunks(CHANNELS).enumerate() {
            let alike = part % 2 == 0;
            let element = |at: usize| {
                let (sum, place) = (sums[at % sums.len()], (at / sums.len()) as i64);
                if alike {
                    return (sum.div_euclid(n) + i64::from(place < sum.rem_euclid(n))) as i32;
                }
                // As many largest elements as possible, then the missing amount, then the least elements.
                let above = sum - lo * n;
                (lo + (above - place * (hi - lo)).clamp(0, hi - lo)) as i32
            };
            let input = (0..count * sums.len()).map(element).collect();
            let shape = Params { width: count, kernel_w: count, channels: sums.len(), ..Params::of(domain.element) };
            let turn = 4 * i + part + usize::from(domain.clamp && part % 4 != 3);
            out.push(spec(posed(domain, turn, shape, rng), Fill::Given(input), i + part));
        }
    }
}

/// Elements of windows whose reciprocal, rounded to f32, takes many averages that are halves below the half; sums of the longest exceed 24 bits.
const HALVED: [usize; 6] = [82, 122, 164, 218, 230, 1090];
/// Number of averages that are halves, for each count: around the middle of the type, and by turns near its end.
const HALVES: usize = 40;

/// Adds averages that are halves, of windows with many elements.
fn halves(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let range = domain.element.range();
    let middle = i64::from(range.start().midpoint(*range.end()));
    let centres = [middle, middle + (i64::from(*range.end()) - middle) * 3 / 4];
    let some = if budget.every_tail { HALVED.len() } else { 2 };
    for (i, count) in HALVED.into_iter().take(some).enumerate() {
        let n = count as i64;
        let sum = |channel: usize| (centres[i % 2] + channel as i64 - HALVES as i64 / 2) * n + n / 2;
        let element = |at: usize| {
            let (sum, place) = (sum(at % HALVES), (at / HALVES) as i64);
            (sum.div_euclid(n) + i64::from(place < sum.rem_euclid(n))) as i32
        };
        let input = (0..count * HALVES).map(element).collect();
        let shape = Params { width: count, kernel_w: count, channels: HALVES, ..Params::of(domain.element) };
        out.push(spec(posed(domain, 4 * i, shape, rng), Fill::Given(input), i));
    }
}

/// Adds padding of 0 to 2 on each side, under three windows.
fn borders(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for (window, (kernel_h, kernel_w)) in [(3, 3), (1, 3), (2, 2)].into_iter().enumerate() {
        for code in (0..81usize).filter(|code| budget.every_tail || (code + code / 3 + code / 9) % 3 == window) {
            let side = |power: u32, kernel: usize| (code / 3usize.pow(power) % 3).min(kernel - 1);
            let shape = Params {
                height: 4,
                width: 5,
                channels: 3,
                kernel_h,
                kernel_w,
                top: side(0, kernel_h),
                bottom: side(1, kernel_h),
                left: side(2, kernel_w),
                right: side(3, kernel_w),
                stride_h: 1 + code % 2,
                stride_w: 1 + code / 2 % 2,
                ..Params::of(domain.element)
            };
            let fill = [Fill::Varied, Fill::Extremes, Fill::Smallest, Fill::Varied][code % 4].clone();
            out.push(spec(posed(domain, code, shape, rng), fill, code));
        }
    }
}

/// Adds every value of each size by itself.
fn every_size(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let small = Params { kernel_h: 2, kernel_w: 2, height: 3, width: 3, ..Params::of(domain.element) };
    let mut shapes = Vec::new();
    for n in 1..=SIZES {
        shapes.push(Params { channels: n, ..small });
        shapes.push(Params { width: n + 1, ..small });
    }
    for n in (SIZES + 1..=144).chain([255, 256, 257, 300, 513]) {
        shapes.push(Params { channels: n, width: 2, height: 2, ..small });
    }
    for n in 1..=16 {
        shapes.extend([
            Params { kernel_h: n, height: n + 2, ..small },
            Params { kernel_w: n, width: n + 2, ..small },
            Params { height: n + 1, ..small },
            Params { batches: n, ..small },
            Params { stride_h: n, height: 2 * n + 2, ..small },
            Params { stride_w: n, width: 2 * n + 2, ..small },
            Params { kernel_h: n + 1, top: n, height: n + 1, ..small },
            Params { kernel_h: n + 1, bottom: n, height: n + 1, ..small },
            Params { kernel_w: n + 1, left: n, width: n + 1, ..small },
            Params { kernel_w: n + 1, right: n, width: n + 1, ..small },
        ]);
    }
    for (i, shape) in shapes.into_iter().enumerate() {
        let mut p = posed(domain, i, shape, rng);
        if i % 2 == 0 {
            // Both tensors have one quantization, so that no result saturates and every place shows a fault.
            (p.out, p.min, p.max) = (p.input, *p.element.range().start(), *p.element.range().end());
        }
        out.push(spec(p, Fill::Varied, i));
    }
}

/// Adds windows whose sums exceed 16 bits, of the largest, the least and random elements.
fn large(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let windows = [(17, 17), (1, 300), (259, 1), (33, 9), (33, 34), (16, 16), (40, 64)];
    let kept = if budget.every_tail { windows.len() } else { 5 };
    for (i, (kernel_h, kernel_w)) in windows.into_iter().take(kept).enumerate() {
        for (j, fill) in [Fill::Largest, Fill::Smallest, Fill::Uniform, Fill::Extremes].into_iter().enumerate() {
            let shape = Params {
                height: kernel_h,
                // One window in four is the whole image.
                width: kernel_w + usize::from(j != 2),
                channels: 1 + 2 * (i % 2),
                kernel_h,
                kernel_w,
                ..Params::of(domain.element)
            };
            // The bounds are the type's, so that no clamp hides the sum.
            out.push(spec(posed(domain, 4 * (i + j), shape, rng), fill, i));
        }
    }
}

/// Adds more than two thousand results and, in a long run, more elements and results than 16 bits count.
fn long(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    let one = Params::of(domain.element);
    let shapes = [
        Params { width: 2, kernel_w: 2, channels: 2_100, ..one },
        Params { height: 2, kernel_h: 2, width: 1_050, channels: 2, ..one },
        Params { height: 34, width: 35, kernel_h: 2, kernel_w: 2, channels: 36, ..one },
        Params { height: 67, width: 71, channels: 15, ..one },
    ];
    let kept = if budget.every_tail { 4 } else { 3 };
    for (i, shape) in shapes.into_iter().take(kept).enumerate() {
        let turn = Turn::one_in(if i < 3 { 1 } else { 4 }, i);
        out.push(Spec { turn, ..spec(posed(domain, 4 * i, shape, rng), Fill::Varied, i) });
    }
}

/// Lower bounds on all sizes of a shape, and the upper bound on images of such a shape.
const TOGETHER: [usize; 6] = [2, 3, 5, 9, 17, 33];
const IMAGES: usize = 5;

/// Adds shapes whose sizes, padding and strides are all at least 2, 3, 5, 9, 17 and 33; then a shape whose sizes are all whole blocks of 32.
fn together(domain: &Domain, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for (i, n) in TOGETHER.into_iter().enumerate() {
        let (top, bottom, left, right) = (n, n, n, n);
        let shape = Params {
            batches: n.min(IMAGES),
            height: n + 1,
            width: n + 2,
            channels: n,
            kernel_h: n + 1,
            kernel_w: n + 2,
            stride_h: n,
            stride_w: n,
            top,
            bottom,
            left,
            right,
            ..Params::of(domain.element)
        };
        out.push(spec(posed(domain, 4 * i, shape, rng), Fill::Varied, i));
    }
    let [one, two] = [32, 64];
    let (height, width, channels, kernel_h, kernel_w) = (two, two, one, one, one);
    let blocks = Params {
        height,
        width,
        channels,
        kernel_h,
        kernel_w,
        stride_h: one,
        stride_w: one,
        ..Params::of(domain.element)
    };
    out.push(spec(posed(domain, 2, blocks, rng), Fill::Varied, 0));
}

/// Adds small shapes of every window, stride, batch and padding.
fn random(domain: &Domain, budget: &Budget, rng: &mut ChaCha8Rng, out: &mut Vec<Spec<Params>>) {
    for i in 0..RANDOM[usize::from(budget.every_tail)] {
        let mut size = |least: usize, most: usize| least + below(rng, (most - least + 1) as u32) as usize;
        let (kernel_h, kernel_w) = (size(1, 6), size(1, 6));
        let (top, bottom) = (size(0, kernel_h - 1), size(0, kernel_h - 1));
        let (left, right) = (size(0, kernel_w - 1), size(0, kernel_w - 1));
        let shape = Params {
            batches: if i % 8 == 7 { 2 } else { 1 },
            height: kernel_h.saturating_sub(top + bottom).max(1) + size(0, 4),
            width: kernel_w.saturating_sub(left + right).max(1) + size(0, 4),
            channels: size(1, if i % 3 == 0 { 40 } else { 9 }),
            kernel_h,
            kernel_w,
            stride_h: size(1, 4),
            stride_w: size(1, 4),
            top,
            bottom,
            left,
            right,
            ..Params::of(domain.element)
        };
        let fill = if i % 7 == 6 { Fill::Extremes } else { Fill::Varied };
        let misalign = size(0, 15);
        out.push(spec(posed(domain, i, shape, rng), fill, misalign));
    }
}
