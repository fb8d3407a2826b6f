//! Negative controls: pairs of a kernel and a scheme that look different and are equal. A difference reported here is an error of the harness.

use crate::contract::{Domain, Overflow, Promise};
use crate::fpm::{self, Kernel};

/// Kernel, and the promise of another scheme that holds on the domain.
#[derive(Clone, Debug)]
pub struct Control {
    /// Name in reports.
    pub name: &'static str,
    /// Kernel under test.
    pub left: &'static Kernel,
    /// Promise that the kernel must equal.
    pub against: Promise,
    /// Parameters on which they are equal.
    pub domain: Domain,
    /// Reason why they are equal, in one sentence.
    pub reason: &'static str,
}

/// Returns every negative control.
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
