"""Options of LAPI: the environment of each context begins with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from firmware.options import OptionError, check_values

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"error_chk": (0, 1), "timeout_us": (50, 1_000_000), "interrupt_set": (0, 1), "ack_packets": (1, 30)}
)


Own = TypeVar("Own", bound="Options")


@dataclass
class Options:
    """Options of one context, with their defaults."""

    error_chk: int = 1
    """1: check the arguments of every call."""
    timeout_us: int = 1000
    """Time after which an unacknowledged packet is retransmitted."""
    interrupt_set: int = 0
    """1: interrupt mode; 0: polling mode."""
    ack_packets: int = 30
    """Number of received packets after which an acknowledgement is sent at the latest."""

    @classmethod
    def of(cls: type[Own], given: Mapping[str, float | str]) -> Own:
        """From names and values, among which may be what the layer stands on. Raises OptionError."""
        own = {name: value for name, value in given.items() if name != "on"}
        check_values("LAPI", OptionError, own, RANGES)
        return cls(**own)  # type: ignore[arg-type]
