"""Float scales from which a library derives a given multiplier and shift, for adapters whose libraries accept scales."""

import functools

import numpy as np
from worker import OutsideDomain

# A float scale has 24 bits, so two scales are combined to reach a multiplier of 31 bits. These are the candidates for the first scale.
CANDIDATES = (np.arange(1 << 12) * 2.0**-12 * 0.9 + 1 + 2.0**-13).astype(np.float32)


def normalized(reals):
    """Returns multipliers of 31 bits, as QuantizeMultiplier derives them from doubles in 1 to 2: ties away from zero."""
    return np.floor(reals * 2.0**30 + 0.5).astype(np.int64)


@functools.lru_cache(maxsize=4096)
def two_scales(multiplier, combine):
    """Returns two floats whose product or quotient, in double, gives this multiplier; exactly, if the multiplier has 24 bits."""
    if multiplier % 128 == 0:
        return np.float32(1), np.float32(multiplier * 2.0**-30)
    real = multiplier * 2.0**-30
    others = (real / CANDIDATES if combine is np.multiply else real * CANDIDATES).astype(np.float32)
    reached = combine(others.astype(np.float64), CANDIDATES.astype(np.float64))
    found = np.flatnonzero(normalized(reached) == multiplier)
    if not found.size:
        raise OutsideDomain(f"no two scales give the multiplier {multiplier}")
    return CANDIDATES[found[0]], others[found[0]]


def powers(shifts):
    """Returns 2^(s - 1): the remaining factor of m * 2^(s - 31) if the scales contain m * 2^-30."""
    return np.ldexp(np.float32(1), np.array(shifts) - 1).astype(np.float32)


def channels_of(params, count):
    """Returns the multipliers and shifts of the first `count` elements."""
    channels = params["channels"]
    return [[channels[i % len(channels)][key] for i in range(count)] for key in ("multiplier", "shift")]
