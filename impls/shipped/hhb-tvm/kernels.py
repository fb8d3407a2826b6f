"""TVM's kernels as functions from parameters and inputs to results."""

import functools

import numpy as np
from modules import Empty, Module, Network
from scales import channels_of, powers, two_scales
from tvm import relay, te, tir, topi
from tvm import build as build_schedule
from worker import OutsideDomain

# Number of elements of a module that is not compiled for the length of a call: a whole number of vectors of every kind.
CHUNK = 1 << 14
PIECE = 1 << 10


def padded(values, count):
    out = np.zeros(count, values.dtype)
    out[: len(values)] = values
    return out


def bucket(count):
    """Returns the length of the module for `count` elements: a power of two from 64 to `CHUNK`."""
    return min(CHUNK, max(64, 1 << (count - 1).bit_length()))


def in_chunks(call, size, *arrays):
    """Calls with arrays of this size; the last arrays are padded with zeros."""
    results = []
    for start in range(0, len(arrays[0]), size):
        results.append(call(*(padded(one[start : start + size], size) for one in arrays)))
    return np.concatenate(results)[: len(arrays[0])] if results else np.zeros(0, np.int32)


def of_one_channel(params):
    [channel] = params["channels"]
    return channel["multiplier"], channel["shift"]


def relay_fixed_point_multiply(machine, target, longest=None):
    """`relay.fixed_point_multiply`, compiled for each multiplier and shift, which are attributes. With `longest`, compiled for each length up
    to it; otherwise in pieces of `PIECE` elements."""

    @functools.lru_cache(maxsize=None)
    def network(length, multiplier, shift):
        x = relay.var("x", shape=(length,), dtype="int32")
        return Network(machine, target, relay.Function([x], relay.fixed_point_multiply(x, multiplier, shift)))

    def call(params, inputs):
        if longest and len(inputs) > longest:
            raise OutsideDomain(f"a module is compiled for each length, up to {longest}")
        length = max(len(inputs), 1) if longest else PIECE
        return in_chunks(lambda x: network(length, *of_one_channel(params)).run(x=x), length, inputs)

    return call


def variable_fixed_point_multiply(machine, target):
    """`q_multiply_shift` with multiplier and shift as variables, in whole vectors: one module for all multipliers and shifts."""

    @functools.lru_cache(maxsize=None)
    def module(length):
        multiplier, shift = te.var("multiplier"), te.var("shift")
        x = te.placeholder((length,), "int32", "x")
        fraction = tir.const(31, "int32")
        with target:
            y = te.compute((length,), lambda i: tir.q_multiply_shift(x[i], multiplier, fraction, shift))
            schedule = topi.arm_cpu.schedule_injective([y])
            built = build_schedule(schedule, [x, multiplier, shift, y], target=target, name="multiply")
        return Module(machine, built)

    def call(params, inputs):
        length = bucket(len(inputs))
        multiplier, shift = of_one_channel(params)
        return in_chunks(lambda x: module(length).call("multiply", x, multiplier, shift, Empty([length], "int32"))[0], length, inputs)

    return call


def per_axis_fixed_point_multiply(machine, target):
    """`relay.fixed_point_multiply_per_axis`, whose multipliers and shifts are tensors."""

    @functools.lru_cache(maxsize=None)
    def network(length):
        tensors = [relay.var(name, shape=(length,), dtype="int32") for name in ("x", "multiplier", "left", "right")]
        # The two flags enable the left and the right shift; the only axis is the axis of the channels.
        function = relay.op._make.fixed_point_multiply_per_axis(*tensors, True, True, [0])
        return Network(machine, target, relay.Function(tensors, function))

    def call(params, inputs):
        length = bucket(len(inputs))
        multipliers, shifts = (np.array(values, np.int32) for values in channels_of(params, len(inputs)))
        run = lambda x, m, left, right: network(length).run(x=x, multiplier=m, left=left, right=right)  # noqa: E731
        return in_chunks(run, length, inputs, multipliers, np.maximum(shifts, 0), np.maximum(-shifts, 0))

    return call


def scales_of(params, count):
    """Returns the output scale, and the input scale of each channel, whose quotients in double give the multipliers and shifts."""
    multipliers, shifts = channels_of(params, count)
    if len(set(multipliers)) == 1:
        out_scale, in_scale = two_scales(multipliers[0], np.divide)
        return out_scale, in_scale * powers(shifts)
    if any(m % 128 for m in multipliers):
        raise OutsideDomain("the scales of several channels are floats of 24 bits")
    return np.float32(1), np.array([m * 2.0**-30 for m in multipliers], np.float32) * powers(shifts)


