//! Commands that reproduce a case, and cases as text for a reader.

use crate::case::text;
use crate::lane::Lane;
use crate::operation::case::Case;
use crate::operation::command::Command;
use crate::operation::observed::Witness;
use crate::operation::request::Request;
use crate::operation::{self, Kernel, Operation};
use tiebreak_common::class::Class;
use tiebreak_reports::{ledger, text as words};

/// Formats a case for a reader: every element if small, otherwise the shape.
pub(crate) fn display_case<O: Operation>(
    domain: &O::Domain,
    case: &Case<O::Params>,
    index: Option<usize>,
    class: Option<Class>,
) -> ledger::Case {
    if let Some(mut spelled) = (O::CAPABILITIES.spelling.result)(case, index.unwrap_or(0), class) {
        if !(O::CAPABILITIES.spelling.is_replayable)(case) {
            let outputs = operation::sizes::<O>(domain, &case.params).map_or(0, |sizes| sizes.outputs);
            let place = [("index", index), ("len", Some(outputs))];
            let place = place.into_iter().filter_map(|(name, at)| Some((name.to_owned(), (at? as i64).into())));
            spelled.extend(place);
        }
        return spelled;
    }
    let mut out =
        text::arguments::<O>(domain, case).unwrap_or_else(|| O::arguments(&case.params).into_iter().collect());
    if let Some(index) = index {
        out.insert("at".to_owned(), (index as i64).into());
    }
    out
}

/// Returns the command that repeats a kernel in a lane.
pub(crate) fn kernel_again<O: Operation>(request: &Request, kernel: &Kernel<O>, lane: &Lane) -> String {
    request.command.kernel(O::OP, kernel.name, &lane.name)
}

/// Returns the command that repeats a case, given as text.
pub(crate) fn command<O: Operation>(request: &Request, kernel: &Kernel<O>, lane: &Lane, case: &ledger::Case) -> String {
    format!("{} {}", kernel_again::<O>(request, kernel, lane), (O::CAPABILITIES.spelling.command)(case))
}

/// Returns the command that repeats a case. If the case is too large to write out, or not reproducible alone, the command repeats the kernel.
pub fn again<O: Operation>(
    command: &Command,
    kernel: &Kernel<O>,
    lane: &str,
    (case, index): (&Case<O::Params>, usize),
) -> String {
    let whole = command.kernel(O::OP, kernel.name, lane);
    let arguments = match (O::CAPABILITIES.spelling.result)(case, index, None) {
        Some(spelled) => (O::CAPABILITIES.spelling.is_replayable)(case).then_some(spelled),
        None => text::arguments::<O>(&kernel.contract.domain, case),
    };
    arguments.map_or_else(
        || whole.clone(),
        |arguments| format!("{whole} {}", (O::CAPABILITIES.spelling.command)(&arguments)),
    )
}

/// Formats a witness in a single line.
pub fn line<O: Operation>(domain: &O::Domain, witness: &Witness<O::Params>, scheme: &str, class: Class) -> String {
    let case = words::case(&display_case::<O>(domain, &witness.case, Some(witness.index), None));
    format!("{case}: got {}, {scheme} {}, class {class}", witness.got, witness.expected)
}
