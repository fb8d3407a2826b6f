//! Changes of the matrix product inside a convolution: a convolution is a product of patches in each group, so each fault of a product can occur.

use super::{Conv2d, convolution};
use crate::matmul;
use std::sync::Arc;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Observed};
use tiebreak_impls::conv2d::{Domain, Params};
use tiebreak_impls::matmul::Params as Product;
use tiebreak_oracle::conv2d::patches;
use tiebreak_oracle::matmul::Scheme;

/// Classes of product changes for which a convolution has no changes of its own.
const CLASSES: [Class; 5] =
    [Class::OffsetTerm, Class::PaddedDepth, Class::TruncatedTail, Class::F32Step, Class::Layout];

/// Returns changes of the product, applied to convolutions.
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

/// Converts an observed convolution to the product of each group, with its observed results.
fn products(seen: &Observed<Params>) -> Option<Vec<Observed<Product>>> {
    let p = seen.case.params;
    let (each, share) = (p.channels / p.groups, p.out_channels / p.groups);
    let [input, weights, _] = &*seen.case.tensors;
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
        // It is unknown which group differs; only the whole case is known to differ.
        let case = Case { params, tensors: [lhs, rhs, Vec::new()].into(), misalign: 0 };
        Observed { case, outs, expected, differ: seen.differ, faulty: Vec::new(), due: Vec::new() }
    };
    Some((0..p.groups).map(product).collect())
}

/// Cuts `len` elements, starting at `from`, out of each row of `width`.
fn slices<T: Copy>(rows: &[T], width: usize, from: usize, len: usize) -> Vec<T> {
    rows.chunks_exact(width).flat_map(|row| &row[from..from + len]).copied().collect()
}
