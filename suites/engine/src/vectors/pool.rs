//! Candidates: small cases to which the scheme gives a value at every result.

use crate::case::{catalogue, text};
use crate::erased::{Domain, Mutant, Params, Scheme};
use crate::lane::Lane;
use crate::operation::case::Case;
use crate::operation::selection::CaseSelection;
use crate::operation::{Element, Witness};
use crate::plan::plans;
use crate::run::answers::outs;
use crate::run::shrink::shrink_by;
use crate::vectors::Wanted;
use crate::vectors::targets::{Alternative, Seen};
use serde_json::Value as Json;
use std::collections::HashSet;
use tiebreak_common::budget::Effort;
use tiebreak_common::parallel;
use tiebreak_reports::ledger::{self, Value};
use tiebreak_reports::text as words;

/// Largest unreduced candidate from a plan, in bytes.
const SMALL: usize = 256;

/// Number of unreduced candidates from a plan.
const MOST: usize = 400;

/// Largest planned case in which inputs are searched, in words.
const SEARCHED: usize = 1 << 13;

/// Number of planned cases in which inputs for other schemes and causes are searched.
const CASES: usize = 400;

/// Number of cases that are shrunk for each known bug.
const SHRUNK: usize = 2;

/// Types in the fields of a domain.
const TYPES: [&str; 7] = ["i4", "i8", "u8", "i16", "u16", "i32", "u32"];

/// Candidate for a vector.
pub(super) struct Entry {
    pub(super) domain: &'static Domain,
    /// Element types, as in a line of a file of cases.
    pub(super) types: Option<String>,
    pub(super) case: Case<Params>,
    /// Case, by argument.
    pub(super) text: ledger::Case,
    /// Results of the scheme.
    pub(super) expected: Vec<i32>,
    pub(super) bytes: usize,
}

/// Candidates, with the reasons for known bugs that no candidate shows.
pub(super) struct Pool {
    pub(super) entries: Vec<Entry>,
    /// Reason for each known bug that no planned case shows.
    silent: Vec<Option<String>>,
    known: HashSet<String>,
}

/// Sources of the candidates.
pub(super) struct Sources<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) bugs: &'a [&'static Mutant],
    pub(super) domains: &'a [&'static Domain],
    pub(super) alternatives: &'a [Alternative],
    pub(super) lane: &'a Lane,
    pub(super) wanted: &'a Wanted,
}

impl Entry {
    /// Creates a candidate if every result has a value, equal by both forms, the case has a text, and the caller's format can express the case.
    fn of(domain: &'static Domain, sources: &Sources<'_>, case: Case<Params>) -> Option<Self> {
        let scheme = sources.scheme;
        let expected: Vec<i32> = scheme.expected(&case).ok()?.into_iter().collect::<Option<_>>()?;
        let exact: Vec<i32> = scheme.exact(&case).ok()?.into_iter().collect::<Option<_>>()?;
        if expected.is_empty() || expected != exact || !domain.covers(&case.params) {
            return None;
        }
        if let Some(fits) = sources.wanted.fits {
            let domain = domain.json().ok()?;
            if !fits(&case.params.job("vector"), &domain, &case.payload(), &expected) {
                return None;
            }
        }
        let text = text::complete(domain, &case, &[None, None, None])?;
        let bytes = bytes(domain, &case, expected.len());
        Some(Self { domain, types: types(domain), case, text, expected, bytes })
    }

    /// True if the case also belongs to another domain.
    pub(super) fn is_of(&self, domain: &Domain) -> bool {
        let Self { case, types: own, .. } = self;
        let element = |domain: &Domain, t| domain.element(&case.params, t);
        let holds = |t: usize| {
            let range = domain.range(t);
            element(domain, t) == element(self.domain, t) && case.tensors[t].iter().all(|word| range.contains(word))
        };
        domain.covers(&case.params)
            && types(domain) == *own
            && (0..domain.op().tensors().len()).all(holds)
            && domain.sizes(&case.params).is_ok_and(|sizes| sizes.outputs == self.expected.len())
    }
}

/// Returns the element types in a domain, in the order of the fields.
fn types(domain: &Domain) -> Option<String> {
    let mut names = Vec::new();
    named(&domain.json().ok()?, &mut names);
    (!names.is_empty()).then(|| names.join(","))
}

