"""Numbers in the text that users give: ASCII digits only, finite, within their range.

Python also takes the digits of other scripts, `nan` and `inf`; whoever types those has made a mistake.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from pymodels.errors import ConfigError

SEEDS = 1 << 64
"""Seeds are below this."""


def whole(text: str, base: int = 10) -> int:
    """The whole number that a text is; `base` as of `int`. Raises ValueError."""
    if not text.isascii():
        raise ValueError(f"{text!r} is not a number in ASCII digits")
    return int(text, base)


def real(text: str) -> float:
    """The finite number that a text is. Raises ValueError."""
    value = float(text) if text.isascii() else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a finite number in ASCII digits")
    return value


def is_whole(text: str) -> bool:
    """Return True for a text of ASCII digits only."""
    return text.isascii() and text.isdecimal()


def seed(text: str) -> int:
    """The seed that a text is. Raises ConfigError unless it is a whole number of 64 bits."""
    try:
        number = whole(text)
    except ValueError:
        raise ConfigError("SEED", 0, "not a number", f"SEED is {text!r}", "give a whole number") from None
    if not 0 <= number < SEEDS:
        raise ConfigError("SEED", 0, "value out of range", f"SEED is {text}", f"give 0 to {SEEDS - 1}")
    return number


def argument(low: float, high: float, read: Callable[[str], float] = whole) -> Callable[[str], float]:
    """The `type` of an argument of argparse that is a number in low..high."""

    def number(text: str) -> float:
        try:
            value = read(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}")
        return value

    return number
