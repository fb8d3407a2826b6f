//! `vectors`: a few test vectors of a scheme, for tests that run without this program.
//!
//! `--format json` prints an object:
//!
//! ```json
//! {
//!   "op": "requantize", "scheme": "gemmlowp-double:wrap", "seed": 1,
//!   "bytes": 568, "results": 47,                  // sums over all vectors
//!   "mutants": {"reached": 5, "of": 5},           // known bugs that claim the scheme
//!   "not_detected": [{"mutant": NAME, "why": TEXT}],
//!   "schemes": {"reached": 57, "of": 57},         // other schemes that differ on some candidate
//!   "causes": {"reached": 201, "of": 201},        // causes of differences that are visible on some candidate
//!   "faulty": "tflite-requantize-i8",             // kernel with injected local faults, or null
//!   "faults": {"reached": 19, "of": 119},
//!   "vectors": [{
//!     "op": .., "scheme": .., "type": "i8", "case": TEXT, "expected": [..],   // fields of a line of `judge`
//!     "detects": [NAME], "excludes": [SCHEME], "causes": 12, "bytes": 84
//!   }]
//! }
//! ```

mod c;
mod files;
mod npy;
mod onnx;
mod text;

use super::{csv_of, note, plain, print, table};
use crate::engine::vectors::{Fits, Share, Vector, Vectors, Wanted};
use crate::verify::{OPERATIONS, OPS};
use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use tiebreak_common::called;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::text::{case, count, plural};

/// Arguments of `vectors`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Operation
    #[arg(long, value_name = "NAME")]
    op: String,
    /// Scheme, NAME or NAME:POLICY [without a policy: only results that fit, so that each policy gives them]
    #[arg(long, value_name = "NAME")]
    scheme: String,
    /// Kernel in whose domain the vectors are [default: the domains of the known bugs that promise the scheme]
    #[arg(long, value_name = "KERNEL")]
    like: Option<String>,
    /// Vectors at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Bytes of operands, parameters and results of all vectors at most
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    bytes: u32,
    /// Seed of the plans from which inputs are chosen
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    /// Directory for the files of npy and onnx, which is made
    #[arg(long, value_name = "DIR", required_if_eq_any([("format", "npy"), ("format", "onnx")]))]
    out: Option<PathBuf>,
}

/// Output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A table for the terminal.
    Table,
    /// A header for C11 and C++11, with functions that test a kernel; it includes tiebreak.h.
    CHeader,
    /// JSON, for programs.
    Json,
    /// CSV, a line for each vector, as `eval` and `judge` read it; `id` has the known bugs that it detects.
    Csv,
    /// Arrays of numpy in files, with `cases.jsonl`, which `eval` and `judge` read.
    Npy,
    /// Node tests of ONNX, which `eval` and `judge` read, of schemes that an operator of ONNX has.
    Onnx,
    /// Constants for Rust.
    Rust,
}

/// Prints the vectors.
pub(super) fn run(args: &Args) -> Result<()> {
    let op = OPERATIONS.iter().find(|op| op.op() == args.op);
    let op = op.ok_or_else(|| anyhow!(unknown("operation", &args.op, OPS.iter().copied())))?;
    if args.out.is_some() && !matches!(args.format, Form::Npy | Form::Onnx) {
        bail!("--out is the directory for --format npy and onnx; other formats are printed");
    }
    if args.format == Form::Onnx {
        onnx::check(&args.op, &args.scheme)?;
    }
    let fits = match args.format {
        Form::CHeader => Some(c::fits as Fits),
        Form::Onnx => Some(onnx::fits as Fits),
        _ => None,
    };
    let wanted = Wanted {
        scheme: args.scheme.clone(),
        like: args.like.clone(),
        count: args.count as usize,
        bytes: args.bytes as usize,
        seed: args.seed,
        fits,
    };
    let vectors = op.vectors(&wanted)?;
    match args.format {
        Form::Table => print(&as_table(&vectors)),
        Form::CHeader => print(&c::header(&vectors, &again(args))?),
        Form::Json => print(&(serde_json::to_string_pretty(&as_json(&vectors, args.seed))? + "\n")),
        Form::Rust => print(&text::rust(&vectors, &again(args))),
        Form::Csv => {
            note(&summary(&vectors));
            print(&as_csv(&vectors)?)
        }
        Form::Npy => written(args, &vectors, &npy::files(&vectors)?),
        Form::Onnx => written(args, &vectors, &onnx::files(&vectors)?),
    }
}

