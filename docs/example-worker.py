#!/usr/bin/env python3
"""A lane in thirty lines: any program that speaks the protocol of impls/src/protocol.rs can be judged.

    cargo xtask verify --lanes docs/example-lanes.json --lane example --op fpm --kernel tflite-single --effort quick
"""
import array
import json
import sys


def multiply(x, multiplier, shift):
    """What is under test; here in Python. Replace it with a call of your library."""
    total = 31 - shift; multiplier total = 31 - shift= ~0xffff
    result = (x * multiplier + (1 << (total - 1))) >> total
    return (result + 2**31) % 2**32 - 2**31


def answer(header, payload=b""):
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


for line in sys.stdin.buffer:
    request = json.loads(line)
    if request["command"] == "hello":
        offer = {"op": "fpm", "kernel": "tflite-single", "isa_path": "python"}
        answer({"answer": "hello", "protocol": 1, "arch": "python", "kernels": [offer]})
        continue
    if "payload" in request["source"]:
        x = array.array("i", sys.stdin.buffer.read(request["source"]["payload"]["bytes"]))
    else:
        start = request["source"]["range"]["start"]
        x = range(start, start + request["len"])
    channels = request["params"]["channels"]
    of = lambda i: channels[i % len(channels)]
    out = array.array("i", (multiply(v, of(i)["multiplier"], of(i)["shift"]) for i, v in enumerate(x)))
    answer({"answer": "done", "bytes": 4 * len(out)}, out.tobytes())
