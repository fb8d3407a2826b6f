//! Proofs of the kernels and mutants of `fpm` and `requantize` against their contracts: each form, at each position of a vector and at the position
//! after.
//!
//! The code is the LLVM IR of `impls` with the feature `elements`. For aarch64, it has the shipped functions with their inline assembly. For the
//! host, it has the same sources with a larger inlining limit, so that no batch remains around the element.

use super::decide::{Question, Verdict};
use super::kept::ReportCache;
use super::module::Module;
use super::report::Report;
use super::settle::Prover;
use super::subject::{self, BATCH, Code};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::time::Instant;
use tiebreak_common::identity::hash_bytes;
use tiebreak_oracle::fpm::Scheme;

/// Modules of element functions, for host and aarch64.
#[derive(Clone, Debug)]
pub struct Modules {
    /// Portable forms.
    pub portable: Module,
    /// Native forms.
    pub native: Option<Module>,
}

/// Form of a kernel, and one promise of its contract.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the operation.
    pub op: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// True for a mutant.
    pub mutant: bool,
    /// Form of the kernel, `portable` or `native`.
    pub form: &'static str,
    /// Positions in a batch of five; the last is after the vector.
    pub positions: Vec<usize>,
    /// Promise with zero point and clamp.
    pub scheme: String,
    /// Results of the proof, or the reason why the code has no terms.
    pub report: Result<Report, String>,
    /// SHA-256 of the questions: code, contract and axioms as terms, at every shift.
    pub terms: String,
    /// Wall-clock time in seconds of the run that proved it.
    pub seconds: f64,
    /// True if the report was kept from an earlier run.
    pub kept: bool,
}

/// Proves every kernel and mutant of `fpm` and `requantize` whose name `wanted` accepts. Forms are proved in parallel, and reports in `kept` are not
/// proved again.
pub fn kernels(
    modules: &Modules,
    prover: &Prover<'_>,
    versions: &str,
    kept: &ReportCache,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Row>> {
    let mut forms = Vec::new();
    for code in subject::all().into_iter().filter(|code| wanted(code.name)) {
        let native = modules.native.as_ref().filter(|_| code.has_native);
        let portable = Proving { code: code.clone(), module: &modules.portable, form: "portable" };
        forms.push(portable);
        forms.extend(native.map(|module| Proving { code, module, form: "native" }));
    }
    let bar = progress(forms.len());
    let prove = |form: &Proving<'_>| {
        let rows = form.rows(prover, versions, kept);
        bar.set_message(form.code.name);
        bar.inc(1);
        rows
    };
    let rows = forms.par_iter().map(prove).collect::<Result<Vec<_>>>();
    bar.finish_and_clear();
    Ok(rows?.into_iter().flatten().collect())
}

/// Returns a progress bar, shown only on a terminal.
fn progress(forms: usize) -> ProgressBar {
    let bar = ProgressBar::new(forms as u64);
    let style = ProgressStyle::with_template("proofs {wide_bar} {pos}/{len} {elapsed}, the last of {msg}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_secs(1));
    bar
}

/// Form of a kernel in its module.
struct Proving<'a> {
    code: Code,
    module: &'a Module,
    form: &'static str,
}

impl Proving<'_> {
    /// Returns a row for each promise and verdict. Positions with the same code share a row.
    fn rows(&self, prover: &Prover<'_>, versions: &str, kept: &ReportCache) -> Result<Vec<Row>> {
        let mut rows: Vec<Row> = Vec::new();
        for position in 0..BATCH {
            let row = self.row(position, &rows, prover, versions, kept)?;
            let same = |other: &&mut Row| other.scheme == row.scheme && other.report == row.report;
            match rows.iter_mut().find(same) {
                Some(other) => other.positions.push(position),
                None => rows.push(row),
            }
        }
        Ok(rows)
    }

    /// Returns the row of one position, with the report of an earlier position that has the same terms.
    fn row(
        &self,
        position: usize,
        rows: &[Row],
        prover: &Prover<'_>,
        versions: &str,
        kept: &ReportCache,
    ) -> Result<Row> {
        let (begun, code) = (Instant::now(), &self.code);
        let row = |scheme, terms, report, seconds, kept| Row {
            op: code.op,
            kernel: code.name,
            mutant: code.mutant,
            form: self.form,
            positions: vec![position],
            scheme,
            report,
            terms,
            seconds,
            kept,
        };
        let promise = &code.promises[position];
        let scheme = match Scheme::parse(promise) {
            Ok(scheme) => scheme,
            Err(_) => {
                let reason = format!("`{promise}` is no scheme with a Q0.31 multiplier");
                return Ok(row(promise.clone(), String::new(), Err(reason), 0.0, false));
            }
        };
        let function = format!("tiebreak_{}_{}_{}_{position}", code.op, code.name, self.form);
        let (arguments, shifts) = (code.arguments(position), code.shifts.clone());
        let question = Question {
            module: self.module,
            function: &function,
            arguments: &arguments,
            scheme,
            output: code.output,
            multipliers: code.multipliers.clone(),
            multiple_of: code.multiple_of,
        };
        let label = code.label(&scheme);
        let asked = match question.canonical(shifts.clone()) {
            Err(reason) => return Ok(row(label, String::new(), Err(format!("{reason:#}")), 0.0, false)),
            Ok(asked) => hash_bytes(asked.as_bytes()),
        };
        if let Some(same) = rows.iter().find(|row| row.terms == asked) {
            return Ok(row(label, asked, same.report.clone(), same.seconds, same.kept));
        }
        let key = hash_bytes(format!("{} {} {asked} {versions}", code.name, self.form).as_bytes());
        if let Some((report, seconds)) = kept.get(&key) {
            return Ok(row(label, asked, Ok(report), seconds, true));
        }
        let run = |s: i32, inputs: &[(i32, i32)]| Ok((code.run)(code, position, s, inputs));
        let report = Report::new(&question, shifts, prover, Some(&run)).map_err(|e| format!("{e:#}"));
        let seconds = begun.elapsed().as_secs_f64();
        if let Ok(report) = &report {
            kept.put(&key, report, seconds)?;
        }
        Ok(row(label, asked, report, seconds, false))
    }
}

impl Row {
    /// True if the form is wrong on an input at some shift.
    pub fn refuted(&self) -> bool {
        self.report.as_ref().is_ok_and(|report| report.verdicts.iter().any(|(_, v)| matches!(v, Verdict::Refuted(_))))
    }

    /// Returns the results, one a line.
    pub fn lines(&self) -> Vec<String> {
        match &self.report {
            Ok(report) => report.lines(),
            Err(reason) => vec![format!("not translated: {reason}")],
        }
    }

    /// True if every shift of the domain is proved.
    pub fn proved(&self) -> bool {
        self.report.as_ref().is_ok_and(Report::proved)
    }
}
