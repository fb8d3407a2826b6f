//! Shared objects with compiled casts: loads them, finds a function, and calls it.
//!
//! A module has functions named by [`tiebreak_impls::quantized::symbol`], in MLIR's C interface. For each kernel that it contains it also has a string
//! `tiebreak:KERNEL`, the ISA path.

mod memref;

use crate::library::reason;
use crate::protocol::{Hello, Job, Offer, Own};
use crate::serve::Runner;
use libloading::{Library, Symbol};
use memref::{Function, Layout, call};
use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::quantized::{Cast, Container, symbol};
use tiebreak_impls::{dequantize, quantize};

/// Modules named on the command line.
pub struct Modules(Vec<Module>);

/// Reason why this worker cannot run a file as a module.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The system's loader rejects the file.
    #[error("{}: {}", file.display(), reason(error))]
    Library {
        /// Path of the file.
        file: PathBuf,
        /// Error of the loader.
        error: libloading::Error,
    },
    /// The file has no string that names a kernel.
    #[error("{}: no kernel is named in it", .0.display())]
    NoKernel(PathBuf),
}

struct Module {
    library: Library,
    kernels: Vec<Offer>,
}

impl Modules {
    /// Loads the modules.
    pub fn load(files: &[PathBuf]) -> Result<Self, Unusable> {
        let modules: Result<Vec<Module>, Unusable> = files.iter().map(load).collect();
        modules.map(Self)
    }
}

fn load(file: &PathBuf) -> Result<Module, Unusable> {
    // SAFETY: an object that the harness compiled; it has no initialisers.
    let library = unsafe { Library::new(file) }.map_err(|error| Unusable::Library { file: file.clone(), error })?;
    let quantize = quantize::kernels().iter().filter(|k| k.contract.domain.compiled).map(|k| ("quantize", k.name));
    let dequantize = dequantize::kernels().iter().filter(|k| k.contract.domain.compiled);
    let mut kernels = Vec::new();
    for (op, kernel) in quantize.chain(dequantize.map(|k| ("dequantize", k.name))) {
        // SAFETY: a symbol of this name is a string with a final zero, which lives as long as the library.
        let text = unsafe { library.get::<*const c_char>(&format!("tiebreak:{kernel}")) };
        let Ok(text) = text else { continue };
        // SAFETY: as above; the symbol's address is the string's address.
        let text = unsafe { CStr::from_ptr(text.try_as_raw_ptr().unwrap_or_default().cast()) };
        let isa_path = text.to_string_lossy().into_owned();
        kernels.push(Offer { op: op.to_owned(), kernel: kernel.to_owned(), isa_path, own: Own::default() });
    }
    if kernels.is_empty() {
        return Err(Unusable::NoKernel(file.clone()));
    }
    Ok(Module { library, kernels })
}

impl Runner for Modules {
    fn hello(&self) -> Hello {
        let mut kernels: Vec<Offer> = Vec::new();
        for offer in self.0.iter().flat_map(|module| &module.kernels) {
            if kernels.iter().all(|known| (&known.op, &known.kernel) != (&offer.op, &offer.kernel)) {
                kernels.push(offer.clone());
            }
        }
        Hello::of(kernels)
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
        let (cast, params) = match job {
            Job::Quantize { params, .. } => (Cast::Quantize, params),
            Job::Dequantize { params, .. } => (Cast::Dequantize, params),
            _ => return Err(JobError::Module("this worker has the casts of compiled modules only".to_owned())),
        };
        let (op, kernel) = job.names();
        let quantized = &params.quantized;
        let expressed = Layout { bits: quantized.expressed.bits(), signed: false };
        let stored = Layout { bits: quantized.storage.bits, signed: quantized.storage.signed };
        let (from, to) = if cast == Cast::Quantize { (expressed, stored) } else { (stored, expressed) };
        let wanted = Wanted { op, kernel, name: symbol(cast, params), from, to };
        match params.container {
            Container::Scalar => self.scalars(&wanted, input, output),
            container => {
                // SAFETY: a symbol's name says that its function is a cast between tensors.
                let function = *unsafe { self.find::<Function>(&wanted) }?;
                let packed = from.pack(input, misalign);
                // SAFETY: the name contains types, container and rank, and the module does not write its argument.
                unsafe { call(function, container == Container::Ranked, &params.shape, packed, to, output) }
            }
        }
    }
}

/// Function of a module, from a job.
struct Wanted<'a> {
    op: &'a str,
    kernel: &'a str,
    name: String,
    /// Layout of the argument's elements.
    from: Layout,
    /// Layout of the result's elements.
    to: Layout,
}

impl Modules {
    /// Returns the function from the first module that has the kernel and the function.
    ///
    /// # Safety
    /// `F` is the type of the function.
    unsafe fn find<F>(&self, wanted: &Wanted<'_>) -> Result<Symbol<'_, F>, JobError> {
        let wrapper = format!("_mlir_ciface_{}", wanted.name);
        let has = |module: &&Module| module.kernels.iter().any(|o| o.op == wanted.op && o.kernel == wanted.kernel);
        let mut having = self.0.iter().filter(has);
        // SAFETY: the caller passes the function's type as `F`.
        having.find_map(|module| unsafe { module.library.get(&wrapper) }.ok()).ok_or_else(|| {
            let Wanted { kernel, name, .. } = wanted;
            JobError::Module(format!("no module of {kernel} has {name}: it was not compiled for these parameters"))
        })
    }

    /// Calls the function once per value. A value passes as an integer of the same number of bytes.
    fn scalars(&self, wanted: &Wanted<'_>, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        macro_rules! calls {
            ($(($from:ty, $to:ty)),*) => {
                match (wanted.from.bytes(), wanted.to.bytes()) {
                    $(sizes if sizes == (size_of::<$from>(), size_of::<$to>()) => {
                        // SAFETY: a symbol's name says that its function takes and returns integers of these sizes.
                        let function = unsafe { self.find::<unsafe extern "C" fn($from) -> $to>(wanted) }?;
                        each(wanted, input, output, |value| {
                            // SAFETY: as above; a cast of a value reads and writes no memory.
                            u64::from(unsafe { function(value as $from) })
                        });
                        Ok(())
                    })*
                    (from, to) => Err(JobError::Module(format!("no scalar of {from} bytes becomes one of {to}"))),
                }
            };
        }
        calls!(
            (u16, u8),
            (u16, u16),
            (u16, u32),
            (u32, u8),
            (u32, u16),
            (u32, u32),
            (u64, u8),
            (u64, u16),
            (u64, u32),
            (u8, u16),
            (u8, u32),
            (u8, u64),
            (u16, u64),
            (u32, u64)
        )
    }
}

/// Computes `output = run(input)`, value by value.
fn each(wanted: &Wanted<'_>, input: &[i32], output: &mut [i32], run: impl Fn(u64) -> u64) {
    let (from, to) = (wanted.from, wanted.to);
    for (input, output) in input.chunks(from.words()).zip(output.chunks_mut(to.words())) {
        to.spread(run(from.value(input)), output);
    }
}
