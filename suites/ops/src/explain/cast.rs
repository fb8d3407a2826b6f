//! What `quantize` and `dequantize` share in an explanation: rounding lines, kernels run, and which step separates two step lists,
//! found by changing single steps of one towards the other until its result is the other's.

use super::Comparison;
use super::sheet::{Line, Rounding, Row, brief};
use rug::Rational;
use tiebreak_common::class::Class;
use tiebreak_common::floats::shortest;
use tiebreak_common::fraction::{both, signed};
use tiebreak_engine::tensor::Operation;
use tiebreak_impls::Form;
use tiebreak_impls::execute::execute;
use tiebreak_impls::kernel::Kernel;
use tiebreak_impls::quantized::{Container, Granularity, Params, Quantized};
use tiebreak_oracle::float::{Float, Format};
use tiebreak_oracle::quantize::steps::Value;
use tiebreak_oracle::rounding::RoundingRule;

/// A step list at one input.
pub(super) trait Way: Clone {
    /// What could be changed to make it more like another, in the order of preference.
    fn towards(&self, other: &Self) -> Vec<Change<Self>>;
    /// Its result, for comparison and for readers.
    fn result(&self) -> String;
}

/// One thing changed in a step list.
pub(super) struct Change<W> {
    /// The class of a difference that it explains.
    pub(super) class: Class,
    /// What is changed, in words: `with ...`.
    pub(super) what: String,
    pub(super) apply: Box<dyn Fn(&mut W)>,
}

/// A row with its steps.
pub(super) struct Entry<W> {
    pub(super) row: Row,
    pub(super) way: W,
}

/// Why two with a value each differ: the fewest changes to the right one's steps, else to the left one's.
pub(super) fn compare<W: Way>(entries: &[Entry<W>], left: usize, right: usize) -> Comparison {
    let (a, b) = (&entries[left], &entries[right]);
    if a.row.text == b.row.text {
        let sentence = format!("{} and {} both give {}", a.row.name, b.row.name, a.row.text);
        return Comparison { left, right, class: None, because: None, sentence };
    }
    let reversed = || cause(a, b).map(|(class, because)| (class.reversed(), because));
    let found = cause(b, a).or_else(reversed);
    let (class, because) = found.map_or((Class::Unexplained, None), |(class, b)| (class, Some(b)));
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

fn cause<W: Way>(from: &Entry<W>, to: &Entry<W>) -> Option<(Class, String)> {
    let wanted = to.way.result();
    let changes = from.way.towards(&to.way);
    let mut subsets: Vec<u32> = (1..1 << changes.len().min(10)).collect();
    subsets.sort_by_key(|set| (set.count_ones(), *set));
    let chosen = |set: u32| changes.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, c)| c);
    let set = subsets.into_iter().find(|set| {
        let mut way = from.way.clone();
        chosen(*set).for_each(|change| (change.apply)(&mut way));
        way.result() == wanted
    })?;
    let class = chosen(set).next()?.class;
    let what: Vec<&str> = chosen(set).map(|c| c.what.as_str()).collect();
    Some((class, format!("with {}, {} gives {wanted} too", what.join(" and "), from.row.name)))
}

/// What a row's steps did, as clauses.
pub(super) fn did(row: &Row) -> String {
    let Some(steps) = &row.steps else { return "shows no steps".to_owned() };
    let clauses: Vec<String> = steps.iter().filter(|l| l.effect != "exact").map(clause).collect();
    if clauses.is_empty() { "rounds nothing".to_owned() } else { clauses.join(", then ") }
}

fn clause(line: &Line) -> String {
    let Some(after) = &line.after else { return format!("has no value behind \"{}\": {}", line.name, line.lost) };
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

/// A line of an exact step.
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

/// A line of a step that loses something else than a rounding does, if it does.
pub(super) fn lossy(name: &str, before: &Value, after: &Value, effect: &'static str, lost: String) -> Line {
    Line { effect, lost, ..exact(name, before, after) }
}

/// A line of a step that rounds an operand to the format, by `by`, before it uses it.
pub(super) fn operand(name: &str, [before, after]: [&Value; 2], what: &str, by: &Rational) -> Line {
    if *by == 0 {
        return exact(name, before, after);
    }
    lossy(name, before, after, "operand-rounded", format!("{what} is rounded by {}", signed(by)))
}

/// A line of a rounding to an integer.
pub(super) fn to_integer(name: &str, before: &Value, after: &Value, rule: RoundingRule) -> Line {
    let tie = matches!(before, Value::Number(v) if rule.is_nearest() && Rational::from(v * 2).is_integer());
    rounded(name, before, after, Rounding { rule: rule.name(), bit: None, to: None, tie })
}

/// A line of a rounding to a format, ties to even.
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

/// The value of a decimal input in the format; `None` if it is exactly that decimal.
pub fn read(what: &str, text: &str, format: Format, bits: u64) -> Option<String> {
    let read = tiebreak_oracle::float::decimal(text)?;
    let Float::Finite { value, .. } = format.decode(bits) else { return None };
    let exact = Some(both(&value)).filter(|text| text.len() <= READABLE).unwrap_or_else(|| shortest(format, bits));
    (value != read).then(|| format!("{what} {text} is rounded to {}, {bits:#x}: {exact}", format.name()))
}

/// The longest number in a note.
const READABLE: usize = 80;

/// The name of a kernel's row, which must not be a scheme's.
pub(super) fn kernel_name(name: &str, place: &str, mut schemes: impl Iterator<Item = &'static str>) -> String {
    let kernel = if schemes.any(|scheme| scheme == name) { "kernel " } else { "" };
    format!("{kernel}{name}{place}")
}

/// Elements of a batch: whole vectors of any kernel, and one after them.
const BATCH: usize = 65;

/// The results of a kernel for one input in the body of a batch and after its vectors, in words.
pub(super) fn in_process<O: Operation<Params = Params>>(
    kernel: &Kernel<O::Run, O::Domain>,
    q: &Quantized,
    input: &[i32],
) -> Result<[Vec<i32>; 2], String> {
    let quantized = Quantized { granularity: Granularity::Layer, ..q.clone() };
    let params = Params { quantized, container: Container::Ranked, shape: vec![BATCH] };
    if !O::covers(&kernel.contract.domain, &params) {
        let domain = O::domain_text(&kernel.contract.domain);
        return Err(format!("kernel `{}` promises nothing of this type: its domain is {domain}", kernel.name));
    }
    let outputs = O::sizes(&kernel.contract.domain, &params).map_err(|e| e.to_string())?.outputs;
    let mut out = vec![0; outputs];
    execute(&O::job(kernel.name, &params), Form::Native, &input.repeat(BATCH), &mut out, 0)?;
    let words = outputs / BATCH;
    Ok([out[..words].to_vec(), out[outputs - words..].to_vec()])
}
