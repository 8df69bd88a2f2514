"""Uncertainty ranges of assumed and calibrated profile values, read from `ranges.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pymodels.errors import ConfigError
from pymodels.hardware.schema import Key, Origin, Scalar
from pymodels.hardware.value import Value
from pymodels.toml import line_of, read_toml

FILE = Path(__file__).with_name("ranges.toml")
UNSURE = (Origin.ASSUMED, Origin.CALIBRATED)
"""Origins whose values are uncertain."""


@dataclass(frozen=True)
class Range:
    """Least and greatest plausible value, and the reason; both equal the value if it is not varied."""

    low: Scalar
    high: Scalar
    why: str

    def at(self, share: float, key: Key) -> Scalar:
        """Return the value at a share of the range, 0 to 1, rounded as the key requires."""
        value = self.low + share * (self.high - self.low)
        if key.type is int:
            return 2 * round(value / 2) if key.even else round(value)
        return value


def range_of(key: Key, value: Value) -> Range | None:
    """Return the uncertainty range of a value; None if its origin is certain.

    Raises ConfigError if the file has no entry for the value, or an incomplete one.
    """
    if value.origin not in UNSURE:
        return None
    table, _, name = key.name.partition(".")
    entry = _entries().get(value.origin.value, {}).get(table, {}).get(name)
    if entry is None:
        cause = f"{key.name} is {value.origin.value}, but has no uncertainty range"
        raise ConfigError(str(FILE), 0, "range missing", cause, f"add {name} to [{value.origin.value}.{table}]")
    if set(entry) == {"fixed"}:
        return Range(value.value, value.value, entry["fixed"])
    bounds = _bounds(float(value.value), entry)
    if bounds is None or not entry["why"]:
        line = line_of(_text(), f"{value.origin.value}.{table}", name)
        remedy = "write times or by with two bounds, and why; or fixed"
        raise ConfigError(str(FILE), line, "range incomplete", f"{key.name} has {', '.join(entry)}", remedy)
    low, high = (min(max(bound, key.low), key.high) for bound in bounds)
    found = Range(low, high, entry["why"])
    return Range(found.at(0.0, key), found.at(1.0, key), found.why)


def _bounds(value: float, entry: dict[str, Any]) -> tuple[float, float] | None:
    if set(entry) == {"times", "why"}:
        least, most = (value * factor for factor in entry["times"])
    elif set(entry) == {"by", "why"}:
        least, most = (value + more for more in entry["by"])
    else:
        return None
    return (least, most) if least <= value <= most else None


@cache
def _entries() -> dict[str, Any]:
    return read_toml(FILE)[0]


def _text() -> str:
    return read_toml(FILE)[1]
