//! Poolings made from a fuzzer's numbers.

use super::Pool;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::pool::{Counted, Domain, Params, Scales};

impl Fuzzed for Pool {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        let range = domain.element.range();
        let mut operand = |exponents| numbers.operand(exponents, range.clone());
        let input = operand(-4..=4);
        let out = if domain.scales == Scales::Equal { input } else { operand(-2..=2) };
        let (min, max) = numbers.bounds(&range, domain.clamp);
        let mut side = || {
            let kernel = numbers.size(4);
            let (before, after) = ((numbers.size(4) - 1).min(kernel - 1), (numbers.size(4) - 1).min(kernel - 1));
            let size = kernel.saturating_sub(before + after).max(1) + numbers.size(4) - 1;
            (size, kernel, numbers.size(3), before, after)
        };
        let ((height, kernel_h, stride_h, top, bottom), (width, kernel_w, stride_w, left, right)) = (side(), side());
        let (batches, channels) = (numbers.size(2), *numbers.one_of(&[1, 2, 3, 4, 5, 8, 9, 16, 17]));
        let count_padding = match domain.counted {
            Counted::Never => false,
            Counted::Always => true,
            Counted::Either => *numbers.one_of(&[false, true]),
        };
        let element = domain.element;
        #[rustfmt::skip]
        let p = Params {
            element, batches, height, width, channels, kernel_h, kernel_w, stride_h, stride_w, top, bottom, left, right,
            count_padding, input, out, min, max,
        };
        match domain.global {
            true => Params { kernel_h: height, kernel_w: width, top: 0, bottom: 0, left: 0, right: 0, ..p },
            false => p,
        }
    }
}
