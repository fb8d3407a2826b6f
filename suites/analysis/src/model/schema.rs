//! The fields and values that are read, with their numbers: tensorflow/tensorflow `tensorflow/compiler/mlir/lite/schema/schema.fbs`.
//!
//! A field's number is its place in its table, counted from 0; a union counts twice, its type first.

/// `table Model`.
pub(super) mod model {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const OPERATOR_CODES: Field = (1, "operator_codes");
    pub(in crate::model) const SUBGRAPHS: Field = (2, "subgraphs");
}

/// `table OperatorCode`. The code is the larger of both: the first is a byte, which newer codes outgrew
/// (`tensorflow/compiler/mlir/lite/schema/schema_utils.cc`, `GetBuiltinCode`).
pub(super) mod code {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const DEPRECATED: Field = (0, "deprecated_builtin_code");
    pub(in crate::model) const BUILTIN: Field = (3, "builtin_code");
}

/// `table SubGraph`.
pub(super) mod graph {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const TENSORS: Field = (0, "tensors");
    pub(in crate::model) const OPERATORS: Field = (3, "operators");
}

/// `table Operator`.
pub(super) mod operator {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const CODE: Field = (0, "opcode_index");
    pub(in crate::model) const INPUTS: Field = (1, "inputs");
    pub(in crate::model) const OUTPUTS: Field = (2, "outputs");
    pub(in crate::model) const OPTIONS_TYPE: Field = (3, "builtin_options_type");
    pub(in crate::model) const OPTIONS: Field = (4, "builtin_options");
}

/// `table Tensor` and its `table QuantizationParameters`.
pub(super) mod tensor {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const SHAPE: Field = (0, "shape");
    pub(in crate::model) const TYPE: Field = (1, "type");
    pub(in crate::model) const NAME: Field = (3, "name");
    pub(in crate::model) const QUANTIZATION: Field = (4, "quantization");
    pub(in crate::model) const ZERO_POINT: Field = (3, "zero_point");
}

/// `table Conv2DOptions` and `table DepthwiseConv2DOptions`; in the latter `depth_multiplier` precedes what follows the strides.
pub(super) mod convolution {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const PADDING: Field = (0, "padding");
    pub(in crate::model) const STRIDE_W: Field = (1, "stride_w");
    pub(in crate::model) const STRIDE_H: Field = (2, "stride_h");
    pub(in crate::model) const DILATION_W: Field = (4, "dilation_w_factor");
    pub(in crate::model) const DILATION_H: Field = (5, "dilation_h_factor");
    pub(in crate::model) const DEPTHWISE_DILATION_W: Field = (5, "dilation_w_factor");
    pub(in crate::model) const DEPTHWISE_DILATION_H: Field = (6, "dilation_h_factor");
}

/// `table FullyConnectedOptions`.
pub(super) mod fully_connected {
    use crate::model::flatbuffer::Field;
    pub(in crate::model) const WEIGHTS_FORMAT: Field = (1, "weights_format");
}
