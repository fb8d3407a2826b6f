//! Changes of a single step of a scheme: the step is left out or computed exactly, or the conversion gets another overflow policy.

use super::super::parts::{Named, spelled};
use super::super::{Promised, Quantize, each};
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Lead};
use tiebreak_impls::quantized::{Expressed, Params};
use tiebreak_oracle::quantize::Scheme;
use tiebreak_oracle::quantize::steps::{Addend, Step, run};
use tiebreak_oracle::word::Overflow;

/// Change of a single step.
struct Single {
    /// Class; `None` if the class depends on the type.
    class: Option<Class>,
    because: String,
    /// Changed steps, and the policy for results that do not fit.
    steps: Vec<Named>,
    overflow: Overflow,
    /// Predicate of another scheme: true if its steps lack what this change removes.
    is_without: Box<dyn Fn(&Scheme) -> bool + Send + Sync>,
}

/// Returns every change of a single step. The changed steps are generally not those of a known scheme.
pub(super) fn changes(scheme: Scheme) -> Vec<Change<Quantize>> {
    let list = spelled(scheme.definition.steps);
    let dropped = list
        .iter()
        .filter(|(_, step)| !matches!(step, Step::Wrap(_)))
        .filter_map(|(name, step)| dropped(&list, scheme.overflow, name, *step));
    dropped.chain(unrounded(&list, scheme.overflow)).chain(fitted(&list, scheme.overflow)).flat_map(change).collect()
}

/// Returns changes that leave out the wrap of a sum.
pub(super) fn unwrapped(scheme: Scheme) -> Vec<Change<Quantize>> {
    let list = scheme.definition.steps;
    let wraps = list.iter().filter(|(_, step)| matches!(step, Step::Wrap(_)));
    wraps.filter_map(|(name, step)| dropped(list, scheme.overflow, name, *step)).flat_map(change).collect()
}

fn dropped(list: &[Named], overflow: Overflow, name: &'static str, step: Step) -> Option<Single> {
    let class = match step {
        Step::RoundToFormat => None,
        Step::ClampBeforeZeroPoint => Some(Class::ClampOrder),
        Step::Saturate(_) | Step::Wrap(_) => Some(Class::Saturation),
        Step::RoundTo(_) => Some(Class::F64Step),
        _ => return None,
    };
    let steps = list.iter().copied().filter(|(own, _)| *own != name).collect();
    let is_without = move |target: &Scheme| !spelled(target.definition.steps).iter().any(|(other, _)| *other == name);
    Some(Single {
        class,
        because: format!("\"{name}\" is left out"),
        steps,
        overflow,
        is_without: Box::new(is_without),
    })
}

/// Returns the change that adds the exact zero point, if the scheme rounds the zero point to the expressed type.
fn unrounded(list: &[Named], overflow: Overflow) -> Option<Single> {
    const ROUNDED: Step = Step::Add(Addend::ZeroPointRounded);
    list.iter().find(|(_, step)| *step == ROUNDED)?;
    let exact = |(name, step): &Named| (*name, if *step == ROUNDED { Step::Add(Addend::ZeroPoint) } else { *step });
    let is_without = |target: &Scheme| !target.definition.steps.iter().any(|(_, step)| *step == ROUNDED);
    Some(Single {
        class: None,
        because: "the zero point is not rounded".to_owned(),
        steps: list.iter().map(exact).collect(),
        overflow,
        is_without: Box::new(is_without),
    })
}

fn fitted(list: &[Named], overflow: Overflow) -> Option<Single> {
    let converts = list.iter().any(|(_, step)| matches!(step, Step::Convert(_)));
    (converts && overflow != Overflow::Saturate).then(|| Single {
        class: Some(Class::MissingSaturation),
        because: "the conversion saturates".to_owned(),
        steps: list.to_vec(),
        overflow: Overflow::Saturate,
        is_without: Box::new(move |target| target.overflow != overflow),
    })
}

/// Builds the change; one for each type if the class depends on the type.
fn change(single: Single) -> Vec<Change<Quantize>> {
    let Single { class, because, steps, overflow, is_without } = single;
    let is_without = std::sync::Arc::new(is_without);
    let of = |class: Class| {
        let (steps, is_without) = (steps.clone(), is_without.clone());
        Change::predicts(class, because.clone(), move |case: &Case<Params>| {
            each(case, |q, x| run(&steps, overflow, q, x).1.value()).ok()
        })
        .leading(move |target: &Promised| if is_without(&target.scheme) { Lead::Nearer } else { Lead::Away })
    };
    let at = |expressed: Expressed| {
        of(Class::step(expressed)).at(move |params: &Params| params.quantized.expressed == expressed)
    };
    class.map_or_else(|| Expressed::ALL.map(at).into(), |class| vec![of(class)])
}
