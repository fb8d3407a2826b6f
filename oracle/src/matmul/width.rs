//! Sums of products of offset elements in the narrowest machine integers that hold every partial sum. Whatever the order,
//! no partial sum is beyond `max|lhs + offset| * max|rhs + offset| * depth`.

use super::Product;
use crate::word::Overflow;
use std::ops::AddAssign;

/// Types in which a bounded sum of products is exact.
pub(crate) trait Width {
    /// An offset element.
    type Element: Copy;
    /// A sum of products.
    type Sum: Copy + Default + AddAssign + Into<i128>;
    /// `v` as an element; it fits.
    fn element(v: i64) -> Self::Element;
    /// `a * b`; it fits.
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

/// Work that is written once for every width.
pub(crate) trait Work {
    /// What it gives.
    type Output;
    /// Does it in `W`.
    fn run<W: Width>(self) -> Self::Output;
}

/// Smallest and largest of some elements.
#[derive(Clone, Copy)]
pub(crate) struct Extremes(i32, i32);

impl Extremes {
    /// Of values, at least one.
    pub(crate) fn of(values: &[i32]) -> Self {
        values.iter().fold(Self(i32::MAX, i32::MIN), |extremes, v| extremes.and(*v))
    }

    /// Of one value more.
    #[inline]
    pub(crate) fn and(self, v: i32) -> Self {
        Self(self.0.min(v), self.1.max(v))
    }

    /// The largest magnitude with `offset` added; an offset is at most 2^31, so this is at most 2^32.
    fn largest(self, offset: i64) -> u64 {
        (i64::from(self.0) + offset).unsigned_abs().max((i64::from(self.1) + offset).unsigned_abs())
    }
}

/// A bound on the magnitude of every partial sum of `k` products. `k` is at most 2^28, so that it is at most 2^92.
pub(crate) fn bound(lhs: Extremes, rhs: Extremes, offsets: [i64; 2], k: usize) -> u128 {
    u128::from(lhs.largest(offsets[0])) * u128::from(rhs.largest(offsets[1])) * k as u128
}

/// `work` in the narrowest width for sums of `k` products of these elements.
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

/// `values + offset`.
pub(crate) fn shifted<W: Width>(values: &[i32], offset: i64) -> Vec<W::Element> {
    values.iter().map(|v| W::element(i64::from(*v) + offset)).collect()
}

/// `sums += a * row`.
#[inline(always)]
pub(crate) fn add_row<W: Width>(sums: &mut [W::Sum], a: W::Element, row: &[W::Element]) {
    for (sum, b) in sums.iter_mut().zip(row) {
        *sum += W::product(a, *b);
    }
}

/// The exact product of two matrices, of checked lengths.
pub(super) fn matrix_product(p: &Product, lhs: &[i32], rhs: &[i32], overflow: Overflow) -> Vec<Option<i32>> {
    struct Rows<'a>(&'a Product, &'a [i32], &'a [i32], Overflow);

    impl Work for Rows<'_> {
        type Output = Vec<Option<i32>>;

        fn run<W: Width>(self) -> Self::Output {
            let Self(p, lhs, rhs, overflow) = self;
            let [lhs_offset, rhs_offset] = p.offsets();
            let rhs = shifted::<W>(rhs, rhs_offset);
            let mut out = Vec::with_capacity(p.m * p.n);
            let mut sums = vec![W::Sum::default(); p.n];
            for row in lhs.chunks_exact(p.k) {
                sums.fill(W::Sum::default());
                for (l, rhs) in row.iter().zip(rhs.chunks_exact(p.n)) {
                    add_row::<W>(&mut sums, W::element(i64::from(*l) + lhs_offset), rhs);
                }
                out.extend(sums.iter().map(|sum| overflow.fit_int32((*sum).into())));
            }
            out
        }
    }

    narrowest([Extremes::of(lhs), Extremes::of(rhs)], p.offsets(), p.k, Rows(p, lhs, rhs, overflow))
}
