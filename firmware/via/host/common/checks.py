"""Checks of the arguments of the library's calls, made before anything is done."""

from __future__ import annotations

import math

from firmware.via.host.common.errors import Result, VipError

WORD = (1 << 32) - 1
"""The greatest number that a descriptor, a table of the NIC or a message between kernels can hold."""


def whole(what: str, value: object, least: int, most: int, result: Result = Result.INVALID_PARAMETER) -> None:
    """Whether a number is whole and in a range. Raises VipError."""
    if type(value) is not int or not least <= value <= most:
        raise VipError(result, f"{what}: {value!r}", f"give a whole number in {least}..{most}")


def time_limit(timeout_us: object, endless: bool = False) -> None:
    """Whether this is a limit of time in microseconds; None, where that is allowed, is none. Raises VipError."""
    number = isinstance(timeout_us, (int, float)) and not isinstance(timeout_us, bool) and 0 <= timeout_us < math.inf
    if not number and not (endless and timeout_us is None):
        raise VipError(Result.INVALID_PARAMETER, f"a limit of {timeout_us!r} us", "give microseconds, 0 or more")


def handler_of(handler: object) -> None:
    """Whether it can be called. Raises VipError."""
    if not callable(handler):
        raise VipError(Result.INVALID_PARAMETER, f"{handler!r} as a handler", "give a function")


def kind_of(value: object, kind: type, remedy: str) -> None:
    """Whether it is of a kind. Raises VipError."""
    if not isinstance(value, kind):
        raise VipError(Result.INVALID_PARAMETER, f"{value!r} as {kind.__name__}", remedy)
