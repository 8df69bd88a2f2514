"""Random numbers of the NAS Parallel Benchmarks: x(k+1) = 5^13 x(k) modulo 2^46, as fractions of 2^46."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 5**13
MODULUS = 1 << 46
SEED = 314_159_265
"""Seed of all codes except EP."""
_BLOCK = 1 << 14


def _powers() -> NDArray[np.uint64]:
    """Return the first powers of the multiplier; overflowing 64-bit products are correct in their lower 46 bits."""
    powers = np.full(1, MULTIPLIER, np.uint64)
    while len(powers) < _BLOCK:
        powers = np.concatenate([powers, powers * powers[-1]])
    return powers


_POWERS = _powers()


def numbers(count: int, seed: int = SEED, skip: int = 0) -> NDArray[np.float64]:
    """Return `count` numbers between 0 and 1 of the sequence after `seed`, without the first `skip`."""
    result = np.empty(count)
    state = pow(MULTIPLIER, skip, MODULUS) * seed % MODULUS
    for start in range(0, count, _BLOCK):
        part = _POWERS[: count - start] * np.uint64(state) & np.uint64(MODULUS - 1)
        result[start : start + len(part)] = part * (1.0 / MODULUS)
        state = int(part[-1])
    return result
