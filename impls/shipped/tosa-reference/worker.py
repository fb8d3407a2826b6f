"""TOSA's reference model (tosa-tools of Arm, PyPI) as a lane: RESCALE, MATMUL, CONV2D, AVG_POOL2D and MAX_POOL2D.

Each call is a graph of one or two operators, serialized once for each shape; tensors, multipliers, shifts and zero points are inputs of the run.
"""

import functools
import importlib.metadata
import pathlib
import sys

import numpy as np
import tosa_reference_model
import tosa_serializer as tosa
from tosa_serializer import DType, Op, RoundingMode

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from worker import Kernel, OutsideDomain, serve  # noqa: E402

NAME = "shipped-tosa-reference-"
STORED = {"i8": (DType.INT8, np.int8), "i16": (DType.INT16, np.int16), "i32": (DType.INT32, np.int32)}
ROUNDINGS = {"single": RoundingMode.SINGLE_ROUND, "double": RoundingMode.DOUBLE_ROUND}


def attribute(kind, *values):
    made = tosa.TosaSerializerAttribute()
    getattr(made, kind + "Attribute")(*values)
    return made


class Graph:
    """Operators in order; the last operator gives the result."""

    def __init__(self):
        self.serializer = tosa.TosaSerializer()

    def input(self, shape, dtype):
        return self.serializer.addPlaceholder(shape, dtype).name

    def between(self, shape, dtype):
        return self.serializer.addIntermediate(shape, dtype).name

    def add(self, op, inputs, out, made):
        self.serializer.addOperator(op, inputs, [out], made)

    def ends(self, op, inputs, shape, dtype, made):
        self.add(op, inputs, self.serializer.addOutput(shape, dtype).name, made)
        return self.serializer.serialize()


def run(graph, *inputs):
    outputs, status = tosa_reference_model.run(graph, [np.ascontiguousarray(one) for one in inputs])
    if status == tosa_reference_model.GraphStatus.TOSA_UNPREDICTABLE:
        raise OutsideDomain("unpredictable by the specification")
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise ValueError(f"the graph is {status}")
    return outputs[0]


@functools.lru_cache(maxsize=None)
def rescale_graph(rows, channels, output, rounding, with_bias):
    graph, dtype = Graph(), STORED[output][0]
    shape, each = (rows, channels), (channels,)
    x = graph.input(shape, DType.INT32)
    if with_bias:
        total = graph.between(shape, DType.INT32)
        graph.add(Op.ADD, [x, graph.input((1, channels), DType.INT32)], total, attribute("Add"))
        x = total
    scales = [graph.input(each, DType.INT32), graph.input(each, DType.INT8)]
    zero_points = [graph.input((1,), DType.INT32), graph.input((1,), dtype)]
    made = attribute("Rescale", True, ROUNDINGS[rounding], True, False, False)
    return graph.ends(Op.RESCALE, [x, *scales, *zero_points], shape, dtype, made)


