//! Layout transforms made from a fuzzer's numbers.

use super::{Transform, few_bits, maps, padding};
use crate::conv2d::fuzzed::convolution;
use crate::fuzzing::{Fuzzed, Numbers};
use tiebreak_impls::conv2d;
use tiebreak_impls::transform::{Domain, Kind, Params};

impl Fuzzed for Transform {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        match (domain.kind, conv2d::kernels()) {
            (Kind::Interleave | Kind::BlockTranspose | Kind::Unpack, _) => {
                let batches = if domain.kind == Kind::BlockTranspose { 1 } else { numbers.size(3) };
                Params::Matrix { batches, rows: numbers.size(35), columns: numbers.size(35) }
            }
            (Kind::Pad, _) => Params::Pad(padding::fuzzed(numbers)),
            (Kind::MatrixMap, _) => Params::Map(maps::fuzzed(numbers)),
            (kind @ (Kind::BitPack | Kind::BitUnpack), _) => Params::Packed(few_bits::fuzzed(kind, numbers)),
            (
                kind @ (Kind::NibblePackLow | Kind::NibblePackHigh | Kind::NibbleUnpackLow | Kind::NibbleUnpackHigh),
                _,
            ) => Params::Packed(few_bits::fuzzed(kind, numbers)),
            (_, []) => Params::Matrix { batches: 1, rows: 1, columns: 1 },
            (_, [any, ..]) => {
                let p = convolution(&any.contract.domain, numbers);
                Params::Conv2d(conv2d::Params { groups: 1, ..p })
            }
        }
    }
}
