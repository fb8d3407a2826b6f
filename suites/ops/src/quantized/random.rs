//! Random types: any width, bounds and zero point of the domain; scales of every magnitude, next to powers of two, and so small that results are
//! subnormal. Tensors are small, so that there can be many.

use super::plan::{Elements, Plan, spec};
use super::{format, places, quantizations, with_one_scale};
use rand_chacha::ChaCha8Rng;
use tiebreak_common::{below, int32, sizes, stream};
use tiebreak_engine::operation::{Spec, Turn};
use tiebreak_impls::quantize::Domain;
use tiebreak_impls::quantized::{Container, Expressed, Finest, Granularity, Params, Quantized, Scale, Storage};

/// Number of types in a short run; a longer run has four times as many. Compiled kernels need a function for each type, so they have few.
const TYPES: usize = 88;
const COMPILED: usize = 6;
/// Elements of a tensor with one scale, minus a number that makes every length modulo 64 occur.
const ELEMENTS: usize = 192;
/// Lengths: up to two vectors of any width, and beyond the first block into which a kernel may split a tensor.
const LENGTHS: std::ops::RangeInclusive<usize> = 1..=80;
const LONG: [usize; 7] = [257, 513, 1025, 2050, 4099, 8200, 16_411];
/// Period of longer tensors: a prime, so that elements a power of two apart differ.
const PERIOD: usize = 1021;
/// Numbers of channels of layers in a short run.
const FEW: [usize; 2] = [320, 2125];
/// Numbers of channels or blocks, around the lengths of vectors.
const MANY: [usize; 8] = [70, 9, 33, 17, 65, 31, 16, 64];

/// Returns the cases of random types.
pub(super) fn plan(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let Plan { domain, budget, seed, elements } = *plan;
    let types = if domain.compiled { COMPILED } else { TYPES };
    let types = if budget.every_tail { 4 * types } else { types };
    // Every third compiled case has channels, and every fourth of other cases.
    let every = if domain.compiled { 3 } else { 4 };
    let one = |i: usize| {
        let mut rng = stream(seed, &format!("quantized/random/{i}"));
        // Numbers of earlier cases with one scale, and with several.
        let (one, several) = (i - (i + every - 2) / every, i / every);
        let case = if i % every == 1 { many(domain, several, &mut rng) } else { None };
        let params = case.unwrap_or_else(|| {
            let container = domain.containers[i / 3 % domain.containers.len()];
            // 13 is coprime to 32. Of two types of one width, one has a format that represents all of its values.
            let any = Storage { bits: 1 + (one * 13 % 32) as u32, signed: one / 32 % 2 == 0 };
            let quantized = layer(domain, one + one / 32 * 2 + one / 64, any, &mut rng);
            Params { quantized, container, shape: shape(ELEMENTS - one % 64, container, one) }
        });
        let values = filled(&params, elements, &mut rng)?;
        Some(spec(params, values, i + i / 16))
    };
    (0..types).filter_map(one).collect()
}

/// Returns a tensor of every length, each of another type. Empty for compiled kernels, which need one function for each type.
pub(super) fn lengths(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let Plan { domain, seed, elements, .. } = *plan;
    let one = |(i, len): (usize, usize)| {
        let mut rng = stream(seed, &format!("quantized/length/{len}"));
        // 5 is coprime to 16.
        let any = Storage { bits: 1 + (i * 5 % 16) as u32, signed: i.is_multiple_of(2) };
        let quantized = layer(domain, i, any, &mut rng);
        let container = domain.containers.iter().copied().find(|container| *container != Container::Scalar)?;
        let params = Params { quantized, container, shape: shape(len, container, i) };
        let values = filled(&params, elements, &mut rng)?;
        Some(spec(params, values, i))
    };
    let lengths = LENGTHS.chain(LONG).filter(|_| !domain.compiled);
    lengths.enumerate().filter_map(one).collect()
}

/// Columns of a long tensor for a kernel that does not accept one scale for the whole tensor.
const COLUMNS: usize = 3;

/// Converts a type with one scale to columns of `rows` rows, each a block with that scale.
fn as_columns(layer: Quantized, rows: usize) -> (Quantized, Vec<usize>) {
    let granularity = Granularity::Blocks { sizes: vec![(0, rows), (1, 1)], counts: vec![1, COLUMNS] };
    let (scales, zero_points) = (layer.scales.repeat(COLUMNS), layer.zero_points.repeat(COLUMNS));
    (Quantized { granularity, scales, zero_points, ..layer }, vec![rows, COLUMNS])
}

