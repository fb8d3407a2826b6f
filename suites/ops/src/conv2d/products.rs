//! A convolution is a matrix product of patches, group by group: what may be wrong with the product may be wrong with the convolution.

use super::{Conv2d, convolution};
use crate::matmul;
use std::sync::Arc;
use tiebreak_common::class::Class;
use tiebreak_engine::operation::{Case, Change, Observed};
use tiebreak_impls::conv2d::{Domain, Params};
use tiebreak_impls::matmul::Params as Product;
use tiebreak_oracle::conv2d::patches;
use tiebreak_oracle::matmul::Scheme;

/// Classes of differences that are made in the product, where a convolution has no causes of its own for them.
const CLASSES: [Class; 5] =
    [Class::OffsetTerm, Class::PaddedDepth, Class::TruncatedTail, Class::F32Step, Class::Layout];

/// Causes of the product.
pub(super) fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Conv2d>> {
    let causes = matmul::changes(scheme, &domain.operands).into_iter().filter(|cause| CLASSES.contains(&cause.class));
    causes
        .map(|cause| {
            let (class, cause) = (cause.class, Arc::new(cause));
            Change::found(class, move |evidence| {
                let products: Option<Vec<_>> = evidence.iter().map(|seen| products(seen)).collect();
                let products = products?.concat();
                cause.explains(&products.iter().collect::<Vec<_>>())
            })
        })
        .collect()
}

/// The product of each group, with the results it gave.
fn products(seen: &Observed<Params>) -> Option<Vec<Observed<Product>>> {
    let p = seen.case.params;
    let (each, share) = (p.channels / p.groups, p.out_channels / p.groups);
    let [input, weights, _] = &seen.case.tensors;
    let columns = patches(&convolution(&p), input).concat();
    let (taps, pixels) = (p.kernel_h * p.kernel_w, seen.outs.len() / p.out_channels);
    let params = Product {
        m: pixels,
        n: share,
        k: taps * each,
        lhs_offset: p.input_zero_point.wrapping_neg(),
        rhs_offset: p.weight_zero_point.wrapping_neg(),
    };
    let product = |group: usize| {
        let lhs = slices(&columns, p.channels, group * each, each);
        let rhs = slices(weights, p.out_channels, group * share, share);
        let outs = slices(&seen.outs, p.out_channels, group * share, share);
        let expected = slices(&seen.expected, p.out_channels, group * share, share);
        // Which of the groups differs is not known; that the case does is.
        let case = Case { params, tensors: [lhs, rhs, Vec::new()], misalign: 0 };
        Observed { case, outs, expected, differ: seen.differ, faulty: Vec::new(), due: Vec::new() }
    };
    Some((0..p.groups).map(product).collect())
}

/// `len` elements from `from` on, of each row of `width`.
fn slices<T: Copy>(rows: &[T], width: usize, from: usize, len: usize) -> Vec<T> {
    rows.chunks_exact(width).flat_map(|row| &row[from..from + len]).copied().collect()
}
