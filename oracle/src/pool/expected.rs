//! Poolings in machine integers, derived independently of the steps on rationals. The ends of each window come from its output, sums from a
//! summed-area table. Multipliers are dyadic numbers, computed once for each count.

use super::Pooling;
use crate::derivation::dyadic::Dyadic;
use crate::float::Format::F32;
use crate::fpm;
use crate::quantize::Soft;
use crate::rounding::RoundingRule::{self, *};
use crate::word::Overflow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Computation of a scheme's results.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fast {
    /// One quotient of the sum of differences.
    Real(RoundingRule),
    /// One quotient of the sum of stored values.
    Stored(RoundingRule),
    /// Quotient of the sum plus half the count, rounded like a machine division.
    HalfAdded,
    /// The sum times a reciprocal, shifted right.
    Reciprocal,
    /// The sum times a significand, shifted right.
    Significand(RoundingRule),
    /// The sum times a float, rounded before the zero point is added.
    Single,
    /// One fixed point multiplication by the named scheme.
    Rescaled(&'static str),
    /// The sum times a float, rounded after the zero point is added.
    Pytorch,
    /// Computation in f32, element by element.
    Onnx,
    /// Maximum.
    Largest,
}

/// Part of the image under a window: rows, columns, and the divisor.
struct Under {
    rows: Range<usize>,
    columns: Range<usize>,
    count: usize,
}

impl Pooling {
    /// Returns the part of a window inside the image along one side; `first` is the start of the window in the padded image.
    fn ends(first: usize, kernel: usize, before: usize, size: usize) -> Range<usize> {
        first.saturating_sub(before)..(first + kernel - before).min(size)
    }

    fn under(&self, y: usize, x: usize) -> Under {
        let rows = Self::ends(y * self.stride_h, self.kernel_h, self.top, self.height);
        let columns = Self::ends(x * self.stride_w, self.kernel_w, self.left, self.width);
        let count = match self.count_padding {
            true => self.kernel_h * self.kernel_w,
            false => rows.len() * columns.len(),
        };
        Under { rows, columns, count }
    }

    fn placed(&self, v: i128) -> Option<i32> {
        self.clamped(v + i128::from(self.out.zero_point))
    }

    fn clamped(&self, v: i128) -> Option<i32> {
        Some(v.clamp(self.min.into(), self.max.into()) as i32)
    }
}

/// Sums of all rectangles from the first row and column of an image, by row, column and channel, with one more row and column than the image.
struct Table {
    sums: Vec<i64>,
    width: usize,
    channels: usize,
}

impl Table {
    fn new(image: &[i32], width: usize, channels: usize) -> Self {
        let (row, height) = ((width + 1) * channels, image.len() / (width * channels));
        let mut sums = vec![0i64; (height + 1) * row];
        for (at, v) in image.iter().enumerate() {
            let (y, within) = (at / (width * channels), at % (width * channels));
            let to = (y + 1) * row + within + channels;
            sums[to] = i64::from(*v) + sums[to - channels] + sums[to - row] - sums[to - row - channels];
        }
        Self { sums, width, channels }
    }

    fn sum(&self, under: &Under, channel: usize) -> i64 {
        let at = |y: usize, x: usize| self.sums[(y * (self.width + 1) + x) * self.channels + channel];
        let (rows, columns) = (&under.rows, &under.columns);
        at(rows.end, columns.end) - at(rows.start, columns.end) - at(rows.end, columns.start)
            + at(rows.start, columns.start)
    }
}

/// Function from the part under a window and the sum of its stored values to a result.
type OfWindow<'a> = dyn Fn(&Under, i64) -> Option<i32> + 'a;

impl Fast {
    pub(super) fn each(self, overflow: Overflow, p: &Pooling, input: &[i32]) -> Vec<Option<i32>> {
        match self {
            Self::Largest => images(p, input, |image, under, c| p.clamped(elements(p, image, under, c).max()?.into())),
            Self::Onnx => images(p, input, |image, under, c| onnx(p, elements(p, image, under, c), under.count)),
            Self::Stored(rule) => {
                sums(p, input, &|under, sum| p.clamped(rule.quotient(p.sum.wrap(sum).into(), under.count as i128)))
            }
            Self::HalfAdded => sums(p, input, &|under, sum| {
                let count = under.count as i64;
                p.clamped(((p.sum.wrap(sum) + (count >> 1)) / count).into())
            }),
            Self::Real(rule) => {
                let (n, d) = fraction(p);
                differences(p, input, &|under, sum| {
                    p.placed(rule.quotient(i128::from(sum) * n, d * under.count as i128))
                })
            }
            Self::Reciprocal => differences(p, input, &|under, sum| {
                let k = usize::BITS - (under.count - 1).leading_zeros();
                let multiplier = (((1i128 << 30) + 1) << k) / under.count as i128;
                p.placed(TiesUp.shift_right(i128::from(sum) * multiplier, 30 + k))
            }),
            Self::Significand(rule) => by_count(p, input, single, |sum, by: &Dyadic| {
                let product = i128::from(sum) * by.n;
                p.placed(if by.e < 0 { rule.shift_right(product, by.e.unsigned_abs()) } else { product << by.e })
            }),
            Self::Single => {
                by_count(p, input, single, |sum, by| p.placed(scaled(sum, by).to_integer(TiesEven).number()))
            }
            Self::Pytorch => by_count(p, input, double, |sum, by| {
                let zero_point = Soft::integer(p.out.zero_point.into());
                p.clamped(scaled(sum, by).plus(zero_point).rounded(F32).to_integer(TiesEven).number())
            }),
            Self::Rescaled(name) => {
                let Some(scheme) = fpm::Scheme::find(name, overflow) else { return sums(p, input, &|_, _| None) };
                let multiplier = |p: &Pooling, count| single(p, count).q31();
                by_count(p, input, multiplier, |sum, (multiplier, shift)| match shift {
                    ..=31 => p.placed(scheme.fast(sum, &fpm::Parameters::q31(*multiplier, *shift))?.into()),
                    _ => None,
                })
            }
        }
    }
}