fn named(domain: &Json, names: &mut Vec<String>) {
    match domain {
        Json::String(name) if TYPES.contains(&name.as_str()) => names.push(name.clone()),
        Json::Object(fields) => fields.values().for_each(|field| named(field, names)),
        _ => {}
    }
}

/// Counts the bytes of a case with results: each element by its type, and four bytes for each number among the parameters.
fn bytes(domain: &Domain, case: &Case<Params>, results: usize) -> usize {
    let width = |element: &Element| match element {
        Element::Float(format) => format.bits() as usize / 8,
        Element::Integer(range) => match range.end().saturating_sub(*range.start()) {
            0..=255 => 1,
            256..=65_535 => 2,
            _ => 4,
        },
    };
    let of = |t: usize, words: usize| {
        let element = domain.element(&case.params, t);
        words / element.words() * width(&element)
    };
    let numbers = |value: &Value| match value {
        Value::Integer(_) => 1,
        Value::Text(text) => text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).count(),
    };
    let parameters: usize = case.params.arguments().iter().map(|(_, value)| 4 * numbers(value)).sum();
    let operands: usize = (0..domain.op().tensors().len()).map(|t| of(t, case.tensors[t].len())).sum();
    parameters + operands + of(domain.op().tensors().len(), results)
}

impl Pool {
    /// Collects the candidates of all sources.
    pub(super) fn of(sources: &Sources<'_>) -> Self {
        let mut pool = Self { entries: Vec::new(), silent: Vec::new(), known: HashSet::new() };
        let plans: Vec<Vec<Entry>> = sources.domains.iter().map(|domain| sources.searched(domain)).collect();
        let shown = parallel::map(sources.bugs, |bug| sources.showing(bug, &plans));
        for (cases, why) in shown {
            pool.silent.push(why);
            cases.into_iter().for_each(|entry| pool.add(entry));
        }
        let telling = parallel::map(sources.alternatives, |other| sources.telling(other, &plans));
        telling.into_iter().flatten().for_each(|entry| pool.add(entry));
        for entries in plans {
            entries.into_iter().filter(|entry| entry.bytes <= SMALL).take(MOST).for_each(|entry| pool.add(entry));
        }
        for domain in sources.domains {
            let texts = catalogue::texts(domain.op().catalogue()).unwrap_or_default();
            let cases = texts.iter().filter_map(|text| text::parse(text, domain).ok());
            let entries = cases.filter_map(|case| Entry::of(domain, sources, case));
            entries.filter(|entry| entry.bytes <= 4 * SMALL).for_each(|entry| pool.add(entry));
        }
        pool
    }

    fn add(&mut self, entry: Entry) {
        let text = format!("{:?} {}", entry.types, words::case(&entry.text));
        if self.known.insert(text) {
            self.entries.push(entry);
        }
    }

    /// Returns the reason for a known bug without a vector.
    pub(super) fn why(&self, bug: usize, seen: &[Seen], wanted: &Wanted) -> String {
        if let Some(why) = &self.silent[bug] {
            return why.clone();
        }
        let shows = seen.iter().zip(&self.entries).filter(|(seen, _)| **seen == Seen::Differs);
        match shows.map(|(_, entry)| entry.bytes).min() {
            Some(bytes) => format!(
                "the smallest case found takes {}, and the vectors have room for {} and {}",
                words::plural(bytes, "byte"),
                words::plural(wanted.count, "vector"),
                words::plural(wanted.bytes, "byte")
            ),
            None => "a case shows it when it runs alone, and not after the other vectors".to_owned(),
        }
    }
}

