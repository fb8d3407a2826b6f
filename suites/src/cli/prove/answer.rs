//! Output of a proof of code: verdicts, their scope, and limits.

use super::super::table;
use super::code::{CodeArgs, DEFAULT, arguments_text};
use anyhow::Result;
use serde_json::{Value, json};
use tiebreak_analysis::proofs::ir::{Clang, Report, Verdict};
use tiebreak_analysis::proofs::{Solver, interval};
use tiebreak_oracle::fpm::{Parameters, Scheme};
use tiebreak_oracle::word::Overflow;
use tiebreak_reports::text;

/// Proof of code with its question.
pub(super) struct Answer<'a> {
    pub(super) code: &'a CodeArgs,
    pub(super) clang: Option<&'a Clang>,
    pub(super) scheme: Scheme,
    pub(super) report: &'a Report,
    /// Solvers with their versions.
    pub(super) solvers: &'a [(Solver, String)],
}

/// Returns the details of a verdict.
fn detail(verdict: &Verdict, report: &Report) -> String {
    match verdict {
        Verdict::Refuted(found) => found.said(report.returned(found)),
        Verdict::Unknown(reason) => reason.clone(),
        _ => "-".to_owned(),
    }
}

impl Answer<'_> {
    /// Returns the printed names of file and function.
    fn named(&self) -> (String, &str) {
        let code = self.code;
        let source = code.c.as_ref().or(code.ir.as_ref()).map_or_else(String::new, |file| file.display().to_string());
        (source, code.function.as_deref().unwrap_or_default())
    }

    /// Returns the C compiler with its flags. `None` for LLVM IR.
    fn compiler(&self) -> Result<Option<String>> {
        let clang = self.clang.filter(|_| self.code.c.is_some());
        let of = |clang: &Clang| Ok(format!("{}, {}", clang.version()?, clang.flags.join(" ")));
        clang.map(of).transpose()
    }

    /// Describes the scope of the verdicts.
    fn scope(&self) -> Result<String> {
        let Self { code, scheme, report, .. } = self;
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
        parts.extend(self.compiler()?);
        let mut out = parts.join("; ") + ". Unknown is no pass.\n";
        if let Some((x, m, s)) = report.without_value {
            let label = scheme.label();
            out += &format!("Left out: inputs to which {label} gives no value, such as x={x} m={m} s={s}");
            let wraps = Scheme { overflow: Overflow::Wrap, ..self.scheme };
            let fits = wraps.fast(x.into(), &Parameters::q31(m, s)).is_some();
            out += &if fits {
                format!("; {label}:wrap and {label}:saturate give a value there.\n")
            } else {
                ".\n".to_owned()
            };
        }
        Ok(out)
    }

    /// Formats a row for each range of shifts with one verdict.
    pub(super) fn as_table(&self) -> Result<String> {
        let Self { scheme, report, solvers, .. } = self;
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
        let (source, function) = self.named();
        Ok(format!(
            "{function} of {source} against {}\n\n{}\nTerms and compiled code agree on {} inputs. Solvers: {}.\n{}",
            scheme.label(),
            table(&["s", "verdict", "witness"], rows),
            text::count(report.compared),
            versions.join("; "),
            self.scope()?,
        ))
    }

    /// Formats the proof as JSON.
    pub(super) fn as_json(&self) -> Result<Value> {
        let Self { code, scheme, report, solvers, .. } = self;
        let (source, function) = self.named();
        let ends = |given: &std::ops::RangeInclusive<i32>| [*given.start(), *given.end()];
        Ok(json!({
            "source": source, "function": function, "contract": scheme.label(),
            "arguments": arguments_text(&code.arguments.0), "multipliers": code.multipliers.as_ref().map(ends),
            "zero_point": code.zero_point, "clamp": code.clamp.as_ref().map(ends), "compiler": self.compiler()?,
            "without_value": report.without_value.map(|(x, m, s)| json!({"x": x, "m": m, "s": s})),
            "proved": report.proved(), "compared": report.compared,
            "solvers": solvers.iter().map(|(_, version)| version).collect::<Vec<_>>(),
            "shifts": verdicts(report),
        }))
    }
}

/// Formats verdicts as JSON.
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
