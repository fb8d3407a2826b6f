//! How the exact sum becomes the scheme of a contract, one change at a time: what each difference from it is due to.

use super::Add;
use crate::tensor::Link;
use tiebreak_oracle::add::Scheme;
use tiebreak_oracle::rounding::RoundingRule::{self, *};

/// Class of a difference that the contract's own scheme reproduces, until its links tell more.
pub(super) const OWN: &str = "scheme";

/// What a scheme is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Three rescales.
    Rescaled,
    /// Integer multipliers and one shift.
    Fixed,
    /// Steps in f32, with the zero point behind the rounding or before it.
    Floats { zero_point_first: bool },
}

/// What a scheme is made of, and the rule by which it rounds last; none for exact ones.
pub(super) fn kind(name: &str) -> Option<(Kind, RoundingRule)> {
    Some(match name {
        "tflite" | "cmsis-nn" | "tosa-double" => (Kind::Rescaled, TiesAway),
        "tflite-single" | "cmsis-nn-single" | "tosa-single" | "tflite-int16-multiplier" => (Kind::Rescaled, TiesUp),
        "xnnpack" => (Kind::Fixed, TiesUp),
        "onnx-neon" => (Kind::Fixed, TiesAway),
        "onnx" => (Kind::Floats { zero_point_first: true }, TiesEven),
        "pytorch" => (Kind::Floats { zero_point_first: false }, TiesEven),
        _ => return None,
    })
}

/// The links from an exact sum rounded by a rule to a contract; none where it is not known what either is made of.
pub(super) fn links(contract: &Scheme, reference: &Scheme) -> Vec<Link<Add>> {
    let from = RoundingRule::ALL.into_iter().find(|rule| Scheme::ideal(*rule).label() == reference.label());
    let (Some((kind, rule)), Some(from)) = (kind(contract.definition.name), from) else { return Vec::new() };
    let mut out: Vec<Link<Add>> = Vec::new();
    if rule != from {
        let class: fn(&_) -> _ = if from.is_nearest() { |_| "tie-direction" } else { |_| "directed-rounding" };
        out.push(Link { class, scheme: Scheme::ideal(rule) });
    }
    match kind {
        Kind::Rescaled => {
            out.push(Link { class: |_| "multiplier-narrowed", scheme: Scheme::narrowed(rule) });
            out.push(Link { class: |_| "double-rounding", scheme: *contract });
        }
        Kind::Fixed => out.push(Link { class: |_| "multiplier-narrowed", scheme: *contract }),
        Kind::Floats { zero_point_first } => {
            let placed = Scheme::parse("zero-point-first-nearest-even").ok().filter(|_| zero_point_first);
            out.extend(placed.map(|scheme| Link { class: |_| "zero-point-placement", scheme }));
            out.push(Link { class: |_| "f32-step", scheme: *contract });
        }
    }
    out
}
