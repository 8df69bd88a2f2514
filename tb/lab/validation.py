"""Validation of the results that a study reports; each error names the line of the study."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from pymodels.errors import shown
from pymodels.results import ResultsError, Series
from tb.tools.lines import called_at

SHOWN = 40
"""Maximum number of characters of an invalid value in a message."""


def metric(name: object, value: object) -> tuple[str, float]:
    """Return name and value of a metric as plain Python. Raises ResultsError unless the value is a finite number."""
    word = _name("metric", name)
    return word, _number(f"metric {word!r}", value)


def series(name: object, x: object, y: object, x_unit: object, y_unit: object) -> tuple[str, Series]:
    """Return name and points of a curve as plain Python.

    Raises ResultsError for values that are not finite numbers, different lengths of `x` and `y`, and units that are not
    text.
    """
    word = _name("series", name)
    points = [_numbers(f"series {word!r}: {axis}", values) for axis, values in (("x", x), ("y", y))]
    if len(points[0]) != len(points[1]):
        counts = f"x has {len(points[0])} values, y has {len(points[1])}"
        raise _wrong(f"series {word!r}: lengths differ", counts, "report one y for each x")
    units = [_text(f"series {word!r}: {axis}_unit", unit) for axis, unit in (("x", x_unit), ("y", y_unit))]
    return word, Series(points[0], points[1], units[0], units[1])


def failure(holds: object, text: object) -> str:
    """Return the failure text of a check; empty if it holds.

    Raises ResultsError if the arguments are not a truth value and a text.
    """
    try:
        passed = bool(holds)
    except (TypeError, ValueError):  # an array with several elements
        raise _wrong("check: not a truth value", _of(holds), "report True or False") from None
    word = _text("check: failure", text)
    return "" if passed else word or "does not hold"


def check_name(name: object) -> str:
    """Return the name of a check. Raises ResultsError unless it is a printable text."""
    if not isinstance(name, str):
        raise _wrong("name of a check: not text", _of(name), 'write lab.check("name", condition, "what is wrong")')
    return _name("check", name)


def _name(what: str, name: object) -> str:
    text = _text(f"name of a {what}", name)
    if not text.strip() or not text.isprintable():
        raise _wrong(f"name of a {what}: not printable", repr(text)[:SHOWN], "name it in printable characters")
    return text


def _text(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise _wrong(f"{what}: not text", _of(text), "give a str")
    return str(text)


def _numbers(what: str, values: Any) -> tuple[float, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise _wrong(f"{what}: not a sequence of numbers", _of(values), "report a list or a one-dimensional array")
    return tuple(_number(f"{what}[{index}]", value) for index, value in enumerate(values))


def _number(what: str, value: Any) -> float:
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # numpy scalars and 0-d arrays
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal, Fraction)):
        remedy = "report int(...)" if isinstance(value, bool) else "report a number"
        raise _wrong(f"{what}: not a number", _of(value), remedy)
    try:
        plain = float(value)
    except OverflowError:
        plain = math.inf
    if not math.isfinite(plain):
        raise _wrong(f"{what}: not finite", f"it is {str(plain)[:SHOWN]}", "leave the value out")
    return int(value) if isinstance(value, Integral) else plain


def _of(value: object) -> str:
    try:
        text = shown(repr(value))
    except Exception:  # noqa: BLE001 - repr of a study's object may raise anything
        text = "..."
    text = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return f"it is {text} of type {type(value).__name__}"


def _wrong(what: str, cause: str, remedy: str) -> ResultsError:
    return ResultsError(f"{called_at()}: {what}", cause, remedy)
