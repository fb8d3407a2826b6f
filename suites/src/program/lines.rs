//! Lines of a batch: `NAME=VALUE` words with fixed names and order, and lists such as `[1,2,3]`.
//!
//! Elementwise operations have a line for each element. A matrix product, a convolution or a pooling is one line.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use tiebreak_impls::conv2d;
use tiebreak_impls::elementwise;
use tiebreak_impls::execute::Lengths;
use tiebreak_impls::fpm;
use tiebreak_impls::job_error::JobError;
use tiebreak_impls::matmul;
use tiebreak_impls::pool;
use tiebreak_impls::qconv2d;
use tiebreak_impls::quantized::{self, Expressed};
use tiebreak_impls::requantize;
use tiebreak_worker::execute::lengths_of_any;
use tiebreak_worker::protocol::Job;

/// Operations that have lines.
pub const OPS: [&str; 10] =
    ["fpm", "requantize", "quantize", "dequantize", "add", "mul", "matmul", "conv2d", "pool", "qconv2d"];

/// Number and type of the answers to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Number of lines.
    pub lines: usize,
    /// Number of results for each line.
    pub results: usize,
    /// Type of real results. `None` for integers.
    pub real: Option<Expressed>,
}

/// Writes the lines of a job, each with a newline.
pub fn lines(job: &Job, input: &[i32], to: &mut Vec<u8>) -> Result<Form, JobError> {
    let each = |lines| Form { lines, results: 1, real: None };
    match job {
        Job::Fpm { params, .. } => {
            channels(&by_channel(params), input, to);
            Ok(each(input.len()))
        }
        Job::Requantize { params, .. } => {
            channels(&requantized(params), input, to);
            Ok(each(input.len()))
        }
        Job::Quantize { params, .. } => {
            let (heads, expressed) = (casts(params), params.quantized.expressed);
            for (i, words) in input.chunks(expressed.words()).enumerate() {
                to.extend_from_slice(heads[params.scale_of(i)].as_bytes());
                let _ = writeln!(to, "{}", Real(value(expressed, words)));
            }
            Ok(each(input.len() / expressed.words()))
        }
        Job::Dequantize { params, .. } => {
            let heads = casts(params);
            for (i, stored) in input.iter().enumerate() {
                to.extend_from_slice(heads[params.scale_of(i)].as_bytes());
                let _ = writeln!(to, "{}", unsigned(*stored, params));
            }
            Ok(Form { real: Some(params.quantized.expressed), ..each(input.len()) })
        }
        Job::Add { params, .. } | Job::Mul { params, .. } => {
            let head = operands(params);
            let (lhs, rhs) = input.split_at(params.len);
            for (lhs, rhs) in lhs.iter().zip(rhs) {
                let _ = writeln!(to, "{head}lhs={lhs} rhs={rhs}");
            }
            Ok(each(params.len))
        }
        Job::Matmul { params, .. } => {
            let (lhs, rhs) = input.split_at(params.m * params.k);
            let matmul::Params { m, n, k, lhs_offset, rhs_offset } = params;
            let (lhs, rhs) = (list(lhs), list(rhs));
            let _ =
                writeln!(to, "m={m} n={n} k={k} lhs_offset={lhs_offset} rhs_offset={rhs_offset} lhs={lhs} rhs={rhs}");
            Ok(Form { lines: 1, results: params.sizes()?.outputs, real: None })
        }
        Job::Conv2d { params, .. } => {
            let sizes = params.sizes()?;
            let (image, weights) = input.split_at(sizes.inputs[0]);
            let _ = writeln!(to, "{}input={} weights={}", convolution(params)?, list(image), list(weights));
            Ok(Form { lines: 1, results: sizes.outputs, real: None })
        }
        Job::Pool { params, .. } => {
            let _ = writeln!(to, "{}input={}", pooling(params)?, list(input));
            Ok(Form { lines: 1, results: params.sizes()?.outputs, real: None })
        }
        Job::Qconv2d { params, .. } => {
            let sizes = params.shape.sizes()?;
            let (image, weights) = input.split_at(sizes.inputs[0]);
            let (shape, output) = (convolution(&params.shape)?, composed(params));
            let _ = writeln!(to, "{shape}{output}input={} weights={}", list(image), list(weights));
            Ok(Form { lines: 1, results: sizes.outputs, real: None })
        }
        other => Err(missing(other)),
    }
}

/// Returns the number of words that a job over `len` results reads and writes.
pub(super) fn lengths(job: &Job, len: usize) -> Result<Lengths, JobError> {
    let has_lines = OPS.contains(&job.names().0);
    has_lines.then(|| lengths_of_any(job, len)).flatten().unwrap_or_else(|| Err(missing(job)))
}

fn missing(job: &Job) -> JobError {
    JobError::Module(format!("{} has no lines; operations that have are {}", job.names().0, OPS.join(", ")))
}

/// Writes each accumulator after the words of its channel.
fn channels(heads: &[String], input: &[i32], to: &mut Vec<u8>) {
    for (x, head) in input.iter().zip(heads.iter().cycle()) {
        to.extend_from_slice(head.as_bytes());
        let _ = writeln!(to, "{x}");
    }
}

