"""Calls of the operators of LiteRT and of its kernels for microcontrollers; `run` takes a model and its inputs.

Accumulators are passed as biases of a convolution or a fully connected layer with zero weights, one output channel for each.
"""

import pathlib
import sys

import numpy as np
from models import Tensor, model, schema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scales import channels_of, powers, two_scales  # noqa: E402
from worker import Kernel, OutsideDomain  # noqa: E402

TYPES = {
    "f32": (schema.TensorType.FLOAT32, np.float32),
    "i8": (schema.TensorType.INT8, np.int8),
    "u8": (schema.TensorType.UINT8, np.uint8),
    "i16": (schema.TensorType.INT16, np.int16),
    "i32": (schema.TensorType.INT32, np.int32),
}

def layer(run, operator, multipliers, shifts, accumulators, zero_point):
    """One layer whose output channels have these multipliers, shifts and accumulators."""
    count = len(accumulators)
    if len(set(multipliers)) == 1:
        input_scale, weight = two_scales(multipliers[0], np.multiply)
        weights = np.full(count, weight)
    elif any(m % 128 for m in multipliers):
        raise OutsideDomain("the scales of several channels are floats of 24 bits")
    else:
        input_scale, weights = np.float32(1), np.array([m * 2.0**-30 for m in multipliers], dtype=np.float32)
    weights = weights * powers(shifts)
    x, w, y, axis = {
        "CONV_2D": ([1, 1, 1, 1], [count, 1, 1, 1], [1, 1, 1, count], 0),
        "DEPTHWISE_CONV_2D": ([1, 1, 1, count], [1, 1, 1, count], [1, 1, 1, count], 3),
        "FULLY_CONNECTED": ([1, 1], [count, 1], [1, count], 0),
    }[operator]
    int8, int32 = TYPES["i8"][0], TYPES["i32"][0]
    tensors = [
        Tensor(x, int8, [input_scale], [0]),
        Tensor(w, int8, weights, [0] * count, axis, np.zeros(w, np.int8)),
        Tensor([count], int32, weights * input_scale, [0] * count, 0, np.array(accumulators, np.int32)),
        Tensor(y, int8, [1.0], [zero_point]),
    ]
    return run(model(operator, tensors, 3), np.zeros(x))


def requantize(run, operator, exact):
    def call(params, inputs):
        multipliers, shifts = channels_of(params, params["len"])
        if exact and any(m % 128 for m in multipliers):
            raise OutsideDomain("this kernel multiplies by a real number, which a multiplier of more than 24 bits is not")
        # Other code derives the scale of a single output channel, so a second channel is added.
        pad = 2 if len(inputs) == 1 else 1
        given = [list(values) * pad for values in (multipliers, shifts, inputs)]
        return layer(run, operator, *given, params["zero_point"])[: len(inputs)]

    return call


def rescale(run, output):
    def call(params, inputs):
        [channel] = params["channels"]
        out_scale, in_scale = two_scales(channel["multiplier"], np.divide)
        in_scale = in_scale * powers([channel["shift"]])[0]
        tensors = [
            Tensor([len(inputs)], TYPES["i32"][0], [in_scale], [0]),
            Tensor([len(inputs)], TYPES[output][0], [out_scale], [params["zero_point"]]),
        ]
        return run(model("QUANTIZE", tensors, 1), inputs)

    return call


def stored(quantized, least_scale):
    """Returns the type, scales and zero points."""
    kind = ("i" if quantized["storage"]["signed"] else "u") + str(quantized["storage"]["bits"])
    if min(quantized["scales"]) < least_scale:
        raise OutsideDomain(f"scales from {least_scale} on")
    return TYPES[kind][0], quantized["scales"], quantized["zero_points"]


def quantize(run, least_scale=0.0):
    def call(params, inputs):
        kind, scale, zero_point = stored(params["quantized"], least_scale)
        shape = [len(inputs)]
        tensors = [Tensor(shape, TYPES["f32"][0], [], []), Tensor(shape, kind, scale, zero_point)]
        return run(model("QUANTIZE", tensors, 1), inputs.view(np.float32))

    return call


def dequantize(run, least_scale=0.0):
    def call(params, inputs):
        kind, scale, zero_point = stored(params["quantized"], least_scale)
        shape = [len(inputs)]
        tensors = [Tensor(shape, kind, scale, zero_point), Tensor(shape, TYPES["f32"][0], [], [])]
        return run(model("DEQUANTIZE", tensors, 1), inputs).view(np.int32)

    return call


def elementwise(run, operator):
    def call(params, inputs):
        shape, kind = [params["len"]], TYPES[params["element"]][0]
        operands = [params[name] for name in ("lhs", "rhs", "out")]
        tensors = [Tensor(shape, kind, [operand["scale"]], [operand["zero_point"]]) for operand in operands]
        return run(model(operator, tensors, 2), *np.split(inputs, 2))

    return call


MULTIPLIERS = {"output": "i8", "multipliers": [1 << 30, (1 << 31) - 1], "shifts": [-31, 7], "bias": False, "clamp": False}


def layers(run, name, schemes):
    """Layers by operator. Layers that compute with a real number accept multipliers of 24 bits only, which floats can hold."""
    for operator, scheme in schemes.items():
        call = requantize(run, operator, exact=not scheme.endswith(":wrap"))
        of = name + operator.lower().replace("_", "-")
        yield Kernel("requantize", of, "tflite-requantize-i8", call, scheme, MULTIPLIERS)


def rescales(run, name):
    for output in ("i8", "i16"):
        one = MULTIPLIERS | {"output": output, "per_channel": False}
        like = "gemmlowp-scale-fixedpoint-exponent-" + output
        yield Kernel("requantize", f"{name}quantize-i32-{output}", like, rescale(run, output), domain=one)


def conversions(run, name, like="tflite", least_scale=0.0, **domain):
    per_layer = {"finest": ["layer"]}
    of_quantize = per_layer | domain
    bytes_alone = per_layer | {"storage": ["i8", "u8"]}
    yield Kernel("quantize", name + "quantize", like + "-quantize", quantize(run, least_scale), domain=of_quantize)
    yield Kernel("dequantize", name + "dequantize", like + "-dequantize", dequantize(run, least_scale), domain=bytes_alone)


def elementwises(run, name, likes):
    """Sums and products, with the kernels whose contracts they claim."""
    for of, like in likes.items():
        call = elementwise(run, of.split("-")[0].upper())
        yield Kernel(of.split("-")[0], name + of, like, call, domain={"clamp": False})