def constant(value, dtype):
    return relay.const(np.array(value, dtype), dtype)


def requantize_of(x, axis, params, rounding):
    """`qnn.requantize` of int32 to int8."""
    count = len(params["channels"])
    out_scale, in_scales = scales_of(params, count)
    scales = in_scales[0] if count == 1 else in_scales
    zero_point = constant(params["zero_point"], "int32")
    return relay.qnn.op.requantize(
        x, constant(scales, "float32"), constant(0, "int32"), constant(out_scale, "float32"), zero_point,
        axis=axis, rounding=rounding, compute_dtype="int64", out_dtype="int8",
    )  # fmt: skip


def requantize(machine, target, rounding):
    """`qnn.requantize` alone, in pieces of `PIECE` elements; multiplier and shift are constants."""

    @functools.lru_cache(maxsize=None)
    def network(multiplier, shift):
        params = {"channels": [{"multiplier": multiplier, "shift": shift}], "zero_point": 0}
        x = relay.var("x", shape=(1, PIECE), dtype="int32")
        return Network(machine, target, relay.Function([x], requantize_of(x, 1, params, rounding)))

    def call(params, inputs):
        run = lambda x: network(*of_one_channel(params)).run(x=x.reshape(1, -1)).reshape(-1)  # noqa: E731
        return in_chunks(run, PIECE, inputs).astype(np.int32)

    return call


def layer(machine, target, longest):
    """A convolution, its bias and `qnn.requantize` UPWARD in one function, as in a model. Weights are zeros, accumulators are biases. A
    module is compiled for each number of channels."""

    @functools.lru_cache(maxsize=None)
    def network(count, multiplier, shift):
        params = {"channels": [{"multiplier": multiplier, "shift": shift}], "zero_point": 0}
        x = relay.var("x", shape=(1, 1, 1, 1), dtype="int8")
        bias = relay.var("bias", shape=(count,), dtype="int32")
        weights = constant(np.zeros((1, 1, 1, count)), "int8")
        sums = relay.nn.conv2d(
            x, weights, kernel_size=(1, 1), channels=count, data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32"
        )
        body = requantize_of(relay.nn.bias_add(sums, bias, axis=3), 3, params, "UPWARD")
        return Network(machine, target, relay.Function([x, bias], body))

    def call(params, inputs):
        if len(inputs) > longest:
            raise OutsideDomain(f"a module is compiled for each number of channels, up to {longest}")
        layer = network(len(inputs), *of_one_channel(params))
        return layer.run(x=np.zeros((1, 1, 1, 1), np.int8), bias=inputs).reshape(-1).astype(np.int32)

    return call


def convolution(machine, target, dtype):
    """`nn.conv2d` of bytes to int32, images `[batch, row, column, channel]`; a module is compiled for each shape."""

    @functools.lru_cache(maxsize=None)
    def network(image, weights, strides, padding, dilation):
        x, w = relay.var("x", shape=image, dtype=dtype), relay.var("w", shape=weights, dtype=dtype)
        sums = relay.nn.conv2d(
            x, w, strides=strides, padding=padding, dilation=dilation, kernel_size=weights[:2], channels=weights[3],
            data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32",
        )  # fmt: skip
        return Network(machine, target, relay.Function([x, w], sums))

    def run(inputs, image, weights, strides=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1)):
        middle = int(np.prod(image))
        x, w = inputs[:middle].astype(dtype).reshape(image), inputs[middle:].astype(dtype).reshape(weights)
        return network(image, weights, strides, padding, dilation).run(x=x, w=w).reshape(-1)

    return run


def product(run):
    """A matrix product as a convolution of one pixel."""

    def call(params, inputs):
        m, n, k = (params[name] for name in "mnk")
        if m * n * k > 128:
            raise OutsideDomain("a module is compiled for each shape, of at most 128 products")
        return run(inputs, (1, 1, m, k), (1, 1, k, n))

    return call


def images(run):
    """A convolution of images. A module is compiled for each shape."""

    def call(params, inputs):
        of = lambda *names: tuple(params[name] for name in names)  # noqa: E731
        image, weights = of("batches", "height", "width", "channels"), of("kernel_h", "kernel_w", "channels", "out_channels")
        if len(inputs) > 256 or np.prod(weights) > 128:
            raise OutsideDomain("a module is compiled for each shape, of at most 256 elements and 128 weights")
        padding = of("top", "left", "bottom", "right")
        return run(inputs, image, weights, of("stride_h", "stride_w"), padding, of("dilation_h", "dilation_w"))

    return call
