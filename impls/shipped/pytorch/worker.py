"""PyTorch's quantized operators as a lane. Debian builds PyTorch without FBGEMM: PyTorch's own loops run, or QNNPACK's for kernels with that name."""

import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from worker import Kernel, OutsideDomain, serve  # noqa: E402

NAME = "shipped-pytorch-"
TYPES = {"i8": (torch.qint8, torch.int8), "u8": (torch.quint8, torch.uint8), "i32": (torch.qint32, torch.int32)}


def storage(quantized):
    """Returns the type of stored values. In PyTorch, the bounds are those of the type."""
    bits, signed = quantized["storage"]["bits"], quantized["storage"]["signed"]
    kind = ("i" if signed else "u") + str(bits)
    if kind not in TYPES or quantized["expressed"] != "f32":
        raise OutsideDomain(f"no quantized tensor of f32 and {kind}")
    return kind


def single(scale):
    """Rounds a scale to a float, and returns it as a double, as PyTorch expects."""
    return float(np.float32(scale))


def channels(quantized):
    """Returns scales, zero points and the axis; None for one scale per tensor."""
    granularity = quantized["granularity"]
    if granularity == "layer":
        return None
    if "channel" not in granularity:
        raise OutsideDomain("PyTorch has no blocks")
    of = torch.tensor(quantized["scales"], dtype=torch.float32).to(torch.float64)
    return of, torch.tensor(quantized["zero_points"], dtype=torch.int64), granularity["channel"]["axis"]


def quantize(params, inputs):
    quantized = params["quantized"]
    kind = TYPES[storage(quantized)][0]
    x = torch.from_numpy(inputs.view(np.float32).reshape(params["shape"]).copy())
    given = channels(quantized)
    if given is None:
        return torch.quantize_per_tensor(x, single(quantized["scales"][0]), quantized["zero_points"][0], kind).int_repr()
    return torch.quantize_per_channel(x, *given, kind).int_repr()


def dequantize(params, inputs):
    quantized = params["quantized"]
    q = torch.from_numpy(inputs.reshape(params["shape"]).copy()).to(TYPES[storage(quantized)][1])
    given = channels(quantized)
    if given is None:
        made = torch._make_per_tensor_quantized_tensor(q, single(quantized["scales"][0]), quantized["zero_points"][0])
    else:
        made = torch._make_per_channel_quantized_tensor(q, *given)
    return made.dequantize().numpy().view(np.int32)


def tensor(values, element, operand):
    stored = torch.from_numpy(np.ascontiguousarray(values)).to(TYPES[element][1])
    return torch._make_per_tensor_quantized_tensor(stored, single(operand["scale"]), operand["zero_point"])


def elementwise(op):
    def run(params, inputs):
        lhs, rhs = inputs.reshape(2, -1)
        left = tensor(lhs, params["element"], params["lhs"])
        right = tensor(rhs, params["element"], params["rhs"])
        try:
            return op(left, right, single(params["out"]["scale"]), params["out"]["zero_point"]).int_repr()
        except RuntimeError as refused:
            if "xnn create operator failed" in str(refused):
                raise OutsideDomain(str(refused)) from refused
            raise

    return run


def windows(params):
    """Returns window, stride and padding. PyTorch pads both sides equally, by at most half a window, and keeps the scale."""
    if params["input"] != params["out"]:
        raise OutsideDomain("the output has the scale and the zero point of the input")
    window = params["kernel_h"], params["kernel_w"]
    pad = params["top"], params["left"]
    if pad != (params["bottom"], params["right"]) or any(2 * side > size for side, size in zip(pad, window)):
        raise OutsideDomain("padding is the same before and after, and at most half a window")
    limits = torch.iinfo(TYPES[params["element"]][1])
    if (params["min"], params["max"]) != (limits.min, limits.max):
        raise OutsideDomain("a pooling of PyTorch has no clamp")
    return window, (params["stride_h"], params["stride_w"]), pad


def pooled(params, inputs, memory_format, op):
    shape = [params[name] for name in ("batches", "height", "width", "channels")]
    x = inputs.reshape(shape).transpose(0, 3, 1, 2)
    image = tensor(x, params["element"], params["input"]).contiguous(memory_format=memory_format)
    if memory_format == torch.contiguous_format and image.is_contiguous(memory_format=torch.channels_last):
        raise OutsideDomain("a tensor in both layouts goes the way of channels_last")
    return op(image).int_repr().permute(0, 2, 3, 1).contiguous()


def average(memory_format, engine="onednn"):
    def run(params, inputs):
        window, stride, pad = windows(params)

        def op(image):
            torch.backends.quantized.engine = engine
            try:
                return torch.nn.functional.avg_pool2d(image, window, stride, pad, False, params["count_padding"])
            finally:
                torch.backends.quantized.engine = "onednn"

        return pooled(params, inputs, memory_format, op)

    return run


def largest(memory_format):
    def run(params, inputs):
        window, stride, pad = windows(params)
        op = lambda image: torch.quantized_max_pool2d(image, window, stride, pad)  # noqa: E731
        return pooled(params, inputs, memory_format, op)

    return run


def kernels():
    yield Kernel("quantize", NAME + "quantize", "pytorch-quantize", quantize)
    yield Kernel("dequantize", NAME + "dequantize", "pytorch-dequantize", dequantize)
    layouts = ("nchw", torch.contiguous_format), ("nhwc", torch.channels_last)
    for element in ("i8", "u8"):
        for name, op in (("add", torch.ops.quantized.add), ("mul", torch.ops.quantized.mul)):
            # XNNPACK computes products of qint8.
            scheme = "xnnpack-fp32" if (name, element) == ("mul", "i8") else None
            yield Kernel(name, f"{NAME}{name}-{element}", f"pytorch-q{name}-{element}", elementwise(op), scheme=scheme)
        for layout, memory_format in layouts:
            like = f"pytorch-qavg-pool2d-{element}"
            # In this layout, the zero point is added to the rounded average.
            scheme = "nearest-even" if layout == "nhwc" else None
            yield Kernel("pool", f"{NAME}avg-pool2d-{layout}-{element}", like, average(memory_format), scheme=scheme)
            maximum = f"{NAME}max-pool2d-{layout}-{element}"
            yield Kernel("pool", maximum, f"tflite-max-pool-{element}", largest(memory_format))
    yield Kernel("pool", NAME + "qnnpack-avg-pool2d-u8", "qnnpack-q8avgpool", average(torch.channels_last, "qnnpack"), "xnnpack-fp32")


torch.set_num_threads(1)
torch.backends.quantized.engine = "onednn"
serve(f"pytorch {torch.__version__}", list(kernels()))
