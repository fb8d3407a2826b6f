//! Products of the systems: the plain loop with offsets on each element, and raw products with the terms of the offsets.

use super::Params;
use crate::element::Element;
use crate::matmul::driver::Terms;

/// Operand: element type and bytes.
pub(crate) type Operand<'a> = (Element, &'a [u8]);

fn values((element, bytes): Operand<'_>) -> Vec<i32> {
    bytes.chunks_exact(element.bytes()).map(|bytes| element.read(bytes)).collect()
}

/// Computes each result from its sum and its place, by the plain wrapping loop `acc += (lhs + lhs_offset) * (rhs + rhs_offset)`.
#[inline(always)]
pub(crate) fn each(
    params: &Params,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
    out: &mut [i32],
    result: impl Fn(i32, [usize; 2]) -> i32,
) {
    let shape = &params.shape;
    let plus = |offset: i32| move |v: i32| v.wrapping_add(offset);
    let lhs: Vec<i32> = values(lhs).into_iter().map(plus(shape.lhs_offset)).collect();
    let rhs: Vec<i32> = values(rhs).into_iter().map(plus(shape.rhs_offset)).collect();
    for (i, (row, out)) in lhs.chunks_exact(shape.k).zip(out.chunks_exact_mut(shape.n)).enumerate() {
        for (j, out) in out.iter_mut().enumerate() {
            let column = rhs.iter().skip(j).step_by(shape.n);
            let acc = row.iter().zip(column).fold(0i32, |acc, (l, r)| acc.wrapping_add(l.wrapping_mul(*r)));
            *out = result(acc, [i, j]);
        }
    }
}

/// Sums of the raw rows of lhs and of the raw columns of rhs.
pub(crate) struct Slices {
    pub(crate) rows: Vec<i32>,
    pub(crate) columns: Vec<i32>,
}

impl Slices {
    /// Returns the terms of a result.
    #[inline(always)]
    pub(crate) fn terms(&self, product: i32, [i, j]: [usize; 2]) -> Terms {
        Terms { product, lhs_sum: self.rows[i], rhs_sum: self.columns[j] }
    }
}

/// Computes each result from its raw product and its place, with the sums of raw rows and columns.
#[inline(always)]
pub(crate) fn raw(
    params: &Params,
    lhs: Operand<'_>,
    rhs: Operand<'_>,
    out: &mut [i32],
    result: impl Fn(i32, &Slices, [usize; 2]) -> i32,
) {
    let (n, k) = (params.shape.n, params.shape.k);
    let (lhs, rhs) = (values(lhs), values(rhs));
    let sum = |values: &mut dyn Iterator<Item = &i32>| values.fold(0i32, |sum, v| sum.wrapping_add(*v));
    let slices = Slices {
        rows: lhs.chunks_exact(k).map(|row| sum(&mut row.iter())).collect(),
        columns: (0..n).map(|j| sum(&mut rhs.iter().skip(j).step_by(n))).collect(),
    };
    for (i, (row, out)) in lhs.chunks_exact(k).zip(out.chunks_exact_mut(n)).enumerate() {
        for (j, out) in out.iter_mut().enumerate() {
            let column = rhs.iter().skip(j).step_by(n);
            let product = row.iter().zip(column).fold(0i32, |acc, (l, r)| acc.wrapping_add(l * r));
            *out = result(product, &slices, [i, j]);
        }
    }
}
