"""TVM 0.16 of the wheel hhb-tvm as a lane: its modules are compiled for aarch64, with the Arm rule and the Arm GEMM kernels, and for x86-64.

Arguments: for each of the two architectures, the linker and the command of `runner.c`, as JSON.
"""

import importlib.metadata
import json
import logging
import pathlib
import sys

import tvm
from tvm import autotvm

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from kernels import (  # noqa: E402
    convolution,
    images,
    layer,
    per_axis_fixed_point_multiply,
    product,
    relay_fixed_point_multiply,
    requantize,
    variable_fixed_point_multiply,
)
from modules import Machine  # noqa: E402
from worker import Kernel, serve  # noqa: E402

NAME = "shipped-tvm-"
# Largest number of elements for which tensors and layers are compiled for their own length; one element more may change the code of all elements.
LONGEST_TENSOR, LONGEST_LAYER = 1 << 12, 13
# A module is compiled for each constant multiplier and shift, so the domains are small: one multiplier; and 2^30, for which TVM has other code.
ONE = {"multipliers": 1395864371, "shifts": -8}
HALVES = {"multipliers": 1 << 30, "shifts": [-1, 1]}
# One multiplier, without bias, zero point and bounds of the clamp, which are elementwise code that the project's other lanes cover.
SCALES = {"multipliers": 1395864371, "shifts": [-9, 1], "per_channel": False, "bias": False, "zero_point": False, "clamp": False}
NO_OFFSETS = {"lhs_offsets": 0, "rhs_offsets": 0}
# Target features for which TVM has other code.
GEMMS = {
    "arm-neon": ("+neon", {"u8": "arm-uadalp", "i8": "arm-sadalp"}),
    "arm-dotprod": ("+v8.2a,+dotprod", {"u8": "arm-udot", "i8": "arm-sdot"}),
}


def arm(features):
    return tvm.target.Target(f"llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -mattr={features}")


def fixed_point(aarch64, x86_64):
    neon, generic = arm("+neon"), tvm.target.Target("llvm -mtriple=x86_64-linux-gnu")
    whole = variable_fixed_point_multiply(aarch64, neon)
    each = relay_fixed_point_multiply(aarch64, neon, LONGEST_TENSOR)
    yield Kernel("fpm", NAME + "arm-rule", "tvm-relay", whole, "sqrdmulh-srshl:wrap")
    yield Kernel("fpm", NAME + "arm-lengths", "tvm-neon-rfc", each, domain=ONE | {"q": 31})
    yield Kernel("fpm", NAME + "arm-per-axis", "tvm-relay-per-channel", per_axis_fixed_point_multiply(aarch64, neon))
    yield Kernel("fpm", NAME + "x86-relay", "tvm-relay", relay_fixed_point_multiply(x86_64, generic), domain=HALVES)
    yield Kernel("fpm", NAME + "x86-per-axis", "tvm-relay-per-channel", per_axis_fixed_point_multiply(x86_64, generic))


def requantizations(aarch64):
    neon = arm("+neon")
    yield Kernel("requantize", NAME + "upward", "tvm-requantize-i8", requantize(aarch64, neon, "UPWARD"), domain=SCALES)
    of_nearest = requantize(aarch64, neon, "TONEAREST")
    yield Kernel("requantize", NAME + "tonearest", "tvm-requantize-tonearest-i8", of_nearest, domain=SCALES)
    of_layer = layer(aarch64, neon, LONGEST_LAYER)
    yield Kernel("requantize", NAME + "arm-conv2d-upward", "tvm-requantize-i8", of_layer, "sqrdmulh-srshl:wrap", SCALES | ONE)


def gemms(aarch64):
    for path, (features, likes) in GEMMS.items():
        for element, like in likes.items():
            dtype = {"u8": "uint8", "i8": "int8"}[element]
            run = convolution(aarch64, arm(features), dtype)
            yield Kernel("matmul", f"{NAME}{path}-gemm-{element}", like, product(run), domain=NO_OFFSETS)
            if path == "arm-neon":
                of_images = NO_OFFSETS | {"grouped": False}
                yield Kernel("conv2d", f"{NAME}{path}-conv2d-{element}", like, images(run), domain=of_images)


def main():
    aarch64, x86_64 = (Machine(*words) for words in map(json.loads, sys.argv[1:]))
    logging.disable(logging.WARNING)
    autotvm.GLOBAL_SCOPE.silent = True
    kernels = [*fixed_point(aarch64, x86_64), *requantizations(aarch64), *gemms(aarch64)]
    serve(f"tvm {tvm.__version__}, hhb-tvm {importlib.metadata.version('hhb-tvm')}", kernels)


main()
