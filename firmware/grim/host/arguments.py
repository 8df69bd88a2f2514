"""Argument checks of the API. An error names the argument."""

from __future__ import annotations

import operator
from typing import Any

from firmware.grim.host.errors import GrimError

WORDS = 1 << 32


def whole(argument: str, value: Any) -> int:
    """Return an argument of any integral type as int. Raises GrimError for other types."""
    try:
        return operator.index(value)
    except TypeError:
        raise GrimError(argument, f"{value!r} is not an integer", "give an integer") from None


def word(argument: str, value: Any) -> int:
    """Return an unsigned 32-bit argument. Raises GrimError for other values."""
    number = whole(argument, value)
    if not 0 <= number < WORDS:
        raise GrimError(argument, f"{number} does not fit into 32 bits", f"give 0..{WORDS - 1}")
    return number


def text(argument: str, value: Any) -> str:
    """Return a string argument. Raises GrimError for other types."""
    if not isinstance(value, str):
        raise GrimError(argument, f"{value!r} is not a string", "give a name")
    return value


def octets(argument: str, value: Any) -> memoryview:
    """Return an argument with the buffer protocol as bytes. Raises GrimError for other types."""
    try:
        return memoryview(value).cast("B")
    except (TypeError, ValueError) as error:
        cause = f"{type(value).__name__} is not contiguous bytes ({error})"
        raise GrimError(argument, cause, "give bytes or a buffer") from None
