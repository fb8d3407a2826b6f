//! Runs one job in this process: finds the kernel, checks parameters and lengths, and lays out the operands for the kernel.

use crate::Form;
use crate::element::Element;
use crate::fpm::{self, Params};
use crate::kernel::Kernel;
use crate::mutants::tensor::{self, Mutant};
use crate::protocol::Job;
use crate::shape::{ShapeError, Sizes};
use crate::{add, conv2d, dequantize, dot, instruction, matmul, mutants, quantize, requantize, transform};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Input and output elements of a job over `len` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Elements of the payload.
    pub input: usize,
    /// Results.
    pub output: usize,
}

/// How many elements a job over `len` elements reads and writes; for a tensor operation `len` is the number of results.
pub fn lengths(job: &Job, len: usize) -> Result<Lengths, String> {
    let sizes = match job {
        Job::Fpm { .. } => return Ok(Lengths { input: len, output: len }),
        Job::Instruction { kernel } => {
            return Ok(Lengths { input: 2 * len, output: len + find_instruction(kernel)?.flags(len) });
        }
        Job::Dot { kernel, params } => find_dot(kernel)?.contract.domain.sizes(params),
        Job::Matmul { params, .. } => params.sizes(),
        Job::Conv2d { params, .. } => params.sizes(),
        Job::Requantize { kernel, params } => find_requantize(kernel)?.contract.domain.sizes(params),
        Job::Quantize { kernel, params } => find_quantize(kernel)?.contract.domain.sizes(params),
        Job::Dequantize { params, .. } => params.dequantize_sizes(),
        Job::Add { kernel, params } => find_add(kernel)?.contract.domain.sizes(params),
        Job::Transform { kernel, params } => find_transform(kernel)?.contract.domain.sizes(params),
    };
    let sizes = sizes.map_err(told)?;
    if sizes.outputs != len {
        return Err(format!("{len} results asked for where the shape gives {}", sizes.outputs));
    }
    Ok(Lengths { input: sizes.input(), output: sizes.outputs })
}

/// Runs one job in this process. `input` and `output` are laid out as [`Job`] says; operands of 8 or 16 bits are placed
/// `misalign` elements past a 64-byte boundary.
///
/// A panic in the kernel is an error, like an unknown name or slices of the wrong length. Process mutants are refused:
/// they are meant for a process that may die.
pub fn execute(job: &Job, form: Form, input: &[i32], output: &mut [i32], misalign: usize) -> Result<(), String> {
    if let Job::Fpm { kernel, .. } = job
        && find_process(kernel).is_some()
    {
        return Err(format!("{kernel} runs in a worker process only"));
    }
    execute_any(job, form, input, output, misalign)
}

