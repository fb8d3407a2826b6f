//! Corner catalogues of the tensor operations: cases worth keeping, with their provenance and the value of each scheme.
//!
//! A line is a case as [`super::text`] spells it, then `out[..]: SCHEME=VALUE ...`, then `# PROVENANCE`; blank lines and lines that start with
//! `#` are comments. The values are held against the oracle when a catalogue is read.

use super::{Case, Operation, text};
use thiserror::Error;

/// One kept case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The case, as text.
    pub case: String,
    /// Which result.
    pub index: usize,
    /// Scheme and its value; `-` in the text where the scheme gives none.
    pub values: Vec<(String, Option<i32>)>,
    /// Where the case comes from.
    pub provenance: String,
}

/// A line that is not an entry.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct BadLine {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong and what to write.
    pub reason: String,
}

/// Reads a catalogue and holds every value against the oracle, for any kernel domain that holds the case.
pub fn read<O: Operation>(text: &str) -> Result<Vec<Entry>, BadLine> {
    let mut entries = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = entry(line).and_then(|e| held::<O>(&e).map(|()| e));
        entries.push(entry.map_err(|reason| BadLine { line: at + 1, reason })?);
    }
    Ok(entries)
}

fn entry(line: &str) -> Result<Entry, String> {
    let (rest, provenance) = line.split_once('#').ok_or("no provenance: end the line with `# where it comes from`")?;
    let (case, values) = rest.split_once(':').map_or((rest, ""), |(case, _)| {
        // The colon behind the result; those of policies stand in the values.
        (case, &rest[case.len() + 1..])
    });
    let (case, result) =
        case.rsplit_once(" out").ok_or("no result: write `out[INDEX]: SCHEME=VALUE ...` behind the case")?;
    let index = result.trim().trim_start_matches('[').trim_end_matches(']');
    let index = index.parse().map_err(|_| format!("out[{index}]: not a flat index"))?;
    let values: Vec<_> = values.split_whitespace().map(value).collect::<Result<_, _>>()?;
    if values.is_empty() {
        return Err("no value: name at least one SCHEME=VALUE".to_owned());
    }
    Ok(Entry { case: case.trim().to_owned(), index, values, provenance: provenance.trim().to_owned() })
}

fn value(word: &str) -> Result<(String, Option<i32>), String> {
    let (scheme, value) = word.rsplit_once('=').ok_or_else(|| format!("`{word}` is not SCHEME=VALUE"))?;
    let parsed = match value {
        "-" => None,
        _ => Some(value.parse().map_err(|_| format!("`{word}`: `{value}` is neither an int32 nor `-`"))?),
    };
    Ok((scheme.to_owned(), parsed))
}

/// The case for the first kernel whose domain holds it.
fn any_case<O: Operation>(entry: &Entry) -> Result<Case<O::Params>, String> {
    let mut reason = "no kernel".to_owned();
    for kernel in O::kernels() {
        match text::parse::<O>(&entry.case, &kernel.contract.domain) {
            Ok(case) => return Ok(case),
            Err(why) => reason = why,
        }
    }
    Err(reason)
}

fn held<O: Operation>(entry: &Entry) -> Result<(), String> {
    let case = any_case::<O>(entry)?;
    for (name, value) in &entry.values {
        let scheme = O::scheme(name).map_err(|e| e.to_string())?;
        let exact = O::exact(&scheme, &case)?;
        let exact =
            exact.get(entry.index).ok_or_else(|| format!("out[{}]: there are {} results", entry.index, exact.len()))?;
        if exact != value {
            let text = |v: &Option<i32>| v.map_or("-".to_owned(), |v| v.to_string());
            return Err(format!("{name} is {}, not {}", text(exact), text(value)));
        }
    }
    Ok(())
}