/// Writes files, and prints their coverage and instructions for reading.
fn written(args: &Args, vectors: &Vectors, files: &files::Files) -> Result<()> {
    let directory = args.out.as_deref().ok_or_else(|| anyhow!("--out: missing; name the directory for the files"))?;
    if vectors.vectors.is_empty() {
        bail!("no vector fits: {}", summary(vectors));
    }
    files::write(directory, files)?;
    let cases = if args.format == Form::Npy { directory.join("cases.jsonl") } else { directory.to_owned() };
    let cases = cases.display().to_string();
    let cases = shlex::try_quote(&cases).map_or_else(|_| cases.clone(), std::borrow::Cow::into_owned);
    print(&format!(
        "{}\n{}; read by: {} judge --cases {cases}\n",
        summary(vectors),
        plural(files.len(), "file"),
        called::program()
    ))
}

/// Returns the command that prints the vectors again, without the format.
fn again(args: &Args) -> String {
    let like = args.like.as_ref().map_or_else(String::new, |kernel| format!(" --like {kernel}"));
    let Args { op, scheme, count, bytes, seed, .. } = args;
    format!("tiebreak vectors --op {op} --scheme {scheme}{like} --count {count} --bytes {bytes} --seed {seed}")
}

fn of(share: Share, what: &str) -> String {
    format!("{} of {}", share.reached, plural(share.of, what))
}

/// Describes how many of the faults injected in a kernel the vectors detect.
fn injected(vectors: &Vectors) -> String {
    let kernel = |kernel: &str| {
        format!(
            "; of the faults injected at one place of {kernel}, they detect {} of {}; `verify` has more inputs",
            vectors.faults.reached, vectors.faults.of
        )
    };
    vectors.faulty.map_or_else(String::new, kernel)
}

/// Describes the coverage of the vectors, and its gaps.
fn summary(vectors: &Vectors) -> String {
    let size = format!(
        "{}, {}, {} bytes",
        plural(vectors.vectors.len(), "vector"),
        plural(vectors.results(), "result"),
        count(vectors.bytes() as u64)
    );
    let mut out = format!(
        "{} {}: {size}; they detect {}, and tell the scheme from {} and from {}{}",
        vectors.op,
        vectors.scheme,
        of(vectors.mutants, "known bug"),
        of(vectors.schemes, "other scheme"),
        of(vectors.causes, "cause"),
        injected(vectors),
    );
    for unreached in &vectors.unreached {
        out += &format!("\nnot detected: {}: {}", unreached.mutant, unreached.why);
    }
    out
}

fn as_table(vectors: &Vectors) -> String {
    let mut out = summary(vectors) + "\n";
    let rows: Vec<Vec<String>> = vectors.vectors.iter().enumerate().map(row).collect();
    if !rows.is_empty() {
        out += &format!("\n{}", table(&["", "schemes", "causes", "bytes", "detects", "case"], rows));
    }
    out
}

fn row((at, vector): (usize, &Vector)) -> Vec<String> {
    vec![
        at.to_string(),
        vector.excludes.len().to_string(),
        vector.causes.to_string(),
        vector.bytes.to_string(),
        vector.detects.join(", "),
        typed(vector),
    ]
}

/// Formats a case with the types of its elements.
fn typed(vector: &Vector) -> String {
    let types = vector.types.as_ref().map_or_else(String::new, |types| format!("{types}: "));
    types + &case(&vector.case)
}

fn as_json(vectors: &Vectors, seed: u64) -> Json {
    let share = |share: Share| json!({"reached": share.reached, "of": share.of});
    let one = |vector: &Vector| {
        let mut line = json!({
            "op": vectors.op, "scheme": vectors.scheme, "case": case(&vector.case),
            "expected": text::values(&vector.expected), "detects": vector.detects, "excludes": vector.excludes,
            "causes": vector.causes, "bytes": vector.bytes,
        });
        if let Some(types) = &vector.types {
            line["type"] = json!(types);
        }
        line
    };
    let unreached = vectors.unreached.iter().map(|one| json!({"mutant": one.mutant, "why": one.why}));
    json!({
        "op": vectors.op, "scheme": vectors.scheme, "seed": seed, "bytes": vectors.bytes(),
        "results": vectors.results(), "mutants": share(vectors.mutants), "schemes": share(vectors.schemes),
        "causes": share(vectors.causes), "faults": share(vectors.faults), "faulty": vectors.faulty, "not_detected": unreached.collect::<Vec<_>>(),
        "vectors": vectors.vectors.iter().map(one).collect::<Vec<_>>(),
    })
}

fn as_csv(vectors: &Vectors) -> Result<String> {
    let record = |vector: &Vector| {
        let expected: Vec<String> = text::values(&vector.expected).iter().map(plain).collect();
        [
            vectors.op.to_owned(),
            vectors.scheme.clone(),
            vector.types.clone().unwrap_or_default(),
            case(&vector.case),
            expected.join(" "),
            vector.detects.join(" "),
        ]
    };
    csv_of(["op", "scheme", "type", "case", "expected", "id"], vectors.vectors.iter().map(record))
}
