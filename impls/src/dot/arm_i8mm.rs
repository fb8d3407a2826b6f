//! Arm with the matrix-multiply extension: 2 by 8 bytes times the transpose of 2 by 8 bytes, added to 2 by 2 int32.
//!
//! Source: Arm Architecture Reference Manual (DDI 0487), section C7.2, UMMLA (vector), SMMLA (vector).

use super::{Domain, Kernel, contract, form, register_steps};
use crate::contract::Overflow;
use crate::element::Element;
use crate::simd::{Portable, Register};

const SOURCE: &str = "Arm Architecture Reference Manual DDI 0487, C7.2, UMMLA (vector) and SMMLA (vector)";

const fn domain(element: Element) -> Domain {
    Domain { lhs: element, rhs: element, results: 4, elements: 16, pairs: &[] }
}

pub(super) const UMMLA: Kernel = Kernel {
    name: "arm-ummla",
    summary: "Arm: ummla",
    contract: contract("products-8-outer", Overflow::Wrap, domain(Element::U8), SOURCE),
    portable: ummla::<Portable>,
    native: Some(form!(I8MM, "tiebreak_dot_arm_ummla", ["ummla"], ummla)),
};

pub(super) const SMMLA: Kernel = Kernel {
    name: "arm-smmla",
    summary: "Arm: smmla",
    contract: contract("products-8-outer", Overflow::Wrap, domain(Element::I8), SOURCE),
    portable: smmla::<Portable>,
    native: Some(form!(I8MM, "tiebreak_dot_arm_smmla", ["smmla"], smmla)),
};

register_steps!(ummla: R::ummla, smmla: R::smmla);
