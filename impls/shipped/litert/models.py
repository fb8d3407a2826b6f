"""LiteRT models of one operator."""

import dataclasses

import flatbuffers
import numpy as np

try:
    from ai_edge_litert import schema_py_generated as schema
except ImportError:
    from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema


@dataclasses.dataclass
class Tensor:
    """A tensor. With `data` it is a constant; without, it is an input or an output of the model."""

    shape: list
    kind: int
    scales: object
    zero_points: list
    axis: int = 0
    data: np.ndarray | None = None

    def packed(self, buffer):
        tensor, quantization = schema.TensorT(), schema.QuantizationParametersT()
        tensor.shape, tensor.type, tensor.buffer = self.shape, self.kind, buffer
        if len(self.scales):
            quantization.scale, quantization.zeroPoint = [float(scale) for scale in self.scales], self.zero_points
            quantization.quantizedDimension = self.axis
            tensor.quantization = quantization
        return tensor


def options(operator):
    """Returns the options of an operator that has options."""
    if operator == "QUANTIZE":
        return schema.QuantizeOptionsT()
    if operator == "DEQUANTIZE":
        return schema.DequantizeOptionsT()
    given = {
        "ADD": schema.AddOptionsT,
        "MUL": schema.MulOptionsT,
        "CONV_2D": schema.Conv2DOptionsT,
        "DEPTHWISE_CONV_2D": schema.DepthwiseConv2DOptionsT,
        "FULLY_CONNECTED": schema.FullyConnectedOptionsT,
        "LOG_SOFTMAX": schema.LogSoftmaxOptionsT,
        "L2_NORMALIZATION": schema.L2NormOptionsT,
        "SPLIT": schema.SplitOptionsT,
        "ARG_MIN": schema.ArgMinOptionsT,
    }[operator]()
    if operator == "SPLIT":
        given.numSplits = 2
    if operator == "ARG_MIN":
        given.outputType = schema.TensorType.INT32
    if "CONV_2D" in operator:
        given.padding, given.strideH, given.strideW = schema.Padding.VALID, 1, 1
    if operator == "DEPTHWISE_CONV_2D":
        given.depthMultiplier = 1
    return given


def model(operator, tensors, version, outputs=1):
    """Returns the bytes of a model of one operator. The tensors are the inputs in their order, then the outputs."""
    graph, node, code = schema.SubGraphT(), schema.OperatorT(), schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, operator)
    code.version = version
    last = len(tensors) - outputs
    made = list(range(last, len(tensors)))
    node.inputs, node.outputs, node.builtinOptions = list(range(last)), made, options(operator)
    node.builtinOptionsType = getattr(schema.BuiltinOptions, type(node.builtinOptions).__name__[:-1])
    graph.inputs = [index for index in range(last) if tensors[index].data is None]
    graph.outputs, graph.operators = made, [node]
    buffers = [schema.BufferT()]
    graph.tensors = []
    for tensor in tensors:
        index = 0
        if tensor.data is not None:
            index = len(buffers)
            buffers.append(schema.BufferT())
            buffers[index].data = np.frombuffer(tensor.data.tobytes(), np.uint8)
        graph.tensors.append(tensor.packed(index))
    whole = schema.ModelT()
    whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, [code], [graph], buffers
    builder = flatbuffers.Builder(0)
    builder.Finish(whole.Pack(builder), b"TFL3")
    return bytes(builder.Output())
