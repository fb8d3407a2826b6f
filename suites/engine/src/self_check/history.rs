//! Calls that differ from the previous call in one parameter or by an exchange of two, and calls that return to the parameters of the last call but
//! one: such calls detect state kept under too narrow a key.

use crate::operation::names;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Relation of a call to earlier calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The previous call had another value of the parameter, and all other parameters equal.
    Changed(String),
    /// The previous call had the two parameters exchanged, and all other parameters equal.
    Exchanged([String; 2]),
    /// The previous call had other parameters, and the call before had the current parameters.
    Back,
    /// The previous call had more results.
    Larger,
    /// The previous call had fewer results.
    Smaller,
}

/// Changes of a call's parameters against earlier calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamChange {
    /// Names of the parameters that differ from the previous call.
    changed: BTreeSet<String>,
    /// True if two changed parameters have each other's value.
    exchanged: bool,
    /// True if the previous call had other parameters, and the call before had the current parameters.
    back: bool,
    /// Number of results of the previous call and of the current call.
    results: Option<[usize; 2]>,
}

impl ParamChange {
    /// Compares a call with the two calls before, the last first.
    pub fn of(now: &Value, before: [Option<&Value>; 2]) -> Self {
        let [Some(last), earlier] = before else { return Self::default() };
        let changed = changed(&names::all(last), &names::all(now));
        let of = |params: &Value, name: &str| names::number(params, name);
        let exchanged = match changed.iter().collect::<Vec<_>>()[..] {
            [one, other] => of(last, one) == of(now, other) && of(last, other) == of(now, one),
            _ => false,
        };
        let back = !changed.is_empty() && earlier == Some(now);
        Self { changed, exchanged, back, results: None }
    }

    /// Adds the numbers of results of the previous call and of the current call.
    pub fn sized(self, before: Option<usize>, now: usize) -> Self {
        Self { results: before.map(|before| [before, now]), ..self }
    }

    /// True if the call has relation `since` to earlier calls.
    pub fn is(&self, since: &Since) -> bool {
        let only =
            |names: &[String]| self.changed.len() == names.len() && names.iter().all(|n| self.changed.contains(n));
        match since {
            Since::Changed(name) => only(std::slice::from_ref(name)),
            Since::Exchanged(names) => self.exchanged && only(names),
            Since::Back => self.back,
            Since::Larger => self.results.is_some_and(|[before, now]| before > now),
            Since::Smaller => self.results.is_some_and(|[before, now]| before < now),
        }
    }
}

/// Returns the names of changed parameters. For two lists of different lengths: the length, and the changed elements among the common ones.
fn changed(were: &BTreeMap<String, Value>, are: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let names = were.keys().chain(are.keys()).filter(|name| were.get(*name) != are.get(*name));
    let mut out: BTreeSet<String> = names.cloned().collect();
    let lists: Vec<String> = out.iter().filter_map(|name| Some(format!("{}.", name.strip_suffix(".len")?))).collect();
    let beyond = |name: &str| {
        let one_has_it = were.contains_key(name) != are.contains_key(name);
        one_has_it && lists.iter().any(|list| name.starts_with(list))
    };
    out.retain(|name| !beyond(name));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_held_against_the_two_before_it() {
        let of = |m: u32, k: u32, scales: &[f64]| json!({"m": m, "of": {"k": k}, "scales": scales});
        let now = of(3, 4, &[0.5]);
        let change = |last: &Value| ParamChange::of(&now, [Some(last), Some(&now)]);
        let changed = |name: &str| Since::Changed(name.to_owned());
        let exchanged = Since::Exchanged(["of.k".to_owned(), "m".to_owned()]);
        let one = change(&of(5, 4, &[0.5]));
        assert!(one.is(&changed("m")) && one.is(&Since::Back) && !one.is(&changed("of.k")) && !one.is(&exchanged));
        let two = change(&of(4, 3, &[0.5]));
        assert!(two.is(&exchanged) && !two.is(&changed("m")));
        assert!(!change(&of(5, 3, &[0.5])).is(&exchanged), "two other values are no exchange");
        assert!(change(&of(3, 4, &[0.5, 0.5])).is(&changed("scales.len")));
        assert!(change(&of(3, 4, &[0.25])).is(&changed("scales.0")));
        assert!(!change(&json!({"m": 3, "of": "k", "scales": [0.5]})).is(&Since::Changed("of.k".to_owned())));
        let sized = |before| ParamChange::default().sized(before, 5);
        assert!(
            sized(Some(6)).is(&Since::Larger) && !sized(Some(5)).is(&Since::Larger) && !sized(None).is(&Since::Larger)
        );
        assert!(sized(Some(4)).is(&Since::Smaller) && !sized(Some(5)).is(&Since::Smaller));
        assert_eq!(change(&now), ParamChange::default(), "the same call again is not one that comes back");
        assert_eq!(ParamChange::of(&now, [None, None]), ParamChange::default());
        assert!(!ParamChange::of(&now, [Some(&of(5, 4, &[0.5])), None]).is(&Since::Back));
    }
}
