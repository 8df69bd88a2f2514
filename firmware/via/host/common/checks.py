"""Checks of the arguments of library calls, made before any other action."""

from __future__ import annotations

import math

from firmware.via.host.common.errors import Result, VipError

WORD = (1 << 32) - 1
"""Largest number in a descriptor, a table of the NIC, or a message between kernel agents."""


def check_integer(what: str, value: object, least: int, most: int, result: Result = Result.INVALID_PARAMETER) -> None:
    """Raise VipError unless a value is an integer in a range.

    Args:
        what: Description of the value for the error.
        value: Value to check.
        least: Smallest valid value.
        most: Largest valid value.
        result: Result code of the error.
    """
    if type(value) is not int or not least <= value <= most:
        raise VipError(result, f"{what}: {value!r}", f"give an integer from {least} to {most}")


def check_time_limit(timeout_us: object, endless: bool = False) -> None:
    """Raise VipError unless a value is a time limit in microseconds. With `endless`, None means no limit."""
    number = isinstance(timeout_us, (int, float)) and not isinstance(timeout_us, bool) and 0 <= timeout_us < math.inf
    if not number and not (endless and timeout_us is None):
        raise VipError(Result.INVALID_PARAMETER, f"a time limit of {timeout_us!r} us", "give microseconds, 0 or more")


def check_callable(handler: object) -> None:
    """Raise VipError unless a value is callable."""
    if not callable(handler):
        raise VipError(Result.INVALID_PARAMETER, f"{handler!r} as a handler", "give a function")


def check_type(value: object, kind: type, remedy: str) -> None:
    """Raise VipError unless a value is an instance of `kind`."""
    if not isinstance(value, kind):
        raise VipError(Result.INVALID_PARAMETER, f"{value!r} as {kind.__name__}", remedy)
