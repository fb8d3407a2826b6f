//! Arm with the dot-product extension: one instruction adds four products to each int32 lane, without an intermediate value.
//!
//! Source: Arm Architecture Reference Manual (DDI 0487), section C7.2, UDOT (vector), SDOT (vector).

use super::{Domain, Kernel, contract, form, register_steps};
use crate::contract::Overflow;
use crate::element::Element;
use crate::simd::{Portable, Register};

const SOURCE: &str = "Arm Architecture Reference Manual DDI 0487, C7.2, UDOT (vector) and SDOT (vector)";

const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[] }
}

pub(super) const UDOT: Kernel = Kernel {
    name: "arm-udot",
    summary: "Arm: udot",
    contract: contract("products-4", Overflow::Wrap, domain(Element::U8), SOURCE),
    portable: udot::<Portable>,
    native: Some(form!(DOTPROD, "tiebreak_dot_arm_udot", ["udot"], udot)),
};

pub(super) const SDOT: Kernel = Kernel {
    name: "arm-sdot",
    summary: "Arm: sdot",
    contract: contract("products-4", Overflow::Wrap, domain(Element::I8), SOURCE),
    portable: sdot::<Portable>,
    native: Some(form!(DOTPROD, "tiebreak_dot_arm_sdot", ["sdot"], sdot)),
};

register_steps!(udot: R::udot, sdot: R::sdot);
