//! The functions of `tiebreak.h`: for each operation its parameters as C has them, and the calls.

use super::tensor::{Input, Memory, Type};
use crate::conv2d;
use crate::element::Element;
use crate::elementwise::{self, Operand};
use crate::execute::Lengths;
use crate::fpm::{self, Channel};
use crate::job_error::JobError;
use crate::matmul;
use crate::pool;
use crate::protocol::Job;
use crate::qconv2d;
use crate::quantized::{self, Expressed, Granularity};
use crate::requantize;
use crate::shape::{Sizes, broken};
use libloading::Library;
use std::ffi::{c_int, c_void};

/// `tiebreak_fpm_params`.
#[repr(C)]
struct Fpm {
    len: usize,
    channels: usize,
    multiplier: *const i32,
    shift: *const i32,
    q: u32,
}

/// `tiebreak_requantize_params`.
#[repr(C)]
struct Requantize {
    len: usize,
    channels: usize,
    multiplier: *const i32,
    shift: *const i32,
    bias: *const i32,
    zero_point: i32,
    min: i32,
    max: i32,
}

/// `tiebreak_cast_params`.
#[repr(C)]
struct Cast {
    len: usize,
    channels: usize,
    inner: usize,
    scale: *const f64,
    zero_point: *const i32,
    min: i32,
    max: i32,
}

/// `tiebreak_operand`.
#[repr(C)]
struct Scaled {
    scale: f32,
    zero_point: i32,
}

/// `tiebreak_elementwise_params`.
#[repr(C)]
struct Elementwise {
    len: usize,
    lhs: Scaled,
    rhs: Scaled,
    out: Scaled,
    min: i32,
    max: i32,
}

/// `tiebreak_matmul_params`.
#[repr(C)]
struct Matmul {
    m: usize,
    n: usize,
    k: usize,
    lhs_offset: i32,
    rhs_offset: i32,
}

/// `tiebreak_conv2d_params`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Conv2d {
    batches: usize,
    height: usize,
    width: usize,
    channels: usize,
    kernel_h: usize,
    kernel_w: usize,
    out_channels: usize,
    groups: usize,
    stride_h: usize,
    stride_w: usize,
    dilation_h: usize,
    dilation_w: usize,
    top: usize,
    bottom: usize,
    left: usize,
    right: usize,
    out_height: usize,
    out_width: usize,
    input_zero_point: i32,
    weight_zero_point: i32,
}

/// `tiebreak_pool_params`.
#[repr(C)]
struct Pool {
    batches: usize,
    height: usize,
    width: usize,
    channels: usize,
    kernel_h: usize,
    kernel_w: usize,
    stride_h: usize,
    stride_w: usize,
    top: usize,
    bottom: usize,
    left: usize,
    right: usize,
    out_height: usize,
    out_width: usize,
    count_padding: i32,
    input: Scaled,
    out: Scaled,
    min: i32,
    max: i32,
}

/// `tiebreak_qconv2d_params`.
#[repr(C)]
struct Qconv2d {
    conv: Conv2d,
    multiplier: *const i32,
    shift: *const i32,
    bias: *const i32,
    zero_point: i32,
    min: i32,
    max: i32,
}

/// A function of one tensor.
type Unary = unsafe extern "C" fn(*const c_void, *const u8, *mut u8) -> c_int;
/// A function of two tensors.
type Binary = unsafe extern "C" fn(*const c_void, *const u8, *const u8, *mut u8) -> c_int;

/// Code of a call that the function was not meant for.
const OUTSIDE_DOMAIN: i32 = 1;

/// A function that a library may export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Operation.
    pub(super) op: &'static str,
    /// Types in its name, in the order of its tensors.
    pub(super) types: &'static [&'static str],
    /// The field of the operation's domain that each type is.
    pub(super) fields: &'static [&'static str],
}

