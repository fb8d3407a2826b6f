//! Shared parts of the explanations of `quantize` and `dequantize`: rounding lines, runs of kernels, and the difference between two schemes. That
//! difference is the smallest set of the operation's listed changes that leads from one scheme to the other's result.

use super::sheet::{Line, Rounding, Row, brief};
use super::{Comparison, ExplainError};
use rug::Rational;
use tiebreak_common::Class;
use tiebreak_common::floats::shortest;
use tiebreak_common::fraction::{both, signed};
use tiebreak_engine::operation::{self, Case, Change, Lead, Operation, job, kernels};
use tiebreak_impls::Form;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::quantized::{Container, Granularity, Params, Quantized};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::steps::Value;
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_worker::execute::execute;

/// Upper bound on changes that are combined.
const MOST_CHANGES: usize = 3;

/// Row with the scheme that it follows or should follow, and its result as tensor words.
pub(super) struct Entry<O: Operation> {
    pub(super) row: Row,
    pub(super) scheme: O::Scheme,
    /// Number of steps of the scheme.
    pub(super) steps: usize,
    pub(super) outs: Vec<i32>,
}

/// Changes with their descriptions; the first change gives the class.
type Changes = Vec<(Class, String)>;

/// Explains why two entries differ on a case of one element, by the fewest changes to either scheme. The longer scheme is tried first.
pub(super) fn compare<O: Operation>(
    entries: &[Entry<O>],
    left: usize,
    right: usize,
    case: &Case<O::Params>,
) -> Comparison {
    let (a, b) = (&entries[left], &entries[right]);
    if a.row.text == b.row.text {
        let sentence = format!("{} and {} both give {}", a.row.name, b.row.name, a.row.text);
        return Comparison { left, right, class: None, because: None, sentence };
    }
    let ways = if a.steps > b.steps { [(a, b), (b, a)] } else { [(b, a), (a, b)] };
    let found = (1..=MOST_CHANGES).find_map(|most| {
        ways.into_iter().find_map(|(from, to)| Some((from, to, changes(&from.scheme, to, case, most)?)))
    });
    let (class, because) = found.map_or((Class::Unexplained, None), |(from, to, changes)| {
        let class = changes[0].0;
        let because = sentence(&from.row.name, &to.row.text, &changes);
        (if std::ptr::eq(from, a) { class.reversed() } else { class }, Some(because))
    });
    let described = [b, a].map(|e| format!("{} {}", e.row.name, did(&e.row)));
    let sentence = format!(
        "{} gives {} where {} gives {}, class {class}: {}",
        b.row.name,
        b.row.text,
        a.row.name,
        a.row.text,
        described.join("; ")
    );
    Comparison { left, right, class: Some(class), because, sentence }
}

fn sentence(from: &str, wanted: &str, changes: &Changes) -> String {
    let words: Vec<&str> = changes.iter().map(|(_, because)| because.as_str()).collect();
    let number = if let [_] = words[..] { "one change".to_owned() } else { format!("{} changes", words.len()) };
    format!("with {number}, {from} gives {wanted} too: {}", words.join(", and "))
}

/// Finds `number` changes of a scheme, the last of which gives the result of `to`.
fn changes<O: Operation>(from: &O::Scheme, to: &Entry<O>, case: &Case<O::Params>, number: usize) -> Option<Changes> {
    // The changes of a cast do not depend on the domain.
    let domain = &kernels::<O>().first()?.contract.domain;
    let all = O::changes(from, domain);
    let words = |change: &Change<O>| Some((change.class, change.because()?.to_owned()));
    let applying = all.iter().filter(|change| change.applies(&case.params));
    if number > 1 {
        return applying
            .filter_map(|change| Some((words(change)?, change.lead(&to.scheme))))
            .filter_map(|(words, lead)| match lead {
                Lead::To(scheme) => Some((words, scheme)),
                _ => None,
            })
            .find_map(|(words, scheme)| Some([vec![words], changes(&scheme, to, case, number - 1)?].concat()));
    }
    let gives = |change: &Change<O>| {
        let results = change.predict(case).unwrap_or_default();
        results.iter().copied().eq(to.outs.iter().map(|word| Some(*word)))
    };
    let nearer = |change: &Change<O>| !matches!(change.lead(&to.scheme), Lead::Away);
    let words = applying.filter(|change| nearer(change)).find(|change| gives(change)).and_then(words);
    words.map(|words| vec![words])
}

/// Describes a row's lossy steps as clauses.
pub(super) fn did(row: &Row) -> String {
    let Some(steps) = &row.steps else { return "shows no steps".to_owned() };
    let clauses: Vec<String> = steps.iter().filter(|l| l.effect != "exact").map(clause).collect();
    if clauses.is_empty() { "rounds nothing".to_owned() } else { clauses.join(", then ") }
}

fn clause(line: &Line) -> String {
    let Some(after) = &line.after else { return format!("has no value after \"{}\": {}", line.name, line.lost) };
    let (before, after) = (brief(&line.before), brief(after));
    match &line.rounding {
        Some(Rounding { to: Some(to), tie, .. }) => {
            let tie = if *tie { ", a tie" } else { "" };
            format!("rounds {before} to {after} in {to} (\"{}\"{tie})", line.name)
        }
        Some(Rounding { rule, tie, .. }) => {
            let tie = if *tie { ", a tie" } else { "" };
            format!("rounds {before} to {after} ({rule}{tie})")
        }
        None => format!("takes {before} to {after} (\"{}\": {})", line.name, line.lost),
    }
}

/// Builds the line of an exact step.
pub(super) fn exact(name: &str, before: &Value, after: &Value) -> Line {
    Line {
        name: name.to_owned(),
        before: before.clone(),
        after: Some(after.clone()),
        effect: "exact",
        lost: String::new(),
        rounding: None,
    }
}