/// Converts a type with one scale to columns of `rows` rows, each a channel with its own scale and zero point.
fn as_channels(layer: Quantized, rows: usize) -> (Quantized, Vec<usize>) {
    let scales = (0..COLUMNS).map(|column| Scale(layer.scales[0].0 * 2f64.powi(column as i32))).collect();
    let zero_points = (0..COLUMNS as i64).map(|column| (layer.zero_points[0] + column).min(layer.max)).collect();
    let granularity = Granularity::Channel { axis: 1 };
    (Quantized { granularity, scales, zero_points, ..layer }, vec![rows, COLUMNS])
}

/// Returns a tensor longer than 16 bits count, and a tensor longer than 20 bits count by turns; in a short run, only the first by turns. Compiled
/// kernels run neither.
pub(super) fn long(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let [len, _, longest] = sizes::LENGTHS;
    let of = |len| {
        long_of(plan, len, |layer, len| match plan.domain.finest.takes_layers() {
            true => (layer, vec![len]),
            false => as_columns(layer, len.div_ceil(COLUMNS)),
        })
    };
    let in_turns =
        |len, turns| of(len).map(|spec| Spec { turn: Turn::one_in(turns, (plan.seed % 1024) as usize), ..spec });
    match plan.budget.every_tail {
        true => [of(len), in_turns(longest, LONGEST_TURNS)].into_iter().flatten().collect(),
        false => in_turns(len, LONG_TURNS).into_iter().collect(),
    }
}

/// Number of kernels of which one runs the longest tensor, and of which one runs the first long tensor in a short run.
const LONGEST_TURNS: usize = 2;
const LONG_TURNS: usize = 3;

/// Returns a tensor longer than 16 bits count, of channels that do not divide 2^16; `None` in a short run, and for kernels of one scale.
pub(super) fn long_channels(plan: &Plan<'_, impl Elements>) -> Option<Spec<Params>> {
    let takes = plan.domain.finest.takes_layers() && plan.domain.finest != Finest::Layer;
    (takes && plan.budget.every_tail)
        .then(|| long_of(plan, sizes::LENGTHS[0], |layer, len| as_channels(layer, len.div_ceil(COLUMNS))))
        .flatten()
}

/// Returns a long tensor of a type made from a type with one scale.
fn long_of(
    plan: &Plan<'_, impl Elements>,
    len: usize,
    shaped: impl Fn(Quantized, usize) -> (Quantized, Vec<usize>),
) -> Option<Spec<Params>> {
    let Plan { domain, seed, elements, .. } = *plan;
    if domain.compiled {
        return None;
    }
    let mut rng = stream(seed, "quantized/long");
    let container = domain.containers.iter().copied().find(|container| *container != Container::Scalar)?;
    let quantized = layer(domain, 0, Storage { bits: 8, signed: true }, &mut rng);
    let (min, max) = quantized.storage.range().into_inner();
    let scales = vec![Scale(2f64.powi(-3))];
    let quantized = Quantized { min, max, scales, zero_points: vec![0.clamp(min, max)], ..quantized };
    let params = Params { quantized, container, shape: vec![PERIOD] };
    let period = filled(&params, elements, &mut rng)?;
    let words = elements.words(params.quantized.expressed);
    let (quantized, shape) = shaped(params.quantized, len);
    let elements = shape.iter().product::<usize>() * words;
    let values = period.into_iter().cycle().take(elements).collect();
    Some(spec(Params { quantized, container, shape }, values, 1))
}

/// Returns every number of channels up to 80 and those of layers, each with another type, along any axis of up to four.
pub(super) fn numbers_of_channels(plan: &Plan<'_, impl Elements>) -> Vec<Spec<Params>> {
    let Plan { domain, budget, seed, elements } = *plan;
    let one = |(i, count): (usize, usize)| {
        let mut rng = stream(seed, &format!("quantized/channels/{count}"));
        let ty = layer(domain, i, Storage { bits: 1 + (i * 3 % 16) as u32, signed: i.is_multiple_of(2) }, &mut rng);
        // Large numbers of channels are few, so their scales and zero points are always distinct.
        let kind = if count <= *LENGTHS.end() { i } else { DISTINCT };
        if !domain.finest.takes_layers() {
            // The elements after the blocks' axis have their own scales.
            let granularity = Granularity::Blocks { sizes: vec![(0, 2), (1, 1)], counts: vec![1, count] };
            let quantized = several(&ty, count, granularity, kind, &mut rng);
            let params = Params { quantized, container: Container::Ranked, shape: vec![2, count] };
            let values = filled(&params, elements, &mut rng)?;
            return Some(spec(params, values, i));
        }
        let (axis, shape) = match i % 8 {
            0 | 4 => (0, vec![count, 3]),
            2 | 6 if count <= *LENGTHS.end() => (0, vec![count]),
            2 | 6 => (0, vec![count, 2]),
            1 => (1, vec![2, count, 1, 2]),
            5 => (2, vec![1, 2, count, 2]),
            _ => (1, vec![2, count]),
        };
        let quantized = several(&ty, count, Granularity::Channel { axis }, kind, &mut rng);
        let params = Params { quantized, container: Container::Ranked, shape };
        let values = filled(&params, elements, &mut rng)?;
        Some(spec(params, values, i))
    };
    // The oracle takes ten times as long for a result of a cast as for one of a multiplication.
    let many = sizes::channels(budget).into_iter().filter(|count| budget.every_tail || FEW.contains(count));
    let counts = LENGTHS.chain(many);
    let counts = counts.filter(|_| !domain.compiled && domain.finest != Finest::Layer);
    counts.enumerate().filter_map(one).collect()
}

