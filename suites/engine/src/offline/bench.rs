//! Lines of one operation, judged; causes of what differs, of all lines of one scheme together.

use crate::case::text;
use crate::explain::groups::Basis;
use crate::judge::side::{Results, Side};
use crate::lane::Lane;
use crate::offline::line::Line;
use crate::offline::posed::{Domain, Posed};
use crate::operation::asked::Asked;
use crate::operation::errors::CaseError;
use crate::operation::expected::{Expected, differs};
use crate::operation::{self, Operation, label};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tiebreak_common::class::Class;
use tiebreak_oracle::Rational;
use tiebreak_reports::ledger::Value;
use tiebreak_reports::text as words;

/// A result that differs.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its index, counted row by row.
    pub at: usize,
    /// What the caller gave.
    pub got: Value,
    /// What the scheme gives.
    pub expected: Value,
}

/// A line, judged.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Results compared.
    pub compared: u64,
    /// Results that differ.
    pub differ: u64,
    /// The first of them.
    pub first: Option<Difference>,
}

/// Why results differ, of all lines of one scheme together.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Name of the operation.
    pub op: &'static str,
    /// Scheme, or the kernel that promises it.
    pub by: String,
    /// Class of the differences.
    pub class: Class,
    /// What reproduces them.
    pub because: String,
    /// Results that differ.
    pub differ: u64,
    /// The smallest case that differs, where it is small enough to spell out.
    pub case: Option<String>,
    /// A result of that case.
    pub witness: Difference,
}

/// Results with their exact values, as fractions.
pub type Exact = (Vec<Option<Value>>, Option<Vec<Option<String>>>);

/// Lines of one operation.
pub trait Bench: Send {
    /// Names of the operands, in their order.
    fn tensors(&self) -> &'static [&'static str];
    /// What the oracle gives for a line; none where the scheme gives no value.
    fn eval(&self, line: &Line) -> Result<Vec<Option<Value>>, CaseError>;
    /// The same with the exact value of each result, as a fraction; no list if the operation rounds nothing.
    fn exact(&self, line: &Line) -> Result<Exact, CaseError>;
    /// Judges lines, and keeps them as evidence.
    fn judge(&mut self, lines: &[&Line]) -> Vec<Result<Verdict, CaseError>>;
    /// Causes of everything that differed.
    fn causes(&self) -> Vec<Cause>;
}

/// Lines of one scheme.
struct Party<O: Operation> {
    by: String,
    kernel: Option<&'static str>,
    scheme: O::Scheme,
    domain: Domain<O::Domain>,
    side: Side<O::Params>,
}

/// Lines of the operation `O`.
pub struct Benched<O: Operation> {
    parties: BTreeMap<String, Party<O>>,
}

impl<O: Operation> Default for Benched<O> {
    fn default() -> Self {
        Self { parties: BTreeMap::new() }
    }
}

/// A line with what the caller gave; nothing is expected where the caller gave nothing.
struct Seen<O: Operation> {
    posed: Posed<O>,
    outs: Vec<i32>,
}

fn seen<O: Operation>(line: &Line) -> Result<Seen<O>, CaseError> {
    let given = line.expected.as_ref().ok_or("expected: missing; write the results that are to be judged")?;
    let mut posed = Posed::<O>::of(line)?;
    let (outs, is_given) = posed.given(given)?;
    posed.expected.iter_mut().zip(is_given).filter(|(_, given)| !given).for_each(|(value, _)| *value = None);
    Ok(Seen { posed, outs })
}

fn verdict<O: Operation>(seen: &Seen<O>) -> Verdict {
    let Seen { posed, outs } = seen;
    let element = operation::result_element::<O>(&posed.domain, &posed.case.params);
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

impl<O: Operation> Benched<O> {
    fn keep(&mut self, line: &Line, Seen { posed, outs }: Seen<O>) {
        let by = line.kernel.clone().unwrap_or_else(|| label::<O>(&posed.scheme));
        let key = format!("{by} {:?}", &*posed.domain);
        let Posed { kernel, scheme, domain, case, expected, .. } = posed;
        let element = operation::result_element::<O>(&domain, &case.params);
        let party = self.parties.entry(key).or_insert_with(|| Party {
            by,
            kernel: kernel.map(|kernel| kernel.name),
            scheme,
            domain,
            side: Side::default(),
        });
        let groups = (O::CAPABILITIES.causes.groups)(&party.scheme, &case.params, outs.len() / element.words());
        let given = Results { case: &case, outs: &outs, faulty: &Vec::new(), groups: &groups, due: &[] };
        let expected: Expected = expected;
        party.side.judge(&element, &given, &expected, false);
    }
}

impl<O: Operation> Bench for Benched<O> {
    fn tensors(&self) -> &'static [&'static str] {
        O::TENSORS
    }

    fn eval(&self, line: &Line) -> Result<Vec<Option<Value>>, CaseError> {
        Posed::<O>::of(line).map(|posed| posed.results())
    }

    fn exact(&self, line: &Line) -> Result<Exact, CaseError> {
        let posed = Posed::<O>::of(line)?;
        let exact = O::rational(&posed.scheme, &posed.case);
        let written = |all: Vec<Option<Rational>>| all.into_iter().map(|one| Some(one?.to_string())).collect();
        Ok((posed.results(), exact.map(written)))
    }

    fn judge(&mut self, lines: &[&Line]) -> Vec<Result<Verdict, CaseError>> {
        let all: Vec<_> = lines.par_iter().map(|line| seen::<O>(line).map(|seen| (verdict(&seen), seen))).collect();
        let keep = |(line, judged): (&&Line, Result<(Verdict, Seen<O>), CaseError>)| {
            let (verdict, seen) = judged?;
            self.keep(line, seen);
            Ok(verdict)
        };
        lines.iter().zip(all).map(keep).collect()
    }

    fn causes(&self) -> Vec<Cause> {
        let lane = Lane::host();
        // A case that the caller gave is not made smaller: nothing runs.
        let asked = Asked { cases: vec![String::new()], ..Asked::default() };
        let of = |party: &Party<O>| {
            let (domain, scheme) = (&*party.domain, &party.scheme);
            let kernel = party.kernel.unwrap_or("");
            let basis: Basis<'_, O> =
                Basis { kernel, made: None, domain, contract: scheme, scheme, kept: false, asked: &asked };
            let causes = basis.explained(&lane, &party.side).into_iter().map(|explained| {
                let witness = explained.witness;
                Cause {
                    op: O::OP,
                    by: party.by.clone(),
                    class: explained.explanation.class,
                    because: explained.explanation.because,
                    differ: explained.differ,
                    case: text::arguments::<O>(domain, &witness.case).map(|case| words::case(&case)),
                    witness: Difference { at: witness.index, got: witness.got, expected: witness.expected },
                }
            });
            causes.collect::<Vec<_>>()
        };
        self.parties.values().flat_map(of).collect()
    }
}
