//! Commands that reproduce a case, and cases as text for a reader.

use crate::case::text;
use crate::erased::{Domain, Kernel, Params};
use crate::lane::Lane;
use crate::operation::case::Case;
use crate::operation::command::Command;
use crate::operation::observed::Witness;
use crate::operation::request::Request;
use tiebreak_common::class::Class;
use tiebreak_reports::{ledger, text as words};

/// Formats a case for a reader: every element if small, otherwise the shape.
pub(crate) fn display_case(
    domain: &Domain,
    case: &Case<Params>,
    index: Option<usize>,
    class: Option<Class>,
) -> ledger::Case {
    if let Some(mut spelled) = (domain.op().capabilities().spelling.result)(case, index.unwrap_or(0), class) {
        if !(domain.op().capabilities().spelling.is_replayable)(case) {
            let outputs = domain.sizes(&case.params).map_or(0, |sizes| sizes.outputs);
            let place = [("index", index), ("len", Some(outputs))];
            let place = place.into_iter().filter_map(|(name, at)| Some((name.to_owned(), (at? as i64).into())));
            spelled.extend(place);
        }
        return spelled;
    }
    let mut out = text::arguments(domain, case).unwrap_or_else(|| case.params.arguments().into_iter().collect());
    if let Some(index) = index {
        out.insert("at".to_owned(), (index as i64).into());
    }
    out
}

/// Returns the command that repeats a kernel in a lane.
pub(crate) fn kernel_again(request: &Request, kernel: &Kernel, lane: &Lane) -> String {
    request.command.kernel(kernel.op().name(), kernel.name, &lane.name)
}

/// Returns the command that repeats a case, given as text.
pub(crate) fn command(request: &Request, kernel: &Kernel, lane: &Lane, case: &ledger::Case) -> String {
    format!("{} {}", kernel_again(request, kernel, lane), (kernel.op().capabilities().spelling.command)(case))
}

/// Returns the command that repeats a case. If the case is too large to write out, or not reproducible alone, the command repeats the kernel.
pub fn again(command: &Command, kernel: &Kernel, lane: &str, (case, index): (&Case<Params>, usize)) -> String {
    let whole = command.kernel(kernel.op().name(), kernel.name, lane);
    let arguments = match (kernel.op().capabilities().spelling.result)(case, index, None) {
        Some(spelled) => (kernel.op().capabilities().spelling.is_replayable)(case).then_some(spelled),
        None => text::arguments(&kernel.contract.domain, case),
    };
    arguments.map_or_else(
        || whole.clone(),
        |arguments| format!("{whole} {}", (kernel.op().capabilities().spelling.command)(&arguments)),
    )
}

/// Formats a witness in a single line.
pub fn line(domain: &Domain, witness: &Witness<Params>, scheme: &str, class: Class) -> String {
    let case = words::case(&display_case(domain, &witness.case, Some(witness.index), None));
    format!("{case}: got {}, {scheme} {}, class {class}", witness.got, witness.expected)
}
