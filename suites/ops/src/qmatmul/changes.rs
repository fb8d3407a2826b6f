//! Changes that a kernel may make to a product with output stages: in the sums, their requantization, or the order, axes and policies of stages.

use super::{Qmatmul, quantized};
use crate::fused::Fused;
use crate::fused::composed::{activation, biases, tails};
use crate::fused::part_changes::{Sums, by_place, of_product, of_requantization, total};
use crate::fused::wide;
use crate::matmul::wrapped_to;
use tiebreak_common::Class;
use tiebreak_engine::operation::{Case, Change, Expected};
use tiebreak_impls::qmatmul::{Along, Domain, Lists, Params, Stage};
use tiebreak_oracle::qmatmul::{Quantized, Scheme, finished};
use tiebreak_oracle::word::Overflow;

/// Number of leading stages among which exchanges of two stages are tried.
const PLACES: usize = 5;

/// Returns every change, in the order of preference.
pub(super) fn changes(scheme: &Scheme, domain: &Domain) -> Vec<Change<Qmatmul>> {
    let sums = Sums::default();
    if domain.lists == Lists::Layer64 {
        let mut out = wide::changes(&sums, scheme);
        out.extend(of_product(scheme, domain));
        out.extend(of_lists(&sums, scheme));
        out.extend(of_values(&sums, scheme));
        return out;
    }
    let mut out = biases(&sums, scheme);
    out.push(activation(&sums, scheme, domain));
    let (positions, others) = by_place(of_requantization(&sums, scheme, domain));
    out.extend(others);
    out.extend(tails(&sums, scheme, "a row"));
    out.extend(positions);
    out.extend(of_product(scheme, domain));
    out.extend(of_lists(&sums, scheme));
    out.extend(of_values(&sums, scheme));
    out
}

/// Builds a change of the list of stages, or of their parameters. `change` returns `None` if the list has no such stage.
fn list(
    sums: &Sums<Params>,
    scheme: &Scheme,
    class: Class,
    because: impl Into<String>,
    change: impl Fn(&Params) -> Option<Vec<Stage>> + Send + Sync + 'static,
) -> Change<Qmatmul> {
    let (base, sums) = (total(scheme), sums.clone());
    Change::predicts(class, because, move |case: &Case<Params>| {
        let stages = change(&case.params)?;
        let p = Params { stages, ..case.params.clone() };
        Qmatmul::finished(&base, &p, &sums.of::<Qmatmul>(case)?)
    })
}

fn other(along: Along) -> Along {
    if along == Along::Rows { Along::Columns } else { Along::Rows }
}

fn of_lists(sums: &Sums<Params>, scheme: &Scheme) -> Vec<Change<Qmatmul>> {
    let mut out = vec![
        list(sums, scheme, Class::Channel, "the multipliers of columns are indexed by the row", |p| {
            let turned = |stage: &Stage| match stage {
                Stage::Scale { along: Along::Columns, channels, zero_point } if channels.len() > 1 => Stage::Scale {
                    along: Along::Rows,
                    channels: channels.iter().copied().cycle().take(p.shape.m).collect(),
                    zero_point: *zero_point,
                },
                stage => stage.clone(),
            };
            Some(p.stages.iter().map(turned).collect())
        }),
        list(sums, scheme, Class::Layout, "biases of rows are added to columns, and those of columns to rows", |p| {
            let turned = |stage: &Stage| match stage {
                Stage::Bias { along, values } if values.len() > 1 => {
                    let along = other(*along);
                    Stage::Bias { along, values: values.iter().copied().cycle().take(along.size(p)).collect() }
                }
                Stage::Bias64 { along, values } if values.len() > 1 => {
                    let along = other(*along);
                    Stage::Bias64 { along, values: values.iter().copied().cycle().take(along.size(p)).collect() }
                }
                stage => stage.clone(),
            };
            Some(p.stages.iter().map(turned).collect())
        }),
    ];
    for at in 0..PLACES {
        let because = format!("stages {} and {} change places", at + 1, at + 2);
        out.push(list(sums, scheme, Class::StageOrder, because, move |p| {
            let mut stages = p.stages.clone();
            let moves = stages.get(at + 1).is_some_and(|stage| !matches!(stage, Stage::Cast { .. }));
            if moves {
                stages.swap(at, at + 1);
            }
            Some(stages)
        }));
    }
    out.push(list(sums, scheme, Class::StageOrder, "the stages come in the reverse order", |p| {
        let casts = p.stages.iter().filter(|stage| matches!(stage, Stage::Cast { .. })).count();
        let mut stages = p.stages.clone();
        let others = stages.len() - casts;
        stages[..others].reverse();
        Some(stages)
    }));
    let without = |because: &'static str, is: fn(&Stage) -> bool| {
        list(sums, scheme, Class::MissingSaturation, because, move |p| {
            Some(p.stages.iter().filter(|stage| !is(stage)).cloned().collect())
        })
    };
    out.push(without("nothing is clamped", |stage| matches!(stage, Stage::Clamp { .. })));
    out.push(without("the cast is left out", |stage| matches!(stage, Stage::Cast { .. })));
    out
}

/// Returns changes of a stage to another policy.
fn of_values(sums: &Sums<Params>, scheme: &Scheme) -> Vec<Change<Qmatmul>> {
    let base = total(scheme);
    let kept = sums.clone();
    let because = "the cast keeps the low bits";
    let wraps = Change::predicts(Class::MissingSaturation, because, move |case: &Case<Params>| {
        let sums = kept.of::<Qmatmul>(case)?;
        let Some((Stage::Cast { to }, others)) = case.params.stages.split_last() else {
            return Qmatmul::finished(&base, &case.params, &sums);
        };
        let p = Params { stages: others.to_vec(), ..case.params.clone() };
        let out = Qmatmul::finished(&base, &p, &sums)?;
        Some(out.into_iter().map(|v| v.map(|v| wrapped_to(*to, v))).collect())
    });
    let tanh = |class: Class, because: &'static str, overflow: Overflow| {
        let kept = sums.clone();
        Change::predicts(class, because, move |case: &Case<Params>| {
            in_parts(&case.params, &kept.of::<Qmatmul>(case)?, |stage| match stage {
                Stage::Tanh { .. } => Scheme { overflow, ..base },
                _ => base,
            })
        })
    };
    vec![
        wraps,
        tanh(Class::Wrap, "the left shift of tanh wraps", Overflow::Wrap),
        tanh(Class::Saturation, "the left shift of tanh saturates", Overflow::Saturate),
    ]
}

/// Applies the stages one by one, each with its own scheme.
fn in_parts(p: &Params, sums: &[i64], scheme: impl Fn(&Stage) -> Scheme) -> Option<Expected> {
    let whole = quantized(p);
    let start: Expected = sums.iter().map(|sum| i32::try_from(*sum).ok()).collect();
    p.stages.iter().zip(&whole.stages).try_fold(start, |values, (stage, posed)| {
        let one = Quantized { product: whole.product, stages: vec![posed.clone()] };
        finished(&scheme(stage), &one, &values).ok()
    })
}
