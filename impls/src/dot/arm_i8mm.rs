//! Arm with the matrix-multiply extension: 2 by 8 bytes times the transpose of 2 by 8 bytes, added to 2 by 2 int32.
//!
//! Source: Arm Architecture Reference Manual (DDI 0487), section C7.2, UMMLA (vector), SMMLA (vector).

use super::{Domain, register_kernels, register_steps};
use crate::element::Element;
use crate::simd::Register;

const SOURCE: &str = "Arm Architecture Reference Manual DDI 0487, C7.2, UMMLA (vector) and SMMLA (vector)";

const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[] }
}

register_kernels! {
    UMMLA by ummla: "arm-ummla", "Arm: ummla",
        "products-8-outer" on domain(Element::U8), SOURCE, I8MM "tiebreak_dot_arm_ummla" ["ummla"];
    SMMLA by smmla: "arm-smmla", "Arm: smmla",
        "products-8-outer" on domain(Element::I8), SOURCE, I8MM "tiebreak_dot_arm_smmla" ["smmla"];
}

register_steps!(ummla: R::ummla, smmla: R::smmla);
