//! Models: convolutions and fully connected layers of TFLite models as shapes for kernels, and operators of TFLite or ONNX models with
//! everything that an audit needs.
//!
//! The readers accept untrusted files: for any bytes, they return layers or a [`Fault`], in memory bounded by the limits below.

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

/// Upper bound on subgraphs and operators of a model, together.
pub const MAX_OPERATORS: usize = 1 << 16;

/// Upper bound on layers of a model.
pub const MAX_LAYERS: usize = 1 << 12;

/// Upper bound on channels of a layer.
pub const MAX_CHANNELS: usize = 1 << 16;

pub use operators::Quantized;

/// Operator of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `CONV_2D`, grouped if the filter has fewer channels than the input.
    Conv2d,
    /// `DEPTHWISE_CONV_2D`.
    DepthwiseConv2d,
    /// `FULLY_CONNECTED`: convolution by a filter of one element over an image of one row. The columns of the image are the rows of the matrix.
    FullyConnected,
    /// `TRANSPOSE_CONV`, only in networks.
    TransposeConv,
}

/// Layer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Name of the output, cut to 256 bytes; for a nameless output, its place in the file.
    pub name: String,
    /// Operator of the layer.
    pub op: Op,
    /// Type of the input.
    pub input: Element,
    /// Type of the weights.
    pub weights: Element,
    /// Shape and zero points. The output is not empty and has the shape in the model. It may exceed [`tiebreak_impls::shape::MAX_ELEMENTS`],
    /// which [`Params::sizes`] checks.
    pub params: Params,
}

impl Layer {
    /// Returns the parameters of the same layer on int8 operands. For unsigned bytes, bytes and zero points are 128 lower, which changes no product.
    pub fn on_int8(&self) -> Params {
        let moved = |point: i32, element: Element| if element == Element::U8 { point - 128 } else { point };
        Params {
            input_zero_point: moved(self.params.input_zero_point, self.input),
            weight_zero_point: moved(self.params.weight_zero_point, self.weights),
            ..self.params
        }
    }
}

/// Error of a model file.
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
    /// The file is not a TFLite model.
    #[error("is no TFLite model: bytes 4 to 7 are not `TFL3`; give a .tflite file")]
    NotTflite,
    /// The file is neither a TFLite nor an ONNX model.
    #[error(
        "is no model: it is no TFLite model, as bytes 4 to 7 are not `TFL3`, and no ONNX model, as it has no graph or no ir_version; give a .tflite or .onnx file"
    )]
    NoModel,
    /// The file contradicts itself or refers beyond its end.
    #[error("{place}, at byte {offset}: {problem}; the file is damaged or cut off, get or convert it again")]
    Malformed {
        /// Table and field, such as `Model.subgraphs[0].operators[3].inputs`.
        place: String,
        /// Byte offset in the file.
        offset: usize,
        /// Description of the contradiction.
        problem: String,
    },
    /// The file is valid, but a layer has no shape, zero point or type that a kernel accepts.
    #[error("{place}: {problem}")]
    Unsupported {
        /// Table and field.
        place: String,
        /// Description of the problem, and a remedy.
        problem: String,
    },
}

impl Fault {
    fn malformed(place: &str, offset: usize, problem: impl Into<String>) -> Self {
        Self::Malformed { place: place.to_owned(), offset, problem: problem.into() }
    }
}

/// Reads the layers of all subgraphs of the file at `path`, in the file's order.
pub fn read(path: &Path) -> Result<Vec<Layer>, BadModel> {
    let bytes = load(path)?;
    parse(&bytes).map_err(|fault| BadModel::Fault { path: path.to_owned(), fault })
}

/// Version of [`read`] for bytes in memory. A layer that no kernel accepts is an error.
pub fn parse(bytes: &[u8]) -> Result<Vec<Layer>, Fault> {
    let refused = |LeftOut { place, problem }| Fault::Unsupported { place, problem };
    layers(bytes)?.into_iter().map(|layer| layer.map_err(refused)).collect()
}

/// Layer that no kernel accepts: a float layer, or a layer without a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Table and field.
    pub place: String,
    /// Description of the problem, and a remedy.
    pub problem: String,
}

/// Returns every layer of a file in order, or the reason if no kernel accepts it.
pub fn layers(bytes: &[u8]) -> Result<Vec<Result<Layer, LeftOut>>, Fault> {
    if !is_tflite(bytes) {
        return Err(Fault::NotTflite);
    }
    tflite::layers::layers(bytes)
}

/// Reads the bytes of the model at `path`.
pub fn load(path: &Path) -> Result<Vec<u8>, Unreadable> {
    read::bytes(path, read::MODEL)
}

/// True if the file begins like a TFLite model.
pub fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Passes each operator of a model to `visit`, in the file's order, and returns the format of the model.
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
