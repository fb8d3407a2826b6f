//! Text of fingerprints.

use super::candidates::{Candidate, Family, functions};
use super::observations::{Observations, Parameters, Setting};
use super::search::MOST_SETTINGS;
use super::{Exclusion, Fingerprint};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};
use tiebreak_oracle::derivation::DERIVATIONS;
use tiebreak_reports::text::{count, plural};

/// Upper bound on outputs listed in one sentence.
const MOST_OUTPUTS: usize = 4;

/// Returns lines that name candidates. Schemes with the same derivations share a line.
pub fn names(candidates: &[Candidate], members: &[usize]) -> Vec<String> {
    // Derivations and overflow policies of each scheme.
    let mut schemes: IndexMap<&str, IndexMap<Option<&str>, Vec<&str>>> = IndexMap::new();
    for candidate in members.iter().map(|i| &candidates[*i]) {
        let (name, policy) = candidate.scheme.split_once(':').unwrap_or((&candidate.scheme, ""));
        schemes.entry(name).or_default().entry(candidate.derivation).or_default().push(policy);
    }
    // Names by their derivations.
    let mut lines: IndexMap<Vec<Option<&str>>, Vec<String>> = IndexMap::new();
    for (name, derivations) in &schemes {
        let mut labels: IndexMap<String, Vec<Option<&str>>> = IndexMap::new();
        for (derivation, policies) in derivations {
            // The name alone, if the scheme has no policy or both are left.
            let label = match policies[..] {
                [one] if !one.is_empty() => format!("{name}:{one}"),
                _ => (*name).to_owned(),
            };
            labels.entry(label).or_default().push(*derivation);
        }
        for (label, derivations) in labels {
            lines.entry(derivations).or_default().push(label);
        }
    }
    lines.into_iter().map(|(derivations, names)| names.join(", ") + &derived(&derivations)).collect()
}

fn derived(derivations: &[Option<&str>]) -> String {
    let names: Vec<&str> = derivations.iter().copied().flatten().collect();
    match names.len() {
        0 => String::new(),
        n if n == DERIVATIONS.len() => " (any derivation)".to_owned(),
        _ => format!(" ({})", names.join(", ")),
    }
}

/// Formats the parameters of a setting as in a line of the file.
pub fn setting(Setting { parameters, output }: &Setting) -> String {
    let mut parts = match parameters {
        Parameters::Multiplier { multiplier, shift } => vec![format!("m={multiplier} s={shift}")],
        Parameters::Scales { written: [si, sw, so], .. } => vec![format!("si={si} sw={sw} so={so}")],
    };
    if output.zero_point != 0 {
        parts.push(format!("zero_point={}", output.zero_point));
    }
    if (output.min, output.max) != (i32::MIN, i32::MAX) {
        parts.push(format!("min={} max={}", output.min, output.max));
    }
    parts.join(" ")
}

/// Formats an output, or its absence.
pub fn output(output: Option<i32>) -> String {
    output.map_or("no answer".to_owned(), |v| v.to_string())
}

/// Returns the conclusions, one sentence a line.
pub fn verdict(observations: &Observations, fingerprint: &Fingerprint) -> Vec<String> {
    let Fingerprint { candidates, groups, next, .. } = fingerprint;
    let rows = plural(observations.rows.len(), "observation");
    let mut out: Vec<String> = Vec::new();
    match &groups[..] {
        [] => {
            let (best, explained) = fingerprint.best();
            let named = if explained == 0 {
                "no candidate gives any output".to_owned()
            } else {
                few(&names(candidates, &best))
            };
            out.push(format!(
                "consistent with every observation: no candidate; the closest give {explained} of {rows}: {named}"
            ));
        }
        [one] => out.push(format!("consistent with every observation: {}", few(&names(candidates, &one.members)))),
        many => {
            let left = many.iter().map(|group| group.members.len()).sum::<usize>();
            out.push(format!(
                "consistent with every observation: {} of {} candidates, in {} groups",
                count(left as u64),
                count(candidates.len() as u64),
                many.len()
            ));
        }
    }
    out.extend(Family::ALL.into_iter().filter_map(|family| without(observations, fingerprint, family)));
    if let Some(next) = next {
        let at = setting(&observations.settings[next.setting]);
        out.push(format!("run x={} at {at} and add the output: it separates the most groups", next.x));
    }
    if observations.settings.len() > MOST_SETTINGS && !groups.is_empty() {
        out.push(format!(
            "groups and the next input consider only the first {MOST_SETTINGS} of {} parameters",
            observations.settings.len()
        ));
    }
    out
}

/// Joins a few lines; of more lines, the first and the number of the others.
fn few(names: &[String]) -> String {
    match names {
        all if all.len() <= 3 => all.join("; "),
        [first, rest @ ..] => format!("{first}; and {} more lines", rest.len()),
        [] => String::new(),
    }
}

/// Explains why no candidate of a family is left; `None` if a candidate is left.
fn without(observations: &Observations, fingerprint: &Fingerprint, family: Family) -> Option<String> {
    let Fingerprint { candidates, excluded, .. } = fingerprint;
    let members = candidates.iter().filter(|c| c.family == family).count();
    let left = candidates.iter().zip(excluded).any(|(c, excluded)| c.family == family && excluded.is_none());
    if left || members == 0 {
        return None;
    }
    let alone = fingerprint.given_by_none.get(&family).map(|at| {
        let row = &observations.rows[*at];
        let setting = &observations.settings[row.setting];
        let all = functions(candidates, setting);
        let members = candidates.iter().zip(&all).filter(|(c, _)| c.family == family);
        let answers: BTreeSet<i32> = members.filter_map(|(_, f)| f.at(row.x, &setting.output)).collect();
        (row, answers)
    });
    Some(match alone {
        Some((row, answers)) => {
            let mut nearest: Vec<i32> = answers.into_iter().collect();
            nearest.sort_by_key(|v| v.abs_diff(row.observed));
            let more = if nearest.len() > MOST_OUTPUTS { ", ..." } else { "" };
            let given: Vec<String> = nearest.iter().take(MOST_OUTPUTS).map(i32::to_string).collect();
            let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") + more };
            format!("no {} gives {} at x={}: they give {given}", family.text(), row.observed, row.x)
        }
        None => format!("no {} gives all: each fails at some observation", family.text()),
    })
}

/// Groups the excluded candidates by observation and output.
pub fn exclusions(fingerprint: &Fingerprint) -> BTreeMap<Exclusion, Vec<usize>> {
    let mut out: BTreeMap<Exclusion, Vec<usize>> = BTreeMap::new();
    for (i, exclusion) in fingerprint.excluded.iter().enumerate() {
        if let Some(exclusion) = exclusion {
            out.entry(*exclusion).or_default().push(i);
        }
    }
    out
}