pub(crate) fn execute_any(
    job: &Job,
    form: Form,
    input: &[i32],
    output: &mut [i32],
    misalign: usize,
) -> Result<(), String> {
    match job {
        Job::Fpm { kernel, params } => {
            let kernel = find_fpm(kernel)?;
            check_params(kernel, params)?;
            check_len(input.len(), output.len())?;
            guard(kernel.name, || kernel.run(form)(params, input, output))
        }
        Job::Instruction { kernel } => {
            let kernel = find_instruction(kernel)?;
            let (a, b) = input.split_at(input.len() / 2);
            check_len(a.len(), b.len())?;
            check_len(a.len() + kernel.flags(a.len()), output.len())?;
            let (out, qc) = output.split_at_mut(a.len());
            guard(kernel.name, || kernel.run(form)(a, b, out, qc))
        }
        Job::Dot { kernel, params } => {
            let kernel = find_dot(kernel)?;
            let domain = &kernel.contract.domain;
            let [acc, a, b] = parts(domain.sizes(params), input, output)?;
            let a = Operand::new("a", domain.lhs, a, misalign)?;
            let b = Operand::new("b", domain.rhs, b, misalign)?;
            guard(kernel.name, || kernel.run(form)(acc, a.bytes(), b.bytes(), output))
        }
        Job::Matmul { kernel, params } => {
            let kernel = find_matmul(kernel)?;
            let domain = &kernel.contract.domain;
            let [lhs, rhs, _] = parts(params.sizes(), input, output)?;
            let lhs = Operand::new("lhs", domain.lhs, lhs, misalign)?;
            let rhs = Operand::new("rhs", domain.rhs, rhs, misalign)?;
            guard(kernel.name, || kernel.run(form)(params, lhs.bytes(), rhs.bytes(), output))
        }
        Job::Conv2d { kernel, params } => {
            let kernel = find_conv2d(kernel)?;
            let domain = &kernel.contract.domain;
            let [image, weights, _] = parts(params.sizes(), input, output)?;
            if params.groups > 1 && !domain.grouped {
                return Err(format!("{} takes one group, not {}", kernel.name, params.groups));
            }
            if !domain.operands.lhs.range().contains(&params.input_zero_point) {
                return Err(format!(
                    "input_zero_point: {} is no {}",
                    params.input_zero_point,
                    domain.operands.lhs.name()
                ));
            }
            let image = Operand::new("input", domain.operands.lhs, image, misalign)?;
            let weights = Operand::new("weights", domain.operands.rhs, weights, misalign)?;
            guard(kernel.name, || kernel.run(form)(params, image.bytes(), weights.bytes(), output))
        }
        Job::Requantize { kernel, params } => {
            let kernel = find_requantize(kernel)?;
            let [acc, ..] = parts(kernel.contract.domain.sizes(params), input, output)?;
            guard(kernel.name, || kernel.run(form)(params, acc, output))
        }
        Job::Quantize { kernel, params } => {
            let kernel = find_quantize(kernel)?;
            here(kernel)?;
            let [words, ..] = parts(params.quantize_sizes(), input, output)?;
            guard(kernel.name, || kernel.run(form)(params, words, output))
        }
        Job::Dequantize { kernel, params } => {
            let kernel = find_dequantize(kernel)?;
            here(kernel)?;
            let [stored, ..] = parts(params.dequantize_sizes(), input, output)?;
            guard(kernel.name, || kernel.run(form)(params, stored, output))
        }
        Job::Add { kernel, params } => {
            let kernel = find_add(kernel)?;
            let domain = &kernel.contract.domain;
            let [lhs, rhs, _] = parts(domain.sizes(params), input, output)?;
            let lhs = Operand::new("lhs", domain.element, lhs, misalign)?;
            let rhs = Operand::new("rhs", domain.element, rhs, misalign)?;
            guard(kernel.name, || kernel.run(form)(params, lhs.bytes(), rhs.bytes(), output))
        }
        Job::Transform { kernel, params } => {
            let kernel = find_transform(kernel)?;
            let [elements, ..] = parts(kernel.contract.domain.sizes(params), input, output)?;
            guard(kernel.name, || kernel.run(form)(params, elements, output))
        }
    }
}

/// Whether a range of pair sums can be asked of this dot-product step.
pub(crate) fn has_pairs(kernel: &str) -> bool {
    find_dot(kernel).is_ok_and(|kernel| !kernel.contract.domain.pairs.is_empty())
}

/// The inputs that a range stands for.
pub fn fill(job: &Job, start: i32, elements: &mut [i32]) {
    match job {
        Job::Dot { kernel, params } => fill_pairs(kernel, params, start, elements),
        _ => elements.iter_mut().enumerate().for_each(|(i, value)| *value = start.wrapping_add(i as i32)),
    }
}

/// The inputs that a range of pair sums stands for: result `i` is that of the bytes `a0, a1, b0, b1` of `start + i`, in the
/// kernel's place for a pair.
fn fill_pairs(kernel: &str, params: &dot::Params, start: i32, input: &mut [i32]) {
    // Both have been looked up and checked by `lengths`, or the batch would have been refused.
    let Ok(domain) = find_dot(kernel).map(|kernel| &kernel.contract.domain) else { return };
    input.fill(0);
    let (_, operands) = input.split_at_mut(params.len);
    let (a, b) = operands.split_at_mut(operands.len() / 2);
    let steps = a.chunks_mut(domain.elements).zip(b.chunks_mut(domain.elements));
    for (step, (a, b)) in steps.enumerate() {
        for (result, [first, second]) in domain.pairs.iter().enumerate() {
            let quadruple = start.wrapping_add((step * domain.results + result) as i32).to_le_bytes();
            let value = |element: Element, at: usize| element.read(&quadruple[at..]);
            (a[*first], a[*second]) = (value(domain.lhs, 0), value(domain.lhs, 1));
            (b[*first], b[*second]) = (value(domain.rhs, 2), value(domain.rhs, 3));
        }
    }
}

/// Refuses a kernel whose code is in a compiled module.
fn here<R>(kernel: &Kernel<R, quantize::Domain>) -> Result<(), String> {
    if kernel.contract.domain.compiled {
        return Err(format!(
            "{} runs in lanes of compiled modules only (mlir-x86, mlir-aarch64, mlir-aarch64-bf16)",
            kernel.name
        ));
    }
    Ok(())
}

