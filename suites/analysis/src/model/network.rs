//! A model as a network: its tensors, and its operators with what each computes, in the order in which they run.

use super::operators::{Products, Quantized};
use super::{Fault, Layer, is_tflite, tflite};
use tiebreak_impls::pool;

/// Most elements of a tensor.
pub const MAX_VALUES: usize = 1 << 27;

/// How the values of a tensor are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    /// Integers with one scale and one zero point.
    Quantized(Quantized),
    /// Floats of 32 bits.
    Float,
    /// Anything else, which takes no part in the arithmetic of a layer here.
    Other,
}

/// A tensor of the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Sizes; empty if the model states none.
    pub shape: Vec<usize>,
    /// How its values are stored.
    pub stored: Stored,
    /// Its values, if they are constant and quantized.
    pub constant: Option<Vec<i32>>,
}

impl Tensor {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where a value that an operator moves comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// An operand of the operator, and a place in it.
    Value(u32, u32),
    /// The zero point of the result.
    Zero,
}

/// What an operator computes.
#[derive(Debug)]
pub enum Work<'a> {
    /// Sums of products with constant weights, rescaled.
    Products(Box<(Layer, Products<'a>)>),
    /// Sum of two tensors of equal shape, with the clamp.
    Add((i32, i32)),
    /// Product of two tensors of equal shape, with the clamp.
    Mul((i32, i32)),
    /// Averages or maxima of windows.
    Pool {
        /// Whether it is the largest value.
        largest: bool,
        /// Shape, scales and clamp.
        params: pool::Params,
    },
    /// The same values with another scale and zero point.
    Rescale,
    /// Floats to stored integers.
    Quantize,
    /// Stored integers to floats.
    Dequantize,
    /// Moves values: of each result its source.
    Move(Vec<Source>),
    /// The values of a variable.
    Read(String),
    /// New values of a variable: of the second operand.
    Assign(String),
    /// Nothing that values depend on, such as the shape of a tensor.
    Nothing,
}

/// An operator of the network.
#[derive(Debug)]
pub struct Node<'a> {
    /// Its number in the model.
    pub index: usize,
    /// The operator, as the model calls it.
    pub op: String,
    /// Its operands, by number of their tensor.
    pub inputs: Vec<Option<usize>>,
    /// Its results.
    pub outputs: Vec<usize>,
    /// What it computes, or why that is not known here.
    pub work: Result<Work<'a>, String>,
}

/// A network.
#[derive(Debug, Default)]
pub struct Network<'a> {
    /// Every tensor.
    pub tensors: Vec<Tensor>,
    /// The tensors that a caller gives.
    pub inputs: Vec<usize>,
    /// The tensors that a caller gets.
    pub outputs: Vec<usize>,
    /// The operators in the order in which they run.
    pub nodes: Vec<Node<'a>>,
}

/// The network of a TFLite model: its first subgraph.
pub fn network(bytes: &[u8]) -> Result<Network<'_>, Fault> {
    if !is_tflite(bytes) {
        return Err(Fault::NotTflite);
    }
    tflite::network::network(bytes)
}
