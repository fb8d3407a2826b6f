//! Arm with the dot-product extension: one instruction adds four products to each int32 lane, without an intermediate value.
//!
//! Source: Arm Architecture Reference Manual (DDI 0487), section C7.2, UDOT (vector), SDOT (vector).

use super::{Domain, register_kernels, register_steps};
use crate::element::Element;
use crate::simd::Register;

const SOURCE: &str = "Arm Architecture Reference Manual DDI 0487, C7.2, UDOT (vector) and SDOT (vector)";

const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[] }
}

register_kernels! {
    UDOT by udot: "arm-udot", "Arm: udot",
        "products-4" on domain(Element::U8), SOURCE, DOTPROD "tiebreak_dot_arm_udot" ["udot"];
    SDOT by sdot: "arm-sdot", "Arm: sdot",
        "products-4" on domain(Element::I8), SOURCE, DOTPROD "tiebreak_dot_arm_sdot" ["sdot"];
}

register_steps!(udot: R::udot, sdot: R::sdot);
