//! The steps of quantize schemes at one float: what each lost, and what of them could be changed.

use crate::explain::cast::{self, Change, Way};
use crate::explain::sheet::{Line, fraction};
use crate::quantize::parts::{Named, Parts, spelled};
use tiebreak_common::class::Class;
use tiebreak_common::fraction::signed;
use tiebreak_oracle::Rational;
use tiebreak_oracle::float::Float;
use tiebreak_oracle::quantize::steps::{Addend, Nan, Step, Value, reciprocal, run};
use tiebreak_oracle::quantize::{Quantization, Stored};
use tiebreak_oracle::rounding::RoundingRule;
use tiebreak_oracle::word::Overflow;

/// A step list at one float.
#[derive(Clone)]
pub(super) struct Steps {
    pub(super) list: Vec<Named>,
    pub(super) overflow: Overflow,
    pub(super) q: Quantization,
    pub(super) x: u64,
    pub(super) step_class: Class,
}

/// A result, for readers.
pub(super) fn described(stored: Stored) -> String {
    match stored {
        Stored::Value(v) => v.to_string(),
        Stored::Poison => "poison".to_owned(),
        Stored::Unspecified => "unspecified".to_owned(),
    }
}

/// Every step with what it lost.
pub(super) fn lines(way: &Steps) -> Vec<Line> {
    let Steps { q, .. } = way;
    let mut value = match q.format.decode(way.x) {
        Float::Nan => Value::Nan,
        Float::Infinite { negative } => Value::Infinite { negative },
        Float::Finite { value, .. } => Value::Number(value),
    };
    let mut out = Vec::new();
    for (name, step) in &way.list {
        let before = value.clone();
        match step.apply(before.clone(), way.overflow, q) {
            Ok(after) => {
                line(name, *step, &before, &after, q, &mut out);
                value = after;
            }
            Err(_) => {
                if let (Step::Convert(rule), Value::Number(v)) = (step, &before) {
                    let whole = Value::Number(rule.round(v).into());
                    out.extend((whole != before).then(|| cast::to_integer(name, &before, &whole, *rule)));
                    value = whole;
                }
                let storage = format!("{}, which has {} to {}", q.storage.name(), q.storage.min(), q.storage.max());
                let lost = format!("{} is no {storage}", fraction(&value));
                out.push(Line { effect: "poison", lost, after: None, ..cast::exact(name, &value, &value) });
                return out;
            }
        }
    }
    out
}

fn line(name: &str, step: Step, before: &Value, after: &Value, q: &Quantization, out: &mut Vec<Line>) {
    let moved = |effect, what: &str| match (before == after, before, after) {
        (true, ..) => cast::exact(name, before, after),
        (_, Value::Number(b), Value::Number(a)) => {
            cast::lossy(name, before, after, effect, format!("{what} by {}", signed(&Rational::from(a - b))))
        }
        _ => cast::lossy(name, before, after, effect, what.to_owned()),
    };
    let rounded = |exact: &Rational| match q.format.decode(q.format.nearest(exact)) {
        Float::Finite { value, .. } => value - exact,
        _ => Rational::new(),
    };
    out.push(match step {
        Step::Divide | Step::Add(Addend::ZeroPoint | Addend::Constant(_)) => cast::exact(name, before, after),
        Step::Add(Addend::ZeroPointRounded) => {
            cast::operand(name, [before, after], "the zero point", &rounded(&q.zero_point.into()))
        }
        Step::MultiplyByReciprocal => {
            let exact = q.exact_scale().recip();
            let by = match q.format.decode(reciprocal(q)) {
                Float::Finite { value, .. } => value - exact,
                _ => Rational::new(),
            };
            cast::operand(name, [before, after], "1/scale", &by)
        }
        Step::RoundToFormat => cast::to_format(name, before, after, q.format),
        Step::RoundToInteger(rule) => cast::to_integer(name, before, after, rule),
        Step::Convert(rule) => {
            let whole = match before {
                Value::Number(v) => Value::Number(rule.round(v).into()),
                other => other.clone(),
            };
            out.push(cast::to_integer(name, before, &whole, rule));
            if whole != *after {
                let lost = "does not fit the storage type".to_owned();
                out.push(cast::lossy("the conversion is fitted", &whole, after, "fitted", lost));
            }
            return;
        }
        Step::Nan(Nan::Poison | Nan::Zero | Nan::Lowest) => moved("replaced", "replaced"),
        Step::Saturate(_) | Step::ClampBeforeZeroPoint | Step::Clamp => moved("saturated", "clamped"),
    });
}

impl Steps {
    /// With a magic bias spelled as the rounding to an integer that it is.
    fn spelled(&self) -> Self {
        Self { list: spelled(&self.list), ..self.clone() }
    }

