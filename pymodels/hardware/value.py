"""A value with its unit, its origin and its source; and the read interface to all values of a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pymodels.hardware.schema import Origin, Scalar


@dataclass(frozen=True)
class Value:
    """A number of a profile, and where it comes from."""

    value: Scalar
    unit: str
    origin: Origin
    source: str


class Values(Protocol):
    """The values of a hardware profile."""

    def integer(self, key: str) -> int:
        """A whole number."""

    def number(self, key: str) -> float:
        """A number."""

    def flag(self, key: str) -> bool:
        """True or false."""

    def fall_through_characters(self) -> int:
        """Latency of an idle switch in whole characters."""
