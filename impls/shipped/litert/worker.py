"""LiteRT's kernels as a lane: each operator with the reference kernels, with the optimized ones, and with XNNPACK's delegate."""

import importlib.metadata

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from calls import OutsideDomain, conversions, elementwises, layers, rescales
from worker import serve

KERNELS = {
    "reference": OpResolverType.BUILTIN_REF,
    "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "xnnpack": OpResolverType.AUTO,
}
OPERATORS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
# Schemes that `identify` leaves for each operator; for the optimized DEPTHWISE_CONV_2D, only in whole vectors.
SCHEMES = {
    "reference": dict.fromkeys(OPERATORS, "gemmlowp-double:wrap") | {"FULLY_CONNECTED": "ties-away"},
    "optimized": dict.fromkeys(OPERATORS, "sqrdmulh-srshl:wrap"),
    "xnnpack": dict.fromkeys(OPERATORS, "ties-even"),
}
TFLITE = {f"{op}-{element}": f"tflite-{op}-{element}" for op in ("add", "mul") for element in ("i8", "u8", "i16")}
# XNNPACK's delegate passes operators to the optimized kernels if the ratio of their scales is outside the domain of XNNPACK's kernels.
XNNPACK = {"add-i8": "xnnpack-qs8-vadd", "add-u8": "xnnpack-qu8-vadd", "mul-i8": "xnnpack-qs8-vmul", "mul-u8": "xnnpack-qu8-vmul"}


def runner(kernels):
    def run(content, *inputs):
        interpreter = Interpreter(model_content=content, experimental_op_resolver_type=KERNELS[kernels], num_threads=1)
        try:
            interpreter.allocate_tensors()
        except RuntimeError as refused:
            raise OutsideDomain(f"LiteRT does not prepare this operator: {refused}") from refused
        for details, values in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(details["index"], values.astype(details["dtype"]).reshape(details["shape"]))
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).reshape(-1)

    return run


def all_kernels():
    for kernels, schemes in SCHEMES.items():
        run, name = runner(kernels), f"shipped-litert-{kernels}-"
        yield from layers(run, name, schemes)
        if kernels == "xnnpack":
            # The delegate refuses subnormal scales, and ends the process if the output of QUANTIZE has a subnormal scale (finding 27).
            normal = float(np.finfo(np.float32).smallest_normal)
            yield from conversions(run, name, "xnnpack", normal, bounds=False)
            yield from elementwises(run, name, XNNPACK)
        else:
            yield from rescales(run, name)
            yield from conversions(run, name)
            yield from elementwises(run, name, TFLITE)


serve(f"litert {importlib.metadata.version('ai-edge-litert')}", list(all_kernels()))
