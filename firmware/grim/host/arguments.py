"""Arguments of the API: a value of the wrong type is refused with the name of the argument."""

from __future__ import annotations

import operator
from typing import Any

from firmware.grim.host.errors import GrimError

WORDS = 1 << 32


def whole(argument: str, value: Any) -> int:
    """A whole number, of any integral type. Raises GrimError."""
    try:
        return operator.index(value)
    except TypeError:
        raise GrimError(argument, f"{value!r} is not a whole number", "give one") from None


def word(argument: str, value: Any) -> int:
    """A whole number of 32 bits, without a sign. Raises GrimError."""
    number = whole(argument, value)
    if not 0 <= number < WORDS:
        raise GrimError(argument, f"{number} does not fit into 32 bits", f"give 0..{WORDS - 1}")
    return number


def text(argument: str, value: Any) -> str:
    """A string. Raises GrimError."""
    if not isinstance(value, str):
        raise GrimError(argument, f"{value!r} is not a string", "give a name")
    return value


def octets(argument: str, value: Any) -> memoryview:
    """Anything with the buffer protocol, as bytes. Raises GrimError."""
    try:
        return memoryview(value).cast("B")
    except (TypeError, ValueError) as error:
        cause = f"{type(value).__name__} does not give contiguous bytes ({error})"
        raise GrimError(argument, cause, "give bytes or a buffer") from None
