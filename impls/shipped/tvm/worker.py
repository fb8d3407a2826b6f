"""Apache TVM 0.27 as a lane: `topi.fixed_point_multiply`, compiled for each multiplier and shift, and
`topi.fixed_point_multiply_per_axis`, whose multipliers and shifts are tensors."""

import functools
import pathlib
import sys

import numpy as np
import tvm
from tvm import te, topi

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scales import channels_of  # noqa: E402
from worker import Kernel, serve  # noqa: E402

NAME = "shipped-tvm-topi-"
# Number of elements of a call. The last call is filled with zeros, whose results are discarded.
CHUNK = 1 << 12


def compiled(*tensors):
    return tvm.compile(te.create_prim_func(list(tensors)), "llvm")


def in_chunks(function, *arrays):
    count = len(arrays[0])
    out = np.zeros(count, np.int32)
    for start in range(0, count, CHUNK):
        pieces = [np.zeros(CHUNK, np.int32) for _ in arrays]
        for piece, array in zip(pieces, arrays):
            part = array[start : start + CHUNK]
            piece[: len(part)] = part
        result = tvm.runtime.tensor(np.zeros(CHUNK, np.int32))
        function(*map(tvm.runtime.tensor, pieces), result)
        out[start : start + CHUNK] = result.numpy()[: count - start]
    return out


@functools.lru_cache(maxsize=None)
def constant(multiplier, shift):
    x = te.placeholder((CHUNK,), "int32", "x")
    return compiled(x, topi.fixed_point_multiply(x, multiplier, shift))


def by_constants(params, inputs):
    [channel] = params["channels"]
    return in_chunks(constant(channel["multiplier"], channel["shift"]), inputs)


@functools.cache
def per_axis():
    x, multipliers, left, right = (te.placeholder((CHUNK,), "int32", name) for name in ("x", "multipliers", "left", "right"))
    # The two flags enable the left and the right shift; the only axis is the axis of the channels.
    y = topi.fixed_point_multiply_per_axis(x, multipliers, left, right, True, True, [0])
    return compiled(x, multipliers, left, right, y)


def by_tensors(params, inputs):
    multipliers, shifts = (np.array(values, np.int32) for values in channels_of(params, len(inputs)))
    return in_chunks(per_axis(), inputs, multipliers, np.maximum(shifts, 0), np.maximum(-shifts, 0))


# A module is compiled for each multiplier and shift: 2^30, for which TVM has other code, and one other multiplier. 2^30 does not compile at s = 1 and
# s = -31.
HALF = {"multipliers": 1 << 30, "shifts": [-30, 0], "q": 31}
ONE = {"multipliers": 1395864371, "shifts": [-9, 9], "q": 31}
serve(
    f"tvm {tvm.__version__}",
    [
        Kernel("fpm", NAME + "half", "tvm-relay", by_constants, domain=HALF),
        Kernel("fpm", NAME + "one", "tvm-relay", by_constants, domain=ONE),
        Kernel("fpm", NAME + "per-axis", "tvm-relay-per-channel", by_tensors),
    ],
)
