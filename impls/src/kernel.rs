//! What every kernel of a tensor operation is: a name, a contract, and the code in its forms.
//!
//! A missing instruction set is no failure: the ISA path of the ledger says that the instructions did not run, and the
//! portable model runs against the same contract.

use crate::Form;
use crate::contract::{Contract, Promise};
use crate::quantized::Params;

/// Code under test, with its contract. `R` is the function type of the operation, `D` its domain type.
#[derive(Clone, Debug)]
pub struct Kernel<R: 'static, D: 'static> {
    /// Name on the command line and in every report; the same in every operation the system has.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Its contract.
    pub contract: Contract<D>,
    /// Runs on every target: scalar code, or vector code over portable models of its instructions.
    pub portable: R,
    /// The same with real vector instructions, where the system has such a form.
    pub native: Option<Native<R>>,
}

/// A vector form of a kernel: the same algorithm over real instructions.
#[derive(Clone, Copy, Debug)]
pub struct Native<R: 'static> {
    /// Instruction set: `neon`, `neon dotprod`, `avx2`, ...
    pub isa: &'static str,
    /// Architecture that has it, as Rust spells it: `aarch64`, `x86_64`.
    pub arch: &'static str,
    /// Instructions of the body, as an assembler spells them, each once; the object code under `symbol` must contain
    /// every one of them.
    pub instructions: &'static [&'static str],
    /// Symbol of the function that holds them, in builds for `arch`.
    pub symbol: &'static str,
    /// Whether this machine has the instructions.
    pub available: fn() -> bool,
    /// The code; `None` where this build is not for `arch`.
    pub run: Option<R>,
}

impl<R, D> Kernel<R, D> {
    /// A kernel of one form, the same on every target, without deviations.
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

impl<R: Copy, D> Kernel<R, D> {
    /// The code that `form` runs on this machine.
    pub fn run(&self, form: Form) -> R {
        match (form, &self.native) {
            (Form::Native, Some(Native { run: Some(run), available, .. })) if available() => *run,
            _ => self.portable,
        }
    }

    /// What executes under `form`: `scalar`, `portable` (vector code over models), or `neon: umull, uadalp`. Where this is
    /// the right architecture without the instructions, that the real ones were not run.
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

/// The code of a kernel that only lanes of compiled modules have. It is refused in words before anything calls this.
pub(crate) fn elsewhere(_: &Params, _: &[i32], _: &mut [i32]) {
    panic!("this kernel runs in lanes of compiled modules only");
}
