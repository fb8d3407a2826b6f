//! An explanation as a table, as JSON and as CSV.

use crate::cli::{Listing, print, table};
use crate::explain::{Comparison, Explained, Party, words};
use crate::fraction::{both, decimal, signed};
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_oracle::Rational;
use tiebreak_oracle::fpm::{Effect, Traced};

/// What is printed.
pub(super) struct Shown<'a> {
    pub(super) op: &'static str,
    pub(super) input: Vec<(&'static str, Value)>,
    pub(super) explained: &'a Explained,
}

/// Prints it.
pub(super) fn show(shown: &Shown<'_>, format: Listing) -> Result<()> {
    print(&match format {
        Listing::Table => as_table(shown),
        Listing::Json => serde_json::to_string_pretty(&as_json(shown))? + "\n",
        Listing::Csv => as_csv(shown)?,
    })
}

fn result(party: &Party) -> String {
    party.value.map_or("out of domain".to_owned(), |v| v.to_string())
}

fn as_table(Shown { op, input, explained }: &Shown<'_>) -> String {
    let input: Vec<String> = input.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut out = format!("{op} {}\nexact  {}\n", input.join(" "), both(&explained.exact));
    for party in &explained.parties {
        out += &format!("\n{}\n", party.name);
        out += &party.steps_of.as_ref().map_or_else(String::new, |s| format!("  {s}\n"));
        let steps = party.trace.iter().flat_map(|t| &t.steps);
        let value = |v: &Option<Rational>| v.as_ref().map_or("none".to_owned(), both);
        let rows = steps.map(|t| vec![t.name.to_string(), value(&t.after), words::effect(t)]);
        out += &table(&["step", "exact value behind it", "what was lost"], rows.collect());
        let off = party.error().filter(|e| *e != 0);
        let off = off.map_or_else(String::new, |e| format!(", {} from exact", signed(&e)));
        out += &format!(" result  {}{off}\n", result(party));
    }
    for Comparison { sentence, because, .. } in &explained.comparisons {
        out += &format!("\n{sentence}\n");
        out += &because.as_ref().map_or_else(String::new, |b| format!("  {b}\n"));
    }
    out
}

fn number(v: &Rational) -> Value {
    json!({"fraction": v.to_string(), "decimal": decimal(v)})
}

fn step(t: &Traced) -> Value {
    let mut out = json!({
        "step": t.name, "before": number(&t.before), "after": t.after.as_ref().map(number),
        "effect": words::effect_name(t), "by": t.change().map(|by| by.to_string()),
    });
    if let Effect::Rounded { rule, bit, tie } = &t.effect {
        out["rule"] = json!(rule.name());
        out["bit"] = json!(bit);
        out["tie"] = json!(tie);
    }
    out
}

fn as_json(Shown { op, input, explained }: &Shown<'_>) -> Value {
    let party = |p: &Party| {
        let steps: Option<Vec<Value>> = p.trace.as_ref().map(|t| t.steps.iter().map(step).collect());
        let error = p.error().map(|e| e.to_string());
        json!({"name": p.name, "result": p.value, "error": error, "steps_of": p.steps_of, "steps": steps})
    };
    let comparison = |c: &Comparison| {
        let [left, right] = [c.left, c.right].map(|at| &explained.parties[at]);
        json!({
            "left": left.name, "right": right.name, "left_value": left.value, "right_value": right.value,
            "class": c.class, "because": c.because, "sentence": c.sentence,
        })
    };
    let input: serde_json::Map<String, Value> = input.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    json!({
        "op": op, "input": input, "exact": number(&explained.exact),
        "parties": explained.parties.iter().map(party).collect::<Vec<_>>(),
        "comparisons": explained.comparisons.iter().map(comparison).collect::<Vec<_>>(),
    })
}

fn as_csv(Shown { explained, .. }: &Shown<'_>) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["party", "step", "name", "before", "after", "effect", "by", "bit", "tie", "result"])?;
    for party in &explained.parties {
        for (at, t) in party.trace.iter().flat_map(|t| t.steps.iter().enumerate()) {
            let (bit, tie) = match &t.effect {
                Effect::Rounded { bit, tie, .. } => (bit.to_string(), tie.to_string()),
                _ => Default::default(),
            };
            let text = |v: Option<&Rational>| v.map_or_else(String::new, Rational::to_string);
            writer.write_record([
                &party.name,
                &(at + 1).to_string(),
                t.name.as_ref(),
                &t.before.to_string(),
                &text(t.after.as_ref()),
                words::effect_name(t),
                &text(t.change().as_ref()),
                &bit,
                &tie,
                &result(party),
            ])?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
