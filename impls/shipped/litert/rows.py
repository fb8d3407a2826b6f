"""Rows of int8 in LiteRT's kernels, without a lane, for operators that belong to no operation of the worker.

Reads JSON of an operator, the scale and zero point of its input and of its output, and rows of one length; prints the results by set of kernels, row by row, or
the reason for which LiteRT refuses the model.
"""

import json
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from models import Tensor, model, schema

KERNELS = {
    "reference": OpResolverType.BUILTIN_REF,
    "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "xnnpack": OpResolverType.AUTO,
}
INT8, INT32 = schema.TensorType.INT8, schema.TensorType.INT32


def content(operator, shape, given, made):
    """Returns the model, with all outputs of the operator."""

    def of(shape, quantization):
        return Tensor(shape, INT8, [quantization[0]], [quantization[1]])

    axis = Tensor([], INT32, [], [], 0, np.array(1, np.int32))
    if operator == "SPLIT":
        half = [shape[0], shape[1] // 2]
        return model(operator, [axis, of(shape, given), of(half, made), of(half, made)], 2, outputs=2)
    if operator == "ARG_MIN":
        return model(operator, [of(shape, given), axis, Tensor(shape[:1], INT32, [], [])], 2)
    return model(operator, [of(shape, given), of(shape, made)], 2)


def results(kernels, made, rows):
    interpreter = Interpreter(model_content=made, experimental_op_resolver_type=kernels, num_threads=1)
    try:
        interpreter.allocate_tensors()
    except RuntimeError as refused:
        return {"refused": str(refused)}
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], rows)
    interpreter.invoke()
    outputs = [interpreter.get_tensor(output["index"]) for output in interpreter.get_output_details()]
    return {"results": np.concatenate([output.reshape(len(rows), -1) for output in outputs], axis=1).reshape(-1).tolist()}


job = json.load(sys.stdin)
rows = np.array(job["rows"], np.int8)
made = content(job["operator"], list(rows.shape), job["input"], job["out"])
json.dump({name: results(kernels, made, rows) for name, kernels in KERNELS.items()}, sys.stdout)