/// Turn in which the channels have distinct parameters.
const DISTINCT: usize = 4;

/// Returns a type with `count` scales and zero points, which by turns are equal or 0, because code has shorter paths for them.
pub(super) fn several(
    ty: &Quantized,
    count: usize,
    granularity: Granularity,
    i: usize,
    rng: &mut ChaCha8Rng,
) -> Quantized {
    let mut scales: Vec<Scale> = (0..count).map(|_| scale(ty.expressed, ty.storage, rng)).collect();
    let mut zero_points: Vec<i64> = (0..count).map(|_| zero_point(ty.min, ty.max, rng)).collect();
    match i % 7 {
        0 => scales = vec![scales[0]; count],
        1 => zero_points.fill(0.clamp(ty.min, ty.max)),
        2 => zero_points = vec![zero_points[0]; count],
        // A single zero point, in the middle, is not 0.
        3 => {
            let kept = zero_points[count / 2];
            zero_points.fill(0.clamp(ty.min, ty.max));
            zero_points[count / 2] = kept;
        }
        // The first two, or the first and the last, are equal.
        5 => (scales[1.min(count - 1)], zero_points[1.min(count - 1)]) = (scales[0], zero_points[0]),
        6 => (scales[count - 1], zero_points[count - 1]) = (scales[0], zero_points[0]),
        DISTINCT.. => {}
    }
    Quantized { granularity, scales, zero_points, ..ty.clone() }
}

/// Returns the shape of `len` elements, by turns in one to four dimensions, with long rows or many rows.
pub(super) fn shape(len: usize, container: Container, turn: usize) -> Vec<usize> {
    let mut shape = vec![len];
    let more = if container == Container::Scalar { 0 } else { turn % 4 };
    for _ in 0..more {
        let last = shape.pop().unwrap_or(1);
        let factor = [3, 2, 5, 7].into_iter().find(|factor| last.is_multiple_of(*factor)).unwrap_or(1);
        shape.extend([factor, last / factor]);
    }
    if turn / 4 % 2 == 1 {
        shape.reverse();
    }
    shape
}

/// Draws a type with one scale. Expressed types, and storage types named by the domain, are used in turn; the rest is random.
pub(super) fn layer(domain: &Domain, turn: usize, any: Storage, rng: &mut ChaCha8Rng) -> Quantized {
    let expressed = domain.expressed[turn % domain.expressed.len()];
    let storage = if domain.storage.is_empty() { any } else { domain.storage[turn % domain.storage.len()] };
    let (min, max) = bounds(domain, storage, rng);
    let (mut zero_point, mut one) = (zero_point(min, max, rng), scale(expressed, storage, rng));
    // The stored values equal the expressed values.
    if below(rng, 16) == 0 {
        (zero_point, one) = (0.clamp(min, max), Scale(1.0));
    }
    with_one_scale(storage, (min, max), expressed, one, zero_point)
}

fn bounds(domain: &Domain, storage: Storage, rng: &mut ChaCha8Rng) -> (i64, i64) {
    let (lo, hi) = storage.range().into_inner();
    match below(rng, 4) {
        _ if !domain.bounds => (lo, hi),
        // A type has at least two values.
        0 => {
            let a = between(lo, hi - 1, rng);
            (a, between(a + 1, hi, rng))
        }
        1 => {
            let a = between(lo, hi - 1, rng);
            (a, (a + 1 + i64::from(below(rng, 16))).min(hi))
        }
        // As many values below 0 as above.
        2 if lo < 0 && hi > 0 => (-hi, hi),
        _ => (lo, hi),
    }
}

/// Draws a zero point: either end, the value nearest to zero, or any.
fn zero_point(min: i64, max: i64, rng: &mut ChaCha8Rng) -> i64 {
    match below(rng, 8) {
        0 => min,
        1 => max,
        2 => 0.clamp(min, max),
        _ => between(min, max, rng),
    }
}

pub(super) fn between(lo: i64, hi: i64, rng: &mut ChaCha8Rng) -> i64 {
    lo + (((i128::from(hi - lo) + 1) * i128::from(int32(rng) as u32)) >> 32) as i64
}

