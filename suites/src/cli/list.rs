//! `kernels` and `schemes`: kernels with their contracts, and schemes with their steps.

use super::{Listing, csv_of, table};
use crate::listing;
use crate::verify::OPS;
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_oracle::names::unknown;
use tiebreak_oracle::scheme::Described;

/// Arguments of `kernels` and `schemes`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Operation to list [default: all]
    #[arg(value_name = "OP")]
    ops: Vec<String>,
    /// Operation to list, as OP; may be repeated
    #[arg(long, value_name = "NAME")]
    op: Vec<String>,
    /// Output format; CSV has one line for each kernel or scheme
    #[arg(long, value_enum, default_value = "table")]
    format: Listing,
}

impl Args {
    /// Returns a filter that is true for the requested operations. Fails for an unknown operation and names the nearest.
    fn asked(&self) -> Result<impl Fn(&str) -> bool> {
        let asked: Vec<&String> = self.ops.iter().chain(&self.op).collect();
        if let Some(other) = asked.iter().find(|op| !OPS.contains(&op.as_str())) {
            return Err(unknown("operation", other, OPS.iter().copied()).into());
        }
        Ok(move |op: &str| asked.is_empty() || asked.iter().any(|asked| *asked == op))
    }
}

/// Prints every kernel with its contract.
pub(super) fn kernels(args: &Args) -> Result<()> {
    let asked = args.asked()?;
    let mut all = listing::kernels();
    all.retain(|kernel| asked(kernel["op"].as_str().unwrap_or_default()));
    let row = |k: &Value| -> Vec<String> {
        let text = |key: &str| k[key].as_str().unwrap_or("").to_owned();
        let promise = match k["overflow"].as_str() {
            Some("out-of-domain") | None => text("scheme"),
            Some(policy) => format!("{}:{policy}", text("scheme")),
        };
        vec![text("op"), text("kernel"), text("kind"), promise, text("domain"), text("source")]
    };
    let header = ["op", "kernel", "kind", "promises", "domain", "source"];
    let rows = || all.iter().map(row);
    args.format.print(|| table(&header, rows().collect()), || &all, || csv_of(header, rows()))
}

/// Prints every scheme with its steps.
pub(super) fn schemes(args: &Args) -> Result<()> {
    let asked = args.asked()?;
    let mut all = listing::schemes();
    all.retain(|(op, _)| asked(op));
    let one = |(op, s): &(&str, Described)| json!({"op": op, "scheme": s.name, "summary": s.summary, "source": s.source, "steps": s.steps});
    let row = |(op, s): &(&str, Described)| {
        vec![(*op).to_owned(), s.name.to_owned(), s.summary.to_owned(), s.steps.join("; "), s.source.to_owned()]
    };
    let header = ["op", "scheme", "what it is", "steps", "source"];
    let rows = || all.iter().map(row);
    // The longest text comes last, because a pipe gets rows without folds, whose columns are padded.
    let table = || {
        let mut rows: Vec<_> = rows().collect();
        rows.iter_mut().for_each(|row| row.swap(3, 4));
        table(&["op", "scheme", "what it is", "source", "steps"], rows)
    };
    args.format.print(table, || all.iter().map(one).collect::<Vec<_>>(), || csv_of(header, rows()))
}
