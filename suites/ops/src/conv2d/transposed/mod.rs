//! Transposed convolutions: fitting shapes to a kernel's domain. The cases are in `plan.rs`, the changes in `changes.rs`.

mod changes;
mod plan;

pub(super) use changes::{changes, inserted};
pub(crate) use plan::plan;

use tiebreak_engine::operation::Arguments;
use tiebreak_impls::conv2d::Params;
use tiebreak_impls::conv2d::transposed::{Dilation, Outputs, Transposed};
use tiebreak_reports::ledger::Value;

/// Returns the domain of a caller's case; `None` if the case is not transposed.
pub(crate) fn open(arguments: &Arguments) -> Option<Transposed> {
    let is_transposed = arguments.get("transposed").is_some_and(|value| *value != Value::Integer(0));
    is_transposed.then_some(Transposed { dilation: Dilation::Any, outputs: Outputs::Any })
}

/// Returns the text of the domain; empty if the kernel has no transposed convolutions.
pub(crate) fn text(domain: Option<Transposed>) -> &'static str {
    match domain {
        None => "",
        Some(Transposed { outputs: Outputs::WholeSteps, .. }) => ", transposed, whole steps",
        Some(Transposed { dilation: Dilation::One, .. }) => ", transposed, not dilated",
        Some(_) => ", transposed",
    }
}

/// Fits a shape to the domain: padding within the reach of the filter, and at least one result.
pub(crate) fn shaped(domain: Option<Transposed>, p: Params) -> Params {
    let Some(taken) = domain else { return p };
    let mut p = Params { transposed: true, ..p };
    if taken.dilation == Dilation::One {
        (p.dilation_h, p.dilation_w) = (1, 1);
    }
    let rows = [p.height, p.kernel_h, p.stride_h, p.dilation_h];
    [p.top, p.bottom, p.output_padding_h] = side(taken, rows, [p.top, p.bottom, p.output_padding_h]);
    let columns = [p.width, p.kernel_w, p.stride_w, p.dilation_w];
    [p.left, p.right, p.output_padding_w] = side(taken, columns, [p.left, p.right, p.output_padding_w]);
    p
}

/// Fits the padding before, the padding after and the output padding of one side to the domain.
fn side(
    taken: Transposed,
    [size, kernel, stride, dilation]: [usize; 4],
    [before, after, more]: [usize; 3],
) -> [usize; 3] {
    let reach = (kernel - 1) * dilation;
    let [mut before, mut after, mut more] = [before.min(reach), after.min(reach), more];
    match taken.outputs {
        Outputs::Any => {}
        Outputs::BelowStride => more = more.min(stride - 1),
        Outputs::WholeSteps => {
            before = before.min(size * stride);
            (after, more) = (after.min(kernel.saturating_sub(stride)), stride.saturating_sub(kernel));
        }
    }
    let covered = (size - 1) * stride + reach + 1 + more;
    after = after.min(covered - 1);
    [before.min(covered - 1 - after), after, more]
}
