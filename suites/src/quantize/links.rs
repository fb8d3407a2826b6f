//! How the reference becomes the scheme of a contract, one change at a time: what each difference from the reference is due to.

use super::Quantize;
use crate::class::Class;
use crate::tensor::Link;
use tiebreak_impls::quantized::Params;
use tiebreak_oracle::quantize::Scheme;

/// Class of a difference that the contract's own scheme reproduces, until its links tell more.
pub(super) const OWN: Class = Class::OtherScheme;

/// What a scheme is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The rule, as schemes are named.
    pub(super) rule: &'static str,
    /// Whether the zero point is added behind the rounding.
    pub(super) after: bool,
    /// Whether steps are rounded in the expressed type.
    pub(super) steps: bool,
    /// Whether the scale's rounded reciprocal is multiplied by.
    pub(super) reciprocal: bool,
}

/// Rules, as schemes are named.
pub(super) const RULES: [&str; 8] = [
    "nearest-even",
    "nearest-away",
    "nearest-up",
    "nearest-down",
    "nearest-to-zero",
    "toward-zero",
    "toward-negative",
    "toward-positive",
];

/// What a scheme of that name is made of.
pub(super) fn parts(name: &str) -> Option<Parts> {
    let parts = |rule, after, steps, reciprocal| Some(Parts { rule, after, steps, reciprocal });
    match name {
        "mlir-qcast" => return parts("toward-zero", false, true, false),
        "tflite" => return parts("nearest-away", true, true, false),
        "onnx" => return parts("nearest-even", true, true, false),
        "pytorch-legacy" => return parts("nearest-even", false, true, true),
        "pytorch" | "xnnpack" | "neon-fcvtns" => return parts("nearest-even", true, true, true),
        _ => {}
    }
    let families = [
        ("zero-point-after-", true, false, false),
        ("mlir-qcast-", false, true, false),
        ("reciprocal-", false, true, true),
        ("", false, false, false),
    ];
    families.into_iter().find_map(|(prefix, after, steps, reciprocal)| {
        let rule = name.strip_prefix(prefix)?;
        RULES.iter().find(|known| **known == rule).and_then(|rule| parts(rule, after, steps, reciprocal))
    })
}

/// The exact scheme of a rule, with the zero point before or behind it.
pub(super) fn exact(rule: &str, after: bool) -> Option<Scheme> {
    Scheme::parse(&if after { format!("zero-point-after-{rule}") } else { rule.to_owned() }).ok()
}

/// The scheme of the same steps that divides.
fn dividing(parts: Parts) -> Option<Scheme> {
    let name = match parts {
        Parts { after: false, rule, .. } => format!("mlir-qcast-{rule}:saturate"),
        Parts { rule: "nearest-away", .. } => "tflite".to_owned(),
        Parts { rule: "nearest-even", .. } => "onnx".to_owned(),
        _ => return None,
    };
    Scheme::parse(&name).ok()
}

/// Class of a difference between two rules.
pub(crate) fn rule_class(rule: &str) -> Class {
    match rule {
        rule if rule.starts_with("nearest-") => Class::TieDirection,
        _ => Class::DirectedRounding,
    }
}

/// Class of a step that is rounded in the expressed type of a case.
pub(super) fn step_class(p: &Params) -> Class {
    Class::step(p.quantized.expressed)
}

/// The links from an exact reference to a contract; none where it is not known what either is made of.
pub(super) fn links(contract: &Scheme, reference: &Scheme) -> Vec<Link<Quantize>> {
    let known = (parts(contract.definition.name), parts(reference.definition.name));
    let (Some(to), Some(from)) = known else { return Vec::new() };
    let mut out: Vec<Link<Quantize>> = Vec::new();
    let mut rule = from.rule;
    if to.rule != rule {
        rule = to.rule;
        let class: fn(&Params) -> Class = match rule_class(rule) {
            Class::TieDirection => |_| Class::TieDirection,
            _ => |_| Class::DirectedRounding,
        };
        out.extend(exact(rule, from.after).map(|scheme| Link { class, scheme }));
    }
    if to.after != from.after {
        out.extend(exact(rule, to.after).map(|scheme| Link { class: |_| Class::ZeroPointPlacement, scheme }));
    }
    if to.reciprocal {
        out.extend(dividing(to).map(|scheme| Link { class: step_class, scheme }));
        out.push(Link { class: |_| Class::Reciprocal, scheme: *contract });
    } else if to.steps {
        out.push(Link { class: step_class, scheme: *contract });
    }
    out
}

/// The contract's steps with the rounding of the reference, and saturation: what the format alone costs. Nothing where the contract
/// rounds so by itself.
pub(super) fn ideal_steps(contract: &Scheme, reference: &Scheme) -> Option<Scheme> {
    let (to, from) = (parts(contract.definition.name)?, parts(reference.definition.name)?);
    let family = if to.reciprocal { "reciprocal" } else { "mlir-qcast" };
    let other = to.steps && !to.after && to.rule != from.rule;
    other.then(|| Scheme::parse(&format!("{family}-{}:saturate", from.rule)).ok()).flatten()
}
