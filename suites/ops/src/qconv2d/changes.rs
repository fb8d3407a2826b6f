//! Changes that a kernel may make to a quantized convolution: in the sums, in the processing of the sums, and where both meet.

use super::wide::odd_pixels;
use super::{Qconv2d, own, rolling};
use crate::fused::composed::{activation, biases, tails};
use crate::fused::part_changes::{Sums, by_place, of_product, of_requantization};
use crate::fused::wide;
use tiebreak_engine::operation::Change;
use tiebreak_impls::qconv2d::Domain;
use tiebreak_oracle::qconv2d::Scheme;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Qconv2d>> {
    let sums = Sums::default();
    if domain.wide {
        let mut out = wide::changes(&sums, scheme);
        out.push(odd_pixels(&sums, scheme));
        out.extend(own::changes(&sums, scheme));
        out.extend(of_product(scheme, domain));
        return out;
    }
    let mut out = biases(&sums, scheme);
    out.extend(own::changes(&sums, scheme));
    out.extend(domain.transposed.map(|_| rolling::change(scheme)));
    out.push(activation(&sums, scheme, domain));
    let (positions, others) = by_place(of_requantization(&sums, scheme, domain));
    out.extend(others);
    out.extend(tails(&sums, scheme, "a pixel"));
    out.extend(positions);
    out.extend(of_product(scheme, domain));
    out
}
