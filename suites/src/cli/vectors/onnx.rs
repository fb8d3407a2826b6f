//! Vectors as ONNX node tests: a directory for each model, with a data set for each vector. `judge` and test runners of runtimes read the files.

use super::files::Files;
use crate::cli::offline::permuted;
use crate::engine::vectors::{Tensor, Vector, Vectors};
use crate::model::onnx::node::{self, Type};
use crate::model::onnx::write::{self, Model};
use anyhow::{Result, anyhow, bail};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tiebreak_impls::conv2d;
use tiebreak_impls::matmul;
use tiebreak_impls::quantized::{Expressed, Granularity, Params as Cast, Storage};
use tiebreak_worker::protocol::Job;

/// Operations and schemes that correspond to an ONNX operator.
const OPERATORS: [(&str, &str, &str); 4] = [
    ("quantize", "onnx", "QuantizeLinear"),
    ("dequantize", "integer-difference", "DequantizeLinear"),
    ("matmul", "exact:wrap", "MatMulInteger"),
    ("conv2d", "exact:wrap", "ConvInteger"),
];

/// Node test: its model, and the tensors of its inputs and its output.
struct Test {
    model: Model,
    tensors: Vec<node::Tensor>,
}

/// Fails if no ONNX operator has the scheme.
pub(super) fn check(op: &str, scheme: &str) -> Result<()> {
    let is_of =
        |(of, one, _): &&(&str, &str, &str)| *of == op && (*one == scheme || one.split(':').next() == Some(scheme));
    if OPERATORS.iter().any(|row| is_of(&row)) {
        return Ok(());
    }
    let all: Vec<String> = OPERATORS.iter().map(|(op, scheme, name)| format!("{op} {scheme} ({name})")).collect();
    bail!("no operator of ONNX is {op} {scheme}; {} are; --format npy has vectors of every scheme", all.join(", "))
}

/// True if an ONNX operator accepts the parameters and types of a call.
pub(super) fn fits(job: &Job, domain: &Json, _: &[i32], _: &[i32]) -> bool {
    match job {
        Job::Quantize { params, .. } | Job::Dequantize { params, .. } => cast(params).is_some(),
        Job::Matmul { params, .. } => {
            points(domain, [params.lhs_offset, params.rhs_offset].map(|v| -i64::from(v))).is_some()
        }
        Job::Conv2d { params, .. } => {
            let zero_points = [params.input_zero_point, params.weight_zero_point].map(i64::from);
            !params.transposed && points(&domain["operands"], zero_points).is_some()
        }
        _ => false,
    }
}

/// Returns the files.
pub(super) fn files(vectors: &Vectors) -> Result<Files> {
    let mut models: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut sets: Vec<usize> = Vec::new();
    let mut out = Files::new();
    for vector in &vectors.vectors {
        let Test { model, tensors } =
            test(vector).ok_or_else(|| anyhow!("no operator of ONNX has {:?}", vector.case))?;
        let bytes = write::model(&model);
        let next = models.len();
        let at = *models.entry(bytes.clone()).or_insert(next);
        let directory = PathBuf::from(format!("test_tiebreak_{}_{at}", model.op.to_lowercase()));
        if at == next {
            out.push((directory.join("model.onnx"), bytes));
            sets.push(0);
        }
        let set = directory.join(format!("test_data_set_{}", sets[at]));
        sets[at] += 1;
        let names = model.inputs.iter().map(|(name, ..)| *name).chain(["y"]);
        for (at, (name, tensor)) in names.zip(&tensors).enumerate() {
            let file = if name == "y" { "output_0.pb".to_owned() } else { format!("input_{at}.pb") };
            out.push((set.join(file), write::tensor(name, tensor)));
        }
    }
    Ok(out)
}

fn test(vector: &Vector) -> Option<Test> {
    match &vector.job {
        Job::Quantize { params, .. } => {
            let Parameters { stored, scales, points, attributes } = cast(params)?;
            let x = floats(&params.shape, &vector.operands[0]);
            Some(whole(
                "QuantizeLinear",
                attributes,
                vec![x, scales, points],
                integers(&params.shape, stored, &vector.expected),
            ))
        }
        Job::Dequantize { params, .. } => {
            let Parameters { stored, scales, points, attributes } = cast(params)?;
            let q = integers(&params.shape, stored, &vector.operands[0]);
            Some(whole(
                "DequantizeLinear",
                attributes,
                vec![q, scales, points],
                floats(&params.shape, &vector.expected),
            ))
        }
        Job::Matmul { params, .. } => product(params, vector),
        Job::Conv2d { params, .. } => convolution(params, vector),
        _ => None,
    }
}