/// Builds the line of a step with a loss that is not a rounding.
pub(super) fn lossy(name: &str, before: &Value, after: &Value, effect: &'static str, lost: String) -> Line {
    Line { effect, lost, ..exact(name, before, after) }
}

/// Builds the line of a step that first rounds an operand to the format, by the amount `by`.
pub(super) fn operand(name: &str, [before, after]: [&Value; 2], what: &str, by: &Rational) -> Line {
    if *by == 0 {
        return exact(name, before, after);
    }
    lossy(name, before, after, "operand-rounded", format!("{what} is rounded by {}", signed(by)))
}

/// Builds the line of a rounding to an integer.
pub(super) fn to_integer(name: &str, before: &Value, after: &Value, rule: RoundingRule) -> Line {
    let tie = matches!(before, Value::Number(v) if rule.is_nearest() && Rational::from(v * 2).is_integer());
    rounded(name, before, after, Rounding { rule: rule.name(), bit: None, to: None, tie })
}

/// Builds the line of a rounding to a format, ties to even.
pub(super) fn to_format(name: &str, before: &Value, after: &Value, format: Format) -> Line {
    let tie = matches!(before, Value::Number(v) if is_tie(v, format));
    rounded(
        name,
        before,
        after,
        Rounding { rule: RoundingRule::TiesEven.name(), bit: None, to: Some(format.name()), tie },
    )
}

fn is_tie(v: &Rational, format: Format) -> bool {
    let ends = [RoundingRule::TowardNegative, RoundingRule::TowardPositive];
    match ends.map(|rule| format.decode(format.round(v, rule))) {
        [Float::Finite { value: below, .. }, Float::Finite { value: above, .. }] => {
            below + above == Rational::from(v * 2)
        }
        _ => false,
    }
}

fn rounded(name: &str, before: &Value, after: &Value, rounding: Rounding) -> Line {
    if before == after {
        return exact(name, before, after);
    }
    let mut line = lossy(name, before, after, "rounded", String::new());
    let by = line.change().map_or("overflow".to_owned(), |by| signed(&by));
    let to = rounding.to.map_or_else(String::new, |to| format!(" to {to}"));
    line.lost = format!("rounded by {by}{to}{}", if rounding.tie { ", a tie" } else { "" });
    line.rounding = Some(rounding);
    line
}

/// Describes the rounding of a decimal input to the format; `None` if the format holds the decimal exactly.
pub fn read(what: &str, text: &str, format: Format, bits: u64) -> Option<String> {
    let read = tiebreak_oracle::float::decimal(text)?;
    let Float::Finite { value, .. } = format.decode(bits) else { return None };
    let exact = Some(both(&value)).filter(|text| text.len() <= READABLE).unwrap_or_else(|| shortest(format, bits));
    (value != read).then(|| format!("{what} {text} is rounded to {}, {bits:#x}: {exact}", format.name()))
}

/// Upper bound on the length of a number in a note.
const READABLE: usize = 80;

/// Returns the name of a kernel's row, made different from every scheme's name.
pub(super) fn kernel_name(name: &str, place: &str, mut schemes: impl Iterator<Item = &'static str>) -> String {
    let kernel = if schemes.any(|scheme| scheme == name) { "kernel " } else { "" };
    format!("{kernel}{name}{place}")
}

/// Elements in a batch: whole vectors of any kernel, and one element after them.
const BATCH: usize = 65;

/// Returns parameters of `len` elements with one scale.
fn of_shape(q: &Quantized, len: usize) -> Params {
    let quantized = Quantized { granularity: Granularity::Layer, ..q.clone() };
    Params { quantized, container: Container::Ranked, shape: vec![len] }
}

/// Returns parameters of two rows in blocks along the first axis, all with one scale, for kernels that accept only such blocks.
fn of_columns(q: &Quantized) -> Params {
    let granularity = Granularity::Blocks { sizes: vec![(0, 2), (1, 1)], counts: vec![1, BATCH] };
    let scales = q.scales.iter().copied().cycle().take(BATCH).collect();
    let zero_points = q.zero_points.iter().copied().cycle().take(BATCH).collect();
    let quantized = Quantized { granularity, scales, zero_points, ..q.clone() };
    Params { quantized, container: Container::Ranked, shape: vec![2, BATCH] }
}

/// Builds a case of one element.
pub(super) fn one(q: &Quantized, input: Vec<i32>) -> Case<Params> {
    Case { params: of_shape(q, 1), tensors: [input, Vec::new(), Vec::new()].into(), misalign: 0 }
}

/// Returns a kernel's results, as words, for one input in the body of a batch and after its vectors.
pub(super) fn in_process<O: Operation<Params = Params>>(
    kernel: &Kernel<O::Run, O::Domain>,
    q: &Quantized,
    input: &[i32],
) -> Result<[Vec<i32>; 2], ExplainError> {
    let domain = &kernel.contract.domain;
    let Some(params) = [of_shape(q, BATCH), of_columns(q)].into_iter().find(|params| O::covers(domain, params)) else {
        return Err(ExplainError::Domain { kernel: kernel.name, domain: O::domain_text(domain) });
    };
    let elements: usize = params.shape.iter().product();
    let outputs = operation::sizes::<O>(&kernel.contract.domain, &params).map_err(JobError::from)?.outputs;
    let mut out = vec![0; outputs];
    execute(&job::<O>(kernel.name, &params), Form::Native, &input.repeat(elements), &mut out, 0)?;
    let words = outputs / elements;
    Ok([out[..words].to_vec(), out[outputs - words..].to_vec()])
}
