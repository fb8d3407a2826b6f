//! Tests of TOSA: a file `test.tosa` with one operator that computes, and constants. Numbers of operators and types: `schema/tosa.fbs` of the serialization library, as the
//! package tosa-tools 2026.8 has it.

use super::Fault;
use super::tflite::tables::{self, TosaTensor};
use std::collections::BTreeMap;

// `Op` of tosa.fbs.
const MATMUL: u32 = 7;
const RESCALE: u32 = 66;
const CONST: u32 = 67;

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `MATMUL`.
    Matmul,
    /// `RESCALE`.
    Rescale(Rescale),
}

/// Attributes of `RESCALE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescale {
    /// The rounding mode: 1 rounds once, 2 leaves the rounding open, 3 rounds twice.
    pub rounding_mode: u32,
    /// A multiplier and a shift for each index of the last axis.
    pub per_channel: bool,
    /// The input is read without sign.
    pub input_unsigned: bool,
    /// So is the output.
    pub output_unsigned: bool,
}

/// The type of a tensor's elements, of those that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `INT8`.
    I8,
    /// `INT16`.
    I16,
    /// `INT32`.
    I32,
}

/// A tensor, with its elements if they are in the file.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its sizes.
    pub shape: Vec<usize>,
    /// The type of its elements; none of another one.
    pub element: Option<Type>,
    /// The elements, with sign.
    pub constants: Option<Vec<i64>>,
}

/// The operator of a test, and its tensors by name.
#[derive(Clone, Debug)]
pub struct Test {
    /// The operator.
    pub op: Op,
    /// Names of its inputs.
    pub inputs: Vec<String>,
    /// Name of its output.
    pub output: String,
    /// Tensors.
    pub tensors: BTreeMap<String, Tensor>,
}

/// Reads a file.
pub fn test(file: &[u8]) -> Result<Test, Fault> {
    let unsupported = |problem: &str| Fault::Unsupported { place: "TosaGraph".to_owned(), problem: problem.to_owned() };
    let graph = tables::tosa(file)?;
    let region = graph.regions().filter(|all| all.len() == 1).map(|all| all.get(0));
    let block = region.and_then(|region| region.blocks()).filter(|all| all.len() == 1).map(|all| all.get(0));
    let block =
        block.ok_or_else(|| unsupported("it has not one region of one block; a test of one operator is read"))?;
    let tensors = block.tensors().into_iter().flatten().map(named).collect();
    let operators = block.operators().into_iter().flatten();
    let all: Vec<_> = operators.filter(|operator| operator.op().unwrap_or(0) != CONST).collect();
    let [operator] = &all[..] else {
        return Err(unsupported("it has more than one operator, or none; a test of one operator is read"));
    };
    let op = match (operator.op().unwrap_or(0), operator.rescale()) {
        (MATMUL, _) => Op::Matmul,
        (RESCALE, Some(attributes)) => Op::Rescale(Rescale {
            rounding_mode: attributes.rounding_mode().unwrap_or(0),
            per_channel: attributes.per_channel().unwrap_or(false),
            input_unsigned: attributes.input_unsigned().unwrap_or(false),
            output_unsigned: attributes.output_unsigned().unwrap_or(false),
        }),
        (other, _) => return Err(unsupported(&format!("operator {other} of tosa.fbs; MATMUL and RESCALE are read"))),
    };
    let names =
        |all: Option<tables::Tables<'_, &str>>| all.into_iter().flatten().map(str::to_owned).collect::<Vec<_>>();
    let output =
        names(operator.outputs()).into_iter().next().ok_or_else(|| unsupported("its operator has no output"))?;
    Ok(Test { op, inputs: names(operator.inputs()), output, tensors })
}

fn named(tensor: TosaTensor<'_>) -> (String, Tensor) {
    let name = String::from_utf8_lossy(tensor.name().map_or(&[], |name| name.bytes())).into_owned();
    // `DType`.
    let element = match tensor.element_type().unwrap_or(0) {
        3 => Some(Type::I8),
        4 => Some(Type::I16),
        5 => Some(Type::I32),
        _ => None,
    };
    let shape: Vec<usize> =
        tensor.shape().into_iter().flatten().map(|size| usize::try_from(size).unwrap_or(0)).collect();
    let bytes = tensor.data().map_or(&[][..], |data| data.bytes());
    let values: Option<Vec<i64>> = element.map(|element| match element {
        Type::I8 => bytes.iter().map(|byte| (*byte as i8).into()).collect(),
        Type::I16 => bytes.as_chunks().0.iter().map(|bytes| i16::from_le_bytes(*bytes).into()).collect(),
        Type::I32 => bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect(),
    });
    // Constants are padded to whole words.
    let elements = shape.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
    let constants = values.filter(|all| !all.is_empty() && elements.is_some_and(|n| n <= all.len()));
    let constants = constants.map(|mut all| {
        all.truncate(elements.unwrap_or(0));
        all
    });
    (name, Tensor { shape, element, constants })
}
