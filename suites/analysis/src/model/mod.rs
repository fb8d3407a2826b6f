//! Models: the convolutions and fully connected layers of a TFLite model as shapes that kernels take, and the operators of a TFLite or
//! ONNX model with everything that an audit needs.
//!
//! Written for files that nobody has checked: whatever the bytes, the answer is layers or a [`Fault`], in memory that the
//! limits below bound.

mod names;
pub mod network;
pub mod onnx;
pub mod operators;
#[cfg(test)]
pub(crate) mod tests;
mod tflite;
pub mod tosa;

use std::path::{Path, PathBuf};
use thiserror::Error;
use tiebreak_impls::conv2d::Params;
use tiebreak_impls::element::Element;
use tiebreak_reports::read::{self, Unreadable};

/// Most subgraphs and operators of a model, together.
pub const MAX_OPERATORS: usize = 1 << 16;

/// Most layers that are given.
pub const MAX_LAYERS: usize = 1 << 12;

/// Most channels of a layer.
pub const MAX_CHANNELS: usize = 1 << 16;

pub use operators::Quantized;

/// The operator of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `CONV_2D`, grouped where the filter has fewer channels than the input.
    Conv2d,
    /// `DEPTHWISE_CONV_2D`.
    DepthwiseConv2d,
    /// `FULLY_CONNECTED`: a convolution by a filter of one element over an image of one row, whose columns are the rows of
    /// the matrix.
    FullyConnected,
    /// `TRANSPOSE_CONV`, in networks alone.
    TransposeConv,
}

/// One layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The name of its output, cut to 256 bytes; its place in the file where that has none.
    pub name: String,
    /// Its operator.
    pub op: Op,
    /// Type of the input.
    pub input: Element,
    /// Type of the weights.
    pub weights: Element,
    /// Shape and zero points. Its output exists and is the one that the model states; it may be larger than
    /// [`tiebreak_impls::shape::MAX_ELEMENTS`], which [`Params::sizes`] checks.
    pub params: Params,
}

impl Layer {
    /// The parameters of the same layer on int8 operands: the zero points of unsigned bytes lie 128 lower, as the bytes do,
    /// which changes no product.
    pub fn on_int8(&self) -> Params {
        let moved = |point: i32, element: Element| if element == Element::U8 { point - 128 } else { point };
        Params {
            input_zero_point: moved(self.params.input_zero_point, self.input),
            weight_zero_point: moved(self.params.weight_zero_point, self.weights),
            ..self.params
        }
    }
}

/// A model that cannot be used.
#[derive(Debug, Error)]
pub enum BadModel {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The file is not a model, or has a layer that no kernel accepts.
    #[error("{}: {fault}", path.display())]
    Fault {
        /// The file.
        path: PathBuf,
        /// Error of the reader.
        fault: Fault,
    },
}

/// Error of a model, with its place and a remedy.
#[derive(Debug, Error)]
pub enum Fault {
    /// It is something else.
    #[error("is no TFLite model: bytes 4 to 7 are not `TFL3`; give a .tflite file")]
    NotTflite,
    /// It is neither.
    #[error(
        "is no model: it is no TFLite model, as bytes 4 to 7 are not `TFL3`, and no ONNX model, as it has no graph or no ir_version; give a .tflite or .onnx file"
    )]
    NoModel,
    /// The file contradicts itself or leads beyond its end.
    #[error("{place}, at byte {offset}: {problem}; the file is damaged or cut off, get or convert it again")]
    Malformed {
        /// Table and field, such as `Model.subgraphs[0].operators[3].inputs`.
        place: String,
        /// Byte of the file.
        offset: usize,
        /// What is there.
        problem: String,
    },
    /// A sound file whose layer has no shape, zero point or type that a kernel takes.
    #[error("{place}: {problem}")]
    Unsupported {
        /// Table and field.
        place: String,
        /// What is there, and what to do.
        problem: String,
    },
}

impl Fault {
    fn malformed(place: &str, offset: usize, problem: impl Into<String>) -> Self {
        Self::Malformed { place: place.to_owned(), offset, problem: problem.into() }
    }
}

/// The layers of the file at `path`, in the file's order, those of every subgraph.
pub fn read(path: &Path) -> Result<Vec<Layer>, BadModel> {
    let bytes = load(path)?;
    parse(&bytes).map_err(|fault| BadModel::Fault { path: path.to_owned(), fault })
}

/// [`read`] of bytes that are already at hand. A layer that no kernel takes is an error.
pub fn parse(bytes: &[u8]) -> Result<Vec<Layer>, Fault> {
    let refused = |LeftOut { place, problem }| Fault::Unsupported { place, problem };
    layers(bytes)?.into_iter().map(|layer| layer.map_err(refused)).collect()
}

/// A layer that no kernel takes: one in floats, or one without a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Table and field.
    pub place: String,
    /// What is there, and what to do.
    pub problem: String,
}

/// Every layer of a file, in its order, and instead of one that no kernel takes the reason.
pub fn layers(bytes: &[u8]) -> Result<Vec<Result<Layer, LeftOut>>, Fault> {
    if !is_tflite(bytes) {
        return Err(Fault::NotTflite);
    }
    tflite::layers::layers(bytes)
}

/// The bytes of the model at `path`.
pub fn load(path: &Path) -> Result<Vec<u8>, Unreadable> {
    read::bytes(path, read::MODEL)
}

/// True if the file begins like a TFLite model.
pub fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Gives each operator of a model to `visit`, in the file's order, and returns the format of the model.
pub fn operators(
    bytes: &[u8],
    visit: &mut dyn FnMut(operators::Operator<'_>) -> Result<(), Fault>,
) -> Result<&'static str, Fault> {
    if is_tflite(bytes) {
        tflite::operators::operators(bytes, visit)?;
        return Ok("tflite");
    }
    onnx::operators(bytes, visit)?;
    Ok("onnx")
}
