"""ONNX Runtime's CPU kernels as a lane. Scales and zero points are inputs of the models, so one session serves all parameters of a type."""

import functools
import pathlib
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from worker import Kernel, OutsideDomain, serve  # noqa: E402

ONNX = {"i8": TensorProto.INT8, "u8": TensorProto.UINT8, "i16": TensorProto.INT16, "u16": TensorProto.UINT16}
NUMPY = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16}
FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32
# Opset 21 has blocks and 16 bits; its intermediate representation is version 10.
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]


@functools.cache
def session(op, domain, inputs, output, attributes):
    """Returns a session of one operator; `inputs` are names with types, `attributes` are names with values."""
    node = helper.make_node(op, [name for name, _ in inputs], ["out"], domain=domain, **dict(attributes))
    values = [helper.make_tensor_value_info(name, kind, None) for name, kind in inputs]
    graph = helper.make_graph([node], op, values, [helper.make_tensor_value_info("out", output, None)])
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def storage(quantized):
    kind = ("i" if quantized["storage"]["signed"] else "u") + str(quantized["storage"]["bits"])
    if kind not in ONNX or quantized["expressed"] != "f32":
        raise OutsideDomain(f"no kernel of f32 and {kind}")
    return kind


def scales(quantized, kind, dimensions):
    """Returns scales and zero points in the shape that ONNX requires, and the attributes of the operator."""
    of = np.array(quantized["scales"], dtype=np.float32)
    zero_points = np.array(quantized["zero_points"], dtype=np.int64).astype(NUMPY[kind])
    granularity = quantized["granularity"]
    if granularity == "layer":
        return of.reshape(()), zero_points.reshape(()), ()
    if "channel" in granularity:
        return of, zero_points, (("axis", granularity["channel"]["axis"]),)
    blocks = granularity["blocks"]
    counts, given = blocks["counts"], dict(map(tuple, blocks["sizes"]))
    # An axis without a size in `given` has blocks of the whole length. ONNX has blocks along one axis only.
    sizes = [given.get(axis, dimensions[axis]) for axis in range(len(counts))]
    along = [axis for axis, size in enumerate(sizes) if size != 1]
    if len(along) > 1:
        raise OutsideDomain("blocks along several axes")
    axis = along[0] if along else len(counts) - 1
    return of.reshape(counts), zero_points.reshape(counts), (("axis", axis), ("block_size", sizes[axis]))


def quantize(params, inputs):
    kind = storage(params["quantized"])
    scale, zero_point, attributes = scales(params["quantized"], kind, params["shape"])
    names = (("x", FLOAT), ("scale", FLOAT), ("zero_point", ONNX[kind]))
    run = session("QuantizeLinear", "", names, ONNX[kind], attributes)
    x = inputs.view(np.float32).reshape(params["shape"])
    return run.run(None, {"x": x, "scale": scale, "zero_point": zero_point})[0]


def dequantize(params, inputs):
    kind = storage(params["quantized"])
    scale, zero_point, attributes = scales(params["quantized"], kind, params["shape"])
    names = (("x", ONNX[kind]), ("scale", FLOAT), ("zero_point", ONNX[kind]))
    run = session("DequantizeLinear", "", names, FLOAT, attributes)
    x = inputs.astype(NUMPY[kind]).reshape(params["shape"])
    return run.run(None, {"x": x, "scale": scale, "zero_point": zero_point})[0].view(np.int32)


def elementwise(op):
    def run(params, inputs):
        kind = params["element"]
        names = tuple(
            (f"{side}{part}", FLOAT if part == "_scale" else ONNX[kind])
            for side in ("a", "b", "c")
            for part in ("", "_scale", "_zero_point")
            if side + part != "c"
        )
        lhs, rhs = inputs.astype(NUMPY[kind]).reshape(2, -1)
        given = {"a": lhs, "b": rhs}
        for side, operand in (("a", "lhs"), ("b", "rhs"), ("c", "out")):
            given[side + "_scale"] = np.array(params[operand]["scale"], dtype=np.float32)
            given[side + "_zero_point"] = np.array(params[operand]["zero_point"], dtype=NUMPY[kind])
        return session(op, "com.microsoft", names, ONNX[kind], ()).run(None, given)[0]

    return run


def matmul(lhs_kind, rhs_kind):
    def zero_point(offset, kind):
        range_of = np.iinfo(NUMPY[kind])
        if not range_of.min <= -offset <= range_of.max:
            raise OutsideDomain(f"a zero point of {-offset} is no {kind}")
        return np.array(-offset, dtype=NUMPY[kind])

    def run(params, inputs):
        m, n, k = params["m"], params["n"], params["k"]
        given = {
            "a": inputs[: m * k].astype(NUMPY[lhs_kind]).reshape(m, k),
            "b": inputs[m * k :].astype(NUMPY[rhs_kind]).reshape(k, n),
            "a_zero_point": zero_point(params["lhs_offset"], lhs_kind),
            "b_zero_point": zero_point(params["rhs_offset"], rhs_kind),
        }
        names = tuple((name, ONNX[lhs_kind if name.startswith("a") else rhs_kind]) for name in given)
        return session("MatMulInteger", "", names, INT32, ()).run(None, given)[0]

    return run


serve(
    f"onnxruntime {ort.__version__}",
    [
        Kernel("quantize", "shipped-onnxruntime-quantizelinear", "onnx-quantizelinear", quantize),
        Kernel("dequantize", "shipped-onnxruntime-dequantizelinear", "onnx-dequantizelinear", dequantize),
        Kernel("add", "shipped-onnxruntime-qlinearadd-i8", "onnx-qlinearadd-i8", elementwise("QLinearAdd")),
        Kernel("add", "shipped-onnxruntime-qlinearadd-u8", "onnx-qlinearadd-u8", elementwise("QLinearAdd")),
        Kernel("mul", "shipped-onnxruntime-qlinearmul-i8", "onnx-qlinearmul-neon-i8", elementwise("QLinearMul")),
        Kernel("mul", "shipped-onnxruntime-qlinearmul-u8", "onnx-qlinearmul-neon-u8", elementwise("QLinearMul")),
        Kernel("matmul", "shipped-onnxruntime-matmulinteger-u8u8", "gemmlowp-reference", matmul("u8", "u8")),
        Kernel("matmul", "shipped-onnxruntime-matmulinteger-u8i8", "x86-vnni", matmul("u8", "i8")),
        Kernel("matmul", "shipped-onnxruntime-matmulinteger-i8i8", "nvidia-dp4a-s8", matmul("i8", "i8")),
    ],
)
