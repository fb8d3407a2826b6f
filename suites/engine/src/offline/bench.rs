//! Judged lines of an operation, with causes of the differences over all lines of a scheme.

use crate::case::text;
use crate::erased::{Domain, Op, Scheme};
use crate::explain::groups::Basis;
use crate::judge::side::{Results, Side};
use crate::lane::Lane;
use crate::offline::evaluated::EvaluatedLine;
use crate::offline::line::Line;
use crate::operation::errors::CaseError;
use crate::operation::expected::{Expected, differs};
use crate::operation::selection::CaseSelection;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_common::parallel;
use tiebreak_oracle::Rational;
use tiebreak_reports::ledger::Value;
use tiebreak_reports::text as words;

/// Result that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Flat index, row by row.
    pub at: usize,
    /// Result of the caller.
    pub got: Value,
    /// Result of the scheme.
    pub expected: Value,
}

/// Judged line.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Number of results compared.
    pub compared: u64,
    /// Number of differing results.
    pub differ: u64,
    /// First difference.
    pub first: Option<Difference>,
}

/// Cause of differences, over all lines of a scheme.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Name of the operation.
    pub op: &'static str,
    /// Scheme, or the kernel that promises the scheme.
    pub by: String,
    /// Class of the differences.
    pub class: Class,
    /// Description of the cause.
    pub because: String,
    /// Number of differing results.
    pub differ: u64,
    /// Smallest differing case; `None` if the case is too large to write out.
    pub case: Option<String>,
    /// Differing result of `case`.
    pub witness: Difference,
}

/// Results, and their exact values as fractions.
pub type Exact = (Vec<Option<Value>>, Option<Vec<Option<String>>>);

/// Lines of a scheme and domain.
struct Party {
    by: String,
    kernel: Option<&'static str>,
    scheme: Scheme,
    domain: Domain,
    side: Side,
}

/// Lines of an operation.
pub struct Bench {
    op: Op,
    parties: BTreeMap<String, Party>,
}

impl Bench {
    /// Returns the judge of an operation, without a line.
    pub fn new(op: Op) -> Self {
        Self { op, parties: BTreeMap::new() }
    }
}

/// Line with the caller's results; results that the caller left out have no expected value.
struct Seen {
    posed: EvaluatedLine,
    outs: Vec<i32>,
}

fn seen(op: Op, line: &Line) -> Result<Seen, CaseError> {
    let given = line.expected.as_ref().ok_or("expected: missing; write the results that are to be judged")?;
    let mut posed = EvaluatedLine::of(op, line)?;
    let (outs, is_given) = posed.given(given)?;
    posed.expected.iter_mut().zip(is_given).filter(|(_, given)| !given).for_each(|(value, _)| *value = None);
    Ok(Seen { posed, outs })
}

fn verdict(seen: &Seen) -> Verdict {
    let Seen { posed, outs } = seen;
    let element = posed.domain.result_element(&posed.case.params);
    let results = || posed.expected.chunks(element.words()).zip(outs.chunks(element.words())).enumerate();
    let has_value = |expected: &[Option<i32>]| expected.iter().all(Option::is_some);
    let mut differing = results().filter(|(_, (expected, out))| has_value(expected) && differs(expected, out));
    let described = |(at, (expected, out)): (usize, (&[Option<i32>], &[i32]))| {
        let right: Vec<i32> = expected.iter().copied().flatten().collect();
        Difference { at, got: element.described(out), expected: element.described(&right) }
    };
    let compared = results().filter(|(_, (expected, _))| has_value(expected)).count() as u64;
    let first = differing.next().map(described);
    Verdict { compared, differ: u64::from(first.is_some()) + differing.count() as u64, first }
}

impl Bench {
    fn keep(&mut self, line: &Line, Seen { posed, outs }: Seen) {
        let by = line.kernel.clone().unwrap_or_else(|| posed.scheme.label());
        let key = format!("{by} {:?}", posed.domain);
        let EvaluatedLine { kernel, scheme, domain, case, expected, .. } = posed;
        let element = domain.result_element(&case.params);
        let party = self.parties.entry(key).or_insert_with(|| Party {
            by,
            kernel: kernel.map(|kernel| kernel.name),
            scheme,
            domain,
            side: Side::default(),
        });
        let groups = (self.op.capabilities().causes.groups)(&party.scheme, &case.params, outs.len() / element.words());
        let given = Results { case: &case, outs: &outs, faulty: &Vec::new(), groups: &groups, due: &[] };
        let expected: Expected = expected;
        party.side.judge(&element, &given, &expected, false);
    }

    /// Returns the names of the operands, in order.
    pub fn tensors(&self) -> &'static [&'static str] {
        self.op.tensors()
    }

    /// Evaluates a line by the oracle; `None` for results without a value.
    pub fn eval(&self, line: &Line) -> Result<Vec<Option<Value>>, CaseError> {
        EvaluatedLine::of(self.op, line).map(|posed| posed.results())
    }

    /// Evaluates a line, with the exact value of each result as a fraction; no list if the operation rounds nothing.
    pub fn exact(&self, line: &Line) -> Result<Exact, CaseError> {
        let posed = EvaluatedLine::of(self.op, line)?;
        let exact = posed.scheme.rational(&posed.case);
        let written = |all: Vec<Option<Rational>>| all.into_iter().map(|one| Some(one?.to_string())).collect();
        Ok((posed.results(), exact.map(written)))
    }

    /// Judges lines, and keeps them as evidence.
    pub fn judge(&mut self, lines: &[&Line]) -> Vec<Result<Verdict, CaseError>> {
        let all = parallel::map(lines, |line| seen(self.op, line).map(|seen| (verdict(&seen), seen)));
        let keep = |(line, judged): (&&Line, Result<(Verdict, Seen), CaseError>)| {
            let (verdict, seen) = judged?;
            self.keep(line, seen);
            Ok(verdict)
        };
        lines.iter().zip(all).map(keep).collect()
    }

    /// Returns the causes of all differences.
    pub fn causes(&self) -> Vec<Cause> {
        let lane = Lane::host();
        // A caller's case is not shrunk, so nothing runs.
        let asked = CaseSelection { cases: vec![String::new()], ..CaseSelection::default() };
        let of = |party: &Party| {
            let (domain, scheme) = (&party.domain, &party.scheme);
            let kernel = party.kernel.unwrap_or("");
            let basis: Basis<'_> =
                Basis { kernel, code: None, domain, contract: scheme, scheme, kept: false, selection: &asked };
            let causes = basis.explained(&lane, &party.side).into_iter().map(|explained| {
                let witness = explained.witness;
                Cause {
                    op: self.op.name(),
                    by: party.by.clone(),
                    class: explained.explanation.class,
                    because: explained.explanation.because,
                    differ: explained.differ,
                    case: text::arguments(domain, &witness.case).map(|case| words::case(&case)),
                    witness: Difference { at: witness.index, got: witness.got, expected: witness.expected },
                }
            });
            causes.collect::<Vec<_>>()
        };
        self.parties.values().flat_map(of).collect()
    }
}
