//! One small batch for each operation. Its results are exact, so that every scheme gives the same: the page of the protocol shows the batches, and `check-worker`
//! and the text pipe ask a program for them first.

use tiebreak_impls::concat;
use tiebreak_impls::conv2d;
use tiebreak_impls::element::Element;
use tiebreak_impls::elementwise;
use tiebreak_impls::fpm::{self, Channel};
use tiebreak_impls::pool;
use tiebreak_impls::protocol::{Batch, Job, Source};
use tiebreak_impls::quantized::{self, Container, Expressed, Granularity, I8, Quantized, Scale, Storage};
use tiebreak_impls::{dot, exp, instruction, matmul, qconv2d, qmatmul, requantize, softmax, transform};

/// The kernel that the page of the protocol shows for each operation.
pub const KERNELS: [(&str, &str); 18] = [
    ("fpm", "tvm-relay-per-channel"),
    ("requantize", "tflite-requantize-i8"),
    ("quantize", "tflite-quantize"),
    ("dequantize", "tflite-dequantize"),
    ("add", "tflite-add-i8"),
    ("sub", "tflite-sub-i8"),
    ("mul", "tflite-mul-i8"),
    ("matmul", "gemmlowp-reference"),
    ("conv2d", "tflite-reference"),
    ("concat", "tvm-qnn-concatenate-i8"),
    ("pool", "tflite-average-pool-i8"),
    ("qconv2d", "tflite-conv-i8"),
    ("qmatmul", "tflite-fully-connected-i8"),
    ("exp", "gemmlowp-exp"),
    ("softmax", "tflite-softmax-i8"),
    ("dot", "nvidia-dp4a-s8"),
    ("instruction", "sqrdmulh.s32"),
    ("transform", "tvm-im2col"),
];

/// What a batch may have. A kernel that takes less is asked for less.
#[derive(Clone, Copy, Debug)]
pub struct Fitting {
    /// Channels of fpm and of requantize.
    pub channels: usize,
    /// Type of the results of requantize, and of the tensors of add, mul, concat and pool.
    pub element: Element,
    /// Stored type of quantize and of dequantize.
    pub storage: Storage,
    /// Type of the reals of quantize and of dequantize.
    pub expressed: Expressed,
    /// Whether the bias and the zero points may be other than 0.
    pub offsets: bool,
}

impl Fitting {
    /// What the page of the protocol shows.
    pub const SHOWN: Self =
        Self { channels: 2, element: Element::I8, storage: I8, expressed: Expressed::F32, offsets: true };
    /// What most kernels take.
    pub const PLAIN: Self = Self { channels: 1, offsets: false, ..Self::SHOWN };
}

/// A batch, and its inputs as a payload has them.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Operation, kernel and parameters.
    pub job: Job,
    /// Number of results.
    pub len: usize,
    /// The inputs.
    pub input: Vec<i32>,
}

impl Sample {
    /// The first results alone, of an operation without a shape.
    pub fn first(mut self, len: usize) -> Self {
        self.input.truncate(len);
        self.len = self.input.len();
        if let Job::Requantize { params, .. } = &mut self.job {
            params.len = self.len;
        }
        self
    }

    /// The request.
    pub fn batch(&self) -> Batch {
        let source = Source::Payload { bytes: size_of_val(&self.input[..]) };
        Batch { job: self.job.clone(), len: self.len, source, misalign: 0 }
    }

    /// The exact results, where every scheme of the operation gives them: of fpm, and of requantize without offsets.
    pub fn exact(&self) -> Option<Vec<i32>> {
        let channels = match &self.job {
            Job::Fpm { params, .. } => &params.channels,
            Job::Requantize { params, .. } if params.zero_point == 0 && params.bias.iter().all(|bias| *bias == 0) => {
                &params.channels
            }
            _ => return None,
        };
        let one = |(i, x): (usize, &i32)| x >> (1 - channels[i % channels.len()].shift);
        Some(self.input.iter().enumerate().map(one).collect())
    }
}

/// Accumulators: a quarter and an eighth of each are integers of 8 bits without a sign, and the last two have other bytes in the other order.
const ACCUMULATORS: [i32; 5] = [0, 8, 16, 504, 264];

