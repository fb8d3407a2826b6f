//! Ledger entries of bitwise comparisons.

use crate::case::again::{again, display_case};
use crate::erased::{Kernel, Params};
use crate::judge::agreement::Agreements;
use crate::lane::Lane;
use crate::operation::observed::Witness;
use crate::operation::request::Request;
use tiebreak_reports::ledger::{Agreement, AgreementWitness};

/// Returns the entries of a kernel's comparisons with at least one result.
pub(crate) fn rows(
    request: &Request,
    kernel: &'static Kernel,
    agreements: &Agreements<'_>,
    witnesses: Vec<Option<Witness<Params>>>,
) -> Vec<Agreement> {
    let row = |(agreement, witness): (&_, Option<_>)| {
        let (lane, (other, other_lane)) = agreements.parties(agreement);
        let described = |witness| described(request, kernel, [lane, other_lane], witness);
        Agreement {
            op: kernel.op().name().to_owned(),
            kernel: kernel.name.to_owned(),
            lane: lane.name.clone(),
            other: other.to_owned(),
            other_lane: other_lane.name.clone(),
            results: agreement.results,
            not_compared: agreement.not_compared,
            open: agreement.open,
            differ: agreement.differ,
            differ_open: agreement.differ_open,
            types: agreement.types.clone(),
            witness: witness.map(described),
        }
    };
    agreements.compared().into_iter().zip(witnesses).map(row).collect()
}

fn described(
    request: &Request,
    kernel: &Kernel,
    [lane, other]: [&Lane; 2],
    witness: Witness<Params>,
) -> AgreementWitness {
    let command = again(&request.command, kernel, &lane.name, (&witness.case, witness.index));
    let here = format!("--lane {}", lane.name);
    AgreementWitness {
        case: display_case(&kernel.contract.domain, &witness.case, Some(witness.index), None),
        command: match other.is_compiled() {
            true => command.replacen(&here, &format!("{here} --lane {}", other.name), 1),
            false => command,
        },
        got: witness.got,
        other: witness.expected,
    }
}
