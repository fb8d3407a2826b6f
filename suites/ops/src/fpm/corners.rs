//! Inputs of the fpm catalogue, for operations that contain a fixed point multiply.

use super::{FixedPointMultiply, Q31};
use std::sync::LazyLock;
use tiebreak_engine::case::catalogue;
use tiebreak_engine::case::text;
use tiebreak_engine::erased::Domain as AnyDomain;
use tiebreak_engine::operation::Operation;
use tiebreak_impls::contract::Domain;
use tiebreak_impls::fpm::Channel;

/// Returns each Q0.31 pair with each of its accumulators in the catalogue, in the catalogue's order.
pub fn corners() -> &'static [(Channel, i32)] {
    static CORNERS: LazyLock<Vec<(Channel, i32)>> = LazyLock::new(|| {
        let texts = catalogue::texts(FixedPointMultiply::CATALOGUE).expect("the catalogue, which every run reads");
        let domain = AnyDomain::of::<FixedPointMultiply>(Domain::ALL);
        let case = |text: String| Some(text::parse(&text, &domain).ok()?.typed::<FixedPointMultiply>());
        let cases = texts.into_iter().filter_map(case).filter(|case| case.params.params.q == Q31);
        cases.map(|case| (case.params.params.channels[0], case.tensors[0][0])).collect()
    });
    &CORNERS
}
