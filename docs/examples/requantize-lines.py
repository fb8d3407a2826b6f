#!/usr/bin/env python3
"""Requantization as in TFLite, one case a line in and one result a line out.

    tiebreak verify --program 'python3 docs/examples/requantize-lines.py' --op requantize --scheme gemmlowp-double --effort quick
"""
import sys


def int32(x):
    return (x + 2**31) % 2**32 - 2**31


def doubling_high_mul(a, b):
    """High half of 2ab, rounded to nearest; the one product that does not fit saturates."""
    if a == b == -(2**31):
        return 2**31 - 1
    nudged = a * b + (2**30 if a * b >= 0 else 1 - 2**30)
    return nudged >> 31 if nudged >= 0 else -(-nudged >> 31)


def divide_by_power_of_two(x, exponent):
    """x / 2^exponent, rounded to nearest, ties away from zero."""
    mask = (1 << exponent) - 1
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0))


for line in sys.stdin:
    case = {name: int(value) for name, value in (word.split("=") for word in line.split())}
    left, right = max(case["s"], 0), max(-case["s"], 0)
    scaled = doubling_high_mul(int32(case["x"] + case["bias"] << left), case["m"])
    result = divide_by_power_of_two(scaled, right) + case["zero_point"]
    print(min(max(result, case["min"]), case["max"]), flush=True)
