//! Operators of a model for an audit: scales and zero points of tensors, weights and biases.

use std::borrow::Cow;
use std::collections::BTreeSet;
use tiebreak_impls::element::Element;

/// Scale and zero point of a tensor. The real value of a stored value `q` is `scale * (q - zero_point)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantized {
    /// Type of the stored values.
    pub element: Element,
    /// Scale, a positive normal float.
    pub scale: f32,
    /// Stored value of real 0, in the range of the type.
    pub zero_point: i32,
}

/// Operator of a model.
#[derive(Debug)]
pub struct Operator<'a> {
    /// Number of the operator in its graph, from 0.
    pub index: usize,
    /// Kind of the operator, as the format names it.
    pub op: String,
    /// Name of the result, or of the operator.
    pub name: String,
    /// Arithmetic of the operator, or the reason why it is not audited.
    pub arithmetic: Result<Arithmetic<'a>, String>,
}

/// Arithmetic of an operator.
#[derive(Debug)]
pub enum Arithmetic<'a> {
    /// Rescaled sums of products with constant weights.
    Products(Box<Products<'a>>),
    /// Sum of two quantized tensors.
    Add(Elementwise),
    /// Product of two quantized tensors.
    Mul(Elementwise),
    /// Rescaling to another scale and zero point.
    Rescale(Rescale),
}

/// Kind of sums of products. Runtimes derive multipliers differently for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Convolution over several channels.
    Convolution,
    /// Convolution of each channel by itself.
    Depthwise,
    /// Matrix product.
    Dense,
}

/// Sums of products: `output = clamp(rescaled(bias + sum of weight * (input - zero point)) + zero point)`.
#[derive(Debug)]
pub struct Products<'a> {
    /// Kind of the operator.
    pub kind: Kind,
    /// Tensor of the activations.
    pub input: Quantized,
    /// Tensor of the results.
    pub output: Quantized,
    /// Smallest and largest result.
    pub clamp: (i32, i32),
    /// Constant weights.
    pub weights: Weights<'a>,
    /// Scales of the weights: one scale for all channels, or one for each.
    pub scales: Vec<f32>,
    /// Addends of the sums of products, one for each channel; empty without a bias.
    pub bias: Vec<i32>,
}

impl Products<'_> {
    /// Returns the scale of a channel's weights.
    pub fn scale(&self, channel: usize) -> f32 {
        self.scales[if self.per_channel() { channel } else { 0 }]
    }

    /// True if each channel has its own scale.
    pub fn per_channel(&self) -> bool {
        self.scales.len() > 1
    }

    /// Returns the bias, the addend of a channel's sum.
    pub fn bias(&self, channel: usize) -> i32 {
        self.bias.get(channel).copied().unwrap_or(0)
    }
}

/// Constant weights of `channels` sums with `depth` products each.
#[derive(Debug)]
pub struct Weights<'a> {
    /// Element type, of one byte.
    pub element: Element,
    /// Stored values.
    pub bytes: Cow<'a, [u8]>,
    /// Number of results at one position.
    pub channels: usize,
    /// Number of products of one result.
    pub depth: usize,
    /// Distance from one channel to the next, and from one product to the next.
    pub strides: (usize, usize),
    /// Zero points: one for all channels, or one for each.
    pub zero_points: Vec<i32>,
}

impl Weights<'_> {
    /// Returns the stored weights of a channel.
    pub fn stored(&self, channel: usize) -> impl Iterator<Item = i32> {
        let from = channel * self.strides.0;
        (0..self.depth).map(move |k| self.element.read(&self.bytes[from + k * self.strides.1..]))
    }

    /// Returns the zero point of a channel.
    pub fn zero_point(&self, channel: usize) -> i32 {
        self.zero_points[if self.zero_points.len() > 1 { channel } else { 0 }]
    }

    /// Returns the weights of a channel minus their zero point.
    pub fn centred(&self, channel: usize) -> impl Iterator<Item = i32> {
        let zero_point = self.zero_point(channel);
        self.stored(channel).map(move |w| w - zero_point)
    }
}

/// Elementwise operation on two tensors.
#[derive(Clone, Debug)]
pub struct Elementwise {
    /// Scales and zero points of both operands.
    pub operands: [Quantized; 2],
    /// Values of a constant operand; `None` if all values of the type are possible.
    pub constants: [Option<BTreeSet<i32>>; 2],
    /// Scale and zero point of the result.
    pub output: Quantized,
    /// Smallest and largest result.
    pub clamp: (i32, i32),
}

/// Rescaling to another scale and zero point.
#[derive(Clone, Copy, Debug)]
pub struct Rescale {
    /// Tensor that is read.
    pub input: Quantized,
    /// Tensor that is written.
    pub output: Quantized,
}

/// Text of a reason if values are outside the file.
pub const ELSEWHERE: &str = "in another file";

/// Reason for an operator that only moves values, which no runtime changes.
pub const MOVES: &str = "moves or selects stored values, and computes none";

/// Operators of both formats that move or select stored values.
#[rustfmt::skip]
const MOVING: &[&str] = &[
    "ASSIGN_VARIABLE", "BATCH_TO_SPACE_ND", "BROADCAST_TO", "CALL_ONCE", "DEPTH_TO_SPACE", "EXPAND_DIMS", "GATHER",
    "GATHER_ND", "MAX_POOL_2D", "MAXIMUM", "MINIMUM", "MIRROR_PAD", "PACK", "PAD", "PADV2", "READ_VARIABLE", "RESHAPE",
    "REVERSE_V2", "SHAPE", "SLICE", "SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQUEEZE", "STRIDED_SLICE",
    "TILE", "TRANSPOSE", "UNPACK", "VAR_HANDLE", "Constant", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity",
    "MaxPool", "Pad", "Reshape", "Shape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
];

/// Returns the reason why an operator without an [`Arithmetic`] is not audited.
pub(super) fn reason(op: &str) -> String {
    match op {
        _ if MOVING.contains(&op) => MOVES.to_owned(),
        "CONCATENATION" | "Concat" | "QLinearConcat" => {
            "moves stored values; what runtimes do where the scales differ is not defined here".to_owned()
        }
        "DEQUANTIZE" | "DequantizeLinear" | "QuantizeLinear" => {
            "converts from or to floats, which `check-type` and `verify` look at".to_owned()
        }
        _ => "its arithmetic is not among the schemes of this audit".to_owned(),
    }
}
