//! Explanation of one result of a case, for any operation: the result of each scheme and kernel, and the cause if a kernel differs from the scheme.

use super::Comparison;
use super::sheet::{Line as Step, Row, Sheet};
use crate::presented::Presented;
use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value as Json, json};
use tiebreak_common::Effort;
use tiebreak_engine::erased::{Kernel, Op, Params, Scheme, op};
use tiebreak_engine::explain::cause;
use tiebreak_engine::lane::Lane;
use tiebreak_engine::offline::{EvaluatedLine, Line};
use tiebreak_engine::operation::{Case, CaseSelection, Element, Expected, Observed, Spec, differs};
use tiebreak_engine::plan::plans;
use tiebreak_engine::run::answers::outs;
use tiebreak_oracle::Rational;
use tiebreak_oracle::names::unknown;
use tiebreak_reports::ledger::Value;
use tiebreak_reports::text;

/// Request for an explanation.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Text of the case; its argument `at` selects the result.
    pub case: String,
    /// Type of the elements.
    pub ty: Option<String>,
    /// Names of the schemes; all others are compared with the first.
    pub schemes: Vec<String>,
    /// Names of the kernels to run in this process.
    pub kernels: Vec<String>,
}

/// Parses the case in the domain of the first scheme, or of the first kernel if no scheme is named. A case without scheme and kernel is an error.
pub fn evaluated_line(op: Op, wanted: &Wanted) -> Result<EvaluatedLine> {
    let scheme = wanted.schemes.first().cloned();
    let kernel = if scheme.is_none() { wanted.kernels.first().cloned() } else { None };
    ensure!(scheme.is_some() || kernel.is_some(), "name a scheme with --scheme, or a kernel with --kernel");
    let line = Line {
        op: op.name().to_owned(),
        scheme,
        kernel,
        ty: wanted.ty.clone(),
        case: Json::String(wanted.case.clone()),
        expected: None,
        id: None,
    };
    EvaluatedLine::of(op, &line).map_err(|error| anyhow!("--case: {error}"))
}

/// Scheme or kernel, with its results.
struct Party<S> {
    name: String,
    results: Expected,
    steps_of: Option<String>,
    /// Scheme whose steps the party follows, if known.
    scheme: Option<S>,
    /// Class and cause of the difference from the first party, or from the kernel's contract.
    cause: Option<(tiebreak_common::class::Class, String)>,
}

/// Kernels of the caller's, in a lane that offers them; the operation has adopted them.
#[derive(Clone, Copy)]
pub struct OwnKernels<'a> {
    /// Lane that runs the kernels.
    pub lane: &'a Lane,
    /// Names of the kernels.
    pub names: &'a [String],
}

/// Steps of a scheme for a result of a case, if the operation has steps.
pub type StepsOf<'a> = dyn Fn(&Scheme, &Case<Params>, usize) -> Option<Vec<Step>> + 'a;

