//! Convolutions that pad with a value that does not represent 0, or on the wrong side.

use super::tensor::{Mutant, mutant};
use crate::conv2d::by_matmul::{Steps, convolve};
use crate::conv2d::{Domain, Params, Run, onednn};
use crate::element::Element;
use crate::matmul::{self, arm_uadalp};

/// All groups, all values.
const fn all(element: Element) -> Domain {
    Domain { operands: matmul::Domain::all(element, element), grouped: true }
}

pub(crate) static MUTANTS: &[Mutant<Run, Domain>] = &[
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
        |params, input, weights, out| onednn::run(params, 0, input, weights, out)
    ),
    mutant!(
        "mutant-swapped-borders", "layout", "top and bottom, left and right change places",
        claims "exact" Wrap on all(Element::U8),
        from "of our own: padding read in another order",
        |params, input, weights, out| {
            let Params { top, bottom, left, right, .. } = *params;
            let swapped = Params { top: bottom, bottom: top, left: right, right: left, ..*params };
            let product = arm_uadalp::UADALP.portable;
            convolve(&Steps::new(Element::U8, Element::U8, product), &swapped, input, weights, out);
        }
    ),
];
