"""Profile value with unit, origin and source, and the interface for reading all values of a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pymodels.hardware.schema import Origin, Scalar


@dataclass(frozen=True)
class Value:
    """Value of a profile with unit, origin and source."""

    value: Scalar
    unit: str
    origin: Origin
    source: str


class Values(Protocol):
    """The values of a hardware profile."""

    def integer(self, key: str) -> int:
        """Return an integer value."""

    def number(self, key: str) -> float:
        """Return a number value."""

    def flag(self, key: str) -> bool:
        """Return a boolean value."""

    def fall_through_characters(self) -> int:
        """Return the latency of an idle switch in characters."""