/// Draws a scale: log-uniform over the range of converters or of the type, next to a power of two, or so small that a few steps are subnormal.
pub(super) fn scale(expressed: Expressed, storage: Storage, rng: &mut ChaCha8Rng) -> Scale {
    let format = format(expressed);
    let precision = format.precision() as i32;
    let smallest_normal = match expressed {
        Expressed::F16 => -14,
        Expressed::Bf16 | Expressed::F32 => -126,
        Expressed::F64 => -1022,
    };
    // A scale is a normal f64, so f64 has no smaller scales.
    let smallest = (smallest_normal - precision + 1).max(-1022);
    let mut exponent = |lo: i32, hi: i32| lo + below(rng, (hi - lo + 1) as u32) as i32;
    let usual = exponent(-20, 4).max(smallest_normal);
    let all = exponent(smallest_normal, 1 - smallest_normal);
    let subnormal = exponent((smallest_normal - storage.bits as i32).max(smallest), smallest_normal);
    let fraction = 1.0 + f64::from(int32(rng) as u32) / f64::from(u32::MAX) * 0.999;
    let unit = 2f64.powi(1 - precision);
    let power = |exponent: i32| 2f64.powi(exponent);
    Scale(match below(rng, 8) {
        0 | 1 => power(usual) * fraction,
        2 => power(all) * fraction,
        3 => power(usual) * (1.0 + unit),
        4 => power(usual.max(smallest_normal + 1)) * (1.0 - unit / 2.0),
        5 => power([usual, all][below(rng, 2) as usize]),
        _ => power(subnormal) * if subnormal == smallest { 1.0 } else { fraction },
    })
}

/// Draws a type with many channels along an axis, or blocks, each with its own scale; `None` if the domain accepts only one scale.
fn many(domain: &Domain, i: usize, rng: &mut ChaCha8Rng) -> Option<Params> {
    // Every fourth draw has blocks; the added term varies its type.
    let ty =
        layer(domain, i + i / 4, Storage { bits: 1 + (i * 7 % 16) as u32, signed: (i / 2).is_multiple_of(2) }, rng);
    let count = if i.is_multiple_of(2) { MANY[i / 2 % MANY.len()] } else { 9 + below(rng, 62) as usize };
    let (mut axis, others) = (i % 3, [2 + below(rng, 4) as usize, 1 + below(rng, 3) as usize]);
    let mut shape = vec![others[0], others[1]];
    shape.insert(axis, count);
    // Channels of images are the second or last of four dimensions, channels of weights the first or last. Videos have five dimensions.
    if i % 4 == 1 {
        shape.insert(if axis == 2 { 0 } else { 3 }, 2);
        axis += axis / 2;
    }
    if i % 8 == 5 {
        shape.insert(0, 2);
        axis += 1;
    }
    let granularity = match (domain.finest, i % 4) {
        (Finest::Layer, _) => return None,
        (Finest::OtherAxis, _) => {
            let (before, size) = (others[1], 1 + below(rng, 4) as usize);
            shape = vec![before, 2 * size, count];
            Granularity::Blocks { sizes: vec![(0, 1), (1, size), (2, 1)], counts: vec![before, 2, count] }
        }
        // The last axis has separate blocks for each index of the other axes; every domain with blocks accepts this form.
        (Finest::LastAxis | Finest::OneAxis | Finest::Blocks, 3) => {
            let size = 1 + below(rng, 4) as usize;
            shape = vec![count, 2 * size];
            Granularity::Blocks { sizes: vec![(0, 1), (1, size)], counts: vec![count, 2] }
        }
        _ => Granularity::Channel { axis },
    };
    let scales = granularity_scales(&granularity, count);
    let quantized = several(&ty, scales, granularity, i, rng);
    let containers: Vec<Container> = domain.containers.iter().copied().filter(|c| *c != Container::Scalar).collect();
    let blocks = matches!(quantized.granularity, Granularity::Blocks { .. });
    let container = if blocks { Container::Ranked } else { *containers.get(i / 5 % containers.len().max(1))? };
    Some(Params { quantized, container, shape })
}

fn granularity_scales(granularity: &Granularity, count: usize) -> usize {
    if let Granularity::Blocks { counts, .. } = granularity { counts.iter().product() } else { count }
}

/// Draws elements for the scale of each place.
pub(super) fn filled(params: &Params, elements: &impl Elements, rng: &mut ChaCha8Rng) -> Option<Vec<i32>> {
    let all = quantizations(&params.quantized).ok()?;
    let words = elements.words(params.quantized.expressed);
    let scales = places::scales(params);
    let each = scales.len().div_ceil(all.len().max(1));
    let mut own: Vec<_> = all.iter().map(|q| elements.some(q, each, rng).into_iter()).collect();
    let mut out = Vec::with_capacity(scales.len() * words);
    scales.into_iter().for_each(|scale| out.extend(own[scale].by_ref().take(words)));
    Some(out)
}
