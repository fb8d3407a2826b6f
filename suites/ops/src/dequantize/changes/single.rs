//! Changes of a single step of a scheme: the step is left out, or computed exactly.

use super::super::{Dequantize, each};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Lead};
use tiebreak_impls::quantized::{Expressed, Params};
use tiebreak_oracle::dequantize::{Scheme, Step};
use tiebreak_oracle::float::Format;
use tiebreak_oracle::quantize::Quantization;
use tiebreak_oracle::quantize::steps::Value;

type Named = (&'static str, Step);

/// Returns every change of a single step.
pub(super) fn changes(scheme: Scheme) -> Vec<Change<Dequantize>> {
    let list = scheme.definition.steps;
    let dropped = list.iter().flat_map(|(name, step)| dropped(list, name, *step));
    dropped.chain(unrounded(list)).collect()
}

fn dropped(list: &[Named], name: &'static str, step: Step) -> Vec<Change<Dequantize>> {
    let because = format!("\"{name}\" is left out");
    let steps: Vec<Named> = list.iter().copied().filter(|(own, _)| *own != name).collect();
    let is_without = move |target: &Scheme| !target.definition.steps.iter().any(|(other, _)| *other == name);
    let of = |class| change(class, because.clone(), steps.clone(), is_without);
    match step {
        Step::Round => each_type(of),
        Step::RoundToDouble => vec![of(Class::F64Step)],
        Step::RoundToSingle => vec![of(Class::F32Step)],
        _ => Vec::new(),
    }
}

/// Returns changes that subtract the exact zero point, if the scheme rounds the zero point to the expressed type.
fn unrounded(list: &[Named]) -> Vec<Change<Dequantize>> {
    if !list.iter().any(|(_, step)| *step == Step::SubtractRounded) {
        return Vec::new();
    }
    let exact = |(name, step): &Named| (*name, if *step == Step::SubtractRounded { Step::Subtract } else { *step });
    let steps: Vec<Named> = list.iter().map(exact).collect();
    let rounds_it = |(_, step): &Named| matches!(step, Step::SubtractRounded | Step::SubtractProduct);
    let is_without = move |target: &Scheme| !target.definition.steps.iter().any(rounds_it);
    each_type(|class| change(class, "the zero point is not rounded".to_owned(), steps.clone(), is_without))
}

/// Returns one change for each expressed type, because the class of a step depends on the type to which it rounds.
fn each_type(of: impl Fn(Class) -> Change<Dequantize>) -> Vec<Change<Dequantize>> {
    let at = |expressed: Expressed| {
        of(Class::step(expressed)).at(move |params: &Params| params.quantized.expressed == expressed)
    };
    Expressed::ALL.map(at).into()
}

fn change(
    class: Class,
    because: String,
    steps: Vec<Named>,
    is_without: impl Fn(&Scheme) -> bool + Send + Sync + 'static,
) -> Change<Dequantize> {
    let one = move |q: &Quantization, stored: i64| rounded(q.format, &run(&steps, q, stored));
    Change::predicts(class, because, move |case: &Case<Params>| each(case, &one).ok())
        .leading(move |target| if is_without(target) { Lead::Nearer } else { Lead::Away })
}

fn run(steps: &[Named], q: &Quantization, stored: i64) -> Value {
    steps.iter().fold(Value::Number(stored.into()), |value, (_, step)| step.apply(value, q))
}

/// Returns the bit pattern of a value. A number that the last step leaves exact is rounded to nearest.
fn rounded(format: Format, value: &Value) -> u64 {
    match value {
        Value::Number(v) => format.nearest(v),
        Value::Infinite { negative } => format.infinity() | if *negative { format.sign() } else { 0 },
        Value::Nan => format.nan(),
    }
}
