//! Presentation of a dot product.

use super::Dot;
use crate::presented::{Drawn, Fitting, Presented};
use tiebreak_impls::dot::Params;

impl Presented for Dot {
    const ABOUT: &'static str = "Dot product: one result of a case";
    const SHOWN: &'static str = "nvidia-dp4a-s8";
    const SIZED_BY_KERNEL: bool = true;

    fn sample(_: Fitting) -> Drawn<Params> {
        Drawn { params: Params { len: 1 }, len: 1, input: vec![100, 1, 2, 3, 4, 5, 6, 7, 8] }
    }
}
