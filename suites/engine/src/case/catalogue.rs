//! Corner catalogues of the tensor operations: cases worth keeping, with their provenance and the value of each scheme.
//!
//! A line is a case in the syntax of [`super::text`], then `out[INDEX]: SCHEME=VALUE ...`, then `# PROVENANCE`. Blank lines and lines that start with
//! `#` are comments. Reading a catalogue checks the values against big integers, and some kernel must take the case.

use crate::case::text::{self, Draft};
use crate::erased::{Domain, Op, Params, Scheme};
use crate::operation::case::Case;
use crate::operation::errors::CaseError;
use crate::operation::expected::Expected;
use thiserror::Error;
use tiebreak_reports::ledger::Value;
use tiebreak_reports::text as words;

/// Largest case of a catalogue, in results times elements of the largest input; every case is judged by big integers and runs in every lane.
pub const LARGEST: usize = 1 << 20;

/// Case of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Text of the case.
    pub case: String,
    /// Flat index of the result, row by row.
    pub index: usize,
    /// Schemes with their values; `-` in the text if the scheme gives no value.
    pub values: Vec<(String, Option<Value>)>,
    /// Source of the case.
    pub provenance: String,
}

/// Line with an error.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("line {line}: {error}")]
pub struct BadLine {
    /// Number of the line, from 1.
    pub line: usize,
    /// Description of the error, with the expected form.
    pub error: CaseError,
}

/// Parses a catalogue, and checks every value against the oracle.
pub fn read(op: Op, text: &str) -> Result<Vec<Entry>, BadLine> {
    lines(text, |line| written(line).and_then(|written| held(op, &written)))
}

/// Returns the case of every line as text, without a check against the oracle, for another operation with the same corner cases.
pub fn texts(text: &str) -> Result<Vec<String>, BadLine> {
    lines(text, |line| written(line).map(|written| written.case.to_owned()))
}

/// Parses every line by `entry`, except comments.
pub fn lines<E>(text: &str, entry: impl Fn(&str) -> Result<E, CaseError>) -> Result<Vec<E>, BadLine> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|(at, line)| entry(line).map_err(|error| BadLine { line: at + 1, error })).collect()
}

/// Formats a case as a line of the catalogue; `None` if the case is too large to write out.
pub fn ready_line(
    domain: &Domain,
    (case, index): (&Case<Params>, usize),
    schemes: &[Scheme],
    provenance: &str,
) -> Option<String> {
    let value = |scheme: &Scheme| {
        let results = scheme.exact(case).ok()?;
        Some((scheme.label(), result(domain, case, &results, index)?))
    };
    let values = schemes.iter().filter_map(value).collect();
    let case = words::case(&text::arguments(domain, case)?);
    Some(line(&Entry { case, index, values, provenance: provenance.to_owned() }))
}

/// Formats an entry as a line of the catalogue.
pub fn line(entry: &Entry) -> String {
    let values: Vec<_> = entry.values.iter().map(|(scheme, value)| format!("{scheme}={}", described(value))).collect();
    format!("{} out[{}]: {} # {}", entry.case, entry.index, values.join(" "), entry.provenance)
}

fn described(value: &Option<Value>) -> String {
    value.as_ref().map_or("-".to_owned(), Value::to_string)
}

/// Returns result `index` if the case has it; the value is `None` if the scheme gives no value.
fn result(domain: &Domain, case: &Case<Params>, results: &Expected, index: usize) -> Option<Option<Value>> {
    let element = domain.result_element(&case.params);
    let words = results.chunks(element.words()).nth(index)?;
    let words: Option<Vec<i32>> = words.iter().copied().collect();
    Some(words.map(|words| element.described(&words)))
}

/// Entry whose values are not checked yet.
struct Written<'a> {
    case: &'a str,
    index: usize,
    values: Vec<(&'a str, &'a str)>,
    provenance: &'a str,
}

