//! Convolutions that pad with what does not stand for 0.

use super::tensor::{Mutant, mutant};
use crate::conv2d::by_matmul::{Steps, convolve};
use crate::conv2d::{Domain, Run, onednn};
use crate::element::Element;
use crate::matmul::{self, arm_uadalp};

/// All groups, all values.
const fn all(element: Element) -> Domain {
    Domain { operands: matmul::Domain::all(element, element), grouped: true }
}

pub(super) static MUTANTS: &[Mutant<Run, Domain>] = &[
    mutant!(
        "mutant-pad-zero", "padding", "im2col padded by 0 and not by the input zero point",
        claims "exact" Wrap on all(Element::U8),
        from "apache/tvm pull request 4807",
        |params, input, weights, out| {
            let product = arm_uadalp::UADALP.portable;
            let steps = Steps { padding: |_| 0, ..Steps::new(Element::U8, Element::U8, product) };
            convolve(&steps, params, input, weights, out);
        }
    ),
    mutant!(
        "mutant-s8s8-pad-zero", "padding", "s8s8 by a shift of 128, the shifted input padded by 0 and not by 128",
        claims "exact" Wrap on all(Element::I8),
        from "uxlfoundation/oneDNN issue 5080",
        onednn::run::<0>
    ),
];
