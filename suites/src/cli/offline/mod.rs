//! `eval` and `judge`: one process handles many cases of a file, one case a line.

mod blocks;
mod chain;
mod lines;
mod onnx;
mod table;
mod tensors;

pub(super) use tensors::elements;
mod tosa;

pub(super) use onnx::permuted;

use super::{Format, note, plain, print};
use crate::engine::offline::{Bench, Cause, Difference, Line, Verdict};
use crate::operation::CaseError;
use crate::verify::OPERATIONS;
use anyhow::{Result, bail};
use lines::{Numbered, chunks};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tiebreak_reports::ledger::Value;
use tiebreak_reports::text::{count, plural};

/// Arguments of `eval`.
#[derive(Debug, clap::Args)]
pub(super) struct EvalArgs {
    /// File of cases: JSON lines, a table (.csv), or the directory of node tests of ONNX or of tests of TOSA; `-` is JSON lines of standard input
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// Print the exact value of each result too, which nothing has rounded, wrapped or clamped, as a fraction
    #[arg(long)]
    exact: bool,
}

/// Arguments of `judge`.
#[derive(Debug, clap::Args)]
pub(super) struct JudgeArgs {
    /// File of cases with results: JSON lines, a table (.csv), or the directory of node tests of ONNX or of tests of TOSA; `-` is JSON lines of standard input
    #[arg(long, value_name = "FILE")]
    cases: PathBuf,
    /// Differing lines to print in the table
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,
    /// Output format; JSON has one verdict for each line, then the summary
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

fn benches() -> BTreeMap<&'static str, Bench> {
    OPERATIONS.iter().map(|op| (op.op(), op.bench())).collect()
}

/// Formats a value as JSON: a number if JSON can express it, otherwise a text such as `inf`.
pub(super) fn value(value: &Value) -> Json {
    match value {
        Value::Integer(v) => json!(v),
        Value::Text(text) => {
            serde_json::from_str::<serde_json::Number>(text).map_or_else(|_| json!(text), Json::Number)
        }
    }
}

/// Builds the printed object of a line, with the caller's `id`.
fn object(number: usize, id: Option<&Json>, rest: Json) -> String {
    let mut out = json!({"line": number});
    if let Some(id) = id {
        out["id"] = id.clone();
    }
    if let Json::Object(rest) = rest {
        rest.into_iter().for_each(|(key, value)| out[key] = value);
    }
    format!("{out}\n")
}

/// Evaluates a line by the oracle, with exact values if requested.
fn evaluated(bench: &Bench, line: &Line, exact: bool) -> Result<Json, CaseError> {
    let listed = |all: &[Option<Value>]| all.iter().map(|v| v.as_ref().map_or(Json::Null, value)).collect::<Vec<_>>();
    if !exact {
        return Ok(json!({"results": listed(&bench.eval(line)?)}));
    }
    let (results, exact) = bench.exact(line)?;
    let mut out = json!({"results": listed(&results)});
    if let Some(exact) = exact {
        out["exact"] = json!(exact);
    }
    Ok(out)
}

/// Prints the oracle's results for each line. Fails at the end if a line could not be read.
pub(super) fn eval(args: &EvalArgs) -> Result<()> {
    let benches: BTreeMap<&str, _> = OPERATIONS.iter().map(|op| (op.op(), op)).collect();
    let mut refused = 0;
    chunks(&args.cases, |lines| {
        let one = |(number, line): &Numbered| {
            let results = line.as_ref().map_err(String::clone).and_then(|line| {
                let bench = benches[line.op.as_str()].bench();
                evaluated(&bench, line, args.exact).map_err(|error| error.to_string())
            });
            let id = line.as_ref().ok().and_then(|line| line.id.as_ref());
            match results {
                Ok(results) => (object(*number, id, results), false),
                Err(error) => (object(*number, id, json!({"error": error})), true),
            }
        };
        let all: Vec<(String, bool)> = lines.par_iter().map(one).collect();
        refused += all.iter().filter(|(_, refused)| *refused).count();
        print(&all.into_iter().map(|(text, _)| text).collect::<String>())
    })?;
    if refused > 0 {
        bail!("{}: {} not read; each says why in its `error`", args.cases.display(), lines_of(refused));
    }
    Ok(())
}

fn lines_of(n: usize) -> String {
    if n == 1 { "1 line was".to_owned() } else { format!("{} lines were", count(n as u64)) }
}

/// Counts over all lines.
#[derive(Default)]
struct Summary {
    equal: u64,
    differ: u64,
    not_compared: u64,
    refused: u64,
    results: u64,
    /// Rows of the table.
    rows: Vec<Vec<String>>,
    /// Refused lines with their reasons.
    reasons: Vec<String>,
}

