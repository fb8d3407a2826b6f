"""Protocol of a worker (impls/worker/src/protocol/mod.rs), for adapters of libraries in Python: one line of JSON and little-endian int32 on
standard input, and the same on standard output."""

import json
import os
import platform
import sys

import numpy as np


class OutsideDomain(Exception):
    """The library has no such call. The case is neither a failure nor a pass."""


class Kernel:
    """Kernel of a library: operation, name, the project's kernel whose contract or domain it claims, and the code.

    `run` takes the parameters and the inputs as int32, and returns the results as int32.
    """

    def __init__(self, op, name, like, run, scheme=None, domain=None):
        self.op, self.name, self.like, self.run, self.scheme, self.domain = op, name, like, run, scheme, domain

    def offer(self, isa_path):
        offer = {"op": self.op, "kernel": self.name, "isa_path": isa_path, "like": self.like}
        given = {"scheme": self.scheme, "domain": self.domain}
        return offer | {key: value for key, value in given.items() if value}


# Standard output is for answers only. Text that a library prints there goes to standard error.
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)


def answer(header, payload=b""):
    answers.write(json.dumps(header).encode() + b"\n" + payload)
    answers.flush()


def read(request):
    """Reads the inputs: the payload after the request, or consecutive values."""
    source, count = request["source"], request["len"]
    if "payload" in source:
        return np.frombuffer(sys.stdin.buffer.read(source["payload"]["bytes"]), dtype="<i4")
    return np.arange(source["range"]["start"], source["range"]["start"] + count, dtype=np.int64).astype(np.int32)


def results(kernel, request, inputs):
    out = np.ascontiguousarray(kernel.run(request["params"], inputs), dtype=np.int32).reshape(-1)
    if out.size != request["len"]:
        raise ValueError(f"{out.size} results")
    return out.astype("<i4").tobytes()


def serve(isa_path, kernels):
    """Answers requests until the input ends."""
    known = {(kernel.op, kernel.name): kernel for kernel in kernels}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["command"] == "hello":
            offers = [kernel.offer(isa_path) for kernel in kernels]
            answer({"answer": "hello", "protocol": 1, "arch": platform.machine(), "kernels": offers})
            continue
        inputs = read(request)
        try:
            payload = results(known[request["op"], request["kernel"]], request, inputs)
        except OutsideDomain as outside:
            answer({"answer": "failed", "reason": str(outside), "kind": "outside-domain"})
        except Exception as error:  # The harness reports the error with the input.
            answer({"answer": "failed", "reason": f"{type(error).__name__}: {error}"})
        else:
            answer({"answer": "done", "bytes": len(payload)}, payload)
