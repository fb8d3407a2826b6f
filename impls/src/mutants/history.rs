//! Mutants whose results depend on earlier calls, and a mutant that changes the results of later calls. Each is right on any single call in a fresh
//! process, so only a sequence of calls, or the checks of a call's frame, can detect it.

use super::process::Fault;
use crate::contract::{Domain, Overflow, Promise};
use crate::float_mode;
use crate::fpm::{Kernel, Params};
use std::cell::Cell;

const SOURCE: &str = "of our own: what only a sequence of calls shows";

thread_local! {
    /// Multiplier and shift of the previous call.
    static LAST: Cell<Option<(i32, i32)>> = const { Cell::new(None) };
    /// Number of calls so far.
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

/// Period of the intermittent fault, in calls.
const EACH: u32 = 5;

/// Returns the fault of the mutant with this name.
pub(super) fn fault(kernel: &str) -> Option<Fault> {
    match kernel {
        "mutant-stale-shift" | "mutant-fifth-call" => Some(Fault::History),
        "mutant-rounding-left" => Some(Fault::FloatMode),
        _ => None,
    }
}

pub(super) const ROUNDING_LEFT: Kernel =
    mutant("mutant-rounding-left", "leaves floats rounding up behind it", |params, x, out| {
        ties_up(params.first(), x, out);
        float_mode::round_up();
    });

pub(super) const STALE_SHIFT: Kernel = mutant(
    "mutant-stale-shift",
    "keeps the shift of the call before while the multiplier is the same",
    |params, x, out| {
        let (m, s) = params.first();
        let stale = LAST.get().filter(|(multiplier, _)| *multiplier == m).map_or(s, |(_, shift)| shift);
        LAST.set(Some((m, s)));
        ties_up((m, stale), x, out);
    },
);

pub(super) const FIFTH_CALL: Kernel =
    mutant("mutant-fifth-call", "its last result is one too high at each fifth call", |params, x, out| {
        ties_up(params.first(), x, out);
        CALLS.set(CALLS.get() + u32::from(!out.is_empty()));
        if CALLS.get().is_multiple_of(EACH)
            && let Some(last) = out.last_mut()
        {
            *last = last.wrapping_add(1);
        }
    });

const fn mutant(name: &'static str, summary: &'static str, run: fn(&Params, &[i32], &mut [i32])) -> Kernel {
    let promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };
    Kernel::scalar(name, summary, promise, Domain { shifts: -31..=0, ..Domain::ALL }, SOURCE, run)
}

fn ties_up((m, s): (i32, i32), x: &[i32], out: &mut [i32]) {
    for (x, out) in x.iter().zip(out) {
        *out = ((i64::from(*x) * i64::from(m) + (1i64 << (30 - s))) >> (31 - s)) as i32;
    }
}
