//! What a kernel may do otherwise in a quantized convolution: in the sums, in what becomes of them, and where both meet.

use super::lifted::{Sums, of_convolution, of_requantization, own};
use super::{Qconv2d, own as composed};
use tiebreak_engine::operation::Change;
use tiebreak_impls::qconv2d::Domain;
use tiebreak_oracle::qconv2d::Scheme;

/// Every cause, in the order of preference.
pub(super) fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Qconv2d>> {
    let sums = Sums::default();
    let mut out = composed::changes(&sums, scheme, domain);
    out.extend(of_requantization(&sums, scheme, domain));
    out.extend(of_convolution(scheme, domain));
    out
}

/// Causes of differences from a scheme in a group, where the contract has these schemes; if the kernel keeps its contract, its own multiplication first.
pub(super) fn in_group(contract: &Scheme, scheme: &Scheme, domain: &Domain, kept: bool) -> Vec<Change<Qconv2d>> {
    let own = if kept { own(&Sums::default(), contract, scheme) } else { None };
    own.into_iter().chain(changes(scheme, domain)).collect()
}