    fn place(&self, find: impl Fn(Step) -> bool) -> Option<usize> {
        self.list.iter().position(|(_, step)| find(*step))
    }

    fn rounding(&self) -> Option<(usize, RoundingRule)> {
        self.list.iter().enumerate().find_map(|(at, (_, step))| match step {
            Step::RoundToInteger(rule) | Step::Convert(rule) => Some((at, *rule)),
            _ => None,
        })
    }

    fn addition(&self) -> Option<usize> {
        self.place(|step| matches!(step, Step::Add(Addend::ZeroPoint | Addend::ZeroPointRounded)))
    }

    /// Whether the zero point is added after the rounding.
    fn after(&self) -> bool {
        self.addition() > self.rounding().map(|(at, _)| at)
    }

    fn has(&self, step: Step) -> bool {
        self.place(|other| other == step).is_some()
    }

    /// With the zero point, and the rounding of the sum, on the other side of the rounding to an integer.
    fn moved(&mut self) {
        let (Some(add), Some((round, rule))) = (self.addition(), self.rounding()) else { return };
        let rounded = self.list.get(add + 1).is_some_and(|(_, step)| *step == Step::RoundToFormat);
        let sum: Vec<Named> = self.list.drain(add..add + 1 + usize::from(rounded)).collect();
        if add < round {
            let at = round - sum.len();
            // A conversion to the storage type stays after the sum.
            let convert = matches!(self.list[at].1, Step::Convert(_));
            let whole = ("round to an integer", Step::RoundToInteger(rule));
            let block = if convert { [vec![whole], sum].concat() } else { sum };
            let at = if convert { at } else { at + 1 };
            self.list.splice(at..at, block);
        } else {
            self.list.splice(round..round, sum);
        }
    }
}

impl Way for Steps {
    fn towards(&self, other: &Self) -> Vec<Change<Self>> {
        let (own, other) = (self.spelled(), other.spelled());
        let mut out: Vec<Change<Self>> = Vec::new();
        let mut change = |class: Class, what: String, apply: Box<dyn Fn(&mut Self)>| {
            // What a change is made to must be spelled in the same way.
            let apply = Box::new(move |way: &mut Self| {
                *way = way.spelled();
                apply(way);
            });
            out.push(Change { class, what, apply });
        };
        let parts = [&own, &other].map(|way| Parts::of(&way.list));
        if let [Some(Parts { rule: from, .. }), Some(Parts { rule: to, .. })] = parts
            && from != to
        {
            let class = Class::rounding(from, to);
            let apply = move |way: &mut Self| {
                for (_, step) in &mut way.list {
                    match step {
                        Step::RoundToInteger(rule) | Step::Convert(rule) => *rule = to,
                        _ => {}
                    }
                }
            };
            change(class, format!("{} in place of {}", to.name(), from.name()), Box::new(apply));
        }
        if own.after() != other.after() {
            let place = if own.after() { "before" } else { "behind" };
            let what = format!("the zero point added {place} the rounding");
            change(Class::ZeroPointPlacement, what, Box::new(Self::moved));
        }
        if own.has(Step::MultiplyByReciprocal) && other.has(Step::Divide) {
            let divide = |way: &mut Self| {
                for (_, step) in &mut way.list {
                    if *step == Step::MultiplyByReciprocal {
                        *step = Step::Divide;
                    }
                }
            };
            change(Class::Reciprocal, "a division in place of the rounded reciprocal".to_owned(), Box::new(divide));
        }
        for (name, step) in &own.list {
            let class = match step {
                Step::RoundToFormat => own.step_class,
                Step::ClampBeforeZeroPoint => Class::ClampOrder,
                Step::Saturate(_) => Class::Saturation,
                _ => continue,
            };
            let name = *name;
            if !other.list.iter().any(|(other, _)| *other == name) {
                let drop = move |way: &mut Self| way.list.retain(|(own, _)| *own != name);
                change(class, format!("\"{name}\" left out"), Box::new(drop));
            }
        }
        if own.has(Step::Add(Addend::ZeroPointRounded)) && !other.has(Step::Add(Addend::ZeroPointRounded)) {
            let exact = |way: &mut Self| {
                for (_, step) in &mut way.list {
                    if *step == Step::Add(Addend::ZeroPointRounded) {
                        *step = Step::Add(Addend::ZeroPoint);
                    }
                }
            };
            change(own.step_class, "the zero point unrounded".to_owned(), Box::new(exact));
        }
        if own.overflow != other.overflow {
            let overflow = Overflow::Saturate;
            let what = "a conversion that saturates".to_owned();
            change(Class::MissingSaturation, what, Box::new(move |way: &mut Self| way.overflow = overflow));
        }
        out
    }

    fn result(&self) -> String {
        described(run(&self.list, self.overflow, &self.q, self.x).1)
    }
}
