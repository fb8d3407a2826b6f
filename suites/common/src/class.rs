//! Classes: why a result differs, why a lane gave no result, and findings about the run. Each cause has one name for all operations.

use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use tiebreak_impls::quantized::Expressed;
use tiebreak_oracle::names::{UnknownName, unknown};
use tiebreak_oracle::pair_sum::PairSum;
use tiebreak_oracle::rounding::RoundingRule;

/// Kind of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A result that differs from a scheme.
    Mismatch,
    /// A result to which the contract gives no value.
    Undefined,
    /// A lane that gave no results.
    Lane,
    /// A finding about the run itself.
    Run,
}

impl Kind {
    /// Every kind, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Mismatch, Self::Undefined, Self::Lane, Self::Run];

    /// Heading of the kind.
    pub fn title(self) -> &'static str {
        match self {
            Self::Mismatch => "Results that differ",
            Self::Undefined => "Results that the contract leaves undefined",
            Self::Lane => "Lanes that give no results",
            Self::Run => "Findings about the run itself",
        }
    }
}

macro_rules! classes {
    ($($kind:ident { $($class:ident $name:literal $meaning:literal)+ })+) => {
        /// A class, by which ledgers count.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Class { $($(#[doc = $meaning] $class,)+)+ }

        impl Class {
            /// Every class, in the order of the table.
            pub const ALL: &'static [Self] = &[$($(Self::$class,)+)+];

            /// Name of the class in ledgers, mutants and deviations.
            pub fn name(self) -> &'static str {
                match self { $($(Self::$class => $name,)+)+ }
            }

            /// Meaning of the class, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $($(Self::$class => $meaning,)+)+ }
            }

            /// Kind of the class.
            pub fn kind(self) -> Kind {
                match self { $($(Self::$class)|+ => Kind::$kind,)+ }
            }
        }
    };
}