/// Explains every scheme and kernel on one result: the result that the case selects with `at`, otherwise the first result on which two parties
/// differ. `steps` gives the steps of a scheme for that result.
pub fn explain(
    op: Op,
    wanted: &Wanted,
    own: Option<OwnKernels<'_>>,
    steps: &StepsOf<'_>,
) -> Result<(Vec<(&'static str, Json)>, Sheet)> {
    let evaluated_line = match own.filter(|_| wanted.ty.is_none()) {
        Some(own) => in_own_domain(op, wanted, own)?,
        None => evaluated_line(op, wanted)?,
    };
    let element = evaluated_line.domain.result_element(&evaluated_line.case.params);
    let words = element.words();
    let mut parties = vec![Party {
        name: text::scheme(&evaluated_line.scheme.label()).to_owned(),
        results: evaluated_line.expected.clone(),
        steps_of: None,
        scheme: Some(evaluated_line.scheme.clone()),
        cause: None,
    }];
    for name in wanted.schemes.iter().skip(1) {
        let scheme = op.scheme(name)?;
        let results = scheme.expected(&evaluated_line.case).map_err(|error| anyhow!("{name}: {error}"))?;
        let name = text::scheme(&scheme.label()).to_owned();
        parties.push(Party { name, results, steps_of: None, scheme: Some(scheme), cause: None });
    }
    let host = Lane::host();
    for name in &wanted.kernels {
        parties.push(kernel(name, &evaluated_line, &host, 0)?);
    }
    if let Some(own) = own {
        parties.extend(of_caller(own, &evaluated_line)?);
    }
    let differing = |other: &Party<Scheme>| {
        let all = evaluated_line.expected.chunks(words).zip(other.results.chunks(words));
        all.clone().position(|(right, other)| right != other)
    };
    let at = evaluated_line.at.or_else(|| parties.iter().find_map(differing)).unwrap_or(0);
    ensure!(at * words < evaluated_line.expected.len(), "the case has no result");
    let exact = evaluated_line.scheme.rational(&evaluated_line.case).and_then(|all| all.into_iter().nth(at).flatten());
    let one = |party: &Party<Scheme>| {
        let steps = party.scheme.as_ref().and_then(|scheme| steps(scheme, &evaluated_line.case, at));
        row(party, at, (&element, exact.as_ref()), steps)
    };
    let rows: Vec<Row> = parties.iter().map(one).collect();
    let comparisons = (1..rows.len()).map(|right| compare(&parties, &rows, right)).collect();
    let input = vec![("case", json!(wanted.case)), ("at", json!(at))];
    let count = evaluated_line.expected.len() / words;
    let notes = if count == 1 { Vec::new() } else { vec![format!("result {at} of {count}")] };
    Ok((input, Sheet { exact, notes, rows, comparisons }))
}

/// Returns [`explain`] of an operation, with its steps.
pub fn explain_of<O: Presented>(
    wanted: &Wanted,
    own: Option<OwnKernels<'_>>,
) -> Result<(Vec<(&'static str, Json)>, Sheet)> {
    let steps =
        |scheme: &Scheme, case: &Case<Params>, at: usize| (O::STEPS)(scheme.typed::<O>(), &case.typed::<O>(), at);
    explain(op::<O>(), wanted, own, &steps)
}

/// Parses the case in the domain of the first kernel of the caller's that takes the case.
fn in_own_domain(op: Op, wanted: &Wanted, own: OwnKernels<'_>) -> Result<EvaluatedLine> {
    let of_kernel = |name: &String| {
        evaluated_line(op, &Wanted { schemes: Vec::new(), kernels: vec![name.clone()], ..wanted.clone() })
    };
    let (taken, refused): (Vec<_>, Vec<_>) = own.names.iter().map(of_kernel).partition(Result::is_ok);
    taken.into_iter().chain(refused).next().context("the lane offers no kernel")?
}

/// Number of further cases, of a quick plan, that tell the causes of a caller's kernel apart.
const LEARNT: usize = 64;

/// Runs the kernels of the caller's whose domain covers the case; an error if there are none.
fn of_caller(own: OwnKernels<'_>, evaluated_line: &EvaluatedLine) -> Result<Vec<Party<Scheme>>> {
    let op = evaluated_line.scheme.op();
    let covers = |name: &&String| op.find(name).is_some_and(|kernel| kernel.covers(&evaluated_line.case.params));
    let mut covering: Vec<&String> = own.names.iter().filter(covers).collect();
    if covering.is_empty() {
        covering.extend(own.names.first());
    }
    covering.into_iter().map(|name| kernel(name, evaluated_line, own.lane, LEARNT)).collect()
}

/// Runs a kernel, or a mutant, in a lane. `learnt` is the number of further cases that tell causes apart.
fn kernel(name: &str, evaluated_line: &EvaluatedLine, lane: &Lane, learnt: usize) -> Result<Party<Scheme>> {
    let op = evaluated_line.scheme.op();
    let kernel: &Kernel = op.find(name).ok_or_else(|| unknown("kernel", name, op.every()))?;
    let domain = &kernel.contract.domain;
    ensure!(
        domain.covers(&evaluated_line.case.params),
        "kernel `{name}` promises nothing of these parameters: its domain is {}",
        domain.text()
    );
    let own = kernel.scheme()?;
    let expected = own.expected(&evaluated_line.case).map_err(|error| anyhow!("{name}: {error}"))?;
    let results = outs(&mut lane.lease(), kernel.name, &evaluated_line.case, expected.len());
    let results = results.map_err(|failure| anyhow!("{failure}")).with_context(|| format!("kernel `{name}`"))?;
    let promised = text::scheme(&own.label()).to_owned();
    let (steps_of, cause) = match differs(&expected, &results) {
        false => (format!("gives what it promises here, {promised}"), None),
        true => {
            let seen = observed(&evaluated_line.case, &expected, &results);
            let others = others(kernel, &own, lane, learnt);
            let causes = own.causes(0, &own, domain, false);
            let found = cause::explain_beside(&causes, &[&seen], &others.iter().collect::<Vec<_>>());
            let found = (found.class, found.because);
            (format!("breaks its promise here, {promised}"), Some(found))
        }
    };
    Ok(Party {
        name: name.to_owned(),
        results: results.into_iter().map(Some).collect(),
        steps_of: Some(steps_of),
        scheme: cause.is_none().then_some(own),
        cause,
    })
}

/// Returns a case with the results of a kernel, and the number of differing words.
fn observed(case: &Case<Params>, expected: &Expected, results: &[i32]) -> Observed<Params> {
    let wrong = |(right, got): (&Option<i32>, &i32)| right.is_some_and(|right| right != *got);
    let differ = expected.iter().zip(results).filter(|(right, got)| wrong((right, got))).count();
    let (outs, expected) = (results.to_vec(), expected.clone());
    Observed { case: case.clone(), outs, expected, differ, faulty: Vec::new(), due: Vec::new() }
}

/// Runs the first cases of the kernel's quick plan. Cases that the kernel refuses are left out.
fn others(kernel: &Kernel, own: &Scheme, lane: &Lane, number: usize) -> Vec<Observed<Params>> {
    if number == 0 {
        return Vec::new();
    }
    let domain = &kernel.contract.domain;
    let plan = plans::whole(domain, &CaseSelection::default(), &Effort::Quick.budget(), 1);
    let covered = plan.into_iter().filter(|spec| domain.covers(&spec.params)).take(number);
    let run = |spec: Spec<Params>| {
        let case = spec.case(domain, 1)?;
        let expected = own.expected(&case).ok()?;
        let results = outs(&mut lane.lease(), kernel.name, &case, expected.len()).ok()?;
        Some(observed(&case, &expected, &results))
    };
    covered.filter_map(run).collect()
}

fn row<S>(
    party: &Party<S>,
    at: usize,
    (element, exact): (&Element, Option<&Rational>),
    steps: Option<Vec<Step>>,
) -> Row {
    let words = element.words();
    let value: Option<Vec<i32>> = party.results[at * words..][..words].iter().copied().collect();
    let described = value.map(|words| element.described(&words));
    let error = match (&described, exact) {
        (Some(Value::Integer(value)), Some(exact)) => Some(Rational::from(*value) - exact),
        _ => None,
    };
    Row {
        name: party.name.clone(),
        result: match &described {
            Some(Value::Integer(value)) => json!(value),
            Some(Value::Text(text)) => serde_json::from_str::<Json>(text).unwrap_or_else(|_| json!(text)),
            None => Json::Null,
        },
        text: described.map_or("no value".to_owned(), |value| value.to_string()),
        error,
        steps_of: party.steps_of.clone(),
        steps,
    }
}

fn compare<S>(parties: &[Party<S>], rows: &[Row], right: usize) -> Comparison {
    let (a, b) = (&rows[0], &rows[right]);
    let cause = parties[right].cause.clone();
    let class = cause.as_ref().map(|(class, _)| *class);
    let of_class = class.map_or_else(String::new, |class| format!(", class {class}"));
    let sentence = match a.text == b.text {
        true => format!("{} and {} both give {}", a.name, b.name, a.text),
        false => format!("{} gives {} where {} gives {}{of_class}", b.name, b.text, a.name, a.text),
    };
    Comparison { left: 0, right, class, because: cause.map(|(_, because)| because), sentence }
}
