//! Registry of schemes. Each scheme has a name, its origin, its steps, and the fast integer form, which tests compare with the steps.

use super::fast::{self, Fast};
use super::steps::{Exponent, Multiplier, Step};
use super::{Parameters, Trace};
use crate::rounding::RoundingRule::{self, *};
use crate::scheme::{registered, step_names};
use crate::word::Overflow;
use rug::{Integer, Rational};

/// Mathematical definition of fixed point multiply.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Name used everywhere.
    pub name: &'static str,
    /// Single-line description.
    pub summary: &'static str,
    /// Document and section, or repository and file.
    pub source: &'static str,
    /// Composition, each step with its name in the source. Starts from the accumulator.
    pub steps: &'static [(&'static str, Step)],
    /// Definition in machine integers, derived independently.
    pub fast: Fast,
}

/// Definition with the policy for results beyond the word.
pub type Scheme = crate::scheme::Scheme<&'static Definition>;

registered!(|definition| step_names(definition.steps));

macro_rules! single_rounding {
    ($name:literal => $summary:literal, $source:expr, $rule:ident) => {
        Definition {
            name: $name,
            summary: $summary,
            source: $source,
            steps: &[
                ("product x*m", Step::Multiply(Multiplier::Full)),
                ("scale by 2^(s-Q)", Step::Scale(Exponent::Whole)),
                (concat!("round ", $name), Step::Round($rule)),
            ],
            fast: |p, x| fast::single($rule, p, x),
        }
    };
}

/// First steps of the double-rounding schemes: left shift, doubling high multiply (ties up, saturating).
const LEFT_SHIFT: (&str, Step) = ("left shift by max(s,0)", Step::Scale(Exponent::Left));
const LEFT_WRAP: (&str, Step) = ("left shift wraps", Step::Wrap);
const PRODUCT: (&str, Step) = ("product x*m", Step::Multiply(Multiplier::Full));
const HIGH_HALF: (&str, Step) = ("scale by 2^-Q", Step::Scale(Exponent::Fraction));
const HIGH_ROUND: (&str, Step) = ("doubling high multiply rounds (ties-up)", Step::Round(TiesUp));
const HIGH_SATURATE: (&str, Step) = ("doubling high multiply saturates", Step::Saturate);
const RIGHT_SHIFT: (&str, Step) = ("right shift by max(-s,0)", Step::Scale(Exponent::Right));

/// Lists the steps of SRDHM, or SQRDMULH, after a left shift, followed by the given steps.
macro_rules! high_multiply_then {
    ($($step:expr),+ $(,)?) => {
        &[LEFT_SHIFT, LEFT_WRAP, PRODUCT, HIGH_HALF, HIGH_ROUND, HIGH_SATURATE, $($step),+]
    };
}

const SINGLE_SOURCE: &str = "TVM RFC fixed point multiply, introduction";

