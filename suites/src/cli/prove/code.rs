//! `prove --c` and `prove --ir`: comparison of a function with a scheme, for all accumulators and all multipliers of each shift.

use super::super::{Format, interval_of, print};
use super::answer::Answer;
use super::{Args, solvers};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use tiebreak_analysis::proofs::Solver;
use tiebreak_analysis::proofs::ir::{Argument, Clang, Compiled, Module, Question, Report, prove_axioms};
use tiebreak_common::parameters::SHIFTS;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::fpm::{Definition, Scheme};

/// Arguments of a proof of code.
#[derive(Debug, clap::Args)]
pub(super) struct CodeArgs {
    /// A file of LLVM IR as text, with a function to prove
    #[arg(long, value_name = "FILE", group = "code", requires_all = ["function", "contract"], conflicts_with_all = ["left", "scheme"])]
    pub(super) ir: Option<std::path::PathBuf>,
    /// A C file with a function to prove; clang makes the LLVM IR
    #[arg(long, value_name = "FILE", group = "code", requires_all = ["function", "contract"], conflicts_with_all = ["left", "scheme"])]
    pub(super) c: Option<std::path::PathBuf>,
    /// The function; it takes and returns int32
    #[arg(long, value_name = "NAME", requires = "code")]
    pub(super) function: Option<String>,
    /// The scheme that the function promises, NAME or NAME:POLICY
    #[arg(long, value_name = "NAME", requires = "code", value_parser = super::super::scheme::<&'static Definition>)]
    contract: Option<Scheme>,
    /// Parameters of the function in order: x, m, s, `-s` or `31-s`
    #[arg(long, value_name = "LIST", default_value = "x,m,s", allow_hyphen_values = true, value_parser = arguments)]
    pub(super) arguments: Arguments,
    /// Multipliers of the contract's domain [default: all int32]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = interval_of)]
    pub(super) multipliers: Option<std::ops::RangeInclusive<i32>>,
    /// Zero point that the function adds after the scheme
    #[arg(long, value_name = "Z", allow_hyphen_values = true, requires = "contract")]
    pub(super) zero_point: Option<i32>,
    /// Interval to which the function clamps its result, after the zero point
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, requires = "contract", value_parser = interval_of)]
    pub(super) clamp: Option<std::ops::RangeInclusive<i32>>,
    /// The clang to use [default: the newest that is installed]
    #[arg(long, value_name = "PROGRAM")]
    clang: Option<String>,
    /// A flag for clang, such as -O2; can be repeated [default: -O1]
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    flag: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Arguments(pub(super) Vec<Argument>);

/// Default parameters of a function.
pub(super) const DEFAULT: [Argument; 3] = [Argument::Accumulator, Argument::Multiplier, Argument::Shift(1, 0)];

/// Formats parameters in the form of `--arguments`.
pub(super) fn arguments_text(all: &[Argument]) -> String {
    let one = |argument: &Argument| match argument {
        Argument::Accumulator => "x".to_owned(),
        Argument::Multiplier => "m".to_owned(),
        Argument::Shift(1, 0) => "s".to_owned(),
        Argument::Shift(-1, 0) => "-s".to_owned(),
        Argument::Shift(-1, rest) => format!("{rest}-s"),
        Argument::Shift(_, constant) => constant.to_string(),
        Argument::Free => "any".to_owned(),
    };
    all.iter().map(one).collect::<Vec<_>>().join(",")
}

fn arguments(text: &str) -> Result<Arguments, String> {
    let one = |part: &str| match part.trim() {
        "x" => Ok(Argument::Accumulator),
        "m" => Ok(Argument::Multiplier),
        "s" => Ok(Argument::Shift(1, 0)),
        "-s" => Ok(Argument::Shift(-1, 0)),
        "31-s" => Ok(Argument::Shift(-1, 31)),
        other => match other.parse() {
            Ok(constant) => Ok(Argument::Shift(0, constant)),
            Err(_) => Err(format!("`{other}` is no parameter: x, m, s, -s, 31-s, or an int32")),
        },
    };
    text.split(',').map(one).collect::<Result<_, _>>().map(Arguments)
}

/// Proves or refutes a function and prints the verdicts. Returns false unless every shift is proved.
pub(super) fn run(args: &Args) -> Result<bool> {
    let code = &args.code;
    let (Some(source), Some(function), Some(scheme)) =
        (code.c.as_ref().or(code.ir.as_ref()), &code.function, code.contract)
    else {
        bail!("a proof of code needs --c or --ir, --function and --contract");
    };
    let solvers = solvers()?;
    let clang = clang(code)?;
    let module = module(code, source, clang.as_ref())?;
    let question = Question {
        module: &module,
        function,
        arguments: &code.arguments.0,
        scheme,
        output: output(code),
        multipliers: code.multipliers.clone().unwrap_or(i32::MIN..=i32::MAX),
        multiple_of: 1,
    };
    let compiled = clang.as_ref().map(|clang| Compiled::new(clang, source, &module, function, &code.arguments.0));
    let compiled =
        compiled.transpose().with_context(|| format!("{} cannot be compiled and called", source.display()))?;
    let names: Vec<Solver> = solvers.iter().map(|(solver, _)| *solver).collect();
    prove_axioms(&names)?;
    let call = |s: i32, inputs: &[(i32, i32)]| match &compiled {
        Some(compiled) => compiled.run(s, inputs),
        None => bail!("no compiler"),
    };
    let shifts = args.shift.clone().unwrap_or(SHIFTS);
    let report = Report::new(&question, shifts, &args.prover(&names), compiled.as_ref().map(|_| &call as _))
        .with_context(|| format!("{function} of {} is not translated", source.display()))?;
    let answer = Answer { code, clang: clang.as_ref(), scheme, report: &report, solvers: &solvers };
    print(&match args.format {
        Format::Table => answer.as_table()?,
        Format::Json => serde_json::to_string_pretty(&answer.as_json()?)? + "\n",
    })?;
    Ok(report.proved())
}

/// Returns zero point and clamp. `None` if neither is given.
fn output(code: &CodeArgs) -> Option<Output> {
    let whole = i32::MIN..=i32::MAX;
    let clamp = code.clamp.as_ref().unwrap_or(&whole);
    let output = Output { zero_point: code.zero_point.unwrap_or(0), min: *clamp.start(), max: *clamp.end() };
    (code.zero_point.is_some() || code.clamp.is_some()).then_some(output)
}

fn clang(code: &CodeArgs) -> Result<Option<Clang>> {
    let flags = if code.flag.is_empty() { vec!["-O1".to_owned()] } else { code.flag.clone() };
    match &code.clang {
        Some(program) => {
            let clang = Clang { program: program.clone(), flags };
            clang.version().map(|_| Some(clang))
        }
        None => Ok(Clang::find(flags)),
    }
}

fn module(code: &CodeArgs, source: &Path, clang: Option<&Clang>) -> Result<Module> {
    let text = match (&code.c, clang) {
        (None, _) => fs::read_to_string(source).with_context(|| format!("cannot read {}", source.display()))?,
        (Some(_), Some(clang)) => clang.ir(source)?,
        (Some(_), None) => {
            bail!("--c needs clang, and none is installed: `apt-get install clang` on Debian, or --clang PROGRAM")
        }
    };
    Ok(Module::read(&text))
}
