"""Options of UDP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from firmware.options import OptionError, check_values
from firmware.udp.nic.layout import MOST

RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"mtu": (576, MOST), "receive_bytes": (2048, 1 << 20), "partial_bytes": (65536, 1 << 20)}
)


@dataclass(frozen=True)
class Options:
    """The options with their defaults."""

    mtu: int = MOST
    """Bytes of a frame at most, its IP header included."""
    receive_bytes: int = 65536
    """A socket holds so many bytes of datagrams that nobody has received yet (from memory: Linux 2.2, 64 KB)."""
    partial_bytes: int = 262144
    """So many bytes of frames wait for the rest of their datagrams; then the oldest datagram goes (Linux 2.2)."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Options:
        """From names and values. Raises OptionError."""
        check_values("UDP", OptionError, given, RANGES)
        return cls(**given)  # type: ignore[arg-type]
