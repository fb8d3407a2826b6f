//! TOSA tests: a file `test.tosa` with one computing operator, and constants. Numbers of operators and types: `schema/tosa.fbs` of the serialization
//! library in package tosa-tools 2026.8.

use super::Fault;
use super::tflite::tables::{self, TosaTensor};
use std::collections::BTreeMap;

// Numbers in `Op` of tosa.fbs.
const MATMUL: u32 = 7;
const RESCALE: u32 = 66;
const CONST: u32 = 67;

/// Operator of a test.
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
    /// Rounding mode: 1 rounds once, 2 leaves the rounding open, 3 rounds twice.
    pub rounding_mode: u32,
    /// True if each index of the last axis has its own multiplier and shift.
    pub per_channel: bool,
    /// True if the input is read as unsigned.
    pub input_unsigned: bool,
    /// True if the output is written as unsigned.
    pub output_unsigned: bool,
}

/// Supported type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `INT8`.
    I8,
    /// `INT16`.
    I16,
    /// `INT32`.
    I32,
}

/// Tensor, with its elements if the file has them.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Sizes of the dimensions.
    pub shape: Vec<usize>,
    /// Type of the elements; `None` for an unsupported type.
    pub element: Option<Type>,
    /// Elements, read as signed.
    pub constants: Option<Vec<i64>>,
}

/// Operator of a test, and its tensors by name.
#[derive(Clone, Debug)]
pub struct Test {
    /// Operator of the test.
    pub op: Op,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Name of the output.
    pub output: String,
    /// Tensors by name.
    pub tensors: BTreeMap<String, Tensor>,
}

/// Reads a test from a file.
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
    // Numbers of `DType`.
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
