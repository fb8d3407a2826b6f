//! Protocol between the harness and a worker process, in text and bytes, so that any program can be a lane.
//!
//! The worker reads requests from standard input and answers on standard output, in order. A request is one line of JSON ([`Request`]), followed by
//! exactly the payload bytes that the line announces. An answer is one line of JSON ([`Answer`]), followed by exactly the bytes that this line
//! announces. Integers in payloads are little-endian int32. Several requests may be in flight. End of input ends the worker.
//!
//! Example (a test checks these lines):
//!
//! ```text
//! > {"command":"hello"}
//! < {"answer":"hello","protocol":1,"arch":"x86_64","kernels":[{"op":"fpm","kernel":"tflite-single","isa_path":"scalar"}]}
//! > {"command":"run","op":"fpm","kernel":"tflite-single","params":{"q":31,"channels":[{"multiplier":1395864371,"shift":-8}]},"len":2,"source":{"payload":{"bytes":8}},"misalign":0}
//! > 8 bytes: two accumulators
//! < {"answer":"done","bytes":8}
//! < 8 bytes: two results
//! > {"command":"run","op":"fpm","kernel":"tflite-single","params":{"q":31,"channels":[{"multiplier":1395864371,"shift":-8}]},"len":65536,"source":{"range":{"start":-131072}},"misalign":0}
//! < {"answer":"failed","reason":"no range requests here"}
//! ```
//!
//! A batch outside the domain of a kernel is counted, and is neither a failure nor a pass:
//!
//! ```text
//! < {"answer":"failed","reason":"offsets below 0 only","kind":"outside-domain"}
//! ```
//!
//! A worker may offer a kernel under its own name. The offer states the promised scheme or a similar kernel of this project, and the part of that
//! kernel's domain that the new kernel accepts:
//!
//! ```text
//! {"op":"requantize","kernel":"mylib-requantize","isa_path":"avx2","scheme":"gemmlowp-double","domain":{"output":"i8","shifts":[-31,0]}}
//! ```
//!
//! `docs/example-worker.py` is a worker in thirty lines.
//!
//! Harness and worker are connected by pipes, not by shared memory. A sweep sends one line per block and receives 4 bytes per result, which is fast
//! enough (`cargo xtask bench` measures it), and any program that can read and write can be a lane.

mod line;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use tiebreak_impls::Form;
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::fpm;
use tiebreak_impls::job_error::{FailureKind, JobError};
use tiebreak_impls::mutants::{self, Fault};
use tiebreak_impls::operation::{Code, Operation};
use tiebreak_impls::sources::SOURCES;

/// Version of this protocol; the harness refuses a worker of another version.
pub const VERSION: u32 = 1;

/// Request of the harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Request {
    /// Asks for the worker's description. Answered by [`Answer::Hello`].
    Hello,
    /// Runs one batch. Answered by [`Answer::Done`] and the output, or by [`Answer::Failed`].
    Run(Box<Batch>),
}

/// One batch for one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Batch {
    /// Kernel name, with its operation.
    #[serde(flatten)]
    pub job: Job,
    /// Number of elements.
    pub len: usize,
    /// Source of the inputs.
    pub source: Source,
    /// Misalignment of the first element of input and of output, in elements past a 64-byte boundary.
    pub misalign: usize,
}

