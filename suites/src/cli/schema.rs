//! `schema`: JSON Schemas of the forms of `--format json`.

use super::print;
use anyhow::Result;
use clap::ValueEnum;

/// Defines the forms with a description of each.
macro_rules! forms {
    ($($(#[$about:meta])* $form:ident $name:literal,)*) => {
        /// A form that a command prints as JSON, or a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        enum Form {
            $($(#[$about])* $form,)*
        }

        impl Form {
            fn schema(self) -> &'static str {
                match self {
                    $(Self::$form => include_str!(concat!("../schemas/", $name, ".json")),)*
                }
            }
        }
    };
}

forms! {
    /// The file `ledger.json`.
    Ledger "ledger",
    /// What `verify` and `show` print.
    Verify "verify",
    /// What `diff` prints.
    Diff "diff",
    /// A line of `eval`.
    Eval "eval",
    /// A line of `judge`.
    Judge "judge",
    /// What `identify` prints.
    Identify "identify",
    /// What `fingerprint` prints.
    Fingerprint "fingerprint",
    /// What `kernels` prints.
    Kernels "kernels",
    /// What `schemes` prints.
    Schemes "schemes",
    /// What `mutants` prints.
    Mutants "mutants",
    /// What `corrupt` prints.
    Corrupt "corrupt",
    /// What `bounds` prints.
    Bounds "bounds",
    /// What `vectors` prints.
    Vectors "vectors",
    /// What `case` prints.
    Case "case",
    /// What `explain` prints.
    Explain "explain",
    /// What `audit` prints.
    Audit "audit",
    /// What `atlas` prints.
    Atlas "atlas",
    /// What `prove` prints.
    Prove "prove",
    /// What `prove --c` and `prove --ir` print.
    ProveCode "prove-code",
    /// What `prove --kernels` prints.
    ProveKernels "prove-kernels",
    /// What `prove --bounds` prints.
    ProveBounds "prove-bounds",
    /// A line of `census`.
    Census "census",
    /// A line of `census --space` and of `merge`.
    Space "space",
    /// What `plan` prints.
    Plan "plan",
    /// What `check-type` prints.
    CheckType "check-type",
    /// What `check-type` prints for a file.
    CheckTypeFile "check-type-file",
    /// What `rewrites` prints.
    Rewrites "rewrites",
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
    print(args.form.schema())
}
