//! Layouts of a fuzzer's numbers.

use super::Transform;
use crate::conv2d::fuzzed::convolution;
use crate::fuzzing::numbers::Numbers;
use crate::fuzzing::tensor::Fuzzed;
use tiebreak_impls::conv2d;
use tiebreak_impls::transform::{Domain, Kind, Params};

impl Fuzzed for Transform {
    fn params(domain: &Domain, numbers: &mut Numbers<'_>) -> Params {
        match (domain.kind, conv2d::kernels()) {
            (Kind::Interleave | Kind::BlockTranspose | Kind::Unpack, _) | (_, []) => {
                Params::Matrix { rows: numbers.size(35), columns: numbers.size(35) }
            }
            (_, [any, ..]) => {
                let p = convolution(&any.contract.domain, numbers);
                Params::Conv2d(conv2d::Params { groups: 1, ..p })
            }
        }
    }
}
