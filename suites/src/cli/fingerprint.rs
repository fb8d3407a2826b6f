//! `fingerprint`: schemes and multiplier derivations that are consistent with observed outputs. `docs/src/json.md` documents the JSON.
//!
//! `--format json` is stable: fields are added within one `format`, but never renamed or changed in meaning.

use super::{Listing, csv_of, style, table_within};
use crate::fingerprint::candidates::{Candidate, Function};
use crate::fingerprint::observations::{Observations, Parameters, read};
use crate::fingerprint::search::Next;
use crate::fingerprint::{Exclusion, Fingerprint, text};
use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Arguments of `fingerprint`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// CSV file with columns x, observed, and either multiplier and shift or the scales si, sw, so; optionally zero_point [default: 0],
    /// min and max [default: all of int32]
    #[arg(long, value_name = "FILE.csv")]
    observations: PathBuf,
    /// Output format; CSV has one line for each candidate
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

/// Prints the fingerprint. Returns true if a candidate is left.
pub(super) fn run(args: &Args) -> Result<bool> {
    let observations = read(&args.observations)?;
    let fingerprint = Fingerprint::of(&observations);
    let (o, f) = (&observations, &fingerprint);
    args.format.print(|| as_table(o, f), || as_json(o, f), || as_csv(o, f))?;
    Ok(fingerprint.is_consistent())
}

fn as_table(observations: &Observations, fingerprint: &Fingerprint) -> String {
    let Fingerprint { candidates, groups, next, .. } = fingerprint;
    // Wrap long lists of names even without a terminal.
    let table = |header: &[&str], rows| table_within(header, rows, style().width);
    let mut out = String::new();
    if !groups.is_empty() {
        out += "Consistent candidates, grouped\n";
        let numbered = groups.iter().enumerate().flat_map(|(i, group)| {
            let mut lines = text::names(candidates, &group.members);
            lines.extend(
                group.within.map(|limit| format!("(equal for every x in -{limit}..={limit}; other x were not tried)")),
            );
            let label = move |at: usize| if at == 0 { (i + 1).to_string() } else { String::new() };
            lines.into_iter().enumerate().map(move |(at, line)| vec![label(at), line])
        });
        out += &table(&["group", "schemes (derivations of the multiplier)"], numbered.collect());
        out += "\n";
    }
    let exclusions = text::exclusions(fingerprint);
    if !exclusions.is_empty() {
        out += "Excluded candidates, each with the first observation that it does not give\n";
        let rows = exclusions.iter().flat_map(|(exclusion, members)| {
            let row = &observations.rows[exclusion.observation];
            let first =
                [row.line.to_string(), row.x.to_string(), row.observed.to_string(), text::output(exclusion.expected)];
            let lines = text::names(candidates, members).into_iter().enumerate();
            lines.map(move |(at, line)| {
                let cells = if at == 0 { first.clone() } else { Default::default() };
                cells.into_iter().chain([line]).collect()
            })
        });
        out += &table(&["line", "x", "observed", "expected", "by"], rows.collect());
        out += "\n";
    }
    if let Some(next) = next {
        out += &format!("Next input: x={} at {}\n", next.x, text::setting(&observations.settings[next.setting]));
        let mut answers: Vec<Option<i32>> = next.outputs.clone();
        answers.sort_unstable();
        answers.dedup();
        let groups = |answer: &Option<i32>| {
            let giving = next.outputs.iter().enumerate().filter(|(_, output)| *output == answer);
            giving.map(|(i, _)| (i + 1).to_string()).collect::<Vec<_>>().join(", ")
        };
        let rows = answers.iter().map(|answer| vec![text::output(*answer), groups(answer)]);
        out += &table(&["output", "groups"], rows.collect());
        out += "\n";
    }
    out + &text::verdict(observations, fingerprint).join("\n") + "\n"
}

/// Candidate in JSON and CSV.
#[derive(Serialize)]
struct Row<'a> {
    scheme: &'a str,
    derivation: Option<&'a str>,
    family: &'a str,
    multiplier: Option<i32>,
    shift: Option<i32>,
    explained: usize,
}

fn row<'a>(fingerprint: &'a Fingerprint, i: usize) -> Row<'a> {
    let Candidate { scheme, derivation, family, functions, .. } = &fingerprint.candidates[i];
    let channel = functions.first().and_then(|function| match function {
        Function::Fixed(_, channel) => Some(*channel),
        _ => None,
    });
    Row {
        scheme,
        derivation: *derivation,
        family: family.name(),
        multiplier: channel.map(|(m, _)| m),
        shift: channel.map(|(_, s)| s),
        explained: fingerprint.explained[i],
    }
}

fn as_json(observations: &Observations, fingerprint: &Fingerprint) -> Value {
    let groups = fingerprint.groups.iter().map(|group| {
        let candidates: Vec<Row> = group.members.iter().map(|i| row(fingerprint, *i)).collect();
        json!({"within": group.within, "candidates": candidates})
    });
    let excluded = fingerprint.excluded.iter().enumerate().filter_map(|(i, exclusion)| {
        let Exclusion { observation, expected } = (*exclusion)?;
        let at = &observations.rows[observation];
        let mut value = json!(row(fingerprint, i));
        let more = json!({"line": at.line, "x": at.x, "expected": expected, "observed": at.observed});
        value.as_object_mut()?.extend(more.as_object()?.clone());
        Some(value)
    });
    json!({
        "format": 1,
        "observations": observations.rows.len(),
        "consistent": fingerprint.is_consistent(),
        "verdict": text::verdict(observations, fingerprint),
        "groups": groups.collect::<Vec<_>>(),
        "excluded": excluded.collect::<Vec<_>>(),
        "next": fingerprint.next.as_ref().map(|next| next_json(observations, next)),
    })
}

fn next_json(observations: &Observations, next: &Next) -> Value {
    let setting = &observations.settings[next.setting];
    let parameters = match &setting.parameters {
        Parameters::Multiplier { multiplier, shift } => json!({"multiplier": multiplier, "shift": shift}),
        Parameters::Scales { written: [si, sw, so], .. } => json!({"si": si, "sw": sw, "so": so}),
    };
    let output = &setting.output;
    json!({
        "x": next.x, "parameters": parameters, "zero_point": output.zero_point, "min": output.min, "max": output.max,
        "outputs": next.outputs,
    })
}

/// Writes a line for each candidate, with its group, or with the observation that excludes it.
fn as_csv(observations: &Observations, fingerprint: &Fingerprint) -> Result<String> {
    const HEADER: &str = "scheme,derivation,family,multiplier,shift,explained,group,line,x,expected,observed";
    fn cell(value: Option<impl ToString>) -> String {
        value.map_or_else(String::new, |value| value.to_string())
    }
    let record = |i: usize| {
        let Row { scheme, derivation, family, multiplier, shift, explained } = row(fingerprint, i);
        let group = fingerprint.groups.iter().position(|group| group.members.contains(&i)).map(|at| at + 1);
        let exclusion = fingerprint.excluded[i];
        let at = exclusion.map(|e| observations.rows[e.observation]);
        let derived = [scheme.to_owned(), cell(derivation), family.to_owned(), cell(multiplier), cell(shift)];
        let found = [explained.to_string(), cell(group), cell(at.map(|row| row.line)), cell(at.map(|row| row.x))];
        let results = [cell(exclusion.and_then(|e| e.expected)), cell(at.map(|row| row.observed))];
        derived.into_iter().chain(found).chain(results)
    };
    csv_of(HEADER.split(','), (0..fingerprint.candidates.len()).map(record))
}
