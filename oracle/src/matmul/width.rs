//! Sums of products of offset elements in the narrowest machine integers that hold every partial sum. In any order,
//! no partial sum is beyond `max|lhs + offset| * max|rhs + offset| * depth`.

use super::Product;
use std::ops::AddAssign;

/// Types in which a bounded sum of products is exact.
pub(crate) trait Width {
    /// Offset element.
    type Element: Copy;
    /// Sum of products.
    type Sum: Copy + Default + AddAssign + Into<i128>;
    /// Converts `v`, which fits, to an element.
    fn element(v: i64) -> Self::Element;
    /// Computes `a * b`, which fits.
    fn product(a: Self::Element, b: Self::Element) -> Self::Sum;
}

macro_rules! width {
    ($name:ident: $element:ty, $sum:ty) => {
        pub(crate) struct $name;

        impl Width for $name {
            type Element = $element;
            type Sum = $sum;

            #[inline(always)]
            fn element(v: i64) -> $element {
                v as $element
            }

            #[inline(always)]
            fn product(a: $element, b: $element) -> $sum {
                <$sum>::from(a) * <$sum>::from(b)
            }
        }
    };
}

width!(Half: i16, i32);
width!(Single: i32, i32);
width!(Double: i64, i64);
width!(Quadruple: i64, i128);

/// Computation written once for every width.
pub(crate) trait Work {
    /// Result of the computation.
    type Output;
    /// Runs the computation in `W`.
    fn run<W: Width>(self) -> Self::Output;
}

/// Smallest and largest element.
#[derive(Clone, Copy)]
pub(crate) struct Extremes(i32, i32);

impl Extremes {
    /// Returns the extremes of values, at least one.
    pub(crate) fn of(values: &[i32]) -> Self {
        values.iter().fold(Self(i32::MAX, i32::MIN), |extremes, v| extremes.and(*v))
    }

    /// Returns the extremes with one more value.
    #[inline]
    pub(crate) fn and(self, v: i32) -> Self {
        Self(self.0.min(v), self.1.max(v))
    }

    /// Returns the largest magnitude with `offset` added. Offsets are at most 2^31, so the result is at most 2^32.
    fn largest(self, offset: i64) -> u64 {
        (i64::from(self.0) + offset).unsigned_abs().max((i64::from(self.1) + offset).unsigned_abs())
    }
}

/// Returns a bound on the magnitude of every partial sum of `k` products. `k` is at most 2^28, so the bound is at most 2^92.
pub(crate) fn bound(lhs: Extremes, rhs: Extremes, offsets: [i64; 2], k: usize) -> u128 {
    u128::from(lhs.largest(offsets[0])) * u128::from(rhs.largest(offsets[1])) * k as u128
}

/// Runs `work` in the narrowest width for sums of `k` products of these elements.
pub(crate) fn narrowest<T: Work>([lhs, rhs]: [Extremes; 2], offsets: [i64; 2], k: usize, work: T) -> T::Output {
    let sum = bound(lhs, rhs, offsets, k);
    let element = lhs.largest(offsets[0]).max(rhs.largest(offsets[1]));
    if sum <= i32::MAX as u128 && element <= i16::MAX as u64 {
        work.run::<Half>()
    } else if sum <= i32::MAX as u128 && element <= i32::MAX as u64 {
        work.run::<Single>()
    } else if sum <= i64::MAX as u128 {
        work.run::<Double>()
    } else {
        work.run::<Quadruple>()
    }
}

/// Computes `values + offset`.
pub(crate) fn shifted<W: Width>(values: &[i32], offset: i64) -> Vec<W::Element> {
    values.iter().map(|v| W::element(i64::from(*v) + offset)).collect()
}

/// Computes `sums += a * row`.
#[inline(always)]
pub(crate) fn add_row<W: Width>(sums: &mut [W::Sum], a: W::Element, row: &[W::Element]) {
    for (sum, b) in sums.iter_mut().zip(row) {
        *sum += W::product(a, *b);
    }
}

/// Computes `sums += a[0] * rows[0] + a[1] * rows[1] + ...`, with the rows one after another. Four rows at a time, so that a sum is
/// loaded and stored once for four products.
#[inline(always)]
pub(crate) fn add_rows<W: Width>(sums: &mut [W::Sum], a: &[W::Element], rows: &[W::Element]) {
    let n = sums.len();
    let (quads, rest) = a.as_chunks::<4>();
    let (in_quads, in_rest) = rows.split_at(quads.len() * 4 * n);
    for (a, rows) in quads.iter().zip(in_quads.chunks_exact(4 * n)) {
        let (first, second) = rows.split_at(2 * n);
        let (rows, others) = (first.split_at(n), second.split_at(n));
        let rows = rows.0.iter().zip(rows.1).zip(others.0.iter().zip(others.1));
        for (sum, ((b0, b1), (b2, b3))) in sums.iter_mut().zip(rows) {
            let mut four = W::product(a[0], *b0);
            four += W::product(a[1], *b1);
            four += W::product(a[2], *b2);
            four += W::product(a[3], *b3);
            *sum += four;
        }
    }
    for (a, row) in rest.iter().zip(in_rest.chunks_exact(n)) {
        add_row::<W>(sums, *a, row);
    }
}

/// Fewest columns for a vector; fewer columns are summed along the depth, one by one.
const FEW_COLUMNS: usize = 8;

/// Computes the exact product of two matrices of checked lengths, with each sum fitted.
pub(super) fn matrix_product<T>(p: &Product, lhs: &[i32], rhs: &[i32], fit: impl Fn(i128) -> T) -> Vec<T> {
    narrowest([Extremes::of(lhs), Extremes::of(rhs)], p.offsets(), p.k, Matrices { p, lhs, rhs, fit })
}

struct Matrices<'a, F> {
    p: &'a Product,
    lhs: &'a [i32],
    rhs: &'a [i32],
    fit: F,
}

impl<T, F: Fn(i128) -> T> Work for Matrices<'_, F> {
    type Output = Vec<T>;

    fn run<W: Width>(self) -> Self::Output {
        let Product { m, n, k, .. } = *self.p;
        let [lhs_offset, rhs_offset] = self.p.offsets();
        let rhs = shifted::<W>(self.rhs, rhs_offset);
        let columns = if n < FEW_COLUMNS { transposed(&rhs, n) } else { Vec::new() };
        let mut out = Vec::with_capacity(m * n);
        let mut sums = vec![W::Sum::default(); n];
        for row in self.lhs.chunks_exact(k) {
            let row = shifted::<W>(row, lhs_offset);
            sums.fill(W::Sum::default());
            if n < FEW_COLUMNS {
                for (sum, column) in sums.iter_mut().zip(columns.chunks_exact(k)) {
                    row.iter().zip(column).for_each(|(a, b)| *sum += W::product(*a, *b));
                }
            } else {
                add_rows::<W>(&mut sums, &row, &rhs);
            }
            out.extend(sums.iter().map(|sum| (self.fit)((*sum).into())));
        }
        out
    }
}

/// Returns a row-major matrix of `n` columns as column after column.
fn transposed<E: Copy>(matrix: &[E], n: usize) -> Vec<E> {
    (0..n).flat_map(|column| matrix.iter().skip(column).step_by(n).copied()).collect()
}
