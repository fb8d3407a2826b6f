//! Steps and schemes shared by the registries of addition and subtraction. Macros define schemes whose names contain literals. Their items come
//! from this module, except `Definition`, which comes from the registry.

pub(super) use super::add::expected::{Fast, Lift};
pub(super) use super::add::steps::{Factor, Own, Step};
pub(super) use crate::rounding::RoundingRule::*;

pub(super) const SCALE: (&str, Step) = ("multiply by the operand's scale", Step::Scale);
pub(super) const DIVIDE: (&str, Step) = ("divide by the output's scale", Step::DivideByOutput);
pub(super) const LIFT: (&str, Step) = ("shift left by 20, or 15 for 16 bits", Step::Own(Own::LeftShift));
pub(super) const ADD: (&str, Step) = ("add the zero point", Step::AddZeroPoint);
pub(super) const CLAMP: (&str, Step) = ("clamp", Step::Clamp);

pub(super) const fn rounded(what: &'static str) -> (&'static str, Step) {
    (what, Step::RoundToSingle)
}

/// Defines the schemes of a rounding rule.
macro_rules! of_rule {
    ($noun:literal, $source:literal, $suffix:literal, $rule:ident) => {
        [
            Definition {
                name: $suffix,
                summary: concat!("the exact ", $noun, " over the output's scale, rounded once: ", $suffix),
                source: $source,
                operand: &[SCALE],
                combined: &[DIVIDE, (concat!("round ", $suffix), Step::Round($rule)), ADD, CLAMP],
                fast: Fast::Once($rule),
            },
            Definition {
                name: concat!("q31-", $suffix),
                summary: concat!("the Q0.31 multipliers of a rescaling, all else exact, rounded once: ", $suffix),
                source: "none: tflite with no rounding but the last",
                operand: &[LIFT, ("multiply by the operand's Q0.31", Step::Own(Own::Multiply(Factor::Operand)))],
                combined: &[
                    ("multiply by the output's Q0.31", Step::Own(Own::Multiply(Factor::Output))),
                    (concat!("round ", $suffix), Step::Round($rule)),
                    ADD,
                    CLAMP,
                ],
                fast: Fast::Narrowed($rule),
            },
        ]
    };
}

/// Defines the schemes of each rounding rule, for a sum or a difference, with the source of the exact scheme.
macro_rules! by_rule {
    ($noun:literal, $source:literal) => {
        [
            of_rule!($noun, $source, "nearest-even", TiesEven),
            of_rule!($noun, $source, "nearest-away", TiesAway),
            of_rule!($noun, $source, "nearest-up", TiesUp),
            of_rule!($noun, $source, "nearest-down", TiesDown),
            of_rule!($noun, $source, "nearest-to-zero", TiesToZero),
            of_rule!($noun, $source, "toward-positive", TowardPositive),
            of_rule!($noun, $source, "toward-negative", TowardNegative),
            of_rule!($noun, $source, "toward-zero", TowardZero),
        ]
    };
}

/// Defines a scheme with the three rescales of a source, by a scheme of fixed point multiply. By default an operand is lifted, then rescaled.
/// `RESCALED` names the last rescale.
macro_rules! rescaled {
    ($name:literal => $summary:expr, $source:expr, $fpm:literal) => {
        rescaled!($name => $summary, $source, $fpm, Shift,
            &[LIFT, ("rescale the operand", Step::Own(Own::Rescale($fpm, Factor::Operand)))])
    };
    ($name:literal => $summary:expr, $source:expr, $fpm:literal, $lift:ident, $operand:expr) => {
        Definition {
            name: $name,
            summary: $summary,
            source: $source,
            operand: $operand,
            combined: &[(RESCALED, Step::Own(Own::Rescale($fpm, Factor::Output))), ADD, CLAMP],
            fast: Fast::Rescaled($fpm, Lift::$lift),
        }
    };
}

/// Defines one of TOSA's two schemes, by the operator that combines the operands.
macro_rules! tosa {
    // If an operand's factor is exactly a half, the source lifts by the multiplier instead; both ways are exact.
    (double, $operator:literal, $source:expr) => {
        rescaled!("tosa-double" => concat!("tosa.rescale to lift, to rescale, ", $operator, ", tosa.rescale, DOUBLE_ROUND"),
            $source, "tosa-apply-scale-32-double", Multiplication,
            &[
                ("rescale by 2^20", Step::Own(Own::Rescale("tosa-apply-scale-32-double", Factor::Lift))),
                ("rescale the operand", Step::Own(Own::Rescale("tosa-apply-scale-32-double", Factor::Operand))),
            ])
    };
    (single, $operator:literal, $source:expr) => {
        rescaled!("tosa-single" => concat!("tosa.rescale by the lifted multiplier, ", $operator, ", tosa.rescale, SINGLE_ROUND"),
            $source, "tosa-apply-scale-32-single", Multiplier,
            &[("rescale the operand, lifted", Step::Own(Own::Rescale("tosa-apply-scale-32-single", Factor::Lifted)))])
    };
}

/// Defines a scheme with multipliers over one power of two, of one more bit than given, and one rounding shift.
macro_rules! fixed {
    ($name:literal => $summary:literal, $source:literal, ($factor:literal, $bits:literal), ($round:literal, $rule:ident)) => {
        Definition {
            name: $name,
            summary: $summary,
            source: $source,
            operand: &[($factor, Step::Own(Own::Fixed($bits)))],
            combined: &[
                ("divide by the power of two", Step::Own(Own::FixedShift($bits))),
                ($round, Step::Round($rule)),
                ADD,
                CLAMP,
            ],
            fast: Fast::Fixed($bits, $rule),
        }
    };
}

/// Defines TVM's scheme: each operand is requantized to the output's scale and zero point, then added or subtracted. The result is not rounded again.
macro_rules! requantized {
    ($name:literal, $combined:literal, $rounding:literal, $source:expr, $fpm:literal) => {
        Definition {
            name: $name,
            summary: concat!("each operand requantized to the output's scale, then ", $combined, ", ", $rounding),
            source: $source,
            operand: &[("requantize the operand", Step::Own(Own::Rescale($fpm, Factor::Ratio)))],
            combined: &[ADD, CLAMP],
            fast: Fast::Requantized($fpm),
        }
    };
}

pub(super) use {by_rule, fixed, of_rule, requantized, rescaled, tosa};