/// Defines the jobs of all operations, from the variant and the marker of each.
macro_rules! jobs {
    ($($(#[$doc:meta])* $variant:ident($operation:ty);)+) => {
        /// Operation, kernel and parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(tag = "op", rename_all = "kebab-case")]
        pub enum Job {
            $($(#[$doc])* $variant {
                /// Name of the kernel or mutant.
                kernel: String,
                /// Parameters of the batch, besides its elements.
                params: <$operation as Operation>::Parameters,
            },)+
        }

        /// Operation by name.
        #[derive(Clone, Copy, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum OpName {
            $($variant,)+
        }

        impl Job {
            /// Reads the job of a kernel from its parameters.
            fn read<'de, D: Deserializer<'de>>(op: OpName, kernel: String, params: D) -> Result<Self, D::Error> {
                match op {
                    $(OpName::$variant => Ok(Self::$variant { kernel, params: Deserialize::deserialize(params)? }),)+
                }
            }

            /// Returns operation and kernel.
            pub fn names(&self) -> (&'static str, &str) {
                match self {
                    $(Self::$variant { kernel, .. } => (<$operation>::NAME, kernel),)+
                }
            }

            /// Serializes the parameters alone.
            ///
            /// # Errors
            ///
            /// The errors of the serializer.
            pub fn serialize_params<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant { params, .. } => params.serialize(serializer),)+
                }
            }

            /// Returns the lengths, as described at [`crate::execute::lengths`].
            pub(crate) fn lengths(&self, len: usize) -> Result<Lengths, JobError> {
                match self {
                    $(Self::$variant { kernel, params } => {
                        <$operation as Operation>::lengths(<$operation as Operation>::known(kernel)?, params, len)
                    })+
                }
            }

            /// True if the kernel is a known bug that ends its process.
            pub fn ends_its_process(&self) -> bool {
                match self {
                    $(Self::$variant { kernel, .. } => {
                        let known = <$operation as Operation>::process_mutants().any(|mutant| mutant.name() == kernel);
                        known && mutants::fault(kernel).is_none_or(Fault::ends_its_process)
                    })+
                }
            }

            /// True if the inputs may be a range.
            pub(crate) fn takes_ranges(&self) -> bool {
                match self {
                    $(Self::$variant { kernel, params } => <$operation as Operation>::known(kernel)
                        .is_ok_and(|kernel| <$operation as Operation>::takes_ranges(kernel, params)),)+
                }
            }

            /// Writes a range, as described at [`crate::execute::fill`]. Does nothing for an unknown kernel, which [`Self::lengths`] refuses.
            pub(crate) fn fill(&self, start: i32, elements: &mut [i32]) {
                match self {
                    $(Self::$variant { kernel, params } => {
                        if let Ok(kernel) = <$operation as Operation>::known(kernel) {
                            <$operation as Operation>::fill(kernel, params, start, elements);
                        }
                    })+
                }
            }

            /// Runs the job, even if it ends the process.
            pub(crate) fn execute(
                &self,
                form: Form,
                input: &[i32],
                output: &mut [i32],
                misalign: usize,
            ) -> Result<(), JobError> {
                match self {
                    $(Self::$variant { kernel, params } => {
                        let kernel = <$operation as Operation>::find(kernel)?;
                        <$operation as Operation>::execute(kernel, params, form, input, output, misalign)
                    })+
                }
            }
        }

        $(impl MakesJob<<$operation as Operation>::Parameters> for $operation {
            fn job(kernel: &str, params: &<$operation as Operation>::Parameters) -> Job {
                Job::$variant { kernel: kernel.to_owned(), params: params.clone() }
            }
        })+

        /// Returns the offers of everything that this build can run in `form`.
        pub(crate) fn offers(form: Form) -> Vec<Offer> {
            let mut all = Vec::new();
            $(all.extend(offered::<$operation>(form));)+
            all
        }
    };
}

tiebreak_impls::operations!(jobs);

/// Operation whose kernels run as jobs with parameters `P`.
pub trait MakesJob<P> {
    /// Makes the job of a kernel.
    fn job(kernel: &str, params: &P) -> Job;
}

impl MakesJob<fpm::Batch> for fpm::FpmTensor {
    fn job(kernel: &str, batch: &fpm::Batch) -> Job {
        Job::Fpm { kernel: kernel.to_owned(), params: batch.params.clone() }
    }
}

/// Returns the kernels of an operation that this build can run.
fn offered<O: Operation>(form: Form) -> impl Iterator<Item = Offer> {
    let here = O::every().chain(O::process_mutants()).filter(|kernel| O::elsewhere(kernel).is_none());
    here.map(move |kernel| Offer {
        op: O::NAME.to_owned(),
        kernel: kernel.name().to_owned(),
        isa_path: kernel.isa_path(form),
        own: Own::default(),
    })
}

/// Source of a batch's inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A payload of `bytes` bytes after the request.
    Payload {
        /// Length of the payload, in bytes.
        bytes: usize,
    },
    /// Consecutive accumulators `start, start + 1, ...`, made by the worker without a payload. For dot-product steps: each result `i` with a pair in
    /// the kernel's domain takes `start + i` as the four bytes `a0, a1, b0, b1`, lowest first, in the types of the operands; every other element and
    /// accumulator is 0. For quantizations of 16 or 32 bits: consecutive bit patterns. For dequantizations: consecutive stored values.
    Range {
        /// First accumulator, or first four bytes.
        start: i32,
    },
}

