#!/usr/bin/env python3
"""A worker in thirty lines. Any program that speaks the protocol of docs/src/protocol.md can be a lane.

    cargo xtask verify --lanes docs/example-lanes.json --lane example --op fpm --kernel tflite-single --effort quick
"""
import json
import struct
import sys


def multiply(x, multiplier, shift):
    """The kernel under test, here in Python. Replace it with a call of your library."""
    total = 31 - shift
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
    count = request["len"]
    if "payload" in request["source"]:
        xs = struct.unpack("<%di" % count, sys.stdin.buffer.read(4 * count))
    else:
        start = request["source"]["range"]["start"]
        xs = range(start, start + count)
    channels = [(channel["multiplier"], channel["shift"]) for channel in request["params"]["channels"]]
    out = [multiply(x, *channels[i % len(channels)]) for i, x in enumerate(xs)]
    answer({"answer": "done", "bytes": 4 * count}, struct.pack("<%di" % count, *out))
