//! Kernel of a tensor operation: name, contract, and code in up to two forms.
//!
//! A missing instruction set is not a failure: the ISA path of the ledger says that the instructions did not run, and the portable model runs against
//! the same contract.

use crate::Form;
use crate::contract::{Contract, Promise};
use crate::quantized::Params;

/// Code under test, with its contract. `R` is the function type of the operation, `D` its domain type.
#[derive(Clone, Debug)]
pub struct Kernel<R: 'static, D: 'static> {
    /// Name on the command line and in every report, unique in its operation.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Contract of the kernel.
    pub contract: Contract<D>,
    /// Code for every target: scalar code, or vector code over portable models of its instructions.
    pub portable: R,
    /// Same algorithm with real vector instructions; `None` if the system has no such form.
    pub native: Option<Native<R>>,
}

/// Vector form of a kernel: the same algorithm over real instructions.
#[derive(Clone, Copy, Debug)]
pub struct Native<R: 'static> {
    /// Instruction set: `neon`, `neon dotprod`, `avx2`, ...
    pub isa: &'static str,
    /// Architecture that has the instruction set, in Rust's spelling: `aarch64`, `x86_64`.
    pub arch: &'static str,
    /// Instructions of the body, in assembler spelling, each once. The object code under `symbol` must contain all of them.
    pub instructions: &'static [&'static str],
    /// Symbol of the function with these instructions, in builds for `arch`.
    pub symbol: &'static str,
    /// Returns true if this machine has the instructions.
    pub available: fn() -> bool,
    /// Code; `None` if this build is not for `arch`.
    pub run: Option<R>,
}

impl<R, D> Kernel<R, D> {
    /// Makes a kernel with one form, the same on every target, and without deviations.
    pub(crate) const fn scalar(
        name: &'static str,
        summary: &'static str,
        promise: Promise,
        domain: D,
        source: &'static str,
        run: R,
    ) -> Self {
        let contract = Contract { promise, domain, deviations: &[], source };
        Self { name, summary, contract, portable: run, native: None }
    }
}

/// Makes a kernel by [`Kernel::scalar`] from its name, a one-line summary, its scheme with the policy for results beyond the type or a constant of
/// both, the domain, the source, and the code.
macro_rules! scalar {
    ($name:literal, $summary:literal, $scheme:literal $overflow:ident on $domain:expr, from $source:expr, $run:expr) => {{
        use $crate::contract::{Overflow, Promise};
        let promise = Promise { scheme: $scheme, overflow: Overflow::$overflow };
        $crate::kernel::Kernel::scalar($name, $summary, promise, $domain, $source, $run)
    }};
    ($name:literal, $summary:literal, $($promise:ident)::+ on $domain:expr, from $source:expr, $run:expr) => {
        $crate::kernel::Kernel::scalar($name, $summary, $($promise)::+, $domain, $source, $run)
    };
}
pub(crate) use scalar;

/// Defines kernels that differ only in a type: the arguments of [`Kernel::scalar`] except the name, then the constant, name and type of each kernel.
/// Domain and code have the type as `ELEMENT`.
macro_rules! of_elements {
    ($summary:expr, $promise:expr, $domain:expr, $source:expr, $run:expr; $($constant:ident = $name:literal, $element:ident;)+) => {$(
        pub(super) const $constant: Kernel = {
            const ELEMENT: $crate::element::Element = $crate::element::Element::$element;
            Kernel::scalar($name, $summary, $promise, $domain, $source, $run)
        };
    )+};
}
pub(crate) use of_elements;

impl<R: Copy, D> Kernel<R, D> {
    /// Returns the code that `form` runs on this machine.
    pub fn run(&self, form: Form) -> R {
        match (form, &self.native) {
            (Form::Native, Some(Native { run: Some(run), available, .. })) if available() => *run,
            _ => self.portable,
        }
    }

    /// Describes what executes under `form`: `scalar`, `portable` (vector code over models), or `neon: umull, uadalp`. If the architecture is right
    /// but the CPU lacks the instructions, the text says that they were not run.
    pub fn isa_path(&self, form: Form) -> String {
        match (form, &self.native) {
            (_, None) => "scalar".to_owned(),
            (Form::Native, Some(Native { run: Some(_), isa, available, instructions, .. })) => {
                let instructions = instructions.join(", ");
                if available() {
                    format!("{isa}: {instructions}")
                } else {
                    format!("portable ({instructions} not run: this CPU has no {isa})")
                }
            }
            _ => "portable".to_owned(),
        }
    }
}

/// Placeholder for the code of a kernel that only lanes of compiled modules have. Such a job is refused with a message before this is called.
pub(crate) fn no_code_here(_: &Params, _: &[i32], _: &mut [i32]) {
    panic!("this kernel runs in lanes of compiled modules only");
}
