//! The text and bytes between the harness and a worker process, so that any program can be a lane.
//!
//! The worker reads requests from standard input and answers on standard output, in order. A request is one line of JSON
//! ([`Request`]), followed by exactly the payload bytes it announces; an answer is one line of JSON ([`Answer`]) followed
//! by exactly the bytes *it* announces. Integers in payloads are little-endian int32. Several requests may be in flight.
//! End of input ends the worker.
//!
//! Word for word (a test holds these lines):
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
//! `docs/example-worker.py` is a worker in thirty lines.

use crate::{add, conv2d, dot, fpm, matmul, quantized, requantize, transform};
use serde::{Deserialize, Serialize};

/// Version of this protocol; a worker of another version is refused.
pub const VERSION: u32 = 1;

/// A request of the harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Request {
    /// Who are you? Answered by [`Answer::Hello`].
    Hello,
    /// Run one batch. Answered by [`Answer::Done`] and the output, or [`Answer::Failed`].
    Run(Box<Batch>),
}

/// One batch for one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Kernel name, with its operation.
    #[serde(flatten)]
    pub job: Job,
    /// Number of elements.
    pub len: usize,
    /// Where the inputs come from.
    pub source: Source,
    /// The first element is placed this many elements past a 64-byte boundary, in input and output alike.
    pub misalign: usize,
}

/// Operation, kernel and parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case")]
pub enum Job {
    /// Fixed point multiply. Input: `len` accumulators. Output: `len` int32.
    Fpm {
        /// Kernel or mutant name.
        kernel: String,
        /// Multipliers and shifts.
        params: fpm::Params,
    },
    /// One vector instruction or its portable model. Input: `len` first operands, then `len` second operands, each
    /// sign-extended to int32. Output: `len` int32 results, then one int32 a vector of 128 bits (the last may be
    /// partly filled): 1 where the cumulative saturation flag was set by that vector, otherwise 0.
    Instruction {
        /// Instruction with element width, such as `sqrdmulh.s32`.
        kernel: String,
    },
    /// Dot-product steps. Input: accumulators, then the elements of `a`, then those of `b`, each in an int32 whatever its
    /// type. Output: `len` results.
    Dot {
        /// Kernel or mutant name.
        kernel: String,
        /// How many.
        params: dot::Params,
    },
    /// Integer matrix product. Input: lhs `[M,K]`, then rhs `[K,N]`, row-major. Output: `[M,N]`; `len` is `M*N`.
    Matmul {
        /// Kernel or mutant name.
        kernel: String,
        /// Shape and offsets.
        params: matmul::Params,
    },
    /// Convolution. Input: the image `[B,H,W,C]`, then the weights `[KH,KW,C/groups,O]`. Output: `[B,OH,OW,O]`.
    Conv2d {
        /// Kernel or mutant name.
        kernel: String,
        /// Shape and zero points.
        params: conv2d::Params,
    },
    /// Requantization. Input: `len` accumulators. Output: `len` values of the kernel's output type.
    Requantize {
        /// Kernel or mutant name.
        kernel: String,
        /// Multipliers, shifts, bias, zero point, clamp.
        params: requantize::Params,
    },
    /// Quantization. Input: words of expressed values, two a value of f64, otherwise one. Output: `len` stored values.
    Quantize {
        /// Kernel or mutant name.
        kernel: String,
        /// Type, container, shape.
        params: quantized::Params,
    },
    /// Dequantization. Input: stored values. Output: `len` words of expressed values, two a value of f64, otherwise one.
    Dequantize {
        /// Kernel or mutant name.
        kernel: String,
        /// Type, container, shape.
        params: quantized::Params,
    },
    /// Quantized addition. Input: `len` stored values of the left operand, then those of the right one. Output: `len` stored values.
    Add {
        /// Kernel or mutant name.
        kernel: String,
        /// Scales, zero points, clamp.
        params: add::Params,
    },
    /// Layout transform. Input and output: the elements before and after it.
    Transform {
        /// Kernel or mutant name.
        kernel: String,
        /// Shape.
        params: transform::Params,
    },
}

impl Job {
    /// Operation and kernel.
    pub fn names(&self) -> (&'static str, &str) {
        match self {
            Self::Fpm { kernel, .. } => ("fpm", kernel),
            Self::Instruction { kernel } => ("instruction", kernel),
            Self::Dot { kernel, .. } => ("dot", kernel),
            Self::Matmul { kernel, .. } => ("matmul", kernel),
            Self::Conv2d { kernel, .. } => ("conv2d", kernel),
            Self::Requantize { kernel, .. } => ("requantize", kernel),
            Self::Quantize { kernel, .. } => ("quantize", kernel),
            Self::Dequantize { kernel, .. } => ("dequantize", kernel),
            Self::Add { kernel, .. } => ("add", kernel),
            Self::Transform { kernel, .. } => ("transform", kernel),
        }
    }
}

/// Where a batch's inputs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The payload after the request: `bytes` bytes.
    Payload {
        /// Length of the payload.
        bytes: usize,
    },
    /// Consecutive accumulators `start, start + 1, ...`, made by the worker; no payload. For dot-product steps: result `i` of
    /// the first in each step is that of `start + i` as the four bytes `a0, a1, b0, b1`, lowest first, each of the operand's
    /// type, in the kernel's place for a pair; every other element and accumulator is 0. For quantizations of 16 or 32
    /// bits, consecutive bit patterns; for dequantizations, consecutive stored values.
    Range {
        /// First accumulator, or first four bytes.
        start: i32,
    },
}

/// An answer of the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// Reply to [`Request::Hello`].
    Hello(Hello),
    /// The batch ran; `bytes` bytes of output follow.
    Done {
        /// Length of the output that follows.
        bytes: usize,
    },
    /// The batch could not run (unknown kernel, wrong payload length, a panic): the worker goes on.
    Failed {
        /// Why, in words.
        reason: String,
    },
}

/// A worker's description of itself and of the kernels that it offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub protocol: u32,
    /// `x86_64`, `aarch64`, ...
    pub arch: String,
    /// Everything it can be asked to run, mutants included.
    pub kernels: Vec<Offer>,
}

/// One kernel that a worker offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// `fpm`, `instruction`.
    pub op: String,
    /// Kernel name.
    pub kernel: String,
    /// What executes: `scalar`, `portable`, or `neon: sqrdmulh, srshl`.
    pub isa_path: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_documentation_are_the_protocol() {
        let shown: Vec<&str> = include_str!("protocol.rs").lines().filter_map(|l| l.strip_prefix("//! ")).collect();
        let lines = |mark: &str| -> Vec<&str> {
            shown.iter().filter_map(|l| l.strip_prefix(mark)).filter(|l| l.starts_with('{')).collect()
        };
        let (requests, answers) = (lines("> "), lines("< "));
        assert_eq!((requests.len(), answers.len()), (3, 3));
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
