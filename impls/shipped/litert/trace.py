"""A model in two sets of LiteRT's kernels, layer by layer: prints as JSON the first layer that differs, and the change of the outputs.

Inputs are random bytes from a seed, or the tensors of a numpy file, one sample after another.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

KERNELS = {
    "tflite-reference": OpResolverType.BUILTIN_REF,
    "tflite-optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "xnnpack": OpResolverType.AUTO,
}
# Tensors of these types are not arrays; reading one ends the interpreter.
OPAQUE = {schema.TensorType.STRING, schema.TensorType.RESOURCE, schema.TensorType.VARIANT}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("left", choices=KERNELS)
    parser.add_argument("right", choices=KERNELS)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=pathlib.Path, help="an array of numpy, samples along its first axis")
    return parser.parse_args()


def interpreter(content, kernels):
    made = Interpreter(
        model_content=content,
        experimental_op_resolver_type=KERNELS[kernels],
        num_threads=1,
        experimental_preserve_all_tensors=kernels != "xnnpack",
    )
    made.allocate_tensors()
    return made


def sample(details, random):
    kind = np.dtype(details["dtype"])
    if kind.kind == "f":
        return random.standard_normal(details["shape"]).astype(kind)
    range_of = np.iinfo(kind)
    return random.integers(range_of.min, range_of.max, details["shape"], dtype=kind, endpoint=True)


def samples(given, details):
    """Yields the inputs of each sample, a list with one tensor for each input of the model."""
    if given.inputs is not None:
        if len(details) != 1:
            sys.exit("a model with several inputs takes no file of inputs")
        for values in np.load(given.inputs):
            yield [values.astype(details[0]["dtype"]).reshape(details[0]["shape"])]
        return
    random = np.random.default_rng(given.seed)
    for _ in range(given.samples):
        yield [sample(one, random) for one in details]


class Graph:
    """Operators of a model in the order in which they run."""

    def __init__(self, content):
        self.model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
        self.graph = self.model.subgraphs[0]
        names = {code: name for name, code in vars(schema.BuiltinOperator).items() if not name.startswith("_")}
        codes = [max(code.builtinCode, code.deprecatedBuiltinCode) for code in self.model.operatorCodes]
        self.names = [names[codes[node.opcodeIndex]] for node in self.graph.operators]

    def accumulator(self, index, run, at):
        """Returns the integer accumulator and the channel of one result of a matrix product or convolution; None for other operators."""
        node, name = self.graph.operators[index], self.names[index]
        if name not in ("FULLY_CONNECTED", "CONV_2D", "DEPTHWISE_CONV_2D"):
            return None, None
        x, w = (run.get_tensor(tensor).astype(np.int64) for tensor in node.inputs[:2])
        channel = int(at[-1])
        bias = 0
        if len(node.inputs) > 2 and node.inputs[2] >= 0:
            bias = int(run.get_tensor(node.inputs[2]).reshape(-1)[channel])
        points = [self.graph.tensors[tensor].quantization.zeroPoint for tensor in node.inputs[:2]]
        x = x - int(points[0][0])
        point = points[1] if points[1] is not None and len(points[1]) else [0]
        w = w - int(point[channel if len(point) > 1 else 0])
        if name == "FULLY_CONNECTED":
            rows = x.reshape(-1, w.shape[1])
            row = int(np.ravel_multi_index(at[:-1], run.get_tensor(node.outputs[0]).shape[:-1])) if len(at) > 1 else 0
            return int(rows[row] @ w[channel]) + bias, channel
        return self.window(node, name, x, w, at, channel) + bias, channel

    def window(self, node, name, x, w, at, channel):
        options = node.builtinOptions
        batch, row, column = (int(place) for place in at[:3])
        height, width = w.shape[1:3]
        total = 0
        for i in range(height):
            for j in range(width):
                steps = (row, height, i, options.strideH, options.dilationHFactor, x.shape[1]), (
                    column, width, j, options.strideW, options.dilationWFactor, x.shape[2])
                places = [self.place(options, *step) for step in steps]
                if None in places:
                    continue
                values = x[batch, places[0], places[1]]
                if name == "CONV_2D":
                    total += int(values @ w[channel, i, j])
                else:
                    total += int(values[channel // options.depthMultiplier] * w[0, i, j, channel])
        return total

    @staticmethod
    def place(options, out, size, tap, stride, dilation, length):
        before = 0
        if options.padding == schema.Padding.SAME:
            outputs = -(-length // stride)
            before = max(0, (outputs - 1) * stride + (size - 1) * dilation + 1 - length) // 2
        place = out * stride + tap * dilation - before
        return place if 0 <= place < length else None


def differing(graph, left, right):
    """Returns the first operator with a different result, the first such tensor and the first such position."""
    for index, node in enumerate(graph.graph.operators):
        for tensor in node.outputs:
            if graph.graph.tensors[tensor].type in OPAQUE:
                continue
            a, b = left.get_tensor(tensor), right.get_tensor(tensor)
            if not np.array_equal(a, b):
                places = np.argwhere(a != b)
                return index, tensor, places
    return None


def first(graph, runs, index, tensor, places):
    left, right = runs
    at = tuple(int(place) for place in places[0])
    accumulator, channel = graph.accumulator(index, left, at)
    values = [run.get_tensor(tensor) for run in runs]
    return {
        "layer": index,
        "operator": graph.names[index],
        "at": list(at),
        "channel": channel,
        "accumulator": accumulator,
        "left": values[0][at].item(),
        "right": values[1][at].item(),
        "differ": len(places),
        "results": int(values[0].size),
    }


def main():
    given = arguments()
    content = given.model.read_bytes()
    graph = Graph(content)
    runs = [interpreter(content, kernels) for kernels in (given.left, given.right)]
    inside = "xnnpack" not in (given.left, given.right)
    count = changed = classes = 0
    largest, found, layers = 0, None, {}
    for tensors in samples(given, runs[0].get_input_details()):
        count += 1
        if "READ_VARIABLE" in graph.names:
            # A new interpreter discards the values that the previous sample left in the variables.
            runs = [interpreter(content, kernels) for kernels in (given.left, given.right)]
        for run in runs:
            for details, values in zip(run.get_input_details(), tensors, strict=True):
                run.set_tensor(details["index"], values)
            run.invoke()
        outputs = [[run.get_tensor(details["index"]).astype(np.float64) for details in run.get_output_details()] for run in runs]
        steps = max(float(np.max(np.abs(a - b), initial=0)) for a, b in zip(*outputs, strict=True))
        changed += steps > 0
        largest = max(largest, steps)
        classes += any(np.argmax(a) != np.argmax(b) for a, b in zip(*outputs, strict=True))
        if inside and (place := differing(graph, *runs)):
            layers[place[0]] = layers.get(place[0], 0) + 1
            if found is None or place[0] < found["layer"]:
                found = first(graph, runs, *place) | {"sample": count - 1}
    print(json.dumps({
        "samples": count,
        "samples_with_other_outputs": changed,
        "samples_with_another_greatest_output": classes,
        "largest_output_change": largest,
        "first": found,
        "first_layers": {str(layer): layers[layer] for layer in sorted(layers)},
        "inside": inside,
    }))


main()