/// Builds a test of inputs, which are named by letters.
fn whole(
    op: &'static str,
    attributes: Vec<(&'static str, Vec<i64>)>,
    inputs: Vec<node::Tensor>,
    output: node::Tensor,
) -> Test {
    let typed = |(name, tensor): (&'static str, &node::Tensor)| (name, tensor.element, tensor.dims.clone());
    let model = Model {
        op,
        attributes,
        inputs: ["a", "b", "c", "d"].into_iter().zip(&inputs).map(typed).collect(),
        output: (output.element, output.dims.clone()),
    };
    Test { model, tensors: inputs.into_iter().chain([output]).collect() }
}

fn integer(dims: &[usize], element: Type, values: Vec<i64>) -> node::Tensor {
    node::Tensor { dims: dims.to_vec(), element, integers: values, floats: Vec::new() }
}

fn integers(dims: &[usize], element: Type, tensor: &Tensor) -> node::Tensor {
    integer(dims, element, tensor.words.iter().map(|word| tensor.element.place(&[*word])).collect())
}

/// Builds a tensor of f32 from words with their bits.
fn floats(dims: &[usize], tensor: &Tensor) -> node::Tensor {
    let floats = tensor.words.iter().map(|word| f32::from_bits(*word as u32)).collect();
    node::Tensor { dims: dims.to_vec(), element: Type::F32, integers: Vec::new(), floats }
}

/// Stored type, scales, zero points and attributes of a cast.
struct Parameters {
    stored: Type,
    scales: node::Tensor,
    points: node::Tensor,
    attributes: Vec<(&'static str, Vec<i64>)>,
}

/// Returns the ONNX parameters of a cast between f32 and a full type of 8 or 16 bits, with scales per tensor or per channel.
fn cast(params: &Cast) -> Option<Parameters> {
    let of = &params.quantized;
    let stored = match of.storage {
        Storage { bits: 8, signed: true } => Type::I8,
        Storage { bits: 8, signed: false } => Type::U8,
        Storage { bits: 16, signed: true } => Type::I16,
        Storage { bits: 16, signed: false } => Type::U16,
        Storage { .. } => return None,
    };
    let (dims, attributes) = match of.granularity {
        Granularity::Layer => (Vec::new(), Vec::new()),
        Granularity::Channel { axis } => (vec![of.scales.len()], vec![("axis", vec![axis as i64])]),
        Granularity::Blocks { .. } => return None,
    };
    let scales: Vec<f32> = of.scales.iter().map(|scale| scale.0 as f32).collect();
    let exact = scales.iter().zip(&of.scales).all(|(single, scale)| f64::from(*single).to_bits() == scale.0.to_bits());
    let whole = (of.min, of.max) == (*of.storage.range().start(), *of.storage.range().end());
    (of.expressed == Expressed::F32 && exact && whole).then(|| Parameters {
        stored,
        scales: node::Tensor { dims: dims.clone(), element: Type::F32, integers: Vec::new(), floats: scales },
        points: integer(&dims, stored, of.zero_points.clone()),
        attributes,
    })
}

/// Returns the types of two 8-bit operands. `None` if a zero point does not fit its type.
fn points(domain: &Json, points: [i64; 2]) -> Option<[Type; 2]> {
    let of = |(name, point): (&str, i64)| match domain[name].as_str()? {
        "u8" => (0..=255).contains(&point).then_some(Type::U8),
        "i8" => (-128..=127).contains(&point).then_some(Type::I8),
        _ => None,
    };
    Some([of(("lhs", points[0]))?, of(("rhs", points[1]))?])
}

fn product(params: &matmul::Params, vector: &Vector) -> Option<Test> {
    let zero_points = [params.lhs_offset, params.rhs_offset].map(|offset| -i64::from(offset));
    let [lhs, rhs] = points(&vector.domain, zero_points)?;
    let matmul::Params { m, n, k, .. } = *params;
    let inputs = vec![
        integers(&[m, k], lhs, &vector.operands[0]),
        integers(&[k, n], rhs, &vector.operands[1]),
        integer(&[], lhs, vec![zero_points[0]]),
        integer(&[], rhs, vec![zero_points[1]]),
    ];
    Some(whole("MatMulInteger", Vec::new(), inputs, integers(&[m, n], Type::I32, &vector.expected)))
}

fn convolution(params: &conv2d::Params, vector: &Vector) -> Option<Test> {
    if params.transposed {
        // ONNX has no transposed ConvInteger.
        return None;
    }
    let zero_points = [params.input_zero_point, params.weight_zero_point].map(i64::from);
    let [image, filter] = points(&vector.domain["operands"], zero_points)?;
    let p = params;
    let (rows, columns) = p.output().ok()?;
    let of_group = p.channels / p.groups;
    let attributes = [
        ("dilations", vec![p.dilation_h, p.dilation_w]),
        ("group", vec![p.groups]),
        ("kernel_shape", vec![p.kernel_h, p.kernel_w]),
        ("pads", vec![p.top, p.left, p.bottom, p.right]),
        ("strides", vec![p.stride_h, p.stride_w]),
    ];
    let attributes = attributes.map(|(name, values)| (name, values.into_iter().map(|v| v as i64).collect()));
    let channels_first = |element, dims: [usize; 4], tensor: &Tensor| {
        let values = permuted(&integers(&dims, element, tensor).integers, dims, [0, 3, 1, 2]);
        integer(&[dims[0], dims[3], dims[1], dims[2]], element, values)
    };
    let weights = integers(&[], filter, &vector.operands[1]).integers;
    let weights = permuted(&weights, [p.kernel_h, p.kernel_w, of_group, p.out_channels], [3, 2, 0, 1]);
    let inputs = vec![
        channels_first(image, [p.batches, p.height, p.width, p.channels], &vector.operands[0]),
        integer(&[p.out_channels, of_group, p.kernel_h, p.kernel_w], filter, weights),
        integer(&[], image, vec![zero_points[0]]),
        integer(&[], filter, vec![zero_points[1]]),
    ];
    let output = channels_first(Type::I32, [p.batches, rows, columns, p.out_channels], &vector.expected);
    Some(whole("ConvInteger", attributes.into(), inputs, output))
}
