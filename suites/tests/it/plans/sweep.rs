//! Every accumulator of one channel through one requantization, in pieces.

use tiebreak_impls::requantize::kernels;
use tiebreak_suites::accumulators::accumulators;
use tiebreak_suites::budget::Effort;
use tiebreak_suites::operation::promise;
use tiebreak_suites::parameters::SWEPT;
use tiebreak_suites::requantize::Requantize;
use tiebreak_suites::requantize::sweep::{Exact, LEGACY_SWEPT, swept};

/// Pieces of every kernel's scheme, compared with its form in machine integers at their ends and at selected accumulators.
#[test]
fn pieces_are_the_scheme() {
    let mut folded = 0;
    for kernel in kernels() {
        let domain = &kernel.contract.domain;
        let scheme = promise::<Requantize>(kernel).expect("a scheme");
        let all = SWEPT.into_iter().chain([LEGACY_SWEPT]).filter(|channel| domain.takes(*channel));
        for channel in all {
            let params = swept(domain, channel);
            let exact = Exact::new(scheme.scheme, &params);
            folded += usize::from(exact.pieces.is_some());
            let ends = exact.pieces.iter().flatten().take(2000).flat_map(|piece| [piece.lo, piece.hi]);
            let others = accumulators(channel, 31, &Effort::Quick.budget(), 7).into_iter().map(i64::from);
            for x in ends.chain(others) {
                assert_eq!(exact.at(&params, x), exact.fast(&params, x), "{} {channel:?} x={x}", kernel.name);
                let (end, expected) = exact.run(&params, x, i32::MAX.into());
                assert!(end >= x);
                assert_eq!(exact.fast(&params, end), expected, "{} {channel:?} x={x} to {end}", kernel.name);
            }
        }
    }
    assert!(folded > 100, "{folded} channels have pieces");
}