impl Sources<'_> {
    /// Returns the cases of a domain's short plan, without cases that are too large for a search.
    fn searched(&self, domain: &'static Domain) -> Vec<Entry> {
        let specs = plans::plan(domain, &CaseSelection::default(), &Effort::Quick.budget(), self.wanted.seed);
        let fits = |params: &Params| domain.sizes(params).is_ok_and(|sizes| sizes.input() + sizes.outputs <= SEARCHED);
        let of_all: Vec<_> = specs.iter().filter(|spec| spec.turn.is_all()).collect();
        let made = parallel::map(&of_all, |spec| {
            let case = spec.case(domain, self.wanted.seed).filter(|case| fits(&case.params))?;
            Entry::of(domain, self, case)
        });
        made.into_iter().flatten().collect()
    }

    /// Returns small cases that show a known bug, or the reason for the lack of them.
    fn showing(&self, bug: &Mutant, plans: &[Vec<Entry>]) -> (Vec<Entry>, Option<String>) {
        let theirs = &bug.kernel.contract.domain;
        if theirs.is_compiled() {
            return (Vec::new(), Some("a compiler makes it, and none of its code runs in this process".to_owned()));
        }
        let mut taken = plans.iter().flatten().filter(|entry| entry.is_of(theirs)).peekable();
        if taken.peek().is_none() {
            return (Vec::new(), Some("no case of the vectors' domain is in its domain".to_owned()));
        }
        let (mut differing, mut failure) = (Vec::new(), None);
        for entry in taken {
            match self.difference(bug, entry.domain, &entry.case) {
                Ok(Some(witness)) => differing.push((entry, witness)),
                Ok(None) => {}
                Err(reason) => failure = Some(reason),
            }
        }
        if differing.is_empty() {
            let fails =
                failure.map(|reason| format!("it gives no results, and no other result than the right one: {reason}"));
            return (Vec::new(), fails.or_else(|| Some(self.unshown(bug))));
        }
        differing.sort_by_cached_key(|(entry, _)| entry.bytes);
        let smaller = |(entry, first): &(&Entry, Witness<Params>)| self.shrunk(bug, entry, first.clone());
        (differing.iter().take(SHRUNK).filter_map(smaller).collect(), None)
    }

    /// Returns the reason for a known bug that no planned case shows. A scheme without a policy has no value for results that do not fit.
    fn unshown(&self, bug: &Mutant) -> String {
        let none = "no small case of the short plan shows it".to_owned();
        let (wanted, promised) = (self.scheme.label(), bug.kernel.promise().map(|scheme| scheme.label()));
        match promised {
            Ok(promised) if promised != wanted => {
                format!("{none}; --scheme {promised} also has results that do not fit")
            }
            _ => none,
        }
    }

    /// Returns the smallest case found that shows a known bug.
    fn shrunk(&self, bug: &Mutant, entry: &Entry, first: Witness<Params>) -> Option<Entry> {
        let domain = entry.domain;
        let mut shows = |case: &Case<Params>| {
            let posed = Entry::of(domain, self, case.clone())?;
            if !posed.is_of(&bug.kernel.contract.domain) {
                return None;
            }
            self.difference(bug, domain, case).ok().flatten()
        };
        let alone = domain.isolate_result(&first.case, first.index).into_iter().find_map(|(case, _)| shows(&case));
        let witness = shrink_by(domain, &CaseSelection::default(), alone.unwrap_or(first), &mut shows);
        Entry::of(domain, self, witness.case)
    }

    /// Returns a wrong result of a known bug, if any.
    fn difference(
        &self,
        bug: &Mutant,
        domain: &Domain,
        case: &Case<Params>,
    ) -> Result<Option<Witness<Params>>, String> {
        let Ok(expected) = self.scheme.expected(case) else { return Ok(None) };
        let mut lease = self.lane.lease();
        let given = outs(&mut lease, bug.kernel.name, case, expected.len()).map_err(|failure| failure.to_string())?;
        let words = domain.result_element(&case.params).words();
        let wrong = expected.iter().zip(&given).position(|(right, got)| right.is_some_and(|right| right != *got));
        Ok(wrong.map(|at| Witness {
            case: case.clone(),
            index: at / words,
            got: Value::Integer(given[at].into()),
            expected: Value::Integer(expected[at].unwrap_or_default().into()),
        }))
    }

    /// Returns a small case that distinguishes the scheme from another scheme, or from a cause.
    fn telling(&self, other: &Alternative, plans: &[Vec<Entry>]) -> Option<Entry> {
        let one = |entry: &Entry| {
            let at = other.first_difference(&entry.case, &entry.expected)?;
            let index = at / entry.domain.result_element(&entry.case.params).words();
            let alone = entry.domain.isolate_result(&entry.case, index).into_iter();
            let small = alone.filter_map(|(case, _)| Entry::of(entry.domain, self, case));
            let small = small.filter(|entry| other.differs(entry)).min_by_key(|entry| entry.bytes);
            small.or_else(|| Entry::of(entry.domain, self, entry.case.clone()))
        };
        plans.iter().flat_map(|entries| entries.iter().take(CASES)).find_map(one)
    }
}
