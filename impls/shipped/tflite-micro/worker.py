"""TensorFlow Lite Micro's kernels as a lane, by the calls of LiteRT's lane."""

import importlib.metadata
import pathlib
import sys

from tflite_micro.python.tflite_micro import runtime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "litert"))
from calls import OutsideDomain, conversions, elementwise, elementwises, layers, rescales  # noqa: E402
from worker import Kernel, serve  # noqa: E402

SCHEMES = dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"), "gemmlowp-double:wrap")
# Bytes of the arena, in addition to the bytes for the model and its tensors.
ARENA = 1 << 16


def run(content, *inputs):
    size = ARENA + 64 * len(content) + 64 * sum(values.size for values in inputs)
    try:
        interpreter = runtime.Interpreter.from_bytes(content, arena_size=size)
    except RuntimeError as refused:
        raise OutsideDomain(f"TensorFlow Lite Micro does not prepare this operator: {refused}") from refused
    for index, values in enumerate(inputs):
        details = interpreter.get_input_details(index)
        interpreter.set_input(values.astype(details["dtype"]).reshape(details["shape"]), index)
    interpreter.invoke()
    return interpreter.get_output(0).reshape(-1)


def all_kernels():
    name = "shipped-tflite-micro-"
    likes = {"add-i8": "tflite-add-i8", "add-i16": "tflite-add-i16", "mul-i8": "tflite-micro-mul-i8"}
    yield from layers(run, name, SCHEMES)
    yield from rescales(run, name)
    yield from conversions(run, name, storage=["i8", "i16"])
    yield from elementwises(run, name, likes)
    # As `tflite-mul-i16`, with a quotient of scales in double.
    call = elementwise(run, "MUL")
    yield Kernel("mul", name + "mul-i16", "tflite-mul-i16", call, "tflite-micro:wrap", {"clamp": False})


serve(f"tflite-micro {importlib.metadata.version('tflite-micro')}", list(all_kernels()))
