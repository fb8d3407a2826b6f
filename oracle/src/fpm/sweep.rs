//! Expected results for runs of consecutive accumulators at the speed of a kernel.
//!
//! A piece is `floor((m*x + c) / 2^k)`: from one accumulator to the next its numerator grows by `m`. The numerator is kept modulo
//! 2^64 and shifted so that the result's word is its upper half, shifted right. Several accumulators are stepped together, with the
//! halves of their numerators in separate arrays: two additions, the carry between them and a shift, all on 32 bits. Compilers turn
//! these steps into vector code of any width without a shuffle. Int32 words only.

use super::pieces::{Piece, Ties, fold};
use super::{Parameters, Scheme};
use crate::word::INT32;

/// Numerator that is stepped from accumulator to accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepper {
    /// Numerator at the first accumulator.
    numerator: u64,
    /// Growth from one accumulator to the next.
    slope: u64,
    /// Right shift of the numerator's upper half that gives the result.
    shift: u32,
}

impl Stepper {
    /// Creates the stepper of `piece` from accumulator `x` on. `None` if the result depends on ties, or on bits of a numerator
    /// above 64.
    fn new(piece: &Piece, x: i64) -> Option<Self> {
        if piece.ties != Ties::Floored {
            return None;
        }
        let numerator = |x: i64| piece.m * i128::from(x) + piece.c;
        if piece.k <= 32 {
            // Bits k..k+32 of the numerator are the result; higher bits have no effect.
            let up = 32 - piece.k;
            return Some(Self { numerator: (numerator(x) << up) as u64, slope: (piece.m << up) as u64, shift: 0 });
        }
        let fits = |x: i64| i64::try_from(numerator(x)).is_ok();
        (piece.k < 64 && fits(piece.lo) && fits(piece.hi)).then(|| Self {
            numerator: numerator(x) as u64,
            slope: piece.m as u64,
            shift: piece.k - 32,
        })
    }

    /// Computes the expected result `i` accumulators further on.
    #[inline(always)]
    pub fn ahead(&self, i: usize) -> i32 {
        let numerator = self.numerator.wrapping_add(self.slope.wrapping_mul(i as u64));
        ((numerator >> 32) as i32) >> self.shift
    }

    /// True if `outs` are the expected results from here on.
    #[inline(always)]
    pub fn equals(&self, outs: &[i32]) -> bool {
        let (whole, rest) = outs.as_chunks::<LANES>();
        let mut lanes = Lanes::new(self);
        // Differences are rare, so they are checked once for several steps.
        for some in whole.chunks(128) {
            let mut differ = [0; LANES];
            for outs in some {
                for l in 0..LANES {
                    differ[l] |= outs[l] ^ lanes.result(l);
                }
                lanes.advance();
            }
            if differ != [0; LANES] {
                return false;
            }
        }
        let done = outs.len() - rest.len();
        rest.iter().enumerate().all(|(i, &got)| got == self.ahead(done + i))
    }

    /// Counts the differences between `outs` and the expected results from here on; `None` if any difference is more than one.
    #[inline(always)]
    pub fn differences(&self, outs: &[i32]) -> Option<Differences> {
        let (whole, rest) = outs.as_chunks::<LANES>();
        let mut lanes = Lanes::new(self);
        let (mut sums, mut sizes, mut any) = ([0i32; LANES], [0u32; LANES], [0u32; LANES]);
        for outs in whole {
            for l in 0..LANES {
                let delta = outs[l].wrapping_sub(lanes.result(l));
                // Not `delta.abs()`: between the two ends of the word the delta wraps to one.
                let size = outs[l].abs_diff(lanes.result(l));
                sums[l] = sums[l].wrapping_add(delta);
                sizes[l] = sizes[l].wrapping_add(size);
                any[l] |= size;
            }
            lanes.advance();
        }
        let mut far = any.iter().fold(0, |all, size| all | size) > 1;
        // These sums are exact if every size is at most one, because fewer than 2^31 outputs were added.
        let mut sum: i64 = sums.iter().map(|n| i64::from(*n)).sum();
        let mut differ: i64 = sizes.iter().map(|n| i64::from(*n)).sum();
        let done = outs.len() - rest.len();
        for (i, &got) in rest.iter().enumerate() {
            let delta = i64::from(got) - i64::from(self.ahead(done + i));
            far |= delta.abs() > 1;
            sum += delta;
            differ += delta.abs();
        }
        (!far).then(|| Differences { plus: ((differ + sum) / 2) as u64, minus: ((differ - sum) / 2) as u64 })
    }

