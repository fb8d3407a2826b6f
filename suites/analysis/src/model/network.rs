//! Model as a network: its tensors, and its operators in execution order, each with its work.

use super::operators::{Products, Quantized};
use super::{Fault, Layer, is_tflite, tflite};
use tiebreak_impls::pool;

/// Upper bound on the elements of a tensor.
pub const MAX_VALUES: usize = 1 << 27;

/// Storage of a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    /// Integers with one scale and one zero point.
    Quantized(Quantized),
    /// 32-bit floats.
    Float,
    /// Other values, which no arithmetic of a layer uses.
    Other,
}

/// Tensor of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Sizes; empty if the model states none.
    pub shape: Vec<usize>,
    /// Storage of the values.
    pub stored: Stored,
    /// Values of a constant quantized tensor.
    pub constant: Option<Vec<i32>>,
}

impl Tensor {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// True if the tensor has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Source of a value that an operator moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Number of the operand, and index in this operand.
    Value(u32, u32),
    /// Zero point of the result.
    Zero,
}

/// Work of an operator.
#[derive(Debug)]
pub enum Work<'a> {
    /// Rescaled sums of products with constant weights.
    Products(Box<(Layer, Products<'a>)>),
    /// Sum of two tensors of equal shape, with the clamp.
    Add((i32, i32)),
    /// Product of two tensors of equal shape, with the clamp.
    Mul((i32, i32)),
    /// Averages or maxima of windows.
    Pool {
        /// True for maxima, false for averages.
        largest: bool,
        /// Shape, scales and clamp.
        params: pool::Params,
    },
    /// Rescaling to another scale and zero point.
    Rescale,
    /// Conversion of floats to stored integers.
    Quantize,
    /// Conversion of stored integers to floats.
    Dequantize,
    /// Moves of values, as the source of each result.
    Move(Vec<Source>),
    /// Read access to a variable.
    Read(String),
    /// Assignment of the second operand to a variable.
    Assign(String),
    /// No work on values, such as computing a shape.
    Nothing,
}

/// Operator of the network.
#[derive(Debug)]
pub struct Node<'a> {
    /// Number of the operator in the model.
    pub index: usize,
    /// Kind of the operator, as the model names it.
    pub op: String,
    /// Tensor number of each operand; `None` for an omitted operand.
    pub inputs: Vec<Option<usize>>,
    /// Tensor numbers of the results.
    pub outputs: Vec<usize>,
    /// Work of the operator, or the reason why it is not known.
    pub work: Result<Work<'a>, String>,
}

/// Network of tensors and operators.
#[derive(Debug, Default)]
pub struct Network<'a> {
    /// All tensors.
    pub tensors: Vec<Tensor>,
    /// Tensors that a caller supplies.
    pub inputs: Vec<usize>,
    /// Tensors that a caller receives.
    pub outputs: Vec<usize>,
    /// Operators in execution order.
    pub nodes: Vec<Node<'a>>,
}

/// Reads the network of a TFLite model: its first subgraph.
pub fn network(bytes: &[u8]) -> Result<Network<'_>, Fault> {
    if !is_tflite(bytes) {
        return Err(Fault::NotTflite);
    }
    tflite::network::network(bytes)
}