fn written(line: &str) -> Result<Written<'_>, CaseError> {
    let split = line.split_once('#').map(|(rest, provenance)| (rest, provenance.trim()));
    let (rest, provenance) = split
        .filter(|(_, provenance)| !provenance.is_empty())
        .ok_or("no provenance: end the line with `# where it comes from`")?;
    // Types and policies contain colons, too; no value begins with `out`.
    let (case, rest) =
        rest.rsplit_once(" out").ok_or("no result: write `out[INDEX]: SCHEME=VALUE ...` after the case")?;
    let (result, values) = rest.split_once(':').unwrap_or((rest, ""));
    let index = result.strip_prefix('[').and_then(|r| r.trim_end().strip_suffix(']')).and_then(|i| i.parse().ok());
    let index = index.ok_or_else(|| format!("out{}: not a flat index, such as out[0]", result.trim_end()))?;
    let pair = |word| str::split_once(word, '=').ok_or_else(|| format!("`{word}` is not SCHEME=VALUE"));
    let values: Vec<_> = values.split_whitespace().map(pair).collect::<Result<_, _>>()?;
    if values.is_empty() {
        return Err("no value: name at least one SCHEME=VALUE; with `?` in place of a value it is printed".into());
    }
    Ok(Written { case: case.trim(), index, values, provenance })
}

/// Checks the values of an entry against the oracle.
fn held(op: Op, written: &Written<'_>) -> Result<Entry, CaseError> {
    let cases = cases(op, written.case)?;
    let mut values = Vec::new();
    for (name, _) in &written.values {
        let scheme = op.scheme(name)?;
        values.push(((*name).to_owned(), exact(&scheme, &cases, written.index)?));
    }
    let entry = Entry {
        case: written.case.to_owned(),
        index: written.index,
        values,
        provenance: written.provenance.to_owned(),
    };
    for ((name, text), (_, exact)) in written.values.iter().zip(&entry.values) {
        let agrees = described(exact) == *text;
        if !agrees {
            let (is, line) = (described(exact), line(&entry));
            return Err(format!("{name} is {is}, not {text}; the line with every value:\n{line}").into());
        }
    }
    Ok(entry)
}

/// Domain of a kernel, and the case in that domain.
type Taken = (&'static Domain, Case<Params>);

/// Returns the distinct cases of a text in the domains of all kernels that take it; kernels may choose different numbers of results.
fn cases(op: Op, text: &str) -> Result<Vec<Taken>, CaseError> {
    let draft = Draft::read(op, text)?;
    let (mut out, mut refused) = (Vec::new(), None);
    for domain in op.kernels().iter().map(|kernel| &kernel.contract.domain) {
        match draft.work(domain) {
            Some(work) if work > LARGEST => {
                let reason = format!("results times elements of the largest input are {work}, at most {LARGEST} here");
                return Err(reason.into());
            }
            Some(_) => match draft.case(domain) {
                Ok(case) if out.iter().all(|(_, known)| *known != case) => out.push((domain, case)),
                Ok(_) => {}
                Err(error) => refused = Some(error.to_string()),
            },
            None => {
                let reason = domain.sizes(draft.params()).err();
                refused = refused.or(reason.map(|e| e.to_string()));
            }
        }
    }
    if out.is_empty() {
        let reason = refused.map_or(String::new(), |reason| format!(": {reason}"));
        return Err(format!("no kernel takes the case{reason}").into());
    }
    Ok(out)
}

/// Returns the scheme's value for the first of the cases that the scheme takes.
fn exact(scheme: &Scheme, cases: &[Taken], index: usize) -> Result<Option<Value>, CaseError> {
    let mut reason = String::new();
    for (domain, case) in cases {
        match scheme.exact(case) {
            Ok(results) => {
                let wrong = || format!("out[{index}]: there are {} results", results.len());
                return Ok(result(domain, case, &results, index).ok_or_else(wrong)?);
            }
            Err(why) => reason = why.to_string(),
        }
    }
    Err(CaseError::from(reason).of(&scheme.label()))
}