classes! {
    Mismatch {
        TieDirection "tie-direction" "Results are rounded to nearest, and ties go another way."
        DirectedRounding "directed-rounding" "Results are rounded toward zero, up or down where the nearest is promised, or in another direction than promised."
        DoubleRounding "double-rounding" "Results are rounded twice where one rounding is promised, or once where two are."
        FixupLost "fixup-lost" "The correction by sign before a right shift is masked, but not reduced to a sign."
        LogicalShift "logical-shift" "A right shift fills with zeros where it must keep the sign."
        LeftShift "left-shift" "Operands are shifted left by fewer bits than promised before they are rescaled."
        MultiplierNarrowed "multiplier-narrowed" "The multiplier has fewer bits than promised."
        F16Step "f16-step" "A step is rounded to f16, or is exact where it must be rounded to f16."
        Bf16Step "bf16-step" "A step is rounded to bf16, or is exact where it must be rounded to bf16."
        F32Step "f32-step" "A step is rounded to f32, or is exact where it must be rounded to f32."
        F64Step "f64-step" "A step is rounded to f64, or is exact where it must be rounded to f64."
        Reciprocal "reciprocal" "The value is multiplied by the rounded reciprocal of the scale, where it must be divided by the scale, or the reverse."
        Distributed "distributed" "The scale multiplies the value and the zero point separately, where it must multiply their difference, or the reverse."
        MissingSaturation "missing-saturation" "A saturation or a clamp is missing."
        Saturation "saturation" "A result or an intermediate saturates, where the scheme keeps it whole or wraps it."
        Wrap "wrap" "An intermediate wraps where the scheme keeps it whole."
        Wrap16 "16-bit-wrap" "Products are summed, or results narrowed, in lanes of 16 bits, which wrap, where they must not, or the reverse."
        Saturation16 "16-bit-saturation" "Products are summed in lanes of 16 bits, which saturate."
        ClampOrder "clamp-order" "Clamp, cast and zero point come in another order than promised."
        StageOrder "stage-order" "Output stages come in another order than promised."
        ZeroPointPlacement "zero-point-placement" "The zero point is added before the rounding where it must be added after it, or the reverse."
        OffsetSign "offset-sign" "An offset or zero point has the wrong sign."
        OffsetTerm "offset-term" "An offset or zero point, or one of the terms it contributes, is left out."
        PaddedDepth "padded-depth" "The product of both offsets takes the padded depth for the depth."
        NanPolicy "nan-policy" "NaN becomes another value than promised."
        Signedness "signedness" "A signed value is read as unsigned, or the reverse."
        OperandOrder "operand-order" "Both operands, or the parameters of both, are exchanged."
        OperandSign "operand-sign" "An operand of a sum or a difference has the other sign, or loses its value when it is negated."
        Channel "channel" "The scale, multiplier, bias or zero point of another channel or input is taken."
        Block "block" "The scale, zero point or sum of another block is taken."
        Bias "bias" "The bias is added in another place than promised, or has fewer bits."
        Padding "padding" "What pads a tensor is not its zero point."
        Divisor "divisor" "The divisor of an average counts the padding where it must not, or the reverse."
        Layout "layout" "Elements, images, or parameters of rows and columns, change places or are ignored."
        TruncatedTail "truncated-tail" "Elements after the last whole vector or block are lost."
        Position "position" "Body and tail of a vector loop compute different things."
        SpecialValue "special-value" "An input that has a case of its own is computed as others are."
        LostFactor "lost-factor" "A factor of a product is left out."
        FixedPointFormat "fixed-point-format" "A number is taken for one of another number of integer bits than it has."
        RowMaximum "row-maximum" "Another number than the maximum of its row is subtracted."
        CutOff "cut-off" "Differences below the least one are taken, or others are left out."
        Iteration "iteration" "An iteration has fewer or more steps than promised."
        OperandSaturation "operand-saturation" "An operand of a sum saturates to the type before the sum."
        Fallback "fallback" "Parameters that the kernel's own instructions do not take go to another implementation."
        OtherScheme "scheme" "The results are those of another scheme, which is more than one known change away."
        Value "value" "An instruction gives another value than its definition."
DependsOnHistory "depends-on-history" "The results depend on the calls before, or on where buffers lie: the same call alone, in a fresh worker, is right."
        SaturationFlag "saturation-flag" "An instruction sets the saturation flag where its definition does not, or the reverse."
        Unexplained "unexplained" "No known cause reproduces the results; this always fails."
    }
    Undefined {
        Poison "poison" "A conversion does not fit its type, so that the contract gives no value."
        Overflow "overflow" "A float step overflows, and the result is NaN, of which no pattern is promised."
    }
    Lane {
        Crash "crash" "The worker died."
        Hang "hang" "The worker gave no answer and was killed."
        WrongLength "wrong-length" "The answer has another number of results than asked for."
        Panic "panic" "The kernel panicked."
        StrayWrite "stray-write" "The kernel wrote outside its results."
        ChangedOperand "changed-operand" "The kernel changed an operand."
        Unwritten "unwritten" "The kernel left a result as it was."
        FloatMode "float-mode" "The kernel changed the rounding mode, or turned on flushing to zero, and so the floats of later calls."
        Refused "refused" "The worker refused the job, or its answer is none of the protocol."
    }
    Run {
        NotRun "not-run" "A lane, an operation or a kernel that was asked for did not run."
        OutsideDomain "outside-domain" "Parameters that the caller gave are outside the kernel's domain."
        NothingJudged "nothing-judged" "A kernel or a lane ran, and no result was judged."
        StaleDeviation "stale-deviation" "A declared deviation or a known fault was not seen where it must be."
        Bound "bound" "A derived bound is not the one that the kernel shows."
        SelfCheck "self-check" "A mutant lives or shows another class, or two equal kernels differ."
    }
}

impl Class {
    /// Returns the class of a rounding by another rule than promised.
    pub fn rounding(promised: RoundingRule, rule: RoundingRule) -> Self {
        match promised.is_nearest() && rule.is_nearest() {
            true => Self::TieDirection,
            false => Self::DirectedRounding,
        }
    }

    /// Returns the class of a sum of products in a 16-bit lane.
    pub fn pair_sum(sum: PairSum) -> Self {
        match sum {
            PairSum::WrapUnsigned | PairSum::WrapSigned => Self::Wrap16,
            PairSum::Saturate => Self::Saturation16,
        }
    }

    /// Returns the class of the same difference when promised and actual behaviour are exchanged.
    pub fn reversed(self) -> Self {
        match self {
            Self::Saturation => Self::MissingSaturation,
            Self::MissingSaturation => Self::Saturation,
            other => other,
        }
    }

    /// Returns the class of a step that is rounded in a float type.
    pub fn step(expressed: Expressed) -> Self {
        match expressed {
            Expressed::F16 => Self::F16Step,
            Expressed::Bf16 => Self::Bf16Step,
            Expressed::F32 => Self::F32Step,
            Expressed::F64 => Self::F64Step,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Class> for String {
    fn from(class: Class) -> Self {
        class.name().to_owned()
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Class {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.iter().copied().find(|class| class.name() == name);
        found.ok_or_else(|| unknown("class", name, Self::ALL.iter().map(|class| class.name())))
    }
}
