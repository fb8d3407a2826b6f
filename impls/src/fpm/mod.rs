//! Fixed point multiply: `round(x * m * 2^(s - q))` as shipped systems compute it, one file a system.

use crate::contract::Contract;
use serde::{Deserialize, Serialize};

/// One multiplier with its shift (positive = left).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Channel {
    /// Q0.q multiplier.
    pub multiplier: i32,
    /// Shift, -31..=31.
    pub shift: i32,
}

/// Parameters of one batch. Element `i` uses `channels[i % channels.len()]` (channel-last layout).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// Fractional bits of the multipliers; 31 except for `qmuls`.
    pub q: u32,
    /// One channel for a per-tensor multiply, several for a per-channel one; never empty.
    pub channels: Vec<Channel>,
}

/// `out[i] = fpm(x[i], channel of i)`; both slices have the same length, alignment is that of `i32` only.
pub type Run = fn(&Params, &[i32], &mut [i32]);

/// A vector form of a kernel: the same algorithm over real instructions.
#[derive(Clone, Copy, Debug)]
pub struct Neon {
    /// Instructions of the body, in order, as an assembler spells them; the object code is held to this list.
    pub instructions: &'static [&'static str],
    /// The code; `None` where this build is not for aarch64.
    pub run: Option<Run>,
}

/// Code under test, with its contract.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name on the command line and in every report.
    pub name: &'static str,
    /// One line: what it is.
    pub summary: &'static str,
    /// What it promises.
    pub contract: Contract,
    /// Whether several channels may share a batch.
    pub per_channel: bool,
    /// Runs on every target: scalar code, or the portable model of the vector code.
    pub portable: Run,
    /// The same with real NEON instructions, where the system has such a form.
    pub neon: Option<Neon>,
}
