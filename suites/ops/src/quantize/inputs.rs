//! Input floats for a type: around the thresholds between stored values, for rounding and truncation, at the ends of ranges, and not numbers.

use crate::quantized::plan::Elements;
use rand_chacha::ChaCha8Rng;
use rug::Rational;
use tiebreak_common::{below, int32, stream};
use tiebreak_impls::quantized::Expressed;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::Quantization;

/// Upper bound on stored values with all thresholds; larger types use the ends, values around the zero point, and [`OTHERS`].
const ALL: i64 = 40;
/// Number of other stored values.
const OTHERS: usize = 8;
/// Number of patterns on each side of a threshold.
const AROUND: i64 = 2;
/// Number of floats beyond each end; each is eight times as far as the float before.
const FARTHER: i64 = 10;
/// Number of random patterns.
const RANDOM: usize = 64;

/// Floats as inputs of quantize.
pub(super) struct Floats;

impl Elements for Floats {
    fn words(&self, expressed: Expressed) -> usize {
        expressed.words()
    }

    fn elements(&self, q: &Quantization, seed: u64) -> Vec<i32> {
        let mut patterns = specials(q.format);
        let scale = scale(q);
        for k in stored(q, seed) {
            let from_zero = (k - q.zero_point) as f64;
            around(q, (from_zero + 0.5) * scale, &mut patterns);
            around(q, from_zero * scale, &mut patterns);
        }
        for end in [1i64 << 31, -(1 << 31), 1 << 32, i64::MAX, i64::MIN] {
            around(q, (end as f64 - q.zero_point as f64) * scale, &mut patterns);
        }
        let mut rng = stream(seed, "quantize/patterns");
        for _ in 0..RANDOM {
            let [low, high] = [0; 2].map(|_| u64::from(int32(&mut rng) as u32));
            patterns.push((low | high << 32) & (q.format.sign() | (q.format.sign() - 1)));
            let inside = q.min + ((i128::from(q.max - q.min) * i128::from(low)) >> 32) as i64;
            let steps = (inside - q.zero_point) as f64 + below(&mut rng, 1000) as f64 / 1000.0;
            around(q, steps * scale, &mut patterns);
        }
        patterns.into_iter().flat_map(|bits| words(q.format, bits)).collect()
    }

    fn some(&self, q: &Quantization, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
        let scale = scale(q);
        let subnormal = (1u64 << (q.format.precision() - 1)) - 1;
        let mut pattern = || {
            let [low, high] = [0; 2].map(|_| u64::from(int32(rng) as u32));
            let (any, sign) = (low | high << 32, q.format.sign() * (high & 1));
            match low % 16 {
                // Any pattern, or any subnormal pattern.
                0 => any & (q.format.sign() | (q.format.sign() - 1)),
                1 | 2 => any & subnormal | sign,
                kind => {
                    let ends = [q.min, q.max, q.zero_point, q.zero_point - 1];
                    let inside = q.min + ((i128::from(q.max - q.min) * i128::from(high)) >> 32) as i64;
                    let stored = if kind == 3 { ends[(high >> 8 & 3) as usize] } else { inside } - q.zero_point;
                    // At a stored value, at a tie above it, or anywhere between.
                    let eighths = [0, 4, 4, 4, (low >> 16 & 7) as i64][(low >> 24) as usize % 5];
                    let nearest = nearest(q.format, (stored as f64 + eighths as f64 / 8.0) * scale);
                    let beside = q.format.key(nearest).map(|key| q.format.from_key(key + (low >> 8 & 3) as i64 - 1));
                    beside.unwrap_or(nearest)
                }
            }
        };
        (0..count).flat_map(|_| words(q.format, pattern())).collect()
    }

    fn every(&self, q: &Quantization) -> Option<Vec<i32>> {
        (q.format.bits() == 16).then(|| (0..=0xffff).collect())
    }

    /// Returns floats around each end, half a step and a step beyond it, and at growing distances to the limits of the format.
    fn beyond(&self, q: &Quantization) -> Vec<i32> {
        let mut patterns = vec![q.format.infinity(), q.format.largest()];
        patterns.extend_from_within(..);
        patterns[2..].iter_mut().for_each(|bits| *bits |= q.format.sign());
        let scale = scale(q);
        for (end, outwards) in [(q.min, -1), (q.max, 1)] {
            let at = |halves: i64| ((end - q.zero_point) as f64 + (outwards * halves) as f64 / 2.0) * scale;
            (0..=2).for_each(|halves| around(q, at(halves), &mut patterns));
            patterns.extend((0..FARTHER).map(|power| nearest(q.format, at(5 << (3 * power)))));
        }
        patterns.into_iter().flat_map(|bits| words(q.format, bits)).collect()
    }

