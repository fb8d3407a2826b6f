//! `prove --c` and `prove --ir`: a function against a scheme, for all accumulators and all multipliers of each shift.

use super::super::{Format, interval_of, print, table};
use super::{Args, solvers};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tiebreak_analysis::proofs::ir::{Argument, Clang, Compiled, Module, Question, Report, Verdict, prove_axioms};
use tiebreak_analysis::proofs::{Solver, interval};
use tiebreak_common::parameters::SHIFTS;
use tiebreak_oracle::fpm::pieces::Output;
use tiebreak_oracle::fpm::{Definition, Parameters, Scheme};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

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
    function: Option<String>,
    /// The scheme that the function promises, NAME or NAME:POLICY
    #[arg(long, value_name = "NAME", requires = "code", value_parser = super::super::scheme::<&'static Definition>)]
    contract: Option<Scheme>,
    /// Parameters of the function in order: x, m, s, `-s` or `31-s`
    #[arg(long, value_name = "LIST", default_value = "x,m,s", allow_hyphen_values = true, value_parser = arguments)]
    arguments: Arguments,
    /// Multipliers of the contract's domain [default: all int32]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = interval_of)]
    multipliers: Option<std::ops::RangeInclusive<i32>>,
    /// Zero point that the function adds after the scheme
    #[arg(long, value_name = "Z", allow_hyphen_values = true, requires = "contract")]
    zero_point: Option<i32>,
    /// Interval to which the function clamps its result, after the zero point
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, requires = "contract", value_parser = interval_of)]
    clamp: Option<std::ops::RangeInclusive<i32>>,
    /// The clang to use [default: the newest that is installed]
    #[arg(long, value_name = "PROGRAM")]
    clang: Option<String>,
    /// A flag for clang, such as -O2; can be repeated [default: -O1]
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    flag: Vec<String>,
}

#[derive(Clone, Debug)]
struct Arguments(Vec<Argument>);

/// The parameters of a function that names none.
const DEFAULT: [Argument; 3] = [Argument::Accumulator, Argument::Multiplier, Argument::Shift(1, 0)];

/// Parameters as `--arguments` takes them.
fn arguments_text(all: &[Argument]) -> String {
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

/// Proves or refutes a function, and prints the verdicts. False unless every shift is proved.
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
    print(&match args.format {
        Format::Table => as_table(code, &clang, &scheme, &report, &solvers)?,
        Format::Json => serde_json::to_string_pretty(&as_json(code, &clang, &scheme, &report, &solvers)?)? + "\n",
    })?;
    Ok(report.proved())
}

/// Zero point and clamp, if one of them is given.
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

/// What a verdict says beside its name.
fn detail(verdict: &Verdict, report: &Report) -> String {
    match verdict {
        Verdict::Refuted(found) => found.said(report.returned(found)),
        Verdict::Unknown(reason) => reason.clone(),
        _ => "-".to_owned(),
    }
}

/// The file and the function, as they are printed.
fn named(code: &CodeArgs) -> (String, &str) {
    let source = code.c.as_ref().or(code.ir.as_ref()).map_or_else(String::new, |file| file.display().to_string());
    (source, code.function.as_deref().unwrap_or_default())
}

/// The compiler of C with its flags.
fn compiler(code: &CodeArgs, clang: &Option<Clang>) -> Result<Option<String>> {
    let clang = clang.as_ref().filter(|_| code.c.is_some());
    let of = |clang: &Clang| Ok(format!("{}, {}", clang.version()?, clang.flags.join(" ")));
    clang.map(of).transpose()
}