    /// Counts the differences from here on if each is at most one or above `small`; the second result counts the differences above `small`.
    ///
    /// `None` if any difference is more than one and at most `small`. `small` is at least 1 and below 2^31.
    #[inline(always)]
    pub fn far_differences(&self, outs: &[i32], small: u32) -> Option<(Differences, u64)> {
        let (whole, rest) = outs.as_chunks::<LANES>();
        let mut lanes = Lanes::new(self);
        // Without comparisons, which compilers turn into code that splits vectors. Fewer than 2^31 outputs are counted.
        let (mut sums, mut ones, mut far, mut between) = ([0i32; LANES], [0u32; LANES], [0u32; LANES], [0u32; LANES]);
        assert!(small < 1 << 31, "{small} must be below 2^31");
        let beyond = small + 1;
        for outs in whole {
            for l in 0..LANES {
                let (got, expected) = (outs[l], lanes.result(l));
                let size = got.abs_diff(expected);
                let (some, one) = (size.min(2) >> 1, size.min(2) & 1);
                sums[l] = sums[l].wrapping_add(got.wrapping_sub(expected) & (one as i32).wrapping_neg());
                ones[l] = ones[l].wrapping_add(one);
                between[l] = between[l].wrapping_add(some);
                far[l] = far[l].wrapping_add(small.wrapping_sub(size.min(beyond)) >> 31);
            }
            lanes.advance();
        }
        let total = |counts: [u32; LANES]| counts.iter().map(|n| u64::from(*n)).sum::<u64>();
        let (sum, ones) = (sums.iter().map(|n| i64::from(*n)).sum::<i64>(), total(ones) as i64);
        let (mut all, mut far, mut between) = (
            Differences { plus: ((ones + sum) / 2) as u64, minus: ((ones - sum) / 2) as u64 },
            total(far),
            total(between),
        );
        let done = outs.len() - rest.len();
        for (i, &got) in rest.iter().enumerate() {
            let expected = self.ahead(done + i);
            let size = got.abs_diff(expected);
            all.plus += u64::from((size == 1) & (got > expected));
            all.minus += u64::from((size == 1) & (got < expected));
            far += u64::from(size > small);
            between += u64::from(size > 1);
        }
        (far == between).then_some((all, far))
    }
}

/// Outputs that differ by one, in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Outputs that are one more than expected.
    pub plus: u64,
    /// Outputs that are one less than expected.
    pub minus: u64,
}

/// Accumulators stepped together. A larger number is not faster.
const LANES: usize = 8;

/// Numerators of [`LANES`] consecutive accumulators.
struct Lanes {
    high: [i32; LANES],
    /// Lower halves minus 2^31, for the signed comparison of vector units.
    low: [i32; LANES],
    step_high: i32,
    step_low: i32,
    /// Bound of a lower half that has just carried.
    carried: i32,
    shift: u32,
}

impl Lanes {
    #[inline(always)]
    fn new(stepper: &Stepper) -> Self {
        let numerators: [u64; LANES] =
            std::array::from_fn(|l| stepper.numerator.wrapping_add(stepper.slope.wrapping_mul(l as u64)));
        let step = stepper.slope.wrapping_mul(LANES as u64);
        Self {
            high: numerators.map(|n| (n >> 32) as i32),
            low: numerators.map(|n| n as i32 ^ i32::MIN),
            step_high: (step >> 32) as i32,
            step_low: step as i32,
            carried: step as i32 ^ i32::MIN,
            shift: stepper.shift & 31,
        }
    }

    #[inline(always)]
    fn result(&self, l: usize) -> i32 {
        self.high[l] >> self.shift
    }

