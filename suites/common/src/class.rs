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
        TieDirection "tie-direction" "Results are rounded to nearest, but ties are rounded in another direction than promised."
        DirectedRounding "directed-rounding" "Results are rounded toward zero, up or down although rounding to nearest is promised, or in another direction than promised."
        DoubleRounding "double-rounding" "Results are rounded twice although one rounding is promised, or once although two are promised."
        FixupLost "fixup-lost" "The correction by sign before a right shift is masked, but not reduced to a sign."
        LogicalShift "logical-shift" "A right shift fills with zeros instead of the sign."
        LeftShift "left-shift" "Operands are shifted left by fewer bits than promised before they are rescaled."
        MultiplierNarrowed "multiplier-narrowed" "The multiplier has fewer bits than promised."
        F16Step "f16-step" "A step is rounded to f16, or is exact where it must be rounded to f16."
        Bf16Step "bf16-step" "A step is rounded to bf16, or is exact where it must be rounded to bf16."
        F32Step "f32-step" "A step is rounded to f32, or is exact where it must be rounded to f32."
        F64Step "f64-step" "A step is rounded to f64, or is exact where it must be rounded to f64."
        Reciprocal "reciprocal" "The value is multiplied by the rounded reciprocal of the scale instead of divided by the scale, or the reverse."
        Distributed "distributed" "The scale multiplies the value and the zero point separately instead of their difference, or the reverse."
        MissingSaturation "missing-saturation" "A saturation or a clamp is missing."
        Saturation "saturation" "A result or an intermediate value saturates, but the scheme keeps it exact or wraps it."
        Wrap "wrap" "An intermediate value wraps, but the scheme keeps it exact."
        Wrap16 "16-bit-wrap" "Products are summed, or results narrowed, in 16-bit lanes that wrap, although the scheme has no such lanes, or the reverse."
        Saturation16 "16-bit-saturation" "Products are summed in 16-bit lanes that saturate."
        ClampOrder "clamp-order" "Clamp, cast and zero point come in another order than promised."
        StageOrder "stage-order" "Output stages come in another order than promised."
        ZeroPointPlacement "zero-point-placement" "The zero point is added before the rounding instead of after it, or the reverse."
        OffsetSign "offset-sign" "An offset or zero point has the wrong sign."
        OffsetTerm "offset-term" "An offset or zero point, or one of the terms it contributes, is left out."
        PaddedDepth "padded-depth" "The product of both offsets uses the padded depth instead of the depth."
        NanPolicy "nan-policy" "NaN becomes another value than promised."
        Signedness "signedness" "A signed value is read as unsigned, or the reverse."
        OperandOrder "operand-order" "Both operands, or the parameters of both, are exchanged."
        OperandSign "operand-sign" "An operand of a sum or a difference has the other sign, or loses its value when it is negated."
        Channel "channel" "The scale, multiplier, bias or zero point of another channel or input is used."
        Block "block" "The scale, zero point or sum of another block is used."
        Bias "bias" "The bias is added in another place than promised, or has fewer bits."
        Padding "padding" "Padding has another value than the zero point of the tensor."
        Divisor "divisor" "The divisor of an average counts padding although the scheme does not, or the reverse."
        Layout "layout" "Elements, images, or parameters of rows and columns are exchanged or ignored."
        TruncatedTail "truncated-tail" "Elements after the last whole vector or block are lost."
        Position "position" "Body and tail of a vector loop follow different schemes."
        SpecialValue "special-value" "An input that the scheme treats specially is computed like other inputs."
        LostFactor "lost-factor" "A factor of a product is left out."
        FixedPointFormat "fixed-point-format" "A fixed-point number is read with a wrong number of integer bits."
        RowMaximum "row-maximum" "The subtracted number is not the maximum of the row."
        CutOff "cut-off" "Differences below the cut-off are included, or other differences are left out."
        Iteration "iteration" "An iteration has fewer or more steps than promised."
        OperandSaturation "operand-saturation" "An operand of a sum saturates to the type before the sum."
        Fallback "fallback" "For parameters that the kernel's own instructions do not support, another implementation runs."
        OtherScheme "scheme" "The results follow another scheme, which differs by more than one known change."
        Value "value" "An instruction gives another value than its definition."
DependsOnHistory "depends-on-history" "The results depend on earlier calls, or on the addresses of buffers: in a fresh worker, the same call is right."
Nondeterministic "nondeterministic" "Equal calls in fresh workers give different results: a race, uninitialized memory, or a random number."
        SaturationFlag "saturation-flag" "An instruction sets the saturation flag although its definition does not, or the reverse."
        Unexplained "unexplained" "No known cause reproduces the results; this always fails."
    }
    Undefined {
        Poison "poison" "A conversion does not fit its type, so that the contract gives no value."
        Overflow "overflow" "A float step overflows, and the result is a NaN whose bits are not promised."
    }
    Lane {
        Crash "crash" "The worker died."
        Hang "hang" "The worker gave no answer and was killed."
        WrongLength "wrong-length" "The answer has a wrong number of results."
        Panic "panic" "The kernel panicked."
        StrayWrite "stray-write" "The kernel wrote outside its results."
        ChangedOperand "changed-operand" "The kernel changed an operand."
        Unwritten "unwritten" "The kernel did not write a result."
        FloatMode "float-mode" "The kernel changed the rounding mode or turned on flushing to zero, which changes float results of later calls."
        Refused "refused" "The worker refused the job, or its answer is invalid in the protocol."
    }
    Run {
        NotRun "not-run" "A requested lane, operation or kernel did not run."
        OutsideDomain "outside-domain" "Parameters that the caller gave are outside the kernel's domain."
        NothingJudged "nothing-judged" "A kernel or a lane ran, and no result was judged."
        StaleDeviation "stale-deviation" "A declared deviation or a known fault did not occur although the run covers it."
        Bound "bound" "A derived bound differs from the bound that the kernel shows."
        SelfCheck "self-check" "A mutant is undetected or has another class, or a negative control differs."
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

    /// True if only a sequence of calls shows the difference, because the input does not decide.
    pub fn is_of_calls(self) -> bool {
        matches!(self, Self::DependsOnHistory | Self::Nondeterministic)
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
