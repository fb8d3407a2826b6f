//! Report of a fuzz target: the smallest witness, a catalogue line, and the commands that show the witness again.

use tiebreak_common::called;
use tiebreak_engine::case::again::{again, line};
use tiebreak_engine::case::catalogue;
use tiebreak_engine::case::text::arguments;
use tiebreak_engine::erased::{Kernel, Params, Scheme};
use tiebreak_engine::explain::cause::{Explanation, explain};
use tiebreak_engine::explain::groups::Basis;
use tiebreak_engine::explain::witness::{Shown, first_difference, shrink};
use tiebreak_engine::judge::side::{Group, of_group};
use tiebreak_engine::lane::Lane;
use tiebreak_engine::operation::{Case, CaseSelection, Command, Observed, Wanted, Witness};
use tiebreak_engine::run::answers::outs;
use tiebreak_engine::self_check::mutants::tried_on_all;
use tiebreak_reports::ledger;

/// Arguments of `explain`; see [`super::Fuzzed::explained`].
pub(super) type Explained = fn(&ledger::Case, &str, &str) -> Option<String>;

/// Reports a finding with its whole case, if no lane of this process shows it or if it is not a differing result.
pub(super) fn unseen(kernel: &Kernel, case: &Case<Params>, reason: &str) -> String {
    let kept = catalogued(kernel, (case, 0));
    let again = again(&Command::default(), kernel, "host", (case, 0));
    // A case without a text is printed in its debug form.
    let whole = if kept.is_empty() { format!(" {case:?}") } else { String::new() };
    format!("{} {}{whole}: {reason}{kept}\nagain: {again}", kernel.op().name(), kernel.name)
}

/// Reports the smallest witness, as a readable line, a catalogue line, and commands.
pub(super) fn report(kernel: &Kernel, contract: &Scheme, seen: Observed<Params>, explained: Explained) -> String {
    let (lane, name, domain) = (Lane::host(), kernel.name, &kernel.contract.domain);
    let again_seen = outs(&mut lane.lease(), name, &seen.case, seen.outs.len());
    if !again_seen.is_ok_and(|outs| outs == seen.outs) {
        return unseen(kernel, &seen.case, "differs from its contract in a form that the host lane does not run");
    }
    // Many causes fit a single case; the evidence of a whole plan leaves few.
    let groups = (contract.capabilities().causes.groups)(contract, &seen.case.params, seen.outs.len());
    let group = first_difference(domain, &seen).and_then(|first| groups.get(first.index).copied()).unwrap_or(0);
    let causes = contract.causes(group, contract, domain, false);
    let planned = tried_on_all(kernel, contract, &lane, 1);
    let words = domain.result_element(&seen.case.params).words();
    let here = Observed { expected: of_group(&seen.expected, words, &groups, group), ..seen.clone() };
    let known = planned.contract.groups.get(&group).map_or_else(Vec::new, Group::evidence);
    let evidence: Vec<_> = known.into_iter().chain([&here]).collect();
    let Explanation { class, cause, .. } = explain(&causes, &evidence);
    let (scheme, selection) = (contract, &CaseSelection::default());
    let basis = Basis { kernel: name, code: None, domain, contract, scheme, kept: false, selection };
    let shown = Shown { basis: &basis, causes: &causes, class, cause };
    let Some(witness) = shrink(&shown, &lane, &seen) else {
        return unseen(kernel, &seen.case, "differs, but not when judged again");
    };
    let shown = line(domain, &witness, &contract.label(), class);
    let kept = catalogued(kernel, (&witness.case, witness.index));
    format!("{} {name} host {shown}{kept}{}", kernel.op().name(), commands(kernel, contract, &witness, explained))
}

/// Returns the catalogue line with the results of the contract and of the default reference; empty for a case without a text.
fn catalogued(kernel: &Kernel, case: (&Case<Params>, usize)) -> String {
    let contract = kernel.scheme().ok();
    let reference = kernel.op().reference(kernel, &Wanted::default()).and_then(|name| kernel.op().scheme(&name).ok());
    let mut schemes: Vec<Scheme> = contract.into_iter().chain(reference).collect();
    schemes.dedup_by_key(|scheme| scheme.label());
    let provenance = format!("{}, found by fuzzing", kernel.name);
    let line = catalogue::ready_line(&kernel.contract.domain, case, &schemes, &provenance);
    line.map_or(String::new(), |line| format!("\ncatalogue: {line}"))
}

/// Returns the command that runs the witness again, and the command that explains it if `explain` has the operation.
fn commands(kernel: &Kernel, contract: &Scheme, witness: &Witness<Params>, explained: Explained) -> String {
    let place = (&witness.case, witness.index);
    let again = format!("\nagain: {}", again(&Command::default(), kernel, "host", place));
    let spelled = (kernel.op().capabilities().spelling.result)(place.0, place.1, None)
        .or_else(|| arguments(&kernel.contract.domain, place.0));
    let explained = spelled.and_then(|case| explained(&case, kernel.name, &contract.label()));
    explained.map_or(again.clone(), |explained| format!("{again}\nexplain: {} explain {explained}", called::program()))
}