    #[inline(always)]
    fn advance(&mut self) {
        for l in 0..LANES {
            self.low[l] = self.low[l].wrapping_add(self.step_low);
            let carry = i32::from(self.low[l] < self.carried);
            self.high[l] = self.high[l].wrapping_add(self.step_high).wrapping_add(carry);
        }
    }
}

/// Expected results for a run of consecutive accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Stepper for a run in which every accumulator has a result.
    Stepped(Stepper),
    /// No result: all accumulators are out of domain.
    OutOfDomain,
    /// Results of the fast form, accumulator by accumulator.
    OneByOne,
}

/// Scheme at fixed parameters, prepared for runs.
#[derive(Clone, Debug)]
pub struct Sweep {
    scheme: Scheme,
    parameters: Parameters,
    pieces: Option<Vec<Piece>>,
}

impl Sweep {
    /// Prepares `scheme` for runs at `parameters`.
    pub fn new(scheme: Scheme, parameters: Parameters) -> Self {
        let pieces = if parameters.word == INT32 { fold(&scheme, &parameters) } else { None };
        Self { scheme, parameters, pieces }
    }

    /// Returns the scheme.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// Splits `start .. start + len` into runs with one kind of expectation each: `(first, length, expected)`.
    pub fn runs(&self, start: i64, len: usize) -> impl Iterator<Item = (i64, usize, Expected)> {
        let end = start + len as i64;
        let pieces = self.pieces.as_deref();
        let mut next = pieces.map_or(0, |pieces| pieces.partition_point(|p| p.hi < start));
        let mut x = start;
        std::iter::from_fn(move || {
            if x >= end {
                return None;
            }
            let (stop, expected) = match pieces.map(|pieces| pieces.get(next)) {
                None => (end, Expected::OneByOne),
                Some(Some(p)) if p.lo <= x => {
                    next += 1;
                    (p.hi + 1, Stepper::new(p, x).map_or(Expected::OneByOne, Expected::Stepped))
                }
                Some(Some(p)) => (p.lo, Expected::OutOfDomain),
                Some(None) => (end, Expected::OutOfDomain),
            };
            let first = x;
            x = stop.min(end);
            Some((first, (x - first) as usize, expected))
        })
    }

    /// Returns the expected result at `x`.
    pub fn at(&self, x: i64) -> Option<i64> {
        match self.runs(x, 1).next()?.2 {
            Expected::Stepped(stepper) => Some(stepper.ahead(0).into()),
            Expected::OutOfDomain => None,
            Expected::OneByOne => self.one(x),
        }
    }

    /// Computes an expected result by the fast integer form.
    #[inline]
    pub fn one(&self, x: i64) -> Option<i64> {
        self.scheme.fast(x, &self.parameters)
    }

