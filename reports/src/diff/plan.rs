//! Check that two rows have the same plan, so that their counts can be compared.
//!
//! A larger count among other cases does not describe the kernel. Rows with the same seed, effort, scheme and cases are compared; for other
//! rows the report names the changed part of the plan.

use super::asked::RunCommand;
use crate::ledger::{DropReason, Ledger, Planned, Row};
use crate::text::count;

/// Difference of two plans, as text; `None` if both rows have the same plan.
pub(super) fn change(old: (&Ledger, &Row), new: (&Ledger, &Row)) -> Option<String> {
    of_runs(old.0, new.0).or_else(|| of_rows(old.1, new.1)).or_else(|| of_cases(old, new))
}

/// Difference of the plans of two runs, as text: seed, effort or parameters.
pub(super) fn of_runs(old: &Ledger, new: &Ledger) -> Option<String> {
    let parameters = [old, new].map(|ledger| RunCommand::of(ledger).parameters());
    let [before, after] = parameters;
    differ("seed", old.seed, new.seed)
        .or_else(|| differ("effort", &old.effort, &new.effort))
        .or_else(|| (before != after).then(|| format!("{before} in the first run, {after} in the second")))
}

fn of_rows(old: &Row, new: &Row) -> Option<String> {
    differ("judged against", &old.scheme, &new.scheme)
        .or_else(|| differ("parameters", count(old.parameters), count(new.parameters)))
}

/// Compares the number and the span of a row's cases. A kernel that stopped answering has fewer results than planned.
fn of_cases((old, before): (&Ledger, &Row), (new, after): (&Ledger, &Row)) -> Option<String> {
    let plans = [planned(old, before), planned(new, after)];
    if let [Some(old), Some(new)] = &plans {
        let changed = old.iter().zip(new).find_map(|(old, new)| of_units(old, new));
        let changed = changed.or_else(|| differ("kinds of cases", old.len(), new.len()));
        if changed.is_some() || old.iter().chain(new).any(|planned| has_given_up(planned)) {
            return changed;
        }
    }
    let inputs = [before, after].map(|row| count(row.inputs.saturating_add(row.out_of_domain)));
    let [first, second] = inputs;
    let spans = (!before.sizes.is_empty() && !after.sizes.is_empty())
        && (&before.sizes, &before.ranges) != (&after.sizes, &after.ranges);
    differ("inputs", first, second).or_else(|| spans.then(|| "the sizes or parameters of the cases differ".to_owned()))
}

/// Plan for the kernel and lane of a row; `None` in a ledger without plans.
fn planned<'a>(ledger: &'a Ledger, row: &Row) -> Option<Vec<&'a Planned>> {
    let of_row = |p: &&Planned| (&p.op, &p.kernel, &p.lane) == (&row.op, &row.kernel, &row.lane);
    let mut all: Vec<&Planned> = ledger.planned.iter().filter(of_row).collect();
    all.sort_by_key(|planned| (planned.unit, planned.given));
    (!all.is_empty()).then_some(all)
}

fn of_units(old: &Planned, new: &Planned) -> Option<String> {
    let asked = |planned: &Planned| planned.planned - given_up_or_less(planned, |why| why != DropReason::GivenUp);
    let unit = |planned: &Planned| format!("{}{}", if planned.given { "given " } else { "" }, planned.unit.name());
    let what = format!("{}s", unit(new));
    differ("cases are", unit(old), unit(new))
        .or_else(|| differ(&format!("{what} planned"), count(old.planned), count(new.planned)))
        .or_else(|| differ(&format!("{what} to run"), count(asked(old)), count(asked(new))))
}

fn given_up_or_less(planned: &Planned, wanted: impl Fn(DropReason) -> bool) -> u64 {
    let dropped = planned.dropped.iter().filter(|dropped| wanted(dropped.why));
    dropped.fold(0u64, |sum, dropped| sum.saturating_add(dropped.count)).min(planned.planned)
}

fn has_given_up(planned: &Planned) -> bool {
    given_up_or_less(planned, |why| why == DropReason::GivenUp) > 0
}

fn differ<T: PartialEq + std::fmt::Display>(what: &str, old: T, new: T) -> Option<String> {
    (old != new).then(|| format!("{what}: {old} in the first run, {new} in the second"))
}
