//! `audit`: do the results of a model change if the runtime changes, where, and by how much?

mod answer;
mod page;
mod rows;
mod table;

use super::print;
use crate::audit::report::Comparison;
use crate::audit::{self, RUNTIMES, Rescaling, Runtime, Side};
use crate::model;
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::path::PathBuf;
use tiebreak_common::called;
use tiebreak_oracle::derivation::{DERIVATIONS, Derivation, floats};

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = names())]
pub(super) struct Args {
    /// The model, a .tflite or an .onnx file with 8-bit layers
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Compare two schemes instead of runtimes: left scheme of every layer, NAME or NAME:POLICY of fixed point multiply, or a scheme in
    /// floats
    #[arg(long, value_name = "SCHEME", requires = "right", conflicts_with_all = ["from", "to"], value_parser = rescaling)]
    left: Option<Rescaling>,
    /// Right scheme of every layer; deltas are right - left
    #[arg(long, value_name = "SCHEME", requires = "left", value_parser = rescaling)]
    right: Option<Rescaling>,
    /// Derivation of multipliers from scales, for both schemes [default: f64, and f32 for a scheme in floats of 32 bits]
    #[arg(long, value_name = "NAME", requires = "left", value_parser = derivation)]
    derivation: Option<&'static Derivation>,
    /// Runtime whose results are known [default: tflite-reference, and onnxruntime for an .onnx file]
    #[arg(long, value_name = "RUNTIME", value_parser = runtime)]
    from: Option<&'static Runtime>,
    /// Runtimes to change to [default: xnnpack,cmsis-nn,tvm, and tflite-reference,tvm for an .onnx file]
    #[arg(long, value_name = "RUNTIME,..", value_delimiter = ',', value_parser = runtime)]
    to: Vec<&'static Runtime>,
    /// Exit with 1 if a comparison changes a result, and with 2 if a comparison has no layer
    #[arg(long)]
    fail_if_changed: bool,
    /// Output format; CSV has one line for each channel and comparison, HTML is one page that needs no network
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A summary for the terminal, of at most 100 columns unless a name is longer.
    Table,
    /// JSON, for programs.
    Json,
    /// CSV, for spreadsheets.
    Csv,
    /// A page for a browser.
    Html,
}

fn rescaling(text: &str) -> Result<Rescaling, String> {
    Rescaling::parse(text).map_err(|unknown| {
        format!("{unknown}; `{} schemes` lists those of fixed point, --help those in floats", called::program())
    })
}

fn runtime(text: &str) -> Result<&'static Runtime, String> {
    Runtime::find(text).map_err(|unknown| format!("{unknown}; --help lists them"))
}

fn derivation(text: &str) -> Result<&'static Derivation, String> {
    Derivation::find(text).map_err(|unknown| format!("{unknown}; --help lists them"))
}

/// The names that the options take.
fn names() -> String {
    let runtimes = RUNTIMES.iter().map(|r| (r.name, format!("{} ({})", r.summary, r.version)));
    let floats = floats::DEFINITIONS.iter().map(|d| (d.name, d.summary.to_owned()));
    let derivations = DERIVATIONS.iter().map(|d| (d.name, d.summary.to_owned()));
    let list = |title: &str, all: Vec<(&str, String)>| {
        let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: Vec<String> = all.iter().map(|(name, summary)| format!("  {name:width$}  {summary}\n")).collect();
        format!("{title}:\n{}", lines.concat())
    };
    [
        list("Runtimes", runtimes.collect()),
        list("Schemes in floats", floats.collect()),
        list("Derivations of the multiplier", derivations.collect()),
    ]
    .join("\n")
}

/// Prints the audit. False if a result changes and the caller asked for that; an error if nothing was compared.
pub(super) fn run(args: &Args) -> Result<bool> {
    let bytes = model::load(&args.model)?;
    let (left, right) = sides(args, model::is_tflite(&bytes));
    let audit = audit::audit(&args.model, &bytes, left, &right)?;
    let empty: Vec<&Comparison> = audit.comparisons.iter().filter(|c| c.layers.is_empty()).collect();
    if empty.len() == audit.comparisons.len() || args.fail_if_changed && !empty.is_empty() {
        bail!("{}: {}", args.model.display(), answer::nothing(&audit, &empty));
    }
    print(&match args.format {
        Format::Table => table::render(&audit),
        Format::Json => serde_json::to_string_pretty(&audit)? + "\n",
        Format::Csv => rows::csv(&audit)?,
        Format::Html => page::render(&audit)?,
    })?;
    Ok(!args.fail_if_changed || audit.comparisons.iter().all(|c| c.totals.differ == 0))
}

/// What is compared: two schemes, or runtimes.
fn sides(args: &Args, tflite: bool) -> (Side, Vec<Side>) {
    let named = |names: &[&str]| names.iter().map(|name| Runtime::find(name).expect("a runtime")).collect::<Vec<_>>();
    if let Some((left, right)) = args.left.zip(args.right) {
        let scheme = |rescaling: Rescaling| {
            let usual = match rescaling {
                Rescaling::Float(definition) if definition.name.starts_with("f32") => "f32",
                _ => "f64",
            };
            let usual = Derivation::find(usual).expect("a derivation");
            Side::Scheme(rescaling, args.derivation.unwrap_or(usual))
        };
        return (scheme(left), vec![scheme(right)]);
    }
    let (from, to): (&str, &[&str]) = if tflite {
        ("tflite-reference", &["xnnpack", "cmsis-nn", "tvm"])
    } else {
        ("onnxruntime", &["tflite-reference", "tvm"])
    };
    let from = args.from.unwrap_or_else(|| named(&[from])[0]);
    let to = if args.to.is_empty() { named(to) } else { args.to.clone() };
    (Side::Runtime(from), to.into_iter().map(Side::Runtime).collect())
}
