//! Mutants that crash, hang, panic, or return too few elements, and run only in a worker; and mutants whose faults depend on earlier calls.

use super::history;
use crate::contract::{Domain, Overflow, Promise};
use crate::fpm::{self, Kernel, Params};
use crate::quantize::{self, onnx};
use crate::quantized;

/// Accumulator at which a process mutant fails. For every other accumulator the mutant is exactly ties-up.
pub const FAULT_AT: i32 = 0x0BAD_F00D;

const SOURCE: &str = "of our own: what a worker process must survive or report";

/// Failure of a process mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The process aborts.
    Crash,
    /// The call does not return.
    Hang,
    /// The kernel panics; the worker reports the panic and continues.
    Panic,
    /// The worker returns one element too few.
    Short,
    /// The results depend on earlier calls.
    History,
    /// The call returns with a changed float mode.
    FloatMode,
}

impl Fault {
    /// True if the fault ends the process or spoils the worker's answer, so that only a worker may run it.
    pub fn ends_its_process(self) -> bool {
        !matches!(self, Self::History | Self::FloatMode)
    }
}

/// Returns every process mutant of fixed point multiply.
pub fn process() -> &'static [Kernel] {
    PROCESS
}

/// Returns the fault of the process mutant with this name; `None` if fixed point multiply has no such mutant.
pub fn fault(kernel: &str) -> Option<Fault> {
    match kernel {
        "mutant-crash" => Some(Fault::Crash),
        "mutant-hang" => Some(Fault::Hang),
        "mutant-panic" => Some(Fault::Panic),
        "mutant-short" => Some(Fault::Short),
        other => history::fault(other),
    }
}

static PROCESS: &[Kernel] = &[
    mutant("mutant-crash", "aborts at x = 0x0BADF00D", |params, x, out| {
        run(params, x, out, || std::process::abort());
    }),
    mutant("mutant-hang", "never returns from x = 0x0BADF00D", |params, x, out| {
        run(params, x, out, || {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        });
    }),
    mutant("mutant-panic", "panics at x = 0x0BADF00D", |params, x, out| {
        run(params, x, out, || panic!("met x = {FAULT_AT:#010x}"));
    }),
    // The worker makes this fault: a kernel receives its output and cannot shorten it.
    mutant("mutant-short", "returns one element too few", |params, x, out| run(params, x, out, || ())),
    history::STALE_SHIFT,
    history::FIFTH_CALL,
    history::ROUNDING_LEFT,
];

const fn mutant(name: &'static str, summary: &'static str, run: fpm::Run) -> Kernel {
    let promise = Promise { scheme: "ties-up", overflow: Overflow::Wrap };
    Kernel::scalar(name, summary, promise, Domain { shifts: -31..=0, ..Domain::ALL }, SOURCE, run)
}

/// Process mutants of [`mod@quantize`], which fail at +infinity, an input of every run and of every sweep of a float type.
pub(crate) static QUANTIZE: &[quantize::Kernel] = &[
    cast("mutant-quantize-crash", "aborts at x = +infinity", |params, x, out| {
        at_infinity(params, x, out, || std::process::abort());
    }),
    cast("mutant-quantize-hang", "never returns from x = +infinity", |params, x, out| {
        at_infinity(params, x, out, || {
            loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        });
    }),
];

const fn cast(name: &'static str, summary: &'static str, run: quantize::Run) -> quantize::Kernel {
    let promise = Promise { scheme: "onnx", overflow: Overflow::OutOfDomain };
    quantize::Kernel::scalar(name, summary, promise, onnx::DOMAIN, SOURCE, run)
}

fn at_infinity(params: &quantized::Params, x: &[i32], out: &mut [i32], fault: fn()) {
    if x.iter().any(|bits| f32::from_bits(*bits as u32) == f32::INFINITY) {
        fault();
    }
    onnx::linear(params, x, out, f32::round_ties_even);
}

fn run(params: &Params, x: &[i32], out: &mut [i32], fault: fn()) {
    let (m, s) = params.first();
    for (x, out) in x.iter().zip(out) {
        if *x == FAULT_AT {
            fault();
        }
        *out = ((i64::from(*x) * i64::from(m) + (1i64 << (30 - s))) >> (31 - s)) as i32;
    }
}
