//! Floats worth trying at a type: around every threshold between two stored values, by rounding and by truncation, at the ends of all
//! ranges, and everything that is no number.

use crate::quantized::overflow::infinite_from;
use crate::quantized::plan::Elements;
use rand_chacha::ChaCha8Rng;
use rug::Rational;
use tiebreak_common::stream::{below, int32, stream};
use tiebreak_impls::quantized::Expressed;
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::Quantization;

/// Stored values of which all thresholds are tried; where there are more, those at the ends, around the zero point, and some others.
const ALL: i64 = 40;
/// Some others.
const OTHERS: usize = 8;
/// Patterns on each side of a threshold.
const AROUND: i64 = 2;
/// How many times a float is eight times as far beyond the end.
const FARTHER: i64 = 10;
/// Random patterns.
const RANDOM: usize = 64;

/// Inputs of quantize.
pub(super) struct Floats;

impl Elements for Floats {
    fn words(&self, expressed: Expressed) -> usize {
        expressed.words()
    }

    fn elements(&self, q: &Quantization, seed: u64) -> Vec<i32> {
        let mut patterns = specials(q.format);
        let half = Rational::from((1, 2));
        for k in stored(q, seed) {
            let from_zero = Rational::from(k - q.zero_point);
            around(q, from_zero.clone() + &half, &mut patterns);
            around(q, from_zero, &mut patterns);
        }
        for end in [1i64 << 31, -(1 << 31), 1 << 32, i64::MAX, i64::MIN] {
            around(q, Rational::from(end) - q.zero_point, &mut patterns);
        }
        let mut rng = stream(seed, "quantize/patterns");
        for _ in 0..RANDOM {
            let [low, high] = [0; 2].map(|_| u64::from(int32(&mut rng) as u32));
            patterns.push((low | high << 32) & (q.format.sign() | (q.format.sign() - 1)));
            let inside = q.min + ((i128::from(q.max - q.min) * i128::from(low)) >> 32) as i64;
            around(
                q,
                Rational::from(inside - q.zero_point) + Rational::from((below(&mut rng, 1000), 1000)),
                &mut patterns,
            );
        }
        patterns.into_iter().flat_map(|bits| words(q.format, bits)).collect()
    }

    fn some(&self, q: &Quantization, count: usize, rng: &mut ChaCha8Rng) -> Vec<i32> {
        let scale = q.exact_scale();
        let subnormal = (1u64 << (q.format.precision() - 1)) - 1;
        let mut pattern = || {
            let [low, high] = [0; 2].map(|_| u64::from(int32(rng) as u32));
            let (any, sign) = (low | high << 32, q.format.sign() * (high & 1));
            match low % 16 {
                // Any pattern, and any subnormal one.
                0 => any & (q.format.sign() | (q.format.sign() - 1)),
                1 | 2 => any & subnormal | sign,
                kind => {
                    let ends = [q.min, q.max, q.zero_point, q.zero_point - 1];
                    let inside = q.min + ((i128::from(q.max - q.min) * i128::from(high)) >> 32) as i64;
                    let stored = if kind == 3 { ends[(high >> 8 & 3) as usize] } else { inside } - q.zero_point;
                    // At a stored value, at a tie above it, or anywhere between.
                    let eighths = [0, 4, 4, 4, (low >> 16 & 7) as i64][(low >> 24) as usize % 5];
                    let nearest = q.format.nearest(&(Rational::from((8 * stored + eighths, 8)) * &scale));
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

    /// Around each end, half a step beyond it and a step; and farther by more and more, as far as floats go.
    fn beyond(&self, q: &Quantization) -> Vec<i32> {
        let mut patterns = vec![q.format.infinity(), q.format.largest()];
        patterns.extend_from_within(..);
        patterns[2..].iter_mut().for_each(|bits| *bits |= q.format.sign());
        for (end, outwards) in [(q.min, -1), (q.max, 1)] {
            let steps = |halves: i64| Rational::from(end - q.zero_point) + Rational::from((outwards * halves, 2));
            (0..=2).for_each(|halves| around(q, steps(halves), &mut patterns));
            let farther = (0..FARTHER).map(|power| steps(5 << (3 * power)));
            patterns.extend(farther.map(|steps| q.format.nearest(&(steps * q.exact_scale()))));
        }
        patterns.into_iter().flat_map(|bits| words(q.format, bits)).collect()
    }

    /// Those whose reciprocal is the edge, and those whose quotient by a float at the edge is a number of few bits.
    fn scales_at_overflow(&self, q: &Quantization) -> Vec<Rational> {
        let edge = infinite_from(q.format);
        [1, 3, 255].into_iter().map(|steps| Rational::from(steps) / &edge).chain([Rational::from((3, 7))]).collect()
    }

    /// Those whose quotient by the scale lies at the edge, as far as they are numbers, and the special ones.
    fn overflowing(&self, q: &Quantization) -> Vec<i32> {
        let mut patterns = specials(q.format);
        let edge = infinite_from(q.format);
        for sign in [-1, 1] {
            around(q, Rational::from(sign) * &edge, &mut patterns);
            around(q, Rational::from((sign, 2)) * &edge, &mut patterns);
            around(q, Rational::from(sign), &mut patterns);
        }
        patterns.into_iter().flat_map(|bits| words(q.format, bits)).collect()
    }

    /// The float at a tie or nearest to it, one in the middle of a step, and the last that all take.
    fn repeated(&self, q: &Quantization) -> Vec<Vec<i32>> {
        let step = |numerator: i64, denominator: i64| {
            let steps = Rational::from((numerator, denominator)) + (q.min.midpoint(q.max) - q.zero_point);
            words(q.format, q.format.nearest(&(steps * q.exact_scale())))
        };
        vec![step(1, 2), step(3, 4)]
    }
}

/// The words of a pattern.
fn words(format: Format, bits: u64) -> Vec<i32> {
    tiebreak_engine::operation::Element::Float(format).of(bits)
}

/// Zeros, ends of the subnormal and of the normal numbers, ones, infinities, and two kinds of NaN; of either sign.
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

/// Stored values at whose thresholds to look.
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

/// The floats around `steps * scale`.
fn around(q: &Quantization, steps: Rational, out: &mut Vec<u64>) {
    let nearest = q.format.nearest(&(steps * q.exact_scale()));
    let Some(key) = q.format.key(nearest) else { return };
    let [lowest, highest] = [q.format.infinity() | q.format.sign(), q.format.infinity()].map(|end| q.format.key(end));
    let (Some(lowest), Some(highest)) = (lowest, highest) else { return };
    let keys = key.saturating_sub(AROUND).max(lowest)..=key.saturating_add(AROUND).min(highest);
    out.extend(keys.map(|key| q.format.from_key(key)));
}