fn told(error: ShapeError) -> String {
    error.to_string()
}

/// The tensors of a payload.
fn parts<'a>(sizes: Result<Sizes, ShapeError>, input: &'a [i32], output: &[i32]) -> Result<[&'a [i32]; 3], String> {
    let sizes = sizes.map_err(told)?;
    check_len(sizes.input(), input.len())?;
    check_len(sizes.outputs, output.len())?;
    let (first, rest) = input.split_at(sizes.inputs[0]);
    let (second, third) = rest.split_at(sizes.inputs[1]);
    Ok([first, second, third])
}

/// A tensor as its element type lays it out, at a chosen distance from a 64-byte boundary.
struct Operand {
    storage: Vec<u8>,
    start: usize,
    len: usize,
}

impl Operand {
    fn new(name: &str, element: Element, values: &[i32], misalign: usize) -> Result<Self, String> {
        if let Some(value) = values.iter().find(|value| !element.range().contains(value)) {
            return Err(format!("{name}: {value} is no {}", element.name()));
        }
        let len = values.len() * element.bytes();
        let mut storage = vec![0; len + 128];
        // Alignment changes coverage, not results: where an allocator cannot say, the operand lies where it lies.
        let boundary = storage.as_ptr().align_offset(64);
        let start = if boundary < 64 { boundary + misalign % 16 } else { misalign % 16 };
        element.pack(values, &mut storage[start..start + len]);
        Ok(Self { storage, start, len })
    }

    fn bytes(&self) -> &[u8] {
        &self.storage[self.start..self.start + self.len]
    }
}

/// The kernel or mutant of that name.
fn find<R, D>(
    op: &str,
    name: &str,
    kernels: &'static [Kernel<R, D>],
    mutants: &'static [Mutant<R, D>],
) -> Result<&'static Kernel<R, D>, String> {
    let mutants = mutants.iter().map(|mutant| &mutant.kernel);
    let found = kernels.iter().chain(mutants).find(|kernel| kernel.name == name);
    found.ok_or_else(|| format!("unknown {op} kernel {name}"))
}

fn find_dot(name: &str) -> Result<&'static dot::Kernel, String> {
    find("dot", name, dot::kernels(), tensor::dot())
}

fn find_matmul(name: &str) -> Result<&'static matmul::Kernel, String> {
    find("matmul", name, matmul::kernels(), tensor::matmul())
}

fn find_conv2d(name: &str) -> Result<&'static conv2d::Kernel, String> {
    find("conv2d", name, conv2d::kernels(), tensor::conv2d())
}

fn find_requantize(name: &str) -> Result<&'static requantize::Kernel, String> {
    find("requantize", name, requantize::kernels(), tensor::requantize())
}

fn find_quantize(name: &str) -> Result<&'static quantize::Kernel, String> {
    find("quantize", name, quantize::kernels(), tensor::quantize())
}

fn find_dequantize(name: &str) -> Result<&'static dequantize::Kernel, String> {
    find("dequantize", name, dequantize::kernels(), tensor::dequantize())
}

fn find_add(name: &str) -> Result<&'static add::Kernel, String> {
    find("add", name, add::kernels(), tensor::add())
}

fn find_transform(name: &str) -> Result<&'static transform::Kernel, String> {
    find("transform", name, transform::kernels(), tensor::transform())
}

fn find_fpm(name: &str) -> Result<&'static fpm::Kernel, String> {
    fpm::find(name)
        .or_else(|| mutants::fpm::find(name).map(|mutant| &mutant.kernel))
        .or_else(|| find_process(name).map(|mutant| &mutant.kernel))
        .ok_or_else(|| format!("unknown fpm kernel {name}"))
}

pub(crate) fn find_process(name: &str) -> Option<&'static mutants::ProcessMutant> {
    mutants::process().iter().find(|mutant| mutant.kernel.name == name)
}

fn find_instruction(name: &str) -> Result<&'static instruction::Kernel, String> {
    instruction::find(name).ok_or_else(|| format!("unknown instruction {name}"))
}

fn check_params(kernel: &fpm::Kernel, params: &Params) -> Result<(), String> {
    match params.channels.len() {
        0 => Err("no channel".to_owned()),
        n if n > 1 && !kernel.per_channel => Err(format!("{} takes one channel, not {n}", kernel.name)),
        _ => Ok(()),
    }
}

fn check_len(expected: usize, got: usize) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("expected {expected} elements, got {got}")) }
}

fn guard(name: &str, run: impl FnOnce()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        format!("{name} panicked: {message}")
    })
}