/// Applies `of` to each window and channel of each image.
fn images<T>(p: &Pooling, input: &[i32], of: impl Fn(&[i32], &Under, usize) -> T) -> Vec<T> {
    let (rows, columns) = p.output().expect("a checked shape");
    let mut out = Vec::with_capacity(p.batches * rows * columns * p.channels);
    for image in input.chunks_exact(p.height * p.width * p.channels) {
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let under = p.under(y, x);
            out.extend((0..p.channels).map(|c| of(image, &under, c)));
        }
    }
    out
}

/// Returns the elements of a channel under a window, row by row.
fn elements<'a>(p: &'a Pooling, image: &'a [i32], under: &'a Under, c: usize) -> impl Iterator<Item = i32> + 'a {
    let row = move |y: usize| under.columns.clone().map(move |x| image[(y * p.width + x) * p.channels + c]);
    under.rows.clone().flat_map(row)
}

/// Computes results from the sums of stored values, without a limit on width.
fn sums(p: &Pooling, input: &[i32], of: &OfWindow<'_>) -> Vec<Option<i32>> {
    let (rows, columns) = p.output().expect("a checked shape");
    let mut out = Vec::with_capacity(p.batches * rows * columns * p.channels);
    for image in input.chunks_exact(p.height * p.width * p.channels) {
        let table = Table::new(image, p.width, p.channels);
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let under = p.under(y, x);
            out.extend((0..p.channels).map(|c| of(&under, table.sum(&under, c))));
        }
    }
    out
}

/// Computes results from the sums of differences from the zero point, wrapped in their word.
fn differences(p: &Pooling, input: &[i32], of: &OfWindow<'_>) -> Vec<Option<i32>> {
    sums(p, input, &|under, sum| {
        let offset = i64::from(p.input.zero_point) * (under.rows.len() * under.columns.len()) as i64;
        of(under, p.sum.wrap(sum - offset))
    })
}

/// Computes results from the sums of differences and a multiplier, computed once for each count.
fn by_count<M>(
    p: &Pooling,
    input: &[i32],
    multiplier: impl Fn(&Pooling, usize) -> M,
    of: impl Fn(i64, &M) -> Option<i32>,
) -> Vec<Option<i32>> {
    let (rows, columns) = p.output().expect("a checked shape");
    let counts = (0..rows).flat_map(|y| (0..columns).map(move |x| p.under(y, x).count));
    let mut multipliers = BTreeMap::new();
    counts.for_each(|count| {
        multipliers.entry(count).or_insert_with(|| multiplier(p, count));
    });
    differences(p, input, &|under, sum| of(sum, multipliers.get(&under.count)?))
}

/// Returns the factor of a sum, and its divisor apart from the count. Neither overflows.
fn fraction(p: &Pooling) -> (i128, i128) {
    let (input, out) = (p.input.dyadic(), p.out.dyadic());
    match input.e - out.e {
        e @ 0.. => (input.n << e, out.n),
        e => (input.n, out.n << -e),
    }
}

fn single(p: &Pooling, count: usize) -> Dyadic {
    let divisor = p.out.dyadic().times(Dyadic::new(count as i128, 0)).rounded(24);
    p.input.dyadic().over(divisor).rounded(24)
}

fn double(p: &Pooling, count: usize) -> Dyadic {
    let quotient = p.input.dyadic().over(p.out.dyadic()).rounded(53);
    quotient.over(Dyadic::new(count as i128, 0)).rounded(53).rounded(24)
}

/// Multiplies a sum in f32 by a float, in f32.
fn scaled(sum: i64, by: &Dyadic) -> Soft {
    Soft::integer(sum).rounded(F32).times(Soft::Number { n: by.n, e: by.e }).rounded(F32)
}

fn onnx(p: &Pooling, elements: impl Iterator<Item = i32>, count: usize) -> Option<i32> {
    let [input, out] = [p.input, p.out].map(|operand| Soft::of(F32, operand.scale.into()));
    let real = |v: i32| Soft::integer(i64::from(v) - i64::from(p.input.zero_point)).times(input).rounded(F32);
    let sum = elements.fold(Soft::integer(0), |sum, v| sum.plus(real(v)).rounded(F32));
    let average = sum.divided_by(Soft::integer(count as i64)).rounded(F32);
    let placed = average.divided_by(out).rounded(F32).plus(Soft::integer(p.out.zero_point.into())).rounded(F32);
    p.clamped(placed.to_integer(TiesEven).number())
}
