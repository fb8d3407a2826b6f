//! Known faults of the shipped compiler (LLVM 22.1.8), by lane: what it makes of casts to and from bf16. Each is in docs/findings.md with a reproducer
//! of one line.

use tiebreak_impls::quantized::Expressed;

/// A known fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Lanes of the targets.
    pub lanes: &'static [&'static str],
    /// Kernels whose code has it.
    pub kernels: &'static [&'static str],
    /// Expressed type.
    pub expressed: Expressed,
    /// Class of the differences.
    pub class: &'static str,
    /// What is at fault.
    pub reason: &'static str,
    /// What it does.
    pub effect: Effect,
}

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Results are those of this scheme.
    Scheme(&'static str),
    /// A rounding to the expressed type adds `0x7fff` and a wrong bit, and drops 16: what is exactly between two numbers, whose low half is
    /// `0x8000`, may go to either; nothing else changes, as no other low half carries with one and not the other.
    EitherSideOfTies,
}

/// Every known fault.
pub static KNOWN: [Known; 3] = [
    Known {
        lanes: &["mlir-x86"],
        kernels: &["mlir-opt-dcast-o0", "mlir-opt-dcast-o2"],
        expressed: Expressed::Bf16,
        class: "double-rounding",
        reason: "x86-64 rounds int32 to f32 before bf16 (finding 11): `sitofp i32 16842753 to bfloat` gives 16777216, nearest is 16908288",
        effect: Effect::Scheme("mlir-dcast-by-f32"),
    },
    Known {
        lanes: &["mlir-aarch64", "mlir-aarch64-bf16"],
        kernels: &["mlir-opt-dcast-o2"],
        expressed: Expressed::Bf16,
        class: "double-rounding",
        reason: "vectors of int32 are rounded to f32 before bf16 on aarch64 too (finding 11)",
        effect: Effect::Scheme("mlir-dcast-by-f32"),
    },
    Known {
        lanes: &["mlir-aarch64"],
        kernels: &["mlir-opt-qcast-o2", "mlir-opt-dcast-o2"],
        expressed: Expressed::Bf16,
        class: "tie-direction",
        reason: "aarch64 without +bf16 takes the rounding bit of <8 x bfloat> from another register (finding 12): exact ties go either way",
        effect: Effect::EitherSideOfTies,
    },
];

/// The known faults of a kernel's code in a lane.
pub fn of(kernel: &str, lane: &str) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.lanes.contains(&lane) && known.kernels.contains(&kernel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_a_finding() {
        let findings = include_str!("../../../docs/findings.md");
        for known in &KNOWN {
            let (_, rest) = known.reason.split_once("(finding ").expect("a reason names its finding");
            let number = rest.split(')').next().expect("a number");
            assert!(findings.contains(&format!("\n## {number}. ")), "{}", known.reason);
        }
    }
}
