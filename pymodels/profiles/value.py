"""A value with its unit, its origin and its source."""

from __future__ import annotations

from dataclasses import dataclass

from pymodels.profiles.schema import Origin, Scalar


@dataclass(frozen=True)
class Value:
    """A number of a profile, and where it comes from."""

    value: Scalar
    unit: str
    origin: Origin
    source: str
