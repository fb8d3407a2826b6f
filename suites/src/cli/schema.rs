//! `schema`: JSON Schemas of the forms of `--format json`.

use super::print;
use anyhow::Result;
use clap::ValueEnum;

/// A form that a command prints as JSON, or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The file `ledger.json`.
    Ledger,
    /// What `verify` and `show` print.
    Verify,
    /// What `diff` prints.
    Diff,
    /// A line of `eval`.
    Eval,
    /// A line of `judge`.
    Judge,
    /// What `identify` prints.
    Identify,
    /// What `fingerprint` prints.
    Fingerprint,
}

/// Arguments of `schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Form
    #[arg(value_name = "NAME")]
    form: Form,
}

/// Prints the schema.
pub(super) fn run(args: &Args) -> Result<()> {
    print(match args.form {
        Form::Ledger => include_str!("../schemas/ledger.json"),
        Form::Verify => include_str!("../schemas/verify.json"),
        Form::Diff => include_str!("../schemas/diff.json"),
        Form::Eval => include_str!("../schemas/eval.json"),
        Form::Judge => include_str!("../schemas/judge.json"),
        Form::Identify => include_str!("../schemas/identify.json"),
        Form::Fingerprint => include_str!("../schemas/fingerprint.json"),
    })
}
