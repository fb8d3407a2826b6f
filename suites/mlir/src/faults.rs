//! Known faults of the shipped compiler (LLVM 22.1.8) in casts to and from bf16 and f16, by lane. docs/src/findings.md has each with a one-line
//! reproducer.

use rug::Rational;
use tiebreak_common::class::Class;
use tiebreak_impls::quantized::{Container, Expressed, Params, Scale};
use tiebreak_oracle::float::Format;

/// Known fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Lanes of the affected targets.
    pub lanes: &'static [&'static str],
    /// Kernels whose code has the fault.
    pub kernels: &'static [&'static str],
    /// Expressed type.
    pub expressed: Expressed,
    /// Containers for which the affected code runs.
    pub containers: &'static [Container],
    /// Class of the differences.
    pub class: Class,
    /// Faulty program, and its finding.
    pub reason: &'static str,
    /// Effect of the fault.
    pub effect: Effect,
    /// True if all code of the kernel has the fault, so that every result that it can change is changed. Otherwise only vector code has it, and the
    /// scalar loop over the remaining elements does not.
    pub each: bool,
}

/// Effect of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// int32 is rounded to f32 before the expressed type, so that results are those of the named scheme. In tensors, the zero point is rounded to f32
    /// first as well. The zero point of a scalar is a constant, which the compiler converts correctly.
    IntegersByF32(&'static str),
    /// To round a difference, sum, product or quotient to the expressed type, the code adds `0x7fff` and a wrong bit, and drops 16 bits. Only exact
    /// ties, whose low half is `0x8000`, can go to the wrong neighbour: no other low half has a carry that depends on the bit. Conversions of
    /// integers use their own bit.
    EitherSideOfTies,
    /// Conversion of an integer and product with 2^-n are one instruction, which rounds once. An integer beyond the expressed type is then never an
    /// infinity.
    FixedPoint,
}

/// Containers for which vector code runs.
const TENSORS: &[Container] = &[Container::Ranked, Container::Unranked];
const ALL: &[Container] = &[Container::Scalar, Container::Ranked, Container::Unranked];

const X86: &str = "x86-64 rounds int32 to f32 before bf16 (finding 11): `sitofp i32 16842753 to bfloat` gives 16777216, nearest is 16908288";
const AARCH64: &str = "vectors of int32 are rounded to f32 before bf16 on aarch64 too (finding 11)";
const TIES: &str = "aarch64 without +bf16 takes the rounding bit of <8 x bfloat> from another register (finding 12): exact ties go either way";
const FIXED: &str = "aarch64 with +fullfp16 makes `ucvtf h0, w0, #4` of a conversion to half and a product with 2^-4 (finding 14): 65520 is no infinity on the way";

/// Every known fault.
pub static KNOWN: [Known; 6] = [
    Known {
        lanes: &["mlir-x86"],
        kernels: &["mlir-opt-dcast-o0", "mlir-opt-dcast-o2"],
        expressed: Expressed::Bf16,
        containers: ALL,
        class: Class::DoubleRounding,
        reason: X86,
        effect: Effect::IntegersByF32("mlir-dcast-by-f32"),
        each: true,
    },
    Known {
        lanes: &["mlir-x86"],
        kernels: &["mlir-opt-qcast-o0", "mlir-opt-qcast-o2"],
        expressed: Expressed::Bf16,
        containers: TENSORS,
        class: Class::DoubleRounding,
        reason: X86,
        effect: Effect::IntegersByF32("mlir-qcast"),
        each: true,
    },
    Known {
        lanes: &["mlir-aarch64", "mlir-aarch64-bf16"],
        kernels: &["mlir-opt-dcast-o2"],
        expressed: Expressed::Bf16,
        containers: TENSORS,
        class: Class::DoubleRounding,
        reason: AARCH64,
        effect: Effect::IntegersByF32("mlir-dcast-by-f32"),
        each: false,
    },
    Known {
        lanes: &["mlir-aarch64", "mlir-aarch64-bf16"],
        kernels: &["mlir-opt-qcast-o2"],
        expressed: Expressed::Bf16,
        containers: TENSORS,
        class: Class::DoubleRounding,
        reason: AARCH64,
        effect: Effect::IntegersByF32("mlir-qcast"),
        each: false,
    },
    Known {
        lanes: &["mlir-aarch64"],
        kernels: &["mlir-opt-qcast-o2", "mlir-opt-dcast-o2"],
        expressed: Expressed::Bf16,
        containers: TENSORS,
        class: Class::TieDirection,
        reason: TIES,
        effect: Effect::EitherSideOfTies,
        each: false,
    },
    Known {
        lanes: &["mlir-aarch64-bf16"],
        kernels: &["mlir-opt-dcast-o2"],
        expressed: Expressed::F16,
        containers: &[Container::Scalar],
        class: Class::F16Step,
        reason: FIXED,
        effect: Effect::FixedPoint,
        each: true,
    },
];

