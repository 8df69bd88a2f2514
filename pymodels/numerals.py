"""Parsers of numbers in user input: ASCII digits only, finite, within their range.

Python's own parsers also accept digits of other scripts, `nan` and `inf`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from pymodels.errors import ConfigError

SEEDS = 1 << 64
"""Upper bound of seeds, exclusive."""


def whole(text: str, base: int = 10) -> int:
    """Return the integer that a text denotes; `base` as for `int`. Raises ValueError if it is invalid."""
    if not text.isascii():
        raise ValueError(f"{text!r} is not a number in ASCII digits")
    return int(text, base)


def real(text: str) -> float:
    """Return the finite number that a text denotes. Raises ValueError if it is invalid."""
    value = float(text) if text.isascii() else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a finite number in ASCII digits")
    return value


def is_whole(text: str) -> bool:
    """Return True if a text consists of ASCII digits only."""
    return text.isascii() and text.isdecimal()


def seed(text: str) -> int:
    """Return the seed that a text denotes. Raises ConfigError unless it is an integer of 64 bits."""
    try:
        number = whole(text)
    except ValueError:
        raise ConfigError("SEED", 0, "not a number", f"SEED is {text!r}", "give a whole number") from None
    if not 0 <= number < SEEDS:
        raise ConfigError("SEED", 0, "value out of range", f"SEED is {text}", f"give 0 to {SEEDS - 1}")
    return number


def argument(low: float, high: float, read: Callable[[str], float] = whole) -> Callable[[str], float]:
    """Return a `type` for an argument of argparse that is a number in low..high."""

    def number(text: str) -> float:
        try:
            value = read(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}")
        return value

    return number