/// All of them.
pub(super) const FUNCTIONS: &[Function] = &[
    Function { op: "fpm", types: &[], fields: &[] },
    Function { op: "requantize", types: &["i8"], fields: &["output"] },
    Function { op: "requantize", types: &["u8"], fields: &["output"] },
    Function { op: "requantize", types: &["i16"], fields: &["output"] },
    Function { op: "quantize", types: &["f32", "i8"], fields: &["expressed", "storage"] },
    Function { op: "quantize", types: &["f32", "u8"], fields: &["expressed", "storage"] },
    Function { op: "quantize", types: &["f32", "i16"], fields: &["expressed", "storage"] },
    Function { op: "quantize", types: &["f32", "u16"], fields: &["expressed", "storage"] },
    Function { op: "dequantize", types: &["i8", "f32"], fields: &["storage", "expressed"] },
    Function { op: "dequantize", types: &["u8", "f32"], fields: &["storage", "expressed"] },
    Function { op: "dequantize", types: &["i16", "f32"], fields: &["storage", "expressed"] },
    Function { op: "dequantize", types: &["u16", "f32"], fields: &["storage", "expressed"] },
    Function { op: "add", types: &["i8"], fields: &["element"] },
    Function { op: "add", types: &["u8"], fields: &["element"] },
    Function { op: "add", types: &["i16"], fields: &["element"] },
    Function { op: "mul", types: &["i8"], fields: &["element"] },
    Function { op: "mul", types: &["u8"], fields: &["element"] },
    Function { op: "mul", types: &["i16"], fields: &["element"] },
    Function { op: "matmul", types: &["i8", "i8"], fields: &["lhs", "rhs"] },
    Function { op: "matmul", types: &["u8", "u8"], fields: &["lhs", "rhs"] },
    Function { op: "matmul", types: &["u8", "i8"], fields: &["lhs", "rhs"] },
    Function { op: "matmul", types: &["i16", "i16"], fields: &["lhs", "rhs"] },
    Function { op: "conv2d", types: &["i8", "i8"], fields: &["lhs", "rhs"] },
    Function { op: "conv2d", types: &["u8", "u8"], fields: &["lhs", "rhs"] },
    Function { op: "conv2d", types: &["u8", "i8"], fields: &["lhs", "rhs"] },
    Function { op: "conv2d", types: &["i16", "i16"], fields: &["lhs", "rhs"] },
    Function { op: "pool", types: &["i8"], fields: &["element"] },
    Function { op: "pool", types: &["u8"], fields: &["element"] },
    Function { op: "pool", types: &["i16"], fields: &["element"] },
    Function { op: "qconv2d", types: &["i8", "i8", "i8"], fields: &["lhs", "rhs", "output"] },
    Function { op: "qconv2d", types: &["u8", "u8", "u8"], fields: &["lhs", "rhs", "output"] },
    Function { op: "qconv2d", types: &["u8", "i8", "u8"], fields: &["lhs", "rhs", "output"] },
];

/// Type of a tensor, by its name in a function's.
fn named(name: &str) -> Type {
    match name {
        "i8" => Type::I8,
        "u8" => Type::U8,
        "i16" => Type::I16,
        "u16" => Type::U16,
        _ => Type::Word,
    }
}

impl Function {
    /// `tiebreak_requantize_i8`.
    pub(super) fn symbol(&self) -> String {
        ["tiebreak", self.op].iter().chain(self.types).copied().collect::<Vec<_>>().join("_")
    }

    /// Type of the `at`th tensor.
    fn element(&self, at: usize) -> Type {
        self.types.get(at).map_or(Type::Word, |name| named(name))
    }
}

/// Words that a job over `len` results reads and writes.
pub(super) fn lengths(job: &Job, len: usize) -> Result<Lengths, JobError> {
    let of = |sizes: Sizes| Lengths { input: sizes.input(), output: sizes.outputs };
    let found = match job {
        Job::Fpm { .. } => Lengths { input: len, output: len },
        Job::Requantize { params, .. } => Lengths { input: params.len, output: params.len },
        Job::Quantize { params, .. } => of(params.quantize_sizes()?),
        Job::Dequantize { params, .. } => of(params.dequantize_sizes()?),
        Job::Add { params, .. } | Job::Mul { params, .. } => Lengths { input: 2 * params.len, output: params.len },
        Job::Matmul { params, .. } => of(params.sizes()?),
        Job::Conv2d { params, .. } => of(params.sizes()?),
        Job::Pool { params, .. } => of(params.sizes()?),
        Job::Qconv2d { params, .. } => of(params.shape.sizes()?),
        other => return Err(missing(other.names().0)),
    };
    if found.output == len { Ok(found) } else { Err(JobError::Results { asked: len, given: found.output }) }
}