/// Judges each line. Returns true if no line differs and something was compared.
pub(super) fn judge(args: &JudgeArgs) -> Result<bool> {
    let (mut benches, mut summary) = (benches(), Summary::default());
    chunks(&args.cases, |lines| {
        let verdicts = judged(&mut benches, &lines);
        let mut out = String::new();
        for ((number, line), verdict) in lines.iter().zip(verdicts) {
            let id = line.as_ref().ok().and_then(|line| line.id.as_ref());
            let described = summary.add(*number, id, &verdict, args.most);
            if args.format == Format::Json {
                out += &object(*number, id, described);
            }
        }
        print(&out)
    })?;
    let causes: Vec<Cause> = benches.values().flat_map(|bench| bench.causes()).collect();
    print(&match args.format {
        Format::Json => format!("{}\n", json!({"summary": summary.json(&causes)})),
        Format::Table => summary.table(&causes),
    })?;
    if summary.refused > 0 {
        bail!("{}: {} not judged", args.cases.display(), lines_of(summary.refused as usize));
    }
    let compared = summary.equal + summary.differ;
    if compared == 0 {
        note("no result was compared: the schemes give no value to any of them, or every expected result is null");
    }
    Ok(summary.differ == 0 && compared > 0)
}

/// Returns the verdicts in the order of the lines. Each operation judges all of its lines at once.
fn judged(benches: &mut BTreeMap<&'static str, Bench>, lines: &[Numbered]) -> Vec<Result<Verdict, String>> {
    let mut out: Vec<Result<Verdict, String>> =
        lines.iter().map(|(_, line)| Err(line.as_ref().err().cloned().unwrap_or_default())).collect();
    for (op, bench) in benches {
        let of_op = |(at, (_, line)): (usize, &'_ Numbered)| line.as_ref().is_ok_and(|l| l.op == *op).then_some(at);
        let places: Vec<usize> = lines.iter().enumerate().filter_map(of_op).collect();
        let own: Vec<&Line> = places.iter().filter_map(|at| lines[*at].1.as_ref().ok()).collect();
        for (at, verdict) in places.into_iter().zip(bench.judge(&own)) {
            out[at] = verdict.map_err(|error| error.to_string());
        }
    }
    out
}

fn difference(first: &Difference) -> Json {
    json!({"at": first.at, "got": value(&first.got), "expected": value(&first.expected)})
}

impl Summary {
    /// Counts and describes a line.
    fn add(&mut self, number: usize, id: Option<&Json>, verdict: &Result<Verdict, String>, most: usize) -> Json {
        let verdict = match verdict {
            Ok(verdict) => verdict,
            Err(error) => {
                self.refused += 1;
                if self.reasons.len() < most {
                    let id = id.map_or_else(String::new, |id| format!(" (id {})", plain(id)));
                    self.reasons.push(format!("  line {number}{id}: {error}\n"));
                }
                return json!({"verdict": "refused", "error": error});
            }
        };
        self.results += verdict.compared;
        let Some(first) = &verdict.first else {
            let equal = verdict.compared > 0;
            *(if equal { &mut self.equal } else { &mut self.not_compared }) += 1;
            return json!({"verdict": if equal { "equal" } else { "not-compared" }});
        };
        self.differ += 1;
        if self.rows.len() < most {
            let id = id.map_or_else(String::new, plain);
            let words = [number.to_string(), id, verdict.differ.to_string(), first.at.to_string()];
            self.rows.push(words.into_iter().chain([first.got.to_string(), first.expected.to_string()]).collect());
        }
        json!({
            "verdict": "differs", "compared": verdict.compared, "differ": verdict.differ, "first": difference(first),
        })
    }

    fn json(&self, causes: &[Cause]) -> Json {
        let cause = |cause: &Cause| {
            json!({
                "op": cause.op, "by": cause.by, "class": cause.class.to_string(), "because": cause.because,
                "differ": cause.differ, "case": cause.case, "witness": difference(&cause.witness),
            })
        };
        let Self { equal, differ, not_compared, refused, results, .. } = self;
        json!({
            "lines": equal + differ + not_compared + refused, "equal": equal, "differ": differ,
            "not_compared": not_compared, "refused": refused, "results": results,
            "causes": causes.iter().map(cause).collect::<Vec<_>>(),
        })
    }

    fn table(&self, causes: &[Cause]) -> String {
        let Self { equal, differ, not_compared, refused, results, rows, reasons } = self;
        let all = equal + differ + not_compared + refused;
        let mut out = format!("{}, {} compared: ", plural(all as usize, "line"), plural(*results as usize, "result"));
        out += &format!("{} equal, {} differ", plural(*equal as usize, "line"), count(*differ));
        out += &format!(", {} without a value to compare, {} refused\n", count(*not_compared), count(*refused));
        for Cause { op, by, class, because, differ, case, witness } in causes {
            let case = case.as_ref().map_or_else(String::new, |case| format!("{case} "));
            let (at, got, expected) = (witness.at, &witness.got, &witness.expected);
            let all = plural(*differ as usize, "differing result");
            out += &format!("\n{op} {by}: {all}, class {class}\n  {because}\n");
            out += &format!("  {case}at={at}: the file has {got}, {by} gives {expected}\n");
        }
        if !rows.is_empty() {
            let shown = format!("\nThe first {} of {} differing lines:\n", rows.len(), count(*differ));
            out +=
                &(shown + &super::table(&["line", "id", "differ", "at", "in the file", "by the scheme"], rows.clone()));
        }
        if !reasons.is_empty() {
            out += &format!("\nThe first {} of {}:\n", reasons.len(), plural(*refused as usize, "refused line"));
            out += &reasons.concat();
        }
        out
    }
}