/// Every scheme.
pub static DEFINITIONS: &[Definition] = &[
    single_rounding!("ties-up" => "one rounding, half towards +inf (TVM UPWARD)",
        "TVM RFC fixed point multiply, background: \"breaks ties upward\"", TiesUp),
    single_rounding!("ties-away" => "one rounding, half away from zero (TVM TONEAREST)",
        "apache/tvm src/relay/qnn/utils.cc, rounding TONEAREST", TiesAway),
    single_rounding!("ties-even" => "one rounding, half to even", SINGLE_SOURCE, TiesEven),
    single_rounding!("ties-down" => "one rounding, half towards -inf", SINGLE_SOURCE, TiesDown),
    single_rounding!("ties-to-zero" => "one rounding, half towards zero", SINGLE_SOURCE, TiesToZero),
    single_rounding!("toward-positive" => "one rounding, ceiling", SINGLE_SOURCE, TowardPositive),
    single_rounding!("toward-negative" => "one rounding, floor", SINGLE_SOURCE, TowardNegative),
    single_rounding!("toward-zero" => "one rounding, truncation", SINGLE_SOURCE, TowardZero),
    Definition {
        name: "gemmlowp-double",
        summary: "SRDHM, then rounding divide by a power of two with ties away from zero",
        source: "google/gemmlowp fixedpoint/fixedpoint.h SaturatingRoundingDoublingHighMul, RoundingDivideByPOT",
        // SRDHM adds 2^(Q-1) or 1-2^(Q-1) by the product's sign and truncates: for a product P < 0,
        // trunc((P + 1 - 2^(Q-1)) / 2^Q) = floor((P + 1 - 2^(Q-1) + 2^Q - 1) / 2^Q) = floor((P + 2^(Q-1)) / 2^Q): ties up.
        steps: high_multiply_then![RIGHT_SHIFT, ("divide by power of two rounds (ties-away)", Step::Round(TiesAway)),],
        fast: fast::gemmlowp_double,
    },
    Definition {
        name: "sqrdmulh-srshl",
        summary: "SQRDMULH, then SRSHL with ties up: the Arm sequence without its fixup",
        source: "TVM RFC fixed point multiply, intrinsic overload, as printed; Arm ARM SQRDMULH, SRSHL",
        steps: high_multiply_then![RIGHT_SHIFT, ("srshl rounds (ties-up)", Step::Round(TiesUp)),],
        fast: fast::sqrdmulh_srshl,
    },
    Definition {
        name: "sqrdmulh-fixup-srshl",
        summary: "SQRDMULH, minus one where negative, then SRSHL: the Arm sequence as its text means it",
        source: "TVM RFC fixed point multiply, intrinsic overload, \"the fixup is needed to round to nearest\"",
        steps: high_multiply_then![
            ("fixup", Step::FixupNegative),
            ("fixup wraps", Step::Wrap),
            RIGHT_SHIFT,
            ("srshl rounds (ties-up)", Step::Round(TiesUp)),
        ],
        fast: fast::sqrdmulh_fixup_srshl,
    },
    Definition {
        name: "tosa-apply-scale-32-single",
        summary: "TOSA apply_scale_32, SINGLE_ROUND",
        source: "TOSA specification, apply_scale_32 (shift = 31 - s)",
        steps: &[
            ("require multiplier >= 0", Step::RequireNonNegativeMultiplier),
            ("require value in shift bits", Step::RequireBits(Exponent::TotalRight)),
            PRODUCT,
            ("scale by 2^-shift", Step::Scale(Exponent::Whole)),
            ("round (ties-up)", Step::Round(TiesUp)),
        ],
        fast: fast::tosa_single,
    },
    Definition {
        name: "tosa-apply-scale-32-double",
        summary: "TOSA apply_scale_32, DOUBLE_ROUND",
        source: "TOSA specification, apply_scale_32 (shift = 31 - s)",
        steps: &[
            ("require multiplier >= 0", Step::RequireNonNegativeMultiplier),
            ("require value in shift bits", Step::RequireBits(Exponent::TotalRight)),
            PRODUCT,
            ("nudge by 2^(Q-1) away from zero", Step::NudgeAwayFromZero),
            ("scale by 2^-shift", Step::Scale(Exponent::Whole)),
            ("round (ties-up)", Step::Round(TiesUp)),
        ],
        fast: fast::tosa_double,
    },
    Definition {
        name: "tflite-single",
        summary: "TFLite MultiplyByQuantizedMultiplier with TFLITE_SINGLE_ROUNDING",
        source: "tensorflow/tensorflow lite/kernels/internal/common.cc",
        steps: &[
            PRODUCT,
            ("scale by 2^-total_shift", Step::Scale(Exponent::Whole)),
            ("round (ties-up)", Step::Round(TiesUp)),
        ],
        fast: fast::halves,
    },
    Definition {
        name: "cmsis-nn-single",
        summary: "CMSIS-NN arm_nn_requantize with CMSIS_NN_USE_SINGLE_ROUNDING",
        source: "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h arm_nn_requantize",
        steps: &[
            PRODUCT,
            ("scale by 2^-(total_shift-1)", Step::Scale(Exponent::WholeButOne)),
            ("floor", Step::Round(TowardNegative)),
            ("plus one", Step::Add(1)),
            ("halve", Step::Scale(Exponent::Constant(-1))),
            ("floor again", Step::Round(TowardNegative)),
        ],
        fast: fast::halves,
    },
    Definition {
        name: "cmsis-nn-double",
        summary: "CMSIS-NN arm_nn_requantize: doubling high multiply without saturation, divide with ties away",
        source: "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h arm_nn_doubling_high_mult_no_sat, arm_nn_divide_by_power_of_two",
        steps: &[
            LEFT_SHIFT,
            LEFT_WRAP,
            PRODUCT,
            HIGH_HALF,
            HIGH_ROUND,
            ("doubling high multiply wraps", Step::Wrap),
            RIGHT_SHIFT,
            ("divide by power of two rounds (ties-away)", Step::Round(TiesAway)),
        ],
        fast: fast::cmsis_nn_double,
    },
    Definition {
        name: "cmsis-nn-mve-single",
        summary: "CMSIS-NN arm_requantize_mve, single rounding: VSHL (wraps), VQDMULH (floors), VRSHL by at least one",
        source: "ARM-software/CMSIS-NN Include/arm_nnsupportfunctions.h arm_requantize_mve",
        steps: &[
            ("left shift by s-min(s,-1)", Step::Scale(Exponent::LeftOfRightAtLeastOne)),
            LEFT_WRAP,
            PRODUCT,
            HIGH_HALF,
            ("vqdmulh floors", Step::Round(TowardNegative)),
            ("vqdmulh saturates", Step::Saturate),
            ("right shift by max(-s,1)", Step::Scale(Exponent::RightAtLeastOne)),
            ("vrshl rounds (ties-up)", Step::Round(TiesUp)),
        ],
        fast: |p, x| fast::sqdmulh_srshl(p, x, false),
    },
    Definition {
        name: "xnnpack-rndnu",
        summary: "XNNPACK rndnu on NEON: VQSHL (saturates), VQDMULH (floors), VRSHL by at least one",
        source: "google/XNNPACK src/qs8-gemm, params neon rndnu",
        steps: &[
            ("left shift by s-min(s,-1)", Step::Scale(Exponent::LeftOfRightAtLeastOne)),
            ("vqshl saturates", Step::Saturate),
            PRODUCT,
            HIGH_HALF,
            ("vqdmulh floors", Step::Round(TowardNegative)),
            ("vqdmulh saturates", Step::Saturate),
            ("right shift by max(-s,1)", Step::Scale(Exponent::RightAtLeastOne)),
            ("vrshl rounds (ties-up)", Step::Round(TiesUp)),
        ],
        fast: |p, x| fast::sqdmulh_srshl(p, x, true),
    },
    Definition {
        name: "tflite-int16-multiplier",
        summary: "TFLite 64-bit accumulator variant: multiplier reduced to its high half, saturated",
        source: "tensorflow/tensorflow lite/kernels/internal/common.cc MultiplyByQuantizedMultiplier(int64_t)",
        steps: &[
            ("product x*m16", Step::Multiply(Multiplier::HighHalfSaturated)),
            ("scale by 2^(s-Q+16)", Step::Scale(Exponent::WholeHighHalf)),
            ("round (ties-up)", Step::Round(TiesUp)),
        ],
        fast: fast::int16_multiplier,
    },
];