/// The batch of an operation for a kernel; `None` for a name that is no operation.
pub fn sample(op: &str, kernel: &str, fitting: Fitting) -> Option<Sample> {
    let kernel = kernel.to_owned();
    let of = |job, len, input: &[i32]| Sample { job, len, input: input.to_vec() };
    let elements = ACCUMULATORS.len();
    Some(match op {
        "fpm" => {
            let params = fpm::Params { q: 31, channels: channels(fitting) };
            of(Job::Fpm { kernel, params }, elements, &ACCUMULATORS)
        }
        "requantize" => of(Job::Requantize { kernel, params: requantized(fitting) }, elements, &ACCUMULATORS),
        "quantize" => {
            let reals = [-1.0, -0.25, 0.0, 0.5, 1.75];
            let input: Vec<i32> = reals.iter().flat_map(|real| words(fitting.expressed, *real)).collect();
            of(Job::Quantize { kernel, params: cast(fitting, reals.len()) }, reals.len(), &input)
        }
        "dequantize" => {
            let stored = [0, 1, 2, 3, 7];
            let len = stored.len() * fitting.expressed.words();
            of(Job::Dequantize { kernel, params: cast(fitting, stored.len()) }, len, &stored)
        }
        "add" | "sub" | "mul" => {
            let params = elementwise(fitting);
            let job = match op {
                "add" => Job::Add { kernel, params },
                "sub" => Job::Sub { kernel, params },
                _ => Job::Mul { kernel, params },
            };
            of(job, params.len, &[2, 4, 6, 8, 4, 2])
        }
        "matmul" => {
            let (lhs_offset, rhs_offset) = if fitting.offsets { (-1, -2) } else { (0, 0) };
            let params = matmul::Params { m: 2, n: 2, k: 3, lhs_offset, rhs_offset };
            of(Job::Matmul { kernel, params }, 4, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        }
        "conv2d" => of(Job::Conv2d { kernel, params: image(fitting) }, 4, &[1, 2, 3, 4, 5, 6, 7, 8]),
        "concat" => of(Job::Concat { kernel, params: joined(fitting) }, 6, &[2, 4, 6, 8, 10, 12]),
        "pool" => of(Job::Pool { kernel, params: pooled(fitting) }, 2, &[2, 4, 8, 6, 10, 12, 14, 16]),
        "qconv2d" => of(Job::Qconv2d { kernel, params: composed(fitting) }, 4, &[9, 17, 25, 33, 0, 4, 8, 12]),
        "qmatmul" => of(Job::Qmatmul { kernel, params: connected(fitting) }, 4, &[8, 12, 16, 20, 1, 2, 3, 4]),
        "exp" => of(Job::Exp { kernel, params: exp::Params { len: 3, integer_bits: 5 } }, 3, &[0, i32::MIN, 0]),
        "softmax" => of(Job::Softmax { kernel, params: shares(fitting) }, 4, &[5, 5, 127, 1]),
        "dot" => of(Job::Dot { kernel, params: dot::Params { len: 1 } }, 1, &[100, 1, 2, 3, 4, 5, 6, 7, 8]),
        "instruction" => {
            let (a, b) = ([1 << 30, -3, 0, i32::MIN], [1 << 30, 1 << 30, 7, i32::MIN]);
            let job = Job::Instruction { kernel, params: instruction::Params { vectors: 1 } };
            of(job, a.len() + 1, &[a, b].concat())
        }
        "transform" => {
            let params = transform::Params::Conv2d(conv2d::Params {
                height: 2,
                width: 2,
                kernel_h: 2,
                right: 1,
                input_zero_point: -1,
                ..conv2d::Params::default()
            });
            of(Job::Transform { kernel, params }, 6, &[1, 2, 3, 4])
        }
        _ => return None,
    })
}

/// Channel `c` divides by 2^(2 + c).
fn channels(fitting: Fitting) -> Vec<Channel> {
    (1..=fitting.channels as i32).map(|c| Channel { multiplier: 1 << 30, shift: -c }).collect()
}

fn requantized(fitting: Fitting) -> requantize::Params {
    let (min, max) = fitting.element.range().into_inner();
    let (bias, zero_point) = if fitting.offsets { (16, 3) } else { (0, 0) };
    let bias = (0..fitting.channels).map(|c| if c % 2 == 0 { bias } else { -bias }).collect();
    requantize::Params { len: ACCUMULATORS.len(), channels: channels(fitting), bias, zero_point, min, max }
}

fn cast(fitting: Fitting, len: usize) -> quantized::Params {
    let (min, max) = fitting.storage.range().into_inner();
    let quantized = Quantized {
        storage: fitting.storage,
        min,
        max,
        expressed: fitting.expressed,
        granularity: Granularity::Layer,
        scales: vec![Scale(0.25)],
        zero_points: vec![if fitting.offsets { 1 } else { 0 }],
    };
    quantized::Params { quantized, container: Container::Ranked, shape: vec![len] }
}

/// A real of few binary digits as a payload has it.
fn words(expressed: Expressed, real: f64) -> Vec<i32> {
    match expressed {
        Expressed::F16 => vec![half::f16::from_f64(real).to_bits().into()],
        Expressed::Bf16 => vec![half::bf16::from_f64(real).to_bits().into()],
        Expressed::F32 => vec![(real as f32).to_bits() as i32],
        Expressed::F64 => {
            let bits = real.to_bits();
            vec![bits as i32, (bits >> 32) as i32]
        }
    }
}

fn elementwise(fitting: Fitting) -> elementwise::Params {
    let (min, max) = fitting.element.range().into_inner();
    let operand = |scale, zero_point| elementwise::Operand {
        scale: Scale(scale),
        zero_point: if fitting.offsets { zero_point } else { 0 },
    };
    elementwise::Params {
        element: fitting.element,
        len: 3,
        lhs: operand(0.5, 2),
        rhs: operand(0.5, 0),
        out: operand(0.5, -1),
        min,
        max,
    }
}

/// A row of four elements, a filter of two by one, and two channels of the output.
fn image(fitting: Fitting) -> conv2d::Params {
    let (input_zero_point, weight_zero_point) = if fitting.offsets { (1, 2) } else { (0, 0) };
    conv2d::Params {
        height: 2,
        width: 2,
        kernel_h: 2,
        out_channels: 2,
        input_zero_point,
        weight_zero_point,
        ..conv2d::Params::default()
    }
}

/// Two rows of one column, and of two. The second input has twice the output's scale, unless a kernel takes one scale alone.
fn joined(fitting: Fitting) -> concat::Params {
    let (zero_point, scale) = if fitting.offsets { (1, 1.0) } else { (0, 0.5) };
    let of = |size, scale| concat::Input { size, operand: elementwise::Operand { scale: Scale(scale), zero_point } };
    let inputs = vec![of(1, 0.5), of(2, scale)];
    let out = inputs[0].operand;
    concat::Params { element: fitting.element, shape: vec![2, 3], axis: 1, inputs, out }
}

/// Two windows of two rows and two columns, whose sums are even.
fn pooled(fitting: Fitting) -> pool::Params {
    let zero_point = if fitting.offsets { 1 } else { 0 };
    let operand = elementwise::Operand { scale: Scale(0.5), zero_point };
    pool::Params {
        height: 2,
        width: 4,
        kernel_h: 2,
        kernel_w: 2,
        stride_w: 2,
        input: operand,
        out: operand,
        ..pool::Params::of(fitting.element)
    }
}

/// The same image, with a multiplier and a shift for both channels, and a bias for each. All sums are multiples of 4, so the results are exact.
fn composed(fitting: Fitting) -> qconv2d::Params {
    let (min, max) = fitting.element.range().into_inner();
    let (bias, zero_point) = if fitting.offsets { (vec![16, -16], 3) } else { (vec![0], 0) };
    let shape = conv2d::Params { weight_zero_point: 0, ..image(fitting) };
    let channels = vec![Channel { multiplier: 1 << 30, shift: -1 }];
    qconv2d::Params { shape, channels, bias, bias64: Vec::new(), zero_point, min, max }
}

/// Two rows and two columns, whose sums are multiples of 4, with a bias for each column and a quarter as their scale.
fn connected(fitting: Fitting) -> qmatmul::Params {
    let (min, max) = fitting.element.range().into_inner();
    let (lhs_offset, bias, zero_point) = if fitting.offsets { (-4, vec![16, -16], 3) } else { (0, vec![0], 0) };
    let channels = vec![Channel { multiplier: 1 << 30, shift: -1 }];
    let layer: qmatmul::Layer<'_> =
        qmatmul::Layer { bias: &bias, channels: &channels, zero_point, min, max, output: fitting.element };
    qmatmul::Params { shape: matmul::Params { m: 2, n: 2, k: 2, lhs_offset, rhs_offset: 0 }, stages: layer.stages() }
}

/// Two rows of two elements in steps of 1/16: halves, and almost one.
fn shares(fitting: Fitting) -> softmax::Params {
    let output = fitting.element;
    let input = if output == Element::U8 { Element::U8 } else { Element::I8 };
    softmax::Params { input, output, rows: 2, depth: 2, multiplier: 1 << 30, left_shift: 23, diff_min: -248 }
}
