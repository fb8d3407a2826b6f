//! The fpm kernels and mutants of `impls`, each form at each position of a vector and behind it, against its contract.
//!
//! The code is the LLVM IR of `impls` with the feature `elements`: for aarch64 the functions that ship, with their inline assembly; for the host
//! the same sources with a larger limit for inlining, so that no batch is left around the element.

use super::decide::{Argument, Question, Verdict};
use super::kept::Kept;
use super::module::Module;
use super::report::Report;
use super::settle::Prover;
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::ops::RangeInclusive;
use std::time::Instant;
use tiebreak_common::identity::hash_bytes;
use tiebreak_common::parameters::SHIFTS;
use tiebreak_impls::Form;
use tiebreak_impls::fpm::{self, Kernel, Params};
use tiebreak_impls::mutants;
use tiebreak_oracle::fpm::Scheme;

/// Elements of a batch of the feature `elements`: a vector, and one behind it.
const BATCH: usize = 5;

/// The modules that have the elements: of the host, and of aarch64.
#[derive(Clone, Debug)]
pub struct Modules {
    /// Portable forms.
    pub portable: Module,
    /// Native forms.
    pub native: Option<Module>,
}

/// A kernel's form against one promise of its contract.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kernel.
    pub kernel: &'static str,
    /// Whether it is a mutant.
    pub mutant: bool,
    /// `portable` or `native`.
    pub form: &'static str,
    /// Positions in a batch of five; the last is behind the vector.
    pub positions: Vec<usize>,
    /// The promise.
    pub scheme: String,
    /// What was found, or the reason why the code has no terms.
    pub report: Result<Report, String>,
    /// SHA-256 of what was asked: code, contract and axioms as terms, at every shift.
    pub terms: String,
    /// Seconds, wall clock, of the run that proved it.
    pub seconds: f64,
    /// Whether the report was kept from an earlier run.
    pub kept: bool,
}

/// Every fpm kernel and mutant with a name that `wanted` accepts; forms are proved at the same time, and what `kept` has is not proved again.
pub fn kernels(
    modules: &Modules,
    prover: &Prover<'_>,
    versions: &str,
    kept: &Kept,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Row>> {
    let mutants = mutants::fpm::mutants().iter().map(|mutant| (&mutant.kernel, true));
    let mut forms = Vec::new();
    for (kernel, mutant) in fpm::kernels().iter().map(|kernel| (kernel, false)).chain(mutants) {
        let subject = |module, form| Subject { kernel, mutant, module, form };
        if wanted(kernel.name) {
            forms.push(subject(&modules.portable, "portable"));
            forms.extend(kernel.native.as_ref().and(modules.native.as_ref()).map(|native| subject(native, "native")));
        }
    }
    let bar = progress(forms.len());
    let prove = |subject: &Subject<'_>| {
        let rows = subject.rows(prover, versions, kept);
        bar.set_message(subject.kernel.name);
        bar.inc(1);
        rows
    };
    let rows = forms.par_iter().map(prove).collect::<Result<Vec<_>>>();
    bar.finish_and_clear();
    Ok(rows?.into_iter().flatten().collect())
}

/// A bar on a terminal, nothing elsewhere.
fn progress(forms: usize) -> ProgressBar {
    let bar = ProgressBar::new(forms as u64);
    let style = ProgressStyle::with_template("proofs {wide_bar} {pos}/{len} {elapsed}, the last of {msg}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_secs(1));
    bar
}

/// One form of a kernel in its module.
struct Subject<'a> {
    kernel: &'static Kernel,
    mutant: bool,
    module: &'a Module,
    form: &'static str,
}