fn by_channel(params: &fpm::Params) -> Vec<String> {
    let q = params.q;
    params.channels.iter().map(|c| format!("m={} s={} q={q} x=", c.multiplier, c.shift)).collect()
}

fn requantized(params: &requantize::Params) -> Vec<String> {
    let requantize::Params { zero_point, min, max, .. } = params;
    let both = params.channels.iter().zip(&params.bias);
    let one = |(c, bias): (&fpm::Channel, &i32)| {
        format!("m={} s={} bias={bias} zero_point={zero_point} min={min} max={max} x=", c.multiplier, c.shift)
    };
    both.map(one).collect()
}

/// Formats the output parameters of a quantized convolution. Lists have an element for each output channel.
fn composed(params: &qconv2d::Params) -> String {
    let whole = params.requantize(0);
    let column = |of: fn(&fpm::Channel) -> i32| whole.channels.iter().map(of).collect::<Vec<i32>>();
    let (multiplier, shift) = (column(|channel| channel.multiplier), column(|channel| channel.shift));
    let [multiplier, shift, bias] = [&multiplier, &shift, &whole.bias].map(|values| list(values));
    let qconv2d::Params { zero_point, min, max, .. } = params;
    format!("multiplier={multiplier} shift={shift} bias={bias} zero_point={zero_point} min={min} max={max} ")
}

/// Formats the words before an element, for each scale.
fn casts(params: &quantized::Params) -> Vec<String> {
    let quantized = &params.quantized;
    let quantized::Quantized { storage, min, max, expressed, .. } = quantized;
    let both = quantized.scales.iter().zip(&quantized.zero_points);
    let one = |(scale, zero_point): (&quantized::Scale, &i64)| {
        let (expressed, storage) = (expressed.name(), storage.name());
        format!(
            "expressed={expressed} storage={storage} scale={} zero_point={zero_point} min={min} max={max} x=",
            Real(scale.0)
        )
    };
    both.map(one).collect()
}

/// Converts a stored value to its type, which can be unsigned.
fn unsigned(stored: i32, params: &quantized::Params) -> i64 {
    params.quantized.storage.low_bits(stored.into())
}

fn operands(params: &elementwise::Params) -> String {
    let mut head = format!("element={} ", params.element.name());
    for (name, operand) in [("lhs", params.lhs), ("rhs", params.rhs), ("out", params.out)] {
        let _ = write!(head, "{name}_scale={} {name}_zero_point={} ", Real(operand.scale.0), operand.zero_point);
    }
    let _ = write!(head, "min={} max={} ", params.min, params.max);
    head
}

/// Words `NAME=VALUE` of these fields, each with a blank.
macro_rules! words {
    ($of:expr, $($field:ident)+) => { [$(format!("{}={} ", stringify!($field), $of.$field)),+].concat() };
}

fn convolution(params: &conv2d::Params) -> Result<String, JobError> {
    let (out_height, out_width) = params.output()?;
    let image = words!(params, batches height width channels kernel_h kernel_w out_channels groups);
    let window = words!(params, stride_h stride_w dilation_h dilation_w top bottom left right);
    let mut head = format!("{image}{window}out_height={out_height} out_width={out_width} ");
    if params.transposed {
        head += &format!("transposed=1 {}", words!(params, output_padding_h output_padding_w));
    }
    let _ =
        write!(head, "input_zero_point={} weight_zero_point={} ", params.input_zero_point, params.weight_zero_point);
    Ok(head)
}

fn pooling(params: &pool::Params) -> Result<String, JobError> {
    let (out_height, out_width) = params.output()?;
    let image = words!(params, batches height width channels kernel_h kernel_w);
    let window = words!(params, stride_h stride_w top bottom left right);
    let mut head = format!("element={} {image}{window}", params.element.name());
    let padding = u8::from(params.count_padding);
    let _ = write!(head, "out_height={out_height} out_width={out_width} count_padding={padding} ");
    for (name, operand) in [("input", params.input), ("out", params.out)] {
        let _ = write!(head, "{name}_scale={} {name}_zero_point={} ", Real(operand.scale.0), operand.zero_point);
    }
    let _ = write!(head, "min={} max={} ", params.min, params.max);
    Ok(head)
}

/// Converts the words of an element to a double with the same value.
fn value(expressed: Expressed, words: &[i32]) -> f64 {
    let low = words[0] as u32;
    match expressed {
        Expressed::F16 => half::f16::from_bits(low as u16).to_f64(),
        Expressed::Bf16 => half::bf16::from_bits(low as u16).to_f64(),
        Expressed::F32 => f32::from_bits(low).into(),
        Expressed::F64 => f64::from_bits(u64::from(words[1] as u32) << 32 | u64::from(low)),
    }
}

/// Real number, printed as the shortest decimal of this double. The decimal reads back exactly, as the real's own type and as a double.
struct Real(f64);

impl Display for Real {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_nan() { to.write_str("nan") } else { write!(to, "{:?}", self.0) }
    }
}

/// Formats a tensor, row-major: `[1,2,3]`.
fn list(values: &[i32]) -> String {
    format!("{values:?}").replace(' ', "")
}