/// What the verdicts are about.
fn scope(code: &CodeArgs, clang: &Option<Clang>, scheme: &Scheme, report: &Report) -> Result<String> {
    let multipliers = match &code.multipliers {
        Some(given) => format!("every multiplier m in {}", interval(given)),
        None => "every int32 multiplier m".to_owned(),
    };
    let mut parts = vec![format!("Proved means: for every int32 accumulator x and {multipliers}")];
    if code.arguments.0 != DEFAULT {
        parts.push(format!("parameters {}", arguments_text(&code.arguments.0)));
    }
    parts.extend(code.zero_point.map(|zero_point| format!("zero point {zero_point}")));
    parts.extend(code.clamp.as_ref().map(|clamp| format!("clamp {}", interval(clamp))));
    parts.extend(compiler(code, clang)?);
    let mut out = parts.join("; ") + ". Unknown is no pass.\n";
    if let Some((x, m, s)) = report.without_value {
        let label = scheme.label();
        out += &format!("Left out: inputs to which {label} gives no value, such as x={x} m={m} s={s}");
        let wraps = Scheme { overflow: Overflow::Wrap, ..*scheme };
        let fits = wraps.fast(x.into(), &Parameters::q31(m, s)).is_some();
        out +=
            &if fits { format!("; {label}:wrap and {label}:saturate give a value there.\n") } else { ".\n".to_owned() };
    }
    Ok(out)
}

fn as_table(
    code: &CodeArgs,
    clang: &Option<Clang>,
    scheme: &Scheme,
    report: &Report,
    solvers: &[(Solver, String)],
) -> Result<String> {
    let mut rows: Vec<(i32, i32, String, String)> = Vec::new();
    for (s, verdict) in &report.verdicts {
        let (verdict, detail) = (verdict.name().to_owned(), detail(verdict, report));
        match rows.last_mut() {
            Some((_, last, v, d)) if *last + 1 == *s && *v == verdict && (*d == detail || verdict == "refuted") => {
                *last = *s
            }
            _ => rows.push((*s, *s, verdict, detail)),
        }
    }
    let rows = rows.into_iter().map(|(a, b, verdict, detail)| vec![interval(&(a..=b)), verdict, detail]).collect();
    let versions: Vec<&str> = solvers.iter().map(|(_, version)| version.as_str()).collect();
    let (source, function) = named(code);
    Ok(format!(
        "{function} of {source} against {}\n\n{}\nTerms and compiled code agree on {} inputs. Solvers: {}.\n{}",
        scheme.label(),
        table(&["s", "verdict", "witness"], rows),
        text::count(report.compared),
        versions.join("; "),
        scope(code, clang, scheme, report)?,
    ))
}

fn as_json(
    code: &CodeArgs,
    clang: &Option<Clang>,
    scheme: &Scheme,
    report: &Report,
    solvers: &[(Solver, String)],
) -> Result<Value> {
    let (source, function) = named(code);
    let ends = |given: &std::ops::RangeInclusive<i32>| [*given.start(), *given.end()];
    Ok(json!({
        "source": source, "function": function, "contract": scheme.label(),
        "arguments": arguments_text(&code.arguments.0), "multipliers": code.multipliers.as_ref().map(ends),
        "zero_point": code.zero_point, "clamp": code.clamp.as_ref().map(ends), "compiler": compiler(code, clang)?,
        "without_value": report.without_value.map(|(x, m, s)| json!({"x": x, "m": m, "s": s})),
        "proved": report.proved(), "compared": report.compared,
        "solvers": solvers.iter().map(|(_, version)| version).collect::<Vec<_>>(),
        "shifts": verdicts(report),
    }))
}

/// Verdicts as JSON.
pub(super) fn verdicts(report: &Report) -> Vec<Value> {
    let one = |(s, verdict): &(i32, Verdict)| match verdict {
        Verdict::Refuted(found) => {
            let returned = report.returned(found);
            json!({"shift": s, "verdict": "refuted", "x": found.x, "m": found.m, "got": found.got, "expected": found.expected, "returned": returned})
        }
        Verdict::Unknown(reason) => json!({"shift": s, "verdict": "unknown", "reason": reason}),
        Verdict::Proved { same_term } => json!({"shift": s, "verdict": "proved", "same_term": same_term}),
        Verdict::NotPromised => json!({"shift": s, "verdict": "not promised"}),
    };
    report.verdicts.iter().map(one).collect()
}
