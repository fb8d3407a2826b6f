//! `audit`: results of a model that change if the runtime changes, with places and amounts.

mod answer;
mod page;
mod rows;
mod table;

use super::{note, print, shards};
use crate::audit::report::Comparison;
use crate::audit::{self, RUNTIMES, Rescaling, Runtime, Side};
use crate::model;
use anyhow::{Error, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use tiebreak_common::called;
use tiebreak_oracle::derivation::{DERIVATIONS, Derivation, floats, real};

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = names())]
pub(super) struct Args {
    /// Models, each a .tflite or an .onnx file with 8-bit layers
    #[arg(value_name = "MODEL", required = true)]
    pub(super) models: Vec<PathBuf>,
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
    /// Output format; CSV has one line for each channel and comparison, HTML is one page of one model that needs no network
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: Format,
    /// Directory of the file of a shard
    #[arg(long, value_name = "DIR", default_value = "tiebreak-out", requires = "shard")]
    pub(super) out: PathBuf,
    #[command(flatten)]
    pub(super) shards: shards::Options,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(super) enum Format {
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

/// Lists the names that the options accept.
fn names() -> String {
    let runtimes = RUNTIMES.iter().map(|r| (r.name, format!("{} ({})", r.summary, r.version)));
    let floats = floats::DEFINITIONS.iter().map(|d| (d.name, d.summary.to_owned()));
    let reals = real::DEFINITIONS.iter().map(|d| (d.name, d.summary.to_owned()));
    let derivations = DERIVATIONS.iter().map(|d| (d.name, d.summary.to_owned()));
    let list = |title: &str, all: Vec<(&str, String)>| {
        let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines: Vec<String> = all.iter().map(|(name, summary)| format!("  {name:width$}  {summary}\n")).collect();
        format!("{title}:\n{}", lines.concat())
    };
    [
        list("Runtimes", runtimes.collect()),
        list("Schemes in floats", floats.collect()),
        list("Schemes in real numbers", reals.collect()),
        list("Derivations of the multiplier", derivations.collect()),
    ]
    .join("\n")
}

/// Printable audit of one model.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Answer {
    text: String,
    /// True if a comparison changes a result and the caller asked to fail then.
    fails: bool,
}

/// Prints the audits. Returns false if a result changes and the caller asked to fail then.
/// If nothing was compared in a model, the function returns an error after the other models.
pub(super) fn run(args: &Args) -> Result<bool> {
    if args.format == Format::Html && args.models.len() > 1 {
        bail!("--format html is a page of one model: name one, or choose another format");
    }
    if let Some(shard) = args.shards.shard {
        return shards::audit(args, shard).map(|()| true);
    }
    let (mut printed, mut first) = (Printed::new(args.format), None::<Error>);
    for model in &args.models {
        match answer(args, model) {
            Ok(answer) => printed.print(&answer)?,
            Err(error) if args.models.len() == 1 => return Err(error),
            Err(error) => {
                note(&format!("{error:#}"));
                first = first.or(Some(error));
            }
        }
    }
    first.map_or(Ok(!printed.fails), Err)
}

/// Audits one model.
pub(super) fn answer(args: &Args, model: &Path) -> Result<Answer> {
    let bytes = model::load(model)?;
    let (left, right) = sides(args, model::is_tflite(&bytes));
    let audit = audit::audit(model, &bytes, left, &right)?;
    let empty: Vec<&Comparison> = audit.comparisons.iter().filter(|c| c.layers.is_empty()).collect();
    if empty.len() == audit.comparisons.len() || args.fail_if_changed && !empty.is_empty() {
        bail!("{}: {}", model.display(), answer::nothing(&audit, &empty));
    }
    let text = match args.format {
        Format::Table => table::render(&audit),
        Format::Json => serde_json::to_string_pretty(&audit)? + "\n",
        Format::Csv => rows::csv(&model.display().to_string(), &audit)?,
        Format::Html => page::render(&audit)?,
    };
    Ok(Answer { text, fails: args.fail_if_changed && audit.comparisons.iter().any(|c| c.totals.differ > 0) })
}

/// Printer of several audits: separate tables, consecutive JSON documents, or one CSV.
pub(super) struct Printed {
    format: Format,
    any: bool,
    /// True if an audit fails.
    pub(super) fails: bool,
}

impl Printed {
    /// Creates a printer without output.
    pub(super) fn new(format: Format) -> Self {
        Self { format, any: false, fails: false }
    }

    /// Prints the next audit.
    pub(super) fn print(&mut self, answer: &Answer) -> Result<()> {
        let text = &answer.text;
        let (before, text) = match self.format {
            Format::Table if self.any => ("\n", text.as_str()),
            Format::Csv if self.any => ("", text.split_once('\n').map_or("", |(_, rows)| rows)),
            _ => ("", text.as_str()),
        };
        self.any = true;
        self.fails |= answer.fails;
        print(&format!("{before}{text}"))
    }
}

/// Returns the sides of the comparisons: two schemes, or runtimes.
fn sides(args: &Args, tflite: bool) -> (Side, Vec<Side>) {
    let named = |names: &[&str]| names.iter().map(|name| Runtime::find(name).expect("a runtime")).collect::<Vec<_>>();
    if let Some((left, right)) = args.left.zip(args.right) {
        let scheme = |rescaling: Rescaling| {
            let usual = match rescaling {
                Rescaling::Real(_) => "exact",
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
