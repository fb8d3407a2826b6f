"""Modules that TVM compiles for aarch64 or x86-64. They are linked, and `runner.c` runs them on such a CPU or under an emulator."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile

import numpy as np
import tvm
from tvm import relay
from worker import OutsideDomain

INPUT, OUTPUT = 1, 2
TYPE_CODES = {"i": 0, "u": 1, "f": 2}


class Machine:
    """Linker and runner for modules of one architecture."""

    def __init__(self, linker, runner):
        self.linker, self.runner = linker, runner
        self.directory = tempfile.TemporaryDirectory(prefix="tiebreak-tvm-")
        self.process, self.modules = None, 0

    def link(self, compiled):
        """Links a compiled module to a shared library; returns its number and path."""
        self.modules += 1
        stem = pathlib.Path(self.directory.name) / str(self.modules)
        objects, library = stem.with_suffix(".o"), stem.with_suffix(".so")
        compiled.save(str(objects))
        subprocess.run([self.linker, "-shared", str(objects), "-o", str(library)], check=True)
        os.remove(objects)
        return self.modules, library

    def start(self):
        if self.process is None:
            self.process = subprocess.Popen(self.runner, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) != count:
            raise RuntimeError(f"the runner ended: {' '.join(self.runner)}")
        return data

    def call(self, number, path, name, arguments):
        """Calls a function and returns all results. An argument is an int, an array, or `Empty` for a result."""
        self.start()
        request = [struct.pack("=I", number)]
        for text in (path, name):
            request += [struct.pack("=I", len(text)), text.encode()]
        request.append(struct.pack("=I", len(arguments)))
        for argument in arguments:
            request += encoded(argument)
        self.process.stdin.write(b"".join(request))
        self.process.stdin.flush()
        [status] = struct.unpack("=i", self.read(4))
        if status != 0:
            [length] = struct.unpack("=I", self.read(4))
            raise RuntimeError(self.read(length).decode())
        results = [argument for argument in arguments if isinstance(argument, Empty)]
        return [np.frombuffer(self.read(r.bytes), dtype=r.dtype).reshape(r.shape) for r in results]


class Empty:
    """A tensor that a function writes."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.bytes = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


def encoded(argument):
    if isinstance(argument, int):
        return [struct.pack("=Iq", 0, argument)]
    kind = OUTPUT if isinstance(argument, Empty) else INPUT
    shape, dtype = argument.shape, argument.dtype
    head = struct.pack("=IIII", kind, TYPE_CODES[dtype.kind], 8 * dtype.itemsize, len(shape))
    body = [] if kind == OUTPUT else [np.ascontiguousarray(argument).tobytes()]
    return [head, struct.pack(f"={len(shape)}q", *shape), *body]


class Module:
    """A linked module. The runner loads its file at the first call; then the file is removed."""

    def __init__(self, machine, compiled):
        self.machine = machine
        self.number, self.path = machine.link(compiled)

    def call(self, name, *arguments):
        path = str(self.path) if self.path else ""
        results = self.machine.call(self.number, path, name, arguments)
        if self.path:
            os.remove(self.path)
            self.path = None
        return results


class Network:
    """A compiled relay function, which runs function by function in the order of its graph."""

    def __init__(self, machine, target, function):
        # In this wheel, AlterOpLayout does not match its operators: with it, no convolution of bytes compiles for aarch64.
        with tvm.transform.PassContext(opt_level=3, disabled_pass=["AlterOpLayout"]):
            try:
                built = relay.build(tvm.IRModule.from_expr(function), target=target)
            except tvm.error.TVMError as refused:
                raise OutsideDomain(f"TVM does not compile this: {str(refused).strip().splitlines()[-1]}") from refused
        self.module = Module(machine, built.get_lib())
        self.constants = {name: value.numpy() for name, value in built.get_params().items()}
        graph = json.loads(built.get_graph_json())
        self.nodes, self.first = graph["nodes"], graph["node_row_ptr"]
        self.shapes, self.types = graph["attrs"]["shape"][1], graph["attrs"]["dltype"][1]
        [[self.head, _, _]] = graph["heads"]

    def run(self, **inputs):
        values = {}
        for index, node in enumerate(self.nodes):
            if node["op"] == "null":
                name = node["name"]
                values[index] = inputs[name] if name in inputs else self.constants[name]
                continue
            operands = [values[operand] for operand, _, _ in node["inputs"]]
            entry = self.first[index]
            result = Empty(self.shapes[entry], self.types[entry])
            if node["attrs"]["func_name"] == "__nop":
                values[index] = operands[0].reshape(result.shape)
            else:
                [values[index]] = self.module.call(node["attrs"]["func_name"], *operands, result)
        return values[self.head]