impl Known {
    /// True if the fault changes results for some input with these parameters. For example, f32 has all integers of 24 bits.
    pub fn covers(&self, params: &Params) -> bool {
        let quantized = &params.quantized;
        let changes = match self.effect {
            Effect::IntegersByF32(_) => quantized.storage.bits > 24,
            Effect::EitherSideOfTies => true,
            Effect::FixedPoint => {
                let held = -FIRST_INFINITE + 1..FIRST_INFINITE;
                let all = held.contains(&quantized.min) && held.contains(&quantized.max);
                !all && quantized.zero_points == [0] && is_inverse_power(quantized.scales[0])
            }
        };
        changes && self.expressed == quantized.expressed && self.containers.contains(&params.container)
    }
}

/// Returns the integers in `min..=max`, of at most 32 bits, for which rounding to f32 before bf16 changes the result.
///
/// Between 2^k and 2^(k+1), bf16 has 128 numbers, 2^(k-7) apart, and 128 ties between them: `(2n + 1) * 2^(k-8)` for n from 128 to 255. f32 rounds to
/// multiples of 2^(k-23). It moves an integer to a tie if the distance is at most half of that, 2^(k-24): the tie is the even one of two multiples.
/// Then ties to even choose the neighbour with even n. That is wrong if the integer was above the tie and n is even, or below and n is odd. So from k
/// = 24 on, 2^(k-24) integers at each tie are wrong: `2 * 128 * (2^7 - 1)` of int32, `128 * (2^8 - 1)` of uint32.
pub fn twice_rounded(min: i64, max: i64) -> impl Iterator<Item = i64> {
    let beside = |k: u32, n: i64| {
        let tie = (2 * n + 1) << (k - 8);
        let side = if n % 2 == 0 { 1 } else { -1 };
        (1..=1i64 << (k - 24)).map(move |away| tie + side * away)
    };
    let positive = move || (24..32).flat_map(move |k| (128..256).flat_map(move |n| beside(k, n)));
    positive().chain(positive().map(|v| -v)).filter(move |v| (min..=max).contains(v))
}

/// Smallest integer that f16 rounds to an infinity.
const FIRST_INFINITE: i64 = 65_520;

/// True if a scale, rounded to f16, is 2^-n for some n of 1 or more.
fn is_inverse_power(scale: Scale) -> bool {
    let Some(exact) = Rational::from_f64(scale.0) else { return false };
    let rounded = Format::F16.decode(Format::F16.nearest(&exact));
    rounded.finite().is_some_and(|v| *v.numer() == 1 && *v.denom() > 1 && v.denom().is_power_of_two())
}

/// Returns the known faults of a kernel's code in a lane.
pub fn of(kernel: &str, lane: &str) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.lanes.contains(&lane) && known.kernels.contains(&kernel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Compares with rounding on rationals around some ties of each exponent, and at a million other integers.
    #[test]
    fn integers_that_are_rounded_twice_are_counted_in_closed_form() {
        let (int32, uint32) = (i64::from(i32::MIN)..=i64::from(i32::MAX), 0..=i64::from(u32::MAX));
        assert_eq!(twice_rounded(*int32.start(), *int32.end()).count(), 2 * 128 * ((1 << 7) - 1));
        assert_eq!(twice_rounded(0, *uint32.end()).count(), 128 * ((1 << 8) - 1));
        let all: BTreeSet<i64> = twice_rounded(*int32.start(), *uint32.end()).collect();
        let twice = |v: i64| {
            let exact = Rational::from(v);
            let single = Format::F32.decode(Format::F32.nearest(&exact));
            Format::Bf16.nearest(single.finite().expect("a number")) != Format::Bf16.nearest(&exact)
        };
        for k in 23..32 {
            for n in [128, 129, 130, 191, 200, 254, 255] {
                let tie = (2 * n + 1) << (k - 8);
                for v in (tie - 300..=tie + 300).flat_map(|v| [v, -v]).filter(|v| *v >= *int32.start()) {
                    assert_eq!(all.contains(&v), twice(v), "{v}");
                }
            }
        }
        for v in (0..1_000_000).map(|i: i64| (i * 4_294_967_291 / 1_000_000) ^ (i & 63)) {
            assert_eq!(all.contains(&v), twice(v), "{v}");
        }
    }

    #[test]
    fn every_fault_is_a_finding() {
        let findings = include_str!("../../../docs/src/findings.md");
        for known in &KNOWN {
            let (_, rest) = known.reason.split_once("(finding ").expect("a reason names its finding");
            let number = rest.split(')').next().expect("a number");
            assert!(findings.contains(&format!("\n## {number}. ")), "{}", known.reason);
        }
    }
}