def rescaled(params, inputs, output, rounding, zero_point, bias=None):
    """RESCALE of whole rows of channels, after ADD if there is a bias. The last row is filled with zeros, whose results are discarded."""
    channels = params["channels"]
    multipliers = np.array([one["multiplier"] for one in channels], np.int32)
    # TOSA's shift is 31 for no shift, and larger for right shifts.
    shifts = np.array([31 - one["shift"] for one in channels], np.int8)
    rows = max(1, -(-len(inputs) // len(channels)))
    x = np.zeros(rows * len(channels), np.int32)
    x[: len(inputs)] = inputs
    graph = rescale_graph(rows, len(channels), output, rounding, bias is not None)
    added = [] if bias is None else [np.resize(np.array(bias, np.int32), (1, len(channels)))]
    zero_points = np.zeros(1, np.int32), np.array([zero_point], STORED[output][1])
    return run(graph, x.reshape(rows, -1), *added, multipliers, shifts, *zero_points).reshape(-1)[: len(inputs)]


def scaled(rounding):
    """Multiplication by a multiplier and a shift: RESCALE from int32 to int32."""
    return lambda params, inputs: rescaled(params, inputs, "i32", rounding, 0)


def requantized(output, rounding):
    limits = np.iinfo(STORED[output][1])

    def call(params, inputs):
        if (params["min"], params["max"]) != (limits.min, limits.max):
            raise OutsideDomain("RESCALE clamps to the ends of its type")
        if output == "i16" and params["zero_point"] != 0:
            raise OutsideDomain("zero points of int16 are 0")
        return rescaled(params, inputs, output, rounding, params["zero_point"], params["bias"])

    return call


def zero_point(value):
    if not -128 <= value <= 127:
        raise OutsideDomain(f"a zero point of {value} is no int8")
    return np.array([value], np.int8)


@functools.lru_cache(maxsize=None)
def matmul_graph(m, n, k):
    graph = Graph()
    operands = [graph.input(shape, DType.INT8) for shape in ((1, m, k), (1, k, n), (1,), (1,))]
    return graph.ends(Op.MATMUL, operands, (1, m, n), DType.INT32, attribute("MatMul"))


def product(params, inputs):
    m, n, k = (params[name] for name in "mnk")
    lhs, rhs = inputs[: m * k].astype(np.int8), inputs[m * k :].astype(np.int8)
    points = zero_point(-params["lhs_offset"]), zero_point(-params["rhs_offset"])
    return run(matmul_graph(m, n, k), lhs.reshape(1, m, k), rhs.reshape(1, k, n), *points)


def outputs(params, size, kernel, stride, dilation, before, after):
    """Returns the number of results along one axis, and the remainder to cut off: TOSA requires the last window to end with the padded image."""
    extent = (params[kernel] - 1) * dilation + 1
    rest = (params[size] + params[before] + params[after] - extent) % params[stride]
    return (params[size] + params[before] + params[after] - extent) // params[stride] + 1, rest


def cut(params, image, dilations=(1, 1)):
    """Returns the image without the rows and columns that no window reaches, its padding, and the size of the result."""
    rows, below = outputs(params, "height", "kernel_h", "stride_h", dilations[0], "top", "bottom")
    columns, right = outputs(params, "width", "kernel_w", "stride_w", dilations[1], "left", "right")
    bottom, right_pad = params["bottom"] - below, params["right"] - right
    image = image[:, : image.shape[1] + min(bottom, 0), : image.shape[2] + min(right_pad, 0)]
    if 0 in image.shape:
        raise OutsideDomain("no window reaches the image")
    return image, (params["top"], max(bottom, 0), params["left"], max(right_pad, 0)), (rows, columns)


@functools.lru_cache(maxsize=None)
def conv2d_graph(image, weights, result, pad, stride, dilation):
    graph = Graph()
    operands = [graph.input(shape, DType.INT8) for shape in (image, weights)]
    operands += [graph.input((1,), DType.INT32), graph.input((1,), DType.INT8), graph.input((1,), DType.INT8)]
    made = attribute("Conv2d", pad, stride, dilation, False, DType.INT32)
    return graph.ends(Op.CONV2D, operands, result, DType.INT32, made)


def convolution(params, inputs):
    if params["groups"] != 1:
        raise OutsideDomain("CONV2D has one group")
    image = tuple(params[name] for name in ("batches", "height", "width", "channels"))
    of = (params["kernel_h"], params["kernel_w"], params["channels"], params["out_channels"])
    count = int(np.prod(image))
    x = inputs[:count].astype(np.int8).reshape(image)
    w = np.ascontiguousarray(inputs[count:].astype(np.int8).reshape(of).transpose(3, 0, 1, 2))
    dilation = params["dilation_h"], params["dilation_w"]
    x, pad, size = cut(params, x, dilation)
    result = (image[0], *size, of[3])
    graph = conv2d_graph(x.shape, w.shape, result, pad, (params["stride_h"], params["stride_w"]), dilation)
    points = zero_point(params["input_zero_point"]), zero_point(params["weight_zero_point"])
    return run(graph, x, w, np.zeros(1, np.int32), *points)


@functools.lru_cache(maxsize=None)
def pool_graph(op, element, image, result, kernel, pad, stride):
    graph, dtype = Graph(), STORED[element][0]
    x = graph.input(image, dtype)
    if op == "average":
        made = attribute("AvgPool2d", kernel, stride, pad, DType.INT32)
        points = [graph.input((1,), dtype), graph.input((1,), dtype)]
        return graph.ends(Op.AVG_POOL2D, [x, *points], result, dtype, made)
    made = attribute("MaxPool2d", kernel, stride, pad, tosa.NanPropagationMode.PROPAGATE)
    return graph.ends(Op.MAX_POOL2D, [x], result, dtype, made)


def pool(op, element):
    kind = STORED[element][1]

    def call(params, inputs):
        limits = np.iinfo(kind)
        if (params["min"], params["max"]) != (limits.min, limits.max):
            raise OutsideDomain("a pool of TOSA has no clamp")
        image = tuple(params[name] for name in ("batches", "height", "width", "channels"))
        if op == "average" and element == "i16" and (params["input"]["zero_point"], params["out"]["zero_point"]) != (0, 0):
            raise OutsideDomain("zero points of int16 are 0")
        x, pad, size = cut(params, inputs.astype(kind).reshape(image))
        result = (image[0], *size, image[3])
        graph = pool_graph(
            op, element, x.shape, result, (params["kernel_h"], params["kernel_w"]), pad, (params["stride_h"], params["stride_w"])
        )
        points = [np.array([params[side]["zero_point"]], kind) for side in ("input", "out")] if op == "average" else []
        return run(graph, x, *points)

    return call


def kernels():
    for rounding in ROUNDINGS:
        like = f"tosa-apply-scale-32-{rounding}"
        yield Kernel("fpm", f"{NAME}rescale-{rounding}", like, scaled(rounding), domain={"q": 31})
    # A graph with RESCALE of int32 to unsigned values is not valid.
    for rounding, output, like in (
        ("single", "i8", "tosa-rescale-single-i8"),
        ("single", "i16", "tosa-rescale-single-i16"),
        ("double", "i8", "tosa-rescale-i8"),
    ):
        yield Kernel("requantize", f"{NAME}rescale-{rounding}-{output}", like, requantized(output, rounding))
    yield Kernel("matmul", NAME + "matmul", "arm-sadalp", product)
    yield Kernel("conv2d", NAME + "conv2d", "tflite-reference", convolution)
    for element in ("i8", "i16"):
        yield Kernel("pool", f"{NAME}avg-pool2d-{element}", f"tosa-avg-pool2d-{element}", pool("average", element))
    yield Kernel("pool", NAME + "max-pool2d-i8", "onnx-maxpool-i8", pool("maximum", "i8"))


serve(f"tosa-tools {importlib.metadata.version('tosa-tools')}", list(kernels()))
