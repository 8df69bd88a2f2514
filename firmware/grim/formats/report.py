"""Report of a NI to its host: a message that failed permanently, or another NI that has restarted."""

from __future__ import annotations

from typing import NamedTuple

from firmware.grim.formats.codes import Cause, MessageType
from firmware.grim.formats.endpoints import vnn_of
from firmware.grim.formats.header import CONTINUES

TRANSFERS = (MessageType.RM_V, MessageType.RM_P, MessageType.RM_RV)
"""Types of remote memory requests."""


class Report(NamedTuple):
    """Arguments of `MessageType.ERROR_REPORT`, as named fields."""

    what: int
    """Type and place in a transfer (16 bits) | destination (16 bits) of the failed message."""
    where: int
    """Channels of the failed message (16 bits) | cause (16 bits)."""
    first: int
    """First argument of the failed message, unsigned."""
    span: int
    """Last argument of the failed message, unsigned."""

    @classmethod
    def decode(cls, arguments: tuple[int, int, int, int]) -> Report:
        """Return the report in the signed arguments of a message."""
        what, where, first, span = (argument & 0xFFFFFFFF for argument in arguments)
        return cls(what, where, first, span)

    @property
    def kind(self) -> int:
        """Type of the message."""
        return self.what >> 26

    @property
    def vnn(self) -> int:
        """Destination node of the message, or the node that has restarted."""
        return vnn_of(self.what)

    @property
    def device(self) -> int:
        """Destination device of the message."""
        return self.what & 3

    @property
    def channel(self) -> int:
        """Destination channel of the message."""
        return self.where >> 16 & 0xFF

    @property
    def cause(self) -> int:
        """Cause of the failure: a `Cause`, or an unknown number."""
        return self.where & 0xFFFF

    @property
    def restarted(self) -> bool:
        """True if another NI has restarted."""
        return self.cause == Cause.RESTARTED

    @property
    def target(self) -> int:
        """Start address of the message's transfer; for other messages their first argument."""
        later = self.kind in TRANSFERS and self.what & CONTINUES
        return self.first - self.span & 0xFFFFFFFF if later else self.first
