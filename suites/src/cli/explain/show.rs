//! Output of an explanation as a table, JSON or CSV.

use crate::cli::{Listing, csv_of, plain, table};
use crate::explain::Comparison;
use crate::explain::sheet::{self, Line, Row, Sheet};
use crate::fraction::{both, decimal, signed};
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_oracle::Rational;

/// Explanation to print.
pub(super) struct Shown {
    pub(super) op: &'static str,
    pub(super) input: Vec<(&'static str, Value)>,
    pub(super) sheet: Sheet,
}

/// Prints an explanation.
pub(super) fn show(shown: &Shown, format: Listing) -> Result<()> {
    format.print(|| as_table(shown), || as_json(shown), || as_csv(shown))
}

fn as_table(Shown { op, input, sheet }: &Shown) -> String {
    let input: Vec<String> = input.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let exact = sheet.exact.as_ref().map_or("none".to_owned(), both);
    let mut out = format!("{op} {}\n", input.join(" "));
    out += &sheet.notes.iter().map(|note| format!("  {note}\n")).collect::<String>();
    out += &format!("exact  {exact}\n");
    for row in &sheet.rows {
        out += &format!("\n{}\n", row.name);
        out += &row.steps_of.as_ref().map_or_else(String::new, |s| format!("  {s}\n"));
        let steps = row.steps.iter().flatten();
        let value = |l: &Line| l.after.as_ref().map_or("none".to_owned(), sheet::text);
        let rows: Vec<_> = steps.map(|l| vec![l.name.clone(), value(l), l.lost.clone()]).collect();
        if row.steps.is_some() {
            out += &table(&["step", "exact value after it", "what was lost"], rows);
        }
        let off = row.error.as_ref().filter(|e| **e != 0);
        let off = off.map_or_else(String::new, |e| format!(", {} from exact", signed(e)));
        out += &format!(" result  {}{off}\n", row.text);
    }
    for Comparison { sentence, because, left, right, .. } in &sheet.comparisons {
        out += &format!("\n{sentence}\n");
        // The cause of differences on other inputs explains nothing about equal results.
        let differs = sheet.rows[*left].result != sheet.rows[*right].result;
        out += &because.as_ref().filter(|_| differs).map_or_else(String::new, |b| format!("  {b}\n"));
    }
    out
}

fn number(v: &Rational) -> Value {
    json!({"fraction": v.to_string(), "decimal": decimal(v)})
}

fn step(line: &Line) -> Value {
    let mut out = json!({
        "step": line.name, "before": sheet::json(&line.before), "after": line.after.as_ref().map(sheet::json),
        "effect": line.effect, "by": line.change().map(|by| by.to_string()),
    });
    if let Some(rounding) = &line.rounding {
        out["rule"] = json!(rounding.rule);
        out["tie"] = json!(rounding.tie);
        for (name, value) in [("bit", rounding.bit.map(Value::from)), ("to", rounding.to.map(Value::from))] {
            if let Some(value) = value {
                out[name] = value;
            }
        }
    }
    out
}

fn as_json(Shown { op, input, sheet }: &Shown) -> Value {
    let party = |row: &Row| {
        let steps: Option<Vec<Value>> = row.steps.as_ref().map(|steps| steps.iter().map(step).collect());
        let error = row.error.as_ref().map(Rational::to_string);
        json!({"name": row.name, "result": row.result, "error": error, "steps_of": row.steps_of, "steps": steps})
    };
    let comparison = |c: &Comparison| {
        let [left, right] = [c.left, c.right].map(|at| &sheet.rows[at]);
        json!({
            "left": left.name, "right": right.name, "left_value": left.result, "right_value": right.result,
            "class": c.class, "because": c.because, "sentence": c.sentence,
        })
    };
    let input: serde_json::Map<String, Value> = input.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    json!({
        "op": op, "input": input, "notes": sheet.notes, "exact": sheet.exact.as_ref().map(number),
        "parties": sheet.rows.iter().map(party).collect::<Vec<_>>(),
        "comparisons": sheet.comparisons.iter().map(comparison).collect::<Vec<_>>(),
    })
}

fn as_csv(Shown { sheet, .. }: &Shown) -> Result<String> {
    let record = |row: &Row, at: usize, line: &Line| {
        let rounding = line.rounding.as_ref();
        [
            row.name.clone(),
            (at + 1).to_string(),
            line.name.clone(),
            sheet::fraction(&line.before),
            line.after.as_ref().map_or_else(String::new, sheet::fraction),
            line.effect.to_owned(),
            line.change().map_or_else(String::new, |by| by.to_string()),
            rounding.and_then(|r| r.bit).map_or_else(String::new, |bit| bit.to_string()),
            rounding.map_or_else(String::new, |r| r.tie.to_string()),
            row.text.clone(),
        ]
    };
    let steps = |row: &Row| -> Vec<_> {
        row.steps.iter().flatten().enumerate().map(|(at, line)| record(row, at, line)).collect()
    };
    let header = ["party", "step", "name", "before", "after", "effect", "by", "bit", "tie", "result"];
    csv_of(header, sheet.rows.iter().flat_map(steps))
}
