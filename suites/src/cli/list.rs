//! `kernels` and `schemes`.

use super::{Format, print, table};
use crate::listing;
use anyhow::Result;
use serde_json::{Value, json};

/// Arguments of `kernels` and `schemes`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Every kernel with its contract.
pub(super) fn kernels(args: &Args) -> Result<()> {
    let all = listing::kernels();
    if args.format == Format::Json {
        return print(&(serde_json::to_string_pretty(&all)? + "\n"));
    }
    let row = |k: &Value| -> Vec<String> {
        let text = |key: &str| k[key].as_str().unwrap_or("").to_owned();
        let promise = match k["overflow"].as_str() {
            Some("out-of-domain") | None => text("scheme"),
            Some(policy) => format!("{}:{policy}", text("scheme")),
        };
        vec![text("op"), text("kernel"), text("kind"), promise, text("domain"), text("source")]
    };
    print(&table(&["op", "kernel", "kind", "promises", "domain", "source"], all.iter().map(row).collect()))
}

/// Every scheme with its steps.
pub(super) fn schemes(args: &Args) -> Result<()> {
    let all = listing::schemes();
    if args.format == Format::Json {
        let one = |(op, s): &(&str, tiebreak_oracle::scheme::Described)| json!({"op": op, "scheme": s.name, "summary": s.summary, "source": s.source, "steps": s.steps});
        return print(&(serde_json::to_string_pretty(&all.iter().map(one).collect::<Vec<_>>())? + "\n"));
    }
    let rows = all.iter().map(|(op, s)| [op, s.name, s.summary, s.source].map(str::to_owned).to_vec());
    print(&table(&["op", "scheme", "what it is", "source"], rows.collect()))
}
