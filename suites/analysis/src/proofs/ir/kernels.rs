//! The fpm kernels and mutants of `impls`, each form at each position of a vector and behind it, against its contract.
//!
//! The code is the LLVM IR of `impls` with the feature `elements`: for aarch64 the functions that ship, with their inline assembly; for the host
//! the same sources with a larger limit for inlining, so that no batch is left around the element.

use super::super::solver::Solver;
use super::decide::{Argument, Question, Verdict};
use super::module::Module;
use super::report::Report;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::ops::RangeInclusive;
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
}

/// Every fpm kernel, or the mutants, with a name that `wanted` accepts.
pub fn kernels(modules: &Modules, solvers: &[Solver], wanted: impl Fn(&str) -> bool) -> Result<Vec<Row>> {
    let mutants = mutants::fpm::mutants().iter().map(|mutant| (&mutant.kernel, true));
    let mut rows = Vec::new();
    for (kernel, mutant) in fpm::kernels().iter().map(|kernel| (kernel, false)).chain(mutants) {
        if !wanted(kernel.name) {
            continue;
        }
        rows.extend(of_kernel(kernel, mutant, &modules.portable, "portable", solvers)?);
        if let (Some(_), Some(native)) = (&kernel.native, &modules.native) {
            rows.extend(of_kernel(kernel, mutant, native, "native", solvers)?);
        }
    }
    Ok(rows)
}

/// One form: a row for each promise and verdict, positions with the same code together.
fn of_kernel(
    kernel: &'static Kernel,
    mutant: bool,
    module: &Module,
    form: &'static str,
    solvers: &[Solver],
) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut known: HashMap<String, Report> = HashMap::new();
    for position in 0..BATCH {
        let (promise, _) = kernel.contract.at(position, BATCH, 31);
        let scheme = scheme(promise)?;
        let arguments: Vec<Argument> = (0..BATCH)
            .map(|at| if at == position { Argument::Accumulator } else { Argument::Free })
            .chain([Argument::Multiplier, Argument::Shift(1, 0)])
            .collect();
        let domain = &kernel.contract.domain;
        let function = format!("tiebreak_fpm_{}_{form}_{position}", kernel.name);
        let question = Question {
            module,
            function: &function,
            arguments: &arguments,
            scheme,
            output: None,
            multipliers: domain.multipliers.clone(),
            multiple_of: domain.multiple_of,
        };
        let report = match question.canonical(shifts(kernel)) {
            Err(reason) => Err(format!("{reason:#}")),
            Ok(text) => match known.get(&text) {
                Some(report) => Ok(report.clone()),
                None => {
                    let code = |s: i32, inputs: &[(i32, i32)]| Ok(run(kernel, position, s, inputs));
                    let report =
                        Report::new(&question, shifts(kernel), solvers, Some(&code)).map_err(|e| format!("{e:#}"));
                    if let Ok(report) = &report {
                        known.insert(text, report.clone());
                    }
                    report
                }
            },
        };
        let scheme = question.scheme.label();
        match rows.iter_mut().find(|row| row.scheme == scheme && row.report == report) {
            Some(row) => row.positions.push(position),
            None => rows.push(Row { kernel: kernel.name, mutant, form, positions: vec![position], scheme, report }),
        }
    }
    Ok(rows)
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
    /// Whether the row says what it must: a kernel is proved, or a reason is given; a mutant is refuted where it is wrong.
    pub fn refuted(&self) -> bool {
        self.report.as_ref().is_ok_and(|report| report.verdicts.iter().any(|(_, v)| matches!(v, Verdict::Refuted(_))))
    }

    /// Whether every shift of the domain is proved.
    pub fn proved(&self) -> bool {
        self.report.as_ref().is_ok_and(Report::proved)
    }
}
