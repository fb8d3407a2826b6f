//! Sentences on the difference between two parties, made from their traces.

use super::Party;
use tiebreak_common::Class;
use tiebreak_common::fraction::short;
use tiebreak_oracle::fpm::steps::Step;
use tiebreak_oracle::fpm::{Effect, Traced};

/// Describes values, class and cause, and the effect of both parties' steps. `None` for the class means that the parties have different exact
/// values, which is no difference of rounding.
///
/// `overall` is the class over all accumulators examined. `here`, if any, is the class of what a word loses on this accumulator.
pub fn sentence(left: &Party, right: &Party, overall: Option<Class>, here: Option<Class>) -> String {
    let values = format!("{} {} where {} {}", right.name, gives(right), left.name, gives(left));
    let described = match (roundings(left), roundings(right)) {
        (Some(one), Some(many)) if one.len() == 1 && many.len() > 1 => {
            format!("{} {}; {}", right.name, did(right), saw(&left.name, one[0]))
        }
        (Some(many), Some(one)) if one.len() == 1 && many.len() > 1 => {
            format!("{} {}; {}", left.name, did(left), saw(&right.name, one[0]))
        }
        _ => format!("{} {}; {} {}", right.name, did(right), left.name, did(left)),
    };
    let round_once = [left, right].iter().all(|party| roundings(party).is_some_and(|all| all.len() == 1));
    match overall {
        Some(overall) if here.is_some_and(|here| here != overall) => {
            let here = here.unwrap_or(overall);
            format!("{values}, class {here}: {described}; over all accumulators examined, class {overall}")
        }
        // The class is that of all accumulators; on this accumulator, one of the two roundings loses nothing.
        Some(class @ Class::DoubleRounding) if round_once => {
            format!("{values}, class {class} over all accumulators examined; on this one both round once: {described}")
        }
        Some(class) => format!("{values}, class {class}: {described}"),
        None => {
            format!("{values}, of no class, because their exact values are not the same to begin with: {described}")
        }
    }
}

/// Describes an input on which two parties agree. `elsewhere` is an accumulator on which they differ, with the class.
pub fn agreement(left: &Party, right: &Party, elsewhere: Option<(i32, Class)>) -> String {
    let here = both_give(left, right);
    match elsewhere {
        Some((x, class)) => {
            format!(
                "{here}; at this multiplier and shift they differ on other accumulators examined, such as x={x}, class {class}"
            )
        }
        None => format!("{here}, as on every accumulator examined at this multiplier and shift"),
    }
}

/// Describes the common value of two parties.
pub fn both_give(left: &Party, right: &Party) -> String {
    format!("{} and {} both {}", left.name, right.name, gives(left).replacen("gives", "give", 1))
}

fn gives(party: &Party) -> String {
    party.value.map_or("gives no value".to_owned(), |v| format!("gives {v}"))
}

/// Returns the roundings of a trace; `None` if the trace has other losses.
fn roundings(party: &Party) -> Option<Vec<&Traced>> {
    let events: Vec<&Traced> = party.trace.as_ref()?.events().collect();
    events.iter().all(|t| matches!(t.effect, Effect::Rounded { .. })).then_some(events)
}

/// Describes the only rounding of a party that is compared with a party of several roundings.
fn saw(name: &str, t: &Traced) -> String {
    let Effect::Rounded { bit, .. } = t.effect else { return format!("{name} {}", event(t)) };
    let (before, after) = (short(&t.before), t.after.as_ref().map_or_else(String::new, short));
    format!("the single rounding of {name}, at bit {bit}, sees {before} and gives {after}")
}

/// Describes the steps of a party that lose something.
fn did(party: &Party) -> String {
    let Some(trace) = &party.trace else { return "follows no known steps".to_owned() };
    match roundings(party).as_deref() {
        Some([]) => "rounds nothing away".to_owned(),
        Some([one]) => format!("rounds once, {}", rounding(one)),
        Some([first, second]) => format!("rounds twice: first {}, then {}", rounding(first), rounding(second)),
        _ => trace.events().map(event).collect::<Vec<_>>().join(", then "),
    }
}

/// Describes a rounding: `at bit 31 (1/2 to 1, ties-up, a tie)`.
fn rounding(t: &Traced) -> String {
    let Effect::Rounded { rule, bit, tie } = t.effect else { return event(t) };
    let tie = if tie && rule.is_nearest() { ", a tie" } else { "" };
    format!("at bit {bit} ({}, {}{tie})", change(t), rule.name())
}

fn change(t: &Traced) -> String {
    let after = t.after.as_ref().map_or("no value".to_owned(), short);
    format!("{} to {after}", short(&t.before))
}

/// Describes one step as a clause.
fn event(t: &Traced) -> String {
    let Traced { name, .. } = t;
    match &t.effect {
        Effect::Exact => format!("keeps {} (\"{name}\")", short(&t.before)),
        Effect::Rounded { .. } => format!("rounds {}", rounding(t)),
        Effect::Wrapped => format!("wraps {} (\"{name}\")", change(t)),
        Effect::Saturated if matches!(t.step, Step::Clamp(..)) => format!("clamps {} (\"{name}\")", change(t)),
        Effect::Saturated => format!("saturates {} (\"{name}\")", change(t)),
        Effect::Moved => format!("moves {} (\"{name}\")", change(t)),
        Effect::Narrowed(used) => format!("multiplies by {used}, a narrowed multiplier (\"{name}\")"),
        Effect::Refused => format!("has no value at {} (\"{name}\")", short(&t.before)),
    }
}

/// Describes the effect of a step for a table cell: `rounded by +1/2 at bit 31, a tie`; empty if the step lost nothing.
pub fn effect(t: &Traced) -> String {
    let by = t.change().map_or_else(String::new, |by| tiebreak_common::fraction::signed(&by));
    match &t.effect {
        Effect::Exact => String::new(),
        Effect::Rounded { rule, bit, tie } => {
            let tie = if *tie && rule.is_nearest() { ", a tie" } else { "" };
            format!("rounded by {by} at bit {bit}{tie}")
        }
        Effect::Wrapped => format!("wrapped by {by}"),
        Effect::Saturated => format!("saturated by {by}"),
        Effect::Moved => format!("moved by {by}"),
        Effect::Narrowed(used) => format!("multiplier narrowed to {used}"),
        Effect::Refused => "refused".to_owned(),
    }
}

/// Returns the effect of a step as a word for programs.
pub fn effect_name(t: &Traced) -> &'static str {
    match t.effect {
        Effect::Exact => "exact",
        Effect::Rounded { .. } => "rounded",
        Effect::Wrapped => "wrapped",
        Effect::Saturated => "saturated",
        Effect::Moved => "moved",
        Effect::Narrowed(_) => "narrowed",
        Effect::Refused => "refused",
    }
}