fn missing(op: &str) -> JobError {
    JobError::Module(format!("tiebreak.h has no function of {op}"))
}

/// What a call works with.
pub(super) struct Call<'a> {
    pub(super) library: &'a Library,
    pub(super) function: &'a Function,
    pub(super) memory: &'a mut Memory,
    pub(super) misalign: usize,
}

impl Call<'_> {
    /// Runs a job.
    pub(super) fn run(self, job: &Job, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        match job {
            Job::Fpm { params, .. } => self.fpm(params, input, output),
            Job::Requantize { params, .. } => self.requantize(params, input, output),
            Job::Quantize { params, .. } | Job::Dequantize { params, .. } => self.cast(params, input, output),
            Job::Add { params, .. } | Job::Mul { params, .. } => self.elementwise(params, input, output),
            Job::Matmul { params, .. } => self.matmul(params, input, output),
            Job::Conv2d { params, .. } => self.conv2d(params, input, output),
            Job::Pool { params, .. } => self.pool(params, input, output),
            Job::Qconv2d { params, .. } => self.qconv2d(params, input, output),
            other => Err(missing(other.names().0)),
        }
    }

    fn fpm(self, params: &fpm::Params, x: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let [multiplier, shift] = columns(&params.channels);
        let inputs = [("multiplier", Type::Word, &multiplier[..]), ("shift", Type::Word, &shift), ("x", Type::Word, x)];
        let (len, q) = (x.len(), params.q);
        self.one(&inputs, Type::Word, output, |at| Fpm {
            len,
            channels: multiplier.len(),
            multiplier: at[0].cast(),
            shift: at[1].cast(),
            q,
        })
    }

    fn requantize(self, params: &requantize::Params, acc: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let [multiplier, shift] = columns(&params.channels);
        let inputs = [
            ("multiplier", Type::Word, &multiplier[..]),
            ("shift", Type::Word, &shift),
            ("bias", Type::Word, &params.bias),
            ("acc", Type::Word, acc),
        ];
        let result = self.function.element(0);
        self.one(&inputs, result, output, |at| Requantize {
            len: params.len,
            channels: multiplier.len(),
            multiplier: at[0].cast(),
            shift: at[1].cast(),
            bias: at[2].cast(),
            zero_point: params.zero_point,
            min: params.min,
            max: params.max,
        })
    }

    fn cast(self, params: &quantized::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let quantized = &params.quantized;
        let inner = match &quantized.granularity {
            Granularity::Layer => 1,
            Granularity::Channel { axis } => params.shape.iter().skip(axis + 1).product(),
            Granularity::Blocks { .. } => {
                return Err(JobError::OutsideDomain("blocks have no function in tiebreak.h".to_owned()));
            }
        };
        let (tensor, result) = (self.function.element(0), self.function.element(1));
        let stored = if self.function.op == "quantize" { result } else { tensor };
        if quantized.expressed != Expressed::F32 || stored != named(&quantized.storage.name()) {
            let types = format!("{} and {}", quantized.expressed.name(), quantized.storage.name());
            return Err(JobError::OutsideDomain(format!("{} is not of {types}", self.function.symbol())));
        }
        let words = |bits: u64| [bits as u32 as i32, (bits >> 32) as u32 as i32];
        let scales: Vec<i32> = quantized.scales.iter().flat_map(|scale| words(scale.0.to_bits())).collect();
        let zero_points: Vec<i32> = quantized.zero_points.iter().map(|zero_point| *zero_point as i32).collect();
        let inputs =
            [("scale", Type::Double, &scales[..]), ("zero_point", Type::Word, &zero_points), ("tensor", tensor, input)];
        let len = input.len();
        self.one(&inputs, result, output, |at| Cast {
            len,
            channels: zero_points.len(),
            inner,
            scale: at[0].cast(),
            zero_point: at[1].cast(),
            min: quantized.min as i32,
            max: quantized.max as i32,
        })
    }

    fn elementwise(self, params: &elementwise::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let element = self.function.element(0);
        if element != of(params.element) {
            let (symbol, asked) = (self.function.symbol(), params.element.name());
            return Err(JobError::OutsideDomain(format!("{symbol} is not of {asked}")));
        }
        let (lhs, rhs) = input.split_at(params.len);
        let scaled = |operand: Operand| Scaled { scale: operand.scale.0 as f32, zero_point: operand.zero_point };
        self.two(
            [("lhs", element, lhs), ("rhs", element, rhs)],
            element,
            output,
            &Elementwise {
                len: params.len,
                lhs: scaled(params.lhs),
                rhs: scaled(params.rhs),
                out: scaled(params.out),
                min: params.min,
                max: params.max,
            },
        )
    }

    fn matmul(self, params: &matmul::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let (lhs, rhs) = input.split_at(params.m * params.k);
        let types = [self.function.element(0), self.function.element(1)];
        self.two(
            [("lhs", types[0], lhs), ("rhs", types[1], rhs)],
            Type::Word,
            output,
            &Matmul {
                m: params.m,
                n: params.n,
                k: params.k,
                lhs_offset: params.lhs_offset,
                rhs_offset: params.rhs_offset,
            },
        )
    }

    fn conv2d(self, params: &conv2d::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let (image, weights) = input.split_at(params.sizes()?.inputs[0]);
        let types = [self.function.element(0), self.function.element(1)];
        self.two([("input", types[0], image), ("weights", types[1], weights)], Type::Word, output, &shape(params)?)
    }

    fn qconv2d(self, params: &qconv2d::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let sizes = params.shape.sizes()?;
        let (image, weights) = input.split_at(sizes.inputs[0]);
        let whole = params.requantize(sizes.outputs);
        let [multiplier, shift] = columns(&whole.channels);
        let [lhs, rhs, result] = [0, 1, 2].map(|at| self.function.element(at));
        let inputs = [
            ("multiplier", Type::Word, &multiplier[..]),
            ("shift", Type::Word, &shift),
            ("bias", Type::Word, &whole.bias),
            ("input", lhs, image),
            ("weights", rhs, weights),
        ];
        let symbol = self.function.symbol();
        let conv = shape(&params.shape)?;
        // SAFETY: the header gives a function of this name these arguments.
        let function = unsafe { self.library.get::<Binary>(&symbol) };
        let function = function.map_err(|error| JobError::Module(error.to_string()))?;
        let code = self.memory.call(&inputs, result, output, self.misalign, &|at, out| {
            let params = Qconv2d {
                conv,
                multiplier: at[0].cast(),
                shift: at[1].cast(),
                bias: at[2].cast(),
                zero_point: params.zero_point,
                min: params.min,
                max: params.max,
            };
            // SAFETY: the parameters are those of the header, and the tensors are as long as they say.
            unsafe { function((&raw const params).cast(), at[3], at[4], out) }
        })?;
        judged(&symbol, code)
    }

    fn pool(self, params: &pool::Params, input: &[i32], output: &mut [i32]) -> Result<(), JobError> {
        let element = self.function.element(0);
        if element != of(params.element) {
            let (symbol, asked) = (self.function.symbol(), params.element.name());
            return Err(JobError::OutsideDomain(format!("{symbol} is not of {asked}")));
        }
        let (out_height, out_width) = params.output()?;
        let scaled = |operand: Operand| Scaled { scale: operand.scale.0 as f32, zero_point: operand.zero_point };
        self.one(&[("input", element, input)], element, output, |_| Pool {
            batches: params.batches,
            height: params.height,
            width: params.width,
            channels: params.channels,
            kernel_h: params.kernel_h,
            kernel_w: params.kernel_w,
            stride_h: params.stride_h,
            stride_w: params.stride_w,
            top: params.top,
            bottom: params.bottom,
            left: params.left,
            right: params.right,
            out_height,
            out_width,
            count_padding: params.count_padding.into(),
            input: scaled(params.input),
            out: scaled(params.out),
            min: params.min,
            max: params.max,
        })
    }

    /// A function of parameters with arrays, which are inputs too, and of the last input.
    fn one<P>(
        self,
        inputs: &[Input<'_>],
        result: Type,
        output: &mut [i32],
        params: impl Fn(&[*const u8]) -> P,
    ) -> Result<(), JobError> {
        let symbol = self.function.symbol();
        // SAFETY: the header gives a function of this name these arguments.
        let function = unsafe { self.library.get::<Unary>(&symbol) };
        let function = function.map_err(|error| JobError::Module(error.to_string()))?;
        let code = self.memory.call(inputs, result, output, self.misalign, &|at, out| {
            let params = params(at);
            // SAFETY: the parameters are those of the header, and the tensors are as long as they say.
            unsafe { function((&raw const params).cast(), at[at.len() - 1], out) }
        })?;
        judged(&symbol, code)
    }

    /// A function of plain parameters and two inputs.
    fn two<P>(self, inputs: [Input<'_>; 2], result: Type, output: &mut [i32], params: &P) -> Result<(), JobError> {
        let symbol = self.function.symbol();
        // SAFETY: the header gives a function of this name these arguments.
        let function = unsafe { self.library.get::<Binary>(&symbol) };
        let function = function.map_err(|error| JobError::Module(error.to_string()))?;
        let code = self.memory.call(&inputs, result, output, self.misalign, &|at, out| {
            // SAFETY: the parameters are those of the header, and the tensors are as long as they say.
            unsafe { function(std::ptr::from_ref(params).cast(), at[0], at[1], out) }
        })?;
        judged(&symbol, code)
    }
}

/// A convolution as C has it.
fn shape(params: &conv2d::Params) -> Result<Conv2d, JobError> {
    if params.transposed {
        return Err(JobError::from(broken("transposed", "the header has no transposed convolution")));
    }
    let (out_height, out_width) = params.output()?;
    Ok(Conv2d {
        batches: params.batches,
        height: params.height,
        width: params.width,
        channels: params.channels,
        kernel_h: params.kernel_h,
        kernel_w: params.kernel_w,
        out_channels: params.out_channels,
        groups: params.groups,
        stride_h: params.stride_h,
        stride_w: params.stride_w,
        dilation_h: params.dilation_h,
        dilation_w: params.dilation_w,
        top: params.top,
        bottom: params.bottom,
        left: params.left,
        right: params.right,
        out_height,
        out_width,
        input_zero_point: params.input_zero_point,
        weight_zero_point: params.weight_zero_point,
    })
}

/// Multipliers and shifts.
pub(super) fn columns(channels: &[Channel]) -> [Vec<i32>; 2] {
    [
        channels.iter().map(|channel| channel.multiplier).collect(),
        channels.iter().map(|channel| channel.shift).collect(),
    ]
}

fn of(element: Element) -> Type {
    named(element.name())
}

/// What a function's code means.
fn judged(symbol: &str, code: i32) -> Result<(), JobError> {
    match code {
        0 => Ok(()),
        OUTSIDE_DOMAIN => Err(JobError::OutsideDomain(format!("{symbol} is not meant for these parameters"))),
        code => Err(JobError::Module(format!("{symbol} returned {code}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of all functions of the header are those of the table.
    #[test]
    fn the_header_and_the_table_have_the_same_functions() {
        let header = super::super::HEADER;
        let declared: Vec<&str> = header
            .lines()
            .filter_map(|line| line.strip_prefix("TIEBREAK_EXPORT int "))
            .filter_map(|line| line.split('(').next())
            .collect();
        let table: Vec<String> = FUNCTIONS.iter().map(Function::symbol).collect();
        assert_eq!(declared, table);
        assert!(FUNCTIONS.iter().all(|function| function.types.len() == function.fields.len()));
    }
}