    /// Returns scales whose reciprocal is at the overflow edge, and scales whose quotient with a float at the edge has few bits.
    fn scales_at_overflow(&self, q: &Quantization) -> Vec<Rational> {
        let edge = q.format.infinite_from();
        [1, 3, 255].into_iter().map(|steps| Rational::from(steps) / &edge).chain([Rational::from((3, 7))]).collect()
    }

    /// Returns floats whose quotient by the scale is at the overflow edge, if they are finite, and the special floats.
    fn overflowing(&self, q: &Quantization) -> Vec<i32> {
        let mut patterns = specials(q.format);
        let edge = q.format.infinite_from();
        for sign in [-1, 1] {
            for steps in [Rational::from(sign) * &edge, Rational::from((sign, 2)) * &edge, Rational::from(sign)] {
                neighbours(q.format, q.format.nearest(&(steps * q.exact_scale())), &mut patterns);
            }
        }
        patterns.into_iter().flat_map(|bits| words(q.format, bits)).collect()
    }

    /// Returns the float at or nearest to a tie, and a float between a tie and the next stored value.
    fn repeated(&self, q: &Quantization) -> Vec<Vec<i32>> {
        let step = |numerator: i64, denominator: i64| {
            let steps = Rational::from((numerator, denominator)) + (q.min.midpoint(q.max) - q.zero_point);
            words(q.format, q.format.nearest(&(steps * q.exact_scale())))
        };
        vec![step(1, 2), step(3, 4)]
    }
}

/// Returns the words of a pattern.
fn words(format: Format, bits: u64) -> Vec<i32> {
    tiebreak_engine::operation::Element::Float(format).of(bits)
}

/// Returns zeros, the ends of the subnormal and normal numbers, ones, infinities, and two kinds of NaN, of either sign.
fn specials(format: Format) -> Vec<u64> {
    let one = format.nearest(&Rational::from(1));
    let smallest_normal = 1 << (format.precision() - 1);
    let magnitudes = [
        0,
        1,
        2,
        smallest_normal - 1,
        smallest_normal,
        one - 1,
        one,
        one + 1,
        format.largest(),
        format.infinity(),
        format.nan(),
        format.infinity() + 1,
    ];
    magnitudes.into_iter().flat_map(|m| [m, m | format.sign()]).collect()
}

/// Returns the stored values whose thresholds are tried.
fn stored(q: &Quantization, seed: u64) -> Vec<i64> {
    let mut out = Vec::new();
    if q.max - q.min <= ALL {
        out.extend(q.min - 2..=q.max + 2);
    } else {
        for end in [q.min, q.max, q.zero_point] {
            out.extend(end - 3..=end + 3);
        }
        let mut rng = stream(seed, "quantize/stored");
        let width = i128::from(q.max - q.min);
        let others = (0..OTHERS).map(|_| q.min + ((width * i128::from(int32(&mut rng) as u32)) >> 32) as i64);
        out.extend(others);
    }
    for end in [q.storage.min(), q.storage.max()] {
        out.extend(end - 1..=end + 1);
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Returns the scale as an f64, which is exact.
fn scale(q: &Quantization) -> f64 {
    q.exact_scale().to_f64()
}

/// Returns the pattern nearest to an f64, or an infinity beyond the largest number. The product of a scale and a step count of few bits is exact in
/// f64 if it is a tie or a threshold of the format.
fn nearest(format: Format, value: f64) -> u64 {
    let infinity = format.infinity() | if value < 0.0 { format.sign() } else { 0 };
    format.nearest_to(value).unwrap_or(infinity)
}

/// Adds the floats around a value.
fn around(q: &Quantization, value: f64, out: &mut Vec<u64>) {
    neighbours(q.format, nearest(q.format, value), out);
}

/// Adds a float and its neighbours, including infinities.
fn neighbours(format: Format, pattern: u64, out: &mut Vec<u64>) {
    let Some(key) = format.key(pattern) else { return };
    let [lowest, highest] = [format.infinity() | format.sign(), format.infinity()].map(|end| format.key(end));
    let (Some(lowest), Some(highest)) = (lowest, highest) else { return };
    let keys = key.saturating_sub(AROUND).max(lowest)..=key.saturating_add(AROUND).min(highest);
    out.extend(keys.map(|key| format.from_key(key)));
}
