//! x86 with VNNI: one instruction adds four products of unsigned and signed bytes to each int32 lane, wrapping or saturating.
//!
//! Source: Intel SDM volume 2, VPDPBUSD, VPDPBUSDS; int8 code generation for backends.

use super::{Domain, Kernel, wide_form, wide_steps};
use crate::contract::{Contract, Overflow};
use crate::element::Element;
use crate::simd::{PortableWide, WIDE_LANES, Wide};

const SOURCE: &str = "Intel SDM volume 2, VPDPBUSD and VPDPBUSDS; int8 code generation for backends";

const DOMAIN: Domain = Domain { lhs: Element::U8, rhs: Element::I8, results: WIDE_LANES, elements: 32, pairs: &[] };

pub(super) const VNNI: Kernel = Kernel {
    name: "x86-vnni",
    summary: "x86: vpdpbusd",
    contract: Contract::new("products-4", Overflow::Wrap, DOMAIN, SOURCE),
    portable: dpbusd::<PortableWide>,
    native: Some(wide_form!(VNNI, "tiebreak_dot_x86_vnni", ["vpdpbusd"], dpbusd)),
};

pub(super) const SATURATING: Kernel = Kernel {
    name: "x86-vnni-saturating",
    summary: "x86: vpdpbusds, saturating at 32 bits",
    contract: Contract::new("products-4", Overflow::Saturate, DOMAIN, SOURCE),
    portable: dpbusds::<PortableWide>,
    native: Some(wide_form!(VNNI, "tiebreak_dot_x86_vnni_saturating", ["vpdpbusds"], dpbusds)),
};

wide_steps!(pub(super) dpbusd: W::vpdpbusd, dpbusds: W::vpdpbusds);
