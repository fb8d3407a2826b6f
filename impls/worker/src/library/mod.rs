//! Kernels of a shared library of the caller, with the interface of `tiebreak.h`. A worker loads the library and answers by the protocol of every
//! worker. Damage to the process, and writes outside the results, are findings.

mod abi;
mod guarded;
pub mod source;
mod tensor;

use crate::protocol::{Hello, Job, Offer, Own};
use crate::serve::Runner;
use abi::{Call, FUNCTIONS, Function};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tensor::Memory;
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::operation::consecutive;

/// Text of the header that a library includes.
pub const HEADER: &str = include_str!("tiebreak.h");

/// Version of the interface that this worker calls.
const ABI: i32 = 1;

/// Caller's promise about a library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Operations to run; if empty, all operations of the library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<String>,
    /// Name of the kernel; if absent, the file's name, the operation and its types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Scheme, `like` and domain of every kernel.
    #[serde(flatten)]
    pub own: Own,
}

/// Reason for which a library cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The system's loader refuses the library.
    #[error("{}: {}", file.display(), reason(error))]
    Library {
        /// Library file.
        file: PathBuf,
        /// Error of the loader.
        error: libloading::Error,
    },
    /// The library does not export its interface version.
    #[error("{}: it does not export tiebreak_abi; write TIEBREAK_LIBRARY once in the library, and export it", .0.display())]
    NoVersion(PathBuf),
    /// The library was compiled for another interface version.
    #[error("{}: it was compiled with version {version} of tiebreak.h, and this is {ABI}; compile it with the header that `tiebreak header` prints", file.display())]
    Version {
        /// Library file.
        file: PathBuf,
        /// Interface version of the library.
        version: i32,
    },
    /// The promise is not valid JSON of a [`Promise`].
    #[error("the promise: {0}")]
    Promise(serde_json::Error),
    /// The library exports no requested function.
    #[error("{}: it exports no function of tiebreak.h{of}, such as {example}; it exports {exports}", file.display())]
    NoFunction {
        /// Library file.
        file: PathBuf,
        /// Requested operations, as text for the message.
        of: String,
        /// Example of a function to export.
        example: String,
        /// Functions of other operations that the library exports.
        exports: String,
    },
    /// One kernel name is given for several functions.
    #[error("{}: it exports {}, and one name is given; say which operation is meant", file.display(), functions.join(", "))]
    OneName {
        /// Library file.
        file: PathBuf,
        /// Exported functions.
        functions: Vec<String>,
    },
}

/// Returns the message of the system's loader, the source of a loading error.
pub fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Loaded library.
pub struct Library {
    library: libloading::Library,
    functions: Vec<(Offer, Function)>,
    memory: Mutex<Memory>,
}

impl Library {
    /// Loads a file, with a promise in JSON.
    pub fn promised(file: &Path, promise: &str) -> Result<Self, Unusable> {
        Self::load(file, &serde_json::from_str(promise).map_err(Unusable::Promise)?)
    }

    /// Loads a file and finds its functions for the promised operations.
    pub fn load(file: &Path, promise: &Promise) -> Result<Self, Unusable> {
        let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        // SAFETY: initialisers of the library run in a process that serves only this library.
        let library = unsafe { libloading::Library::new(&whole) }
            .map_err(|error| Unusable::Library { file: file.to_owned(), error })?;
        // SAFETY: by the header, this function has no argument and returns an int32.
        let version = unsafe { library.get::<unsafe extern "C" fn() -> i32>("tiebreak_abi") }
            .map_err(|_| Unusable::NoVersion(file.to_owned()))?;
        // SAFETY: as above.
        let version = unsafe { version() };
        if version != ABI {
            return Err(Unusable::Version { file: file.to_owned(), version });
        }
        let asked = |function: &&Function| promise.ops.is_empty() || promise.ops.iter().any(|op| op == function.op);
        // SAFETY: the symbol is looked up, and neither read nor called.
        let has = |function: &&Function| unsafe { library.get::<*const ()>(&function.symbol()) }.is_ok();
        let found: Vec<Function> = FUNCTIONS.iter().filter(asked).filter(has).copied().collect();
        if found.is_empty() {
            let of = if promise.ops.is_empty() { String::new() } else { format!(" for {}", promise.ops.join(", ")) };
            let example = FUNCTIONS.iter().find(asked).map_or_else(String::new, Function::symbol);
            let exports: Vec<String> = FUNCTIONS.iter().filter(has).map(Function::symbol).collect();
            let exports = if exports.is_empty() { "none".to_owned() } else { exports.join(", ") };
            return Err(Unusable::NoFunction { file: file.to_owned(), of, example, exports });
        }
        if promise.name.is_some() && found.len() > 1 {
            let functions = found.iter().map(Function::symbol).collect();
            return Err(Unusable::OneName { file: file.to_owned(), functions });
        }
        let functions = found.into_iter().map(|function| (offer(file, promise, &function), function)).collect();
        Ok(Self { library, functions, memory: Mutex::default() })
    }
}

/// Returns the field of the domain that the parameters in `tiebreak.h` imply: a multiplier and a shift for each channel, or the ends of a narrow
/// range.
fn stated(op: &str) -> Option<&'static str> {
    match op {
        "fpm" | "requantize" | "qconv2d" | "qmatmul" => Some("per_channel"),
        "quantize" => Some("bounds"),
        _ => None,
    }
}

/// Builds the offer for a function of the library.
fn offer(file: &Path, promise: &Promise, function: &Function) -> Offer {
    let shown = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = file.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let stem = stem.strip_prefix("lib").unwrap_or(&stem);
    let usual = || format!("{stem}-{}", function.words().collect::<Vec<_>>().join("-"));
    let mut own = promise.own.clone();
    for (field, value) in function.domain() {
        own.domain.entry(field).or_insert(value);
    }
    // The domain of a kernel that the caller names stays as it is.
    if own.like.is_none()
        && let Some(field) = stated(function.op)
    {
        own.domain.entry(field).or_insert(true.into());
    }
    Offer {
        op: function.op.to_owned(),
        kernel: promise.name.clone().unwrap_or_else(usual),
        isa_path: format!("{} in {shown}", function.symbol()),
        own,
    }
}

impl Runner for Library {
    fn hello(&self) -> Hello {
        // The sources of this worker do not identify the library.
        Hello { sources: None, ..Hello::of(self.functions.iter().map(|(offer, _)| offer.clone()).collect()) }
    }

    fn lengths(&self, job: &Job, len: usize) -> Result<Lengths, JobError> {
        abi::lengths(job, len)
    }

    fn range(&self, job: &Job, start: i32, elements: &mut [i32]) -> Result<(), JobError> {
        let (Job::Fpm { .. } | Job::Quantize { .. } | Job::Dequantize { .. }) = job else {
            return Err(JobError::NoRanges);
        };
        consecutive(start, elements);
        Ok(())
    }

    fn run(&self, job: &Job, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), JobError> {
        let (op, kernel) = job.names();
        let found = self.functions.iter().find(|(offer, _)| (offer.op.as_str(), offer.kernel.as_str()) == (op, kernel));
        let (_, function) = found.ok_or_else(|| JobError::UnknownKernel { op, kernel: kernel.to_owned() })?;
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Call { library: &self.library, function, memory: &mut memory, misalign }.run(job, input, output)
    }
}