impl Subject<'_> {
    /// A row for each promise and verdict, positions with the same code together.
    fn rows(&self, prover: &Prover<'_>, versions: &str, kept: &Kept) -> Result<Vec<Row>> {
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

    /// One position, with the report of an earlier one if it has the same terms.
    fn row(&self, position: usize, rows: &[Row], prover: &Prover<'_>, versions: &str, kept: &Kept) -> Result<Row> {
        let (begun, kernel) = (Instant::now(), self.kernel);
        let (promise, _) = kernel.contract.at(position, BATCH, 31);
        let arguments: Vec<Argument> = (0..BATCH)
            .map(|at| if at == position { Argument::Accumulator } else { Argument::Free })
            .chain([Argument::Multiplier, Argument::Shift(1, 0)])
            .collect();
        let function = format!("tiebreak_fpm_{}_{}_{position}", kernel.name, self.form);
        let question = Question {
            module: self.module,
            function: &function,
            arguments: &arguments,
            scheme: scheme(promise)?,
            output: None,
            multipliers: kernel.contract.domain.multipliers.clone(),
            multiple_of: kernel.contract.domain.multiple_of,
        };
        let row = |terms, report, seconds, kept| Row {
            kernel: kernel.name,
            mutant: self.mutant,
            form: self.form,
            positions: vec![position],
            scheme: question.scheme.label(),
            report,
            terms,
            seconds,
            kept,
        };
        let asked = match question.canonical(shifts(kernel)) {
            Err(reason) => return Ok(row(String::new(), Err(format!("{reason:#}")), 0.0, false)),
            Ok(asked) => hash_bytes(asked.as_bytes()),
        };
        if let Some(same) = rows.iter().find(|row| row.terms == asked) {
            return Ok(row(asked, same.report.clone(), same.seconds, same.kept));
        }
        let key = hash_bytes(format!("{} {} {asked} {versions}", kernel.name, self.form).as_bytes());
        if let Some((report, seconds)) = kept.get(&key) {
            return Ok(row(asked, Ok(report), seconds, true));
        }
        let code = |s: i32, inputs: &[(i32, i32)]| Ok(run(kernel, position, s, inputs));
        let report = Report::new(&question, shifts(kernel), prover, Some(&code)).map_err(|e| format!("{e:#}"));
        let seconds = begun.elapsed().as_secs_f64();
        if let Ok(report) = &report {
            kept.put(&key, report, seconds)?;
        }
        Ok(row(asked, report, seconds, false))
    }
}

fn scheme(promise: tiebreak_impls::contract::Promise) -> Result<Scheme> {
    use tiebreak_impls::contract::Overflow::{OutOfDomain, Saturate, Wrap};
    let policy = match promise.overflow {
        Wrap => ":wrap",
        Saturate => ":saturate",
        OutOfDomain => "",
    };
    let text = format!("{}{policy}", promise.scheme);
    Scheme::parse(&text).ok().with_context(|| format!("no scheme {text}"))
}

/// The shifts of a kernel's domain, for multipliers in Q0.31.
fn shifts(kernel: &Kernel) -> RangeInclusive<i32> {
    let domain = &kernel.contract.domain;
    let right = &domain.right_shifts;
    let (first, last) = (31i32.saturating_sub(*right.end()), 31i32.saturating_sub(*right.start()));
    let first = (*domain.shifts.start()).max(*SHIFTS.start()).max(first);
    first..=(*domain.shifts.end()).min(*SHIFTS.end()).min(last)
}

/// The portable form of a kernel on inputs at one position of a batch; elements at other positions are 0.
fn run(kernel: &Kernel, position: usize, s: i32, inputs: &[(i32, i32)]) -> Vec<i32> {
    let one = |(x, m): &(i32, i32)| {
        let (mut batch, mut out) = ([0; BATCH], [0; BATCH]);
        batch[position] = *x;
        kernel.run(Form::Portable)(&Params::single(*m, s), &batch, &mut out);
        out[position]
    };
    inputs.iter().map(one).collect()
}

impl Row {
    /// Whether an input shows at some shift that the form is wrong.
    pub fn refuted(&self) -> bool {
        self.report.as_ref().is_ok_and(|report| report.verdicts.iter().any(|(_, v)| matches!(v, Verdict::Refuted(_))))
    }

    /// What was found, a line each.
    pub fn lines(&self) -> Vec<String> {
        match &self.report {
            Ok(report) => report.lines(),
            Err(reason) => vec![format!("not translated: {reason}")],
        }
    }

    /// Whether every shift of the domain is proved.
    pub fn proved(&self) -> bool {
        self.report.as_ref().is_ok_and(Report::proved)
    }
}