impl Definition {
    /// Computes the exact result at one input; `None` if it is out of domain.
    pub fn exact(&self, overflow: Overflow, x: i64, p: &Parameters) -> Option<Integer> {
        let value = self.steps.iter().try_fold(Rational::from(x), |v, (_, step)| step.apply(v, p))?;
        assert!(value.is_integer(), "{} ends in the fraction {value}", self.name);
        overflow.fit_exact(p.word, value.numer())
    }

    /// Traces every step at an input.
    pub fn trace(&self, overflow: Overflow, x: i64, p: &Parameters) -> Trace {
        Trace::of(self.steps.iter().map(|(name, step)| ((*name).into(), *step)), overflow, x, p)
    }
}

impl Scheme {
    /// Returns the scheme of a single rounding by `rule`.
    pub fn single(rule: RoundingRule, overflow: Overflow) -> Self {
        Self::find(rule.name(), overflow).expect("every rule is a scheme")
    }

    /// Computes the exact result by big rationals; `None` if the input is out of domain.
    pub fn exact(&self, x: i64, p: &Parameters) -> Option<i64> {
        let result = self.definition.exact(self.overflow, x, p);
        result.map(|r| r.to_i64().expect("a fitted result is a word"))
    }

    /// Computes the result by machine integers; `None` if the input is out of domain.
    #[inline]
    pub fn fast(&self, x: i64, p: &Parameters) -> Option<i64> {
        let unbounded = (self.definition.fast)(p, x)?;
        self.overflow.fit(p.word, unbounded).map(|v| v as i64)
    }
}