/// Answer of the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// Reply to [`Request::Hello`].
    Hello(Hello),
    /// The batch ran; `bytes` bytes of output follow.
    Done {
        /// Length of the output that follows, in bytes.
        bytes: usize,
    },
    /// The batch could not run (unknown kernel, wrong payload length, a panic). The worker continues.
    Failed {
        /// Reason, for a reader.
        reason: String,
        /// Outcome of the batch. An answer without a kind means that the batch was refused.
        #[serde(default, skip_serializing_if = "FailureKind::is_refused")]
        kind: FailureKind,
    },
}

/// Description of a worker and of the kernels that it offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Protocol version, [`VERSION`].
    pub protocol: u32,
    /// Architecture: `x86_64`, `aarch64`, ...
    pub arch: String,
    /// Every kernel that the worker can run, mutants included.
    pub kernels: Vec<Offer>,
    /// Hash of the sources of the worker's kernels; given only by a worker of this project. The harness refuses a worker whose hash differs from its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
}

impl Hello {
    /// Makes the description of this build.
    pub fn of(kernels: Vec<Offer>) -> Self {
        let sources = SOURCES.map(str::to_owned);
        Self { protocol: VERSION, arch: std::env::consts::ARCH.to_owned(), kernels, sources }
    }
}

/// One kernel that a worker offers.
///
/// A kernel that is not of this project has its own name, and a claim: `like` names the kernel whose contract it claims, `scheme` its scheme. With
/// both, the domain is that of the kernel `like`, and the scheme is `scheme`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Operation, such as `fpm` or `instruction`.
    pub op: String,
    /// Name of the kernel.
    pub kernel: String,
    /// Code that executes: `scalar`, `portable`, or `neon: sqrdmulh, srshl`.
    #[serde(default = "not_stated")]
    pub isa_path: String,
    /// Promise of a kernel that is not of this project.
    #[serde(flatten)]
    pub own: Own,
}

/// Promise of a kernel that is not of this project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// Scheme of the operation, as `NAME` or `NAME:POLICY`. If absent, the scheme of `like`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Kernel of this project, whose contract, domain and plan apply. If absent, the first kernel that promises the scheme and whose domain contains
    /// the given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Part of that kernel's domain that the offered kernel accepts: fields of the operation's domain, each as `[FIRST, LAST]`, as one value, or as a
    /// list.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub domain: Map<String, Value>,
}

impl Own {
    /// True if there is a promise. An offer without a promise is a kernel of this project.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

/// Returns the path of an offer that states none.
fn not_stated() -> String {
    "not stated".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_of_a_kernel_of_ones_own_is_read() {
        let shown = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//! "));
        let line = shown.into_iter().find(|line| line.contains("mylib-requantize")).expect("an offer");
        let offer: Offer = serde_json::from_str(line).expect("an offer");
        assert_eq!((offer.own.scheme.as_deref(), offer.own.domain.len()), (Some("gemmlowp-double"), 2));
        assert_eq!(serde_json::to_string(&offer).expect("JSON"), line);
        let plain: Offer = serde_json::from_str(r#"{"op":"fpm","kernel":"tvm-relay"}"#).expect("an offer");
        assert!(!plain.own.is_given() && plain.isa_path == "not stated");
    }

    #[test]
    fn the_lines_of_the_documentation_are_the_protocol() {
        let shown: Vec<&str> = include_str!("mod.rs").lines().filter_map(|l| l.strip_prefix("//! ")).collect();
        let lines = |mark: &str| -> Vec<&str> {
            shown.iter().filter_map(|l| l.strip_prefix(mark)).filter(|l| l.starts_with('{')).collect()
        };
        let (requests, answers) = (lines("> "), lines("< "));
        assert_eq!((requests.len(), answers.len()), (3, 4));
        for line in requests {
            let request: Request = serde_json::from_str(line).expect("a request");
            assert_eq!(serde_json::to_string(&request).expect("JSON"), line);
        }
        for line in answers {
            let answer: Answer = serde_json::from_str(line).expect("an answer");
            assert_eq!(serde_json::to_string(&answer).expect("JSON"), line);
        }
    }
}
