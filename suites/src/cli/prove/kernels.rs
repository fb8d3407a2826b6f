//! `prove --kernels`: comparison of this program's `fpm` and `requantize` kernels and mutants with their contracts, for all inputs.

use super::super::table;
use super::answer::verdicts;
use super::{Args, solvers};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tiebreak_analysis::proofs::ir::{Module, Modules, ReportCache, Row, kernels, prove_axioms};
use tiebreak_analysis::proofs::{Solver, record};
use tiebreak_common::called::in_clone;
use tiebreak_reports::text;

/// Arguments of a proof of the kernels.
#[derive(Debug, clap::Args)]
pub(super) struct KernelsArgs {
    /// Prove every kernel and mutant of fpm and requantize of this program from its LLVM IR, which `cargo xtask prove --kernels` makes
    #[arg(long, conflicts_with_all = ["left", "scheme", "c", "ir"])]
    pub(super) kernels: bool,
    /// Only the kernel or mutant of this name; can be repeated
    #[arg(long, value_name = "NAME", requires = "kernels")]
    kernel: Vec<String>,
    /// LLVM IR of `impls` with the feature `elements`, for the host, then for aarch64
    #[arg(long, value_name = "FILE", requires = "kernels")]
    elements: Vec<PathBuf>,
    /// Rows that were proved before; a row with the same code, contract and solvers is taken from here, and new rows are added
    #[arg(long, value_name = "FILE", requires = "kernels", overrides_with = "kept")]
    kept: Option<PathBuf>,
    /// Write all theorems with the hashes of what was proved, for `verify`, which states them
    #[arg(long, value_name = "FILE", requires = "kernels", conflicts_with = "kernel")]
    record: Option<PathBuf>,
}

/// Proves kernels, refutes mutants, and prints the table. Returns false if a kernel is refuted or unknown, or if a mutant is not refuted.
pub(super) fn run(args: &Args) -> Result<bool> {
    let Some(host) = args.kernels.elements.first() else {
        bail!("--kernels needs --elements FILE, which {} makes and names", in_clone("prove --kernels"));
    };
    let native = args.kernels.elements.get(1).map(read).transpose()?;
    let modules = Modules { portable: read(host)?, native };
    let solvers = solvers()?;
    let names: Vec<Solver> = solvers.iter().map(|(solver, _)| *solver).collect();
    prove_axioms(&names)?;
    let wanted = |name: &str| args.kernels.kernel.is_empty() || args.kernels.kernel.iter().any(|other| other == name);
    let kept = args.kernels.kept.as_deref().map(ReportCache::open).transpose()?.unwrap_or_default();
    let versions: Vec<String> = solvers.iter().map(|(_, version)| version.clone()).collect();
    let rows = kernels(&modules, &args.prover(&names), &versions.join("; "), &kept, wanted)?;
    if rows.is_empty() {
        bail!("no kernel or mutant of fpm or requantize has that name");
    }
    if let Some(path) = &args.kernels.record {
        let text = serde_json::to_string_pretty(&record(&rows, versions))? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    args.format.print(|| as_table(&rows, &solvers), || as_json(&rows, &solvers))?;
    Ok(holds(&rows))
}

/// Reads the LLVM IR of a file.
fn read(path: &PathBuf) -> Result<Module> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Module::read(&text))
}

/// True if every kernel is proved and at least one promise of each mutant is refuted.
fn holds(rows: &[Row]) -> bool {
    let refuted = |of: &Row| rows.iter().any(|row| (row.op, row.kernel) == (of.op, of.kernel) && row.refuted());
    // A requantization of integers or floats has no scheme with a Q0.31 multiplier. The table has the reason.
    let with_terms = rows.iter().filter(|row| row.report.is_ok() || row.op == "fpm");
    with_terms.into_iter().all(|row| if row.mutant { refuted(row) } else { row.proved() })
}

fn as_table(rows: &[Row], solvers: &[(Solver, String)]) -> String {
    let versions: Vec<&str> = solvers.iter().map(|(_, version)| version.as_str()).collect();
    let lines = rows.iter().map(|row| {
        let positions: Vec<String> = row.positions.iter().map(ToString::to_string).collect();
        let form = format!("{} {}", row.form, positions.join(","));
        let seconds = if row.kept { "kept".to_owned() } else { format!("{:.1}", row.seconds) };
        vec![row.op.to_owned(), row.kernel.to_owned(), form, row.scheme.clone(), row.lines().join("\n"), seconds]
    });
    let compared: u64 = rows.iter().filter_map(|row| row.report.as_ref().ok()).map(|report| report.compared).sum();
    let proved = rows.iter().filter(|row| row.proved()).count();
    format!(
        "{}\n{proved} of {} rows are theorems over all int32 accumulators and all multipliers of the domain, at each shift of the domain.\n\
         Terms and code agree on {} inputs. Solvers: {}. Unknown is no pass.\n",
        table(&["operation", "kernel", "form and positions", "contract", "verdict", "seconds"], lines.collect()),
        rows.len(),
        text::count(compared),
        versions.join("; "),
    )
}

fn as_json(rows: &[Row], solvers: &[(Solver, String)]) -> Value {
    let row = |row: &Row| {
        let (report, reason) = match &row.report {
            Ok(report) => (Some(report), None),
            Err(reason) => (None, Some(reason)),
        };
        json!({
            "op": row.op, "kernel": row.kernel, "mutant": row.mutant, "form": row.form, "positions": row.positions, "contract": row.scheme,
            "proved": row.proved(), "refuted": row.refuted(), "not_translated": reason,
            "seconds": row.seconds, "kept": row.kept, "terms": row.terms,
            "compared": report.map(|r| r.compared), "shifts": report.map(verdicts),
        })
    };
    json!({
        "solvers": solvers.iter().map(|(_, version)| version).collect::<Vec<_>>(),
        "holds": holds(rows), "rows": rows.iter().map(row).collect::<Vec<_>>(),
    })
}
