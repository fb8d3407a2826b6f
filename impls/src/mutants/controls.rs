//! Negative controls: pairs that look different and must be equal. A harness that reports a difference here is
//! wrong.

use crate::contract::{Domain, Overflow, Promise};
use crate::fpm::{self, Kernel};

/// A kernel, and a promise that is not its own but holds on the domain.
#[derive(Clone, Debug)]
pub struct Control {
    /// Name in reports.
    pub name: &'static str,
    /// The kernel.
    pub left: &'static Kernel,
    /// The kernel that it must equal.
    pub against: Promise,
    /// Where.
    pub domain: Domain,
    /// Why they are equal, in a sentence.
    pub reason: &'static str,
}

/// Every negative control.
pub fn controls() -> Vec<Control> {
    const SHIFTS_RIGHT: Domain = Domain { shifts: -31..=-1, ..Domain::ALL };
    vec![
        control(
            "control-tosa-double",
            "tosa-apply-scale-32-double",
            "gemmlowp-double",
            Domain { multipliers: 1 << 30..=i32::MAX, shifts: -31..=0, ..Domain::ALL },
            "the leaning rounding constant is the sum of both roundings, as long as the first cannot cross a tie alone",
        ),
        control(
            "control-sqdmulh-srshl",
            "cmsis-nn-mve-single",
            "ties-up",
            Domain { multipliers: i32::MIN + 1..=i32::MAX, ..SHIFTS_RIGHT },
            "a floor followed by one rounding is one rounding",
        ),
        control(
            "control-srdhm",
            "gemmlowp-scalar",
            "sqrdmulh-srshl",
            Domain { multipliers: 1..=i32::MAX, shifts: 0..=0, ..Domain::ALL },
            "the nudge that changes sign and the truncating division together round half up",
        ),
        control(
            "control-xnnpack-24-bit",
            "xnnpack-rndnu-neon",
            "ties-up",
            Domain { multipliers: 1 << 30..=i32::MAX, multiple_of: 128, ..SHIFTS_RIGHT },
            "nothing goes left, and a floor followed by one rounding is one rounding",
        ),
    ]
}

fn control(name: &'static str, kernel: &str, scheme: &'static str, domain: Domain, reason: &'static str) -> Control {
    let left = fpm::find(kernel).expect("a control names a registered kernel");
    Control { name, left, against: Promise { scheme, overflow: Overflow::Wrap }, domain, reason }
}