    /// Computes an expected result by big rationals.
    pub fn anchor(&self, x: i64) -> Option<i64> {
        self.scheme.exact(x, &self.parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fpm::vectors::Comparer;

    fn sweep(scheme: &str, m: i32, s: i32) -> Sweep {
        Sweep::new(Scheme::parse(scheme).expect("a scheme"), Parameters::q31(m, s))
    }

    fn stepper(sweep: &Sweep, x: i64, len: usize) -> Stepper {
        match sweep.runs(x, len).next() {
            Some((first, n, Expected::Stepped(stepper))) if (first, n) == (x, len) => stepper,
            other => panic!("not one run of steps: {other:?}"),
        }
    }

    /// Compares with and without the vectors of this processor, which must agree.
    fn equals(stepper: &Stepper, outs: &[i32]) -> bool {
        let equal = stepper.equals(outs);
        assert_eq!(Comparer::default().equal(stepper, outs), equal);
        equal
    }

    fn differences(stepper: &Stepper, outs: &[i32]) -> Option<Differences> {
        let differences = stepper.differences(outs);
        assert_eq!(Comparer::default().differences(stepper, outs), differences);
        differences
    }

    fn far_differences(stepper: &Stepper, outs: &[i32], small: u32) -> Option<(Differences, u64)> {
        let far = stepper.far_differences(outs, small);
        assert_eq!(Comparer::default().far_differences(stepper, outs, small), far);
        far
    }

    #[test]
    fn side_by_side_is_one_by_one() {
        for (m, s) in
            [(1_395_864_371, -8), (-1_395_864_371, -1), (i32::MAX, 0), (1 << 30, -2), (1, -31), (3, 7), (0, 0)]
        {
            let sweep = sweep("ties-up:wrap", m, s);
            for start in [i64::from(i32::MIN), -70, 1 << 20] {
                for len in (0..40).chain([1023, 1024, 1025, 2051]).filter(|len| *len > 0) {
                    let Some((_, len, Expected::Stepped(stepper))) = sweep.runs(start, len).next() else { continue };
                    let right: Vec<i32> = (0..len).map(|i| stepper.ahead(i)).collect();
                    assert!(equals(&stepper, &right), "m={m} s={s} start={start} len={len}");
                    assert_eq!(differences(&stepper, &right), Some(Differences::default()));
                }
            }
        }
    }

    #[test]
    fn a_difference_shows_in_every_position() {
        let stepper = stepper(&sweep("ties-up:wrap", 1_395_864_371, -1), -500, 1100);
        let mut outs: Vec<i32> = (0..1100).map(|i| stepper.ahead(i)).collect();
        for i in 0..outs.len() {
            for delta in [1, -1, 2, -2, i32::MIN, 1 << 16] {
                let right = outs[i];
                outs[i] = right.wrapping_add(delta);
                assert!(!equals(&stepper, &outs), "{delta} at {i}");
                let expected = match delta {
                    1 => Some(Differences { plus: 1, minus: 0 }),
                    -1 => Some(Differences { plus: 0, minus: 1 }),
                    _ => None,
                };
                assert_eq!(differences(&stepper, &outs), expected, "{delta} at {i}");
                let far = (delta.unsigned_abs() > 16).then(|| (Differences::default(), 1));
                let near = expected.map(|differences| (differences, 0));
                assert_eq!(far_differences(&stepper, &outs, 16), near.or(far), "{delta} at {i}");
                outs[i] = right;
            }
        }
    }

    /// Every three differences, in one lane, in several lanes, and after the last whole step, are counted without cancelling.
    #[test]
    fn differences_are_those_counted_one_by_one() {
        const DELTAS: [i64; 8] = [0, 1, -1, 2, -16, 17, -17, 1 << 20];
        let stepper = stepper(&sweep("ties-up:wrap", 1_395_864_371, -1), -500, 1100);
        let right: Vec<i64> = (0..1100).map(|i| stepper.ahead(i).into()).collect();
        let three = (0..512).map(|i| [i / 64, i / 8 % 8, i % 8].map(|j| DELTAS[j]));
        for (deltas, places) in
            three.flat_map(|deltas| [[0, 8, 16], [7, 15, 1023], [1, 10, 27], [9, 29, 30]].map(|p| (deltas, p)))
        {
            let len = if places[2] < 40 { 31 } else { 1100 };
            let mut outs = right[..len].to_vec();
            places.into_iter().zip(deltas).for_each(|(place, delta)| outs[place] += delta);
            let outs: Vec<i32> = outs.into_iter().map(|out| out as i32).collect();
            let count = |kind: fn(i64) -> bool| deltas.into_iter().filter(|delta| kind(*delta)).count() as u64;
            let all = Differences { plus: count(|d| d == 1), minus: count(|d| d == -1) };
            let (more, far) = (count(|d| d.abs() > 1), count(|d| d.abs() > 16));
            assert_eq!(equals(&stepper, &outs), deltas == [0; 3], "{deltas:?} at {places:?}");
            assert_eq!(differences(&stepper, &outs), (more == 0).then_some(all), "{deltas:?} at {places:?}");
            let expected = (more == far).then_some((all, far));
            assert_eq!(far_differences(&stepper, &outs, 16), expected, "{deltas:?} at {places:?}");
        }
    }

    #[test]
    fn differences_are_counted_each_way() {
        let stepper = stepper(&sweep("ties-up:wrap", 1_395_864_371, -1), -500, 1100);
        let outs: Vec<i32> = (0..1100).map(|i| stepper.ahead(i) + [0, 1, -1, 1, 0][i % 5]).collect();
        assert_eq!(differences(&stepper, &outs), Some(Differences { plus: 440, minus: 220 }));
    }
}
