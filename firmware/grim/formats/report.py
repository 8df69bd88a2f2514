"""What a NI reports to its host: a message that cannot succeed, or another NI that has restarted."""

from __future__ import annotations

from typing import NamedTuple

from firmware.grim.formats.codes import Cause, MessageType
from firmware.grim.formats.endpoints import vnn_of
from firmware.grim.formats.header import CONTINUES

TRANSFERS = (MessageType.RM_V, MessageType.RM_P, MessageType.RM_RV)
"""Messages of a remote write."""


class Report(NamedTuple):
    """The arguments of `MessageType.ERROR_REPORT`, with their fields by name."""

    what: int
    """Type and place (16) | destination (16) of the message meant."""
    where: int
    """Its channels (16) | cause (16)."""
    first: int
    """Its first argument, unsigned."""
    span: int
    """Its last argument, unsigned."""

    @classmethod
    def of(cls, arguments: tuple[int, int, int, int]) -> Report:
        """From the arguments as a message has them, signed."""
        what, where, first, span = (argument & 0xFFFFFFFF for argument in arguments)
        return cls(what, where, first, span)

    @property
    def vnn(self) -> int:
        """The node that the message was for, or that has restarted."""
        return vnn_of(self.what)

    @property
    def channel(self) -> int:
        """The destination channel of the message."""
        return self.where >> 16 & 0xFF

    @property
    def cause(self) -> int:
        """A `Cause`, if it is one."""
        return self.where & 0xFFFF

    @property
    def restarted(self) -> bool:
        """Whether another NI has restarted."""
        return self.cause == Cause.RESTARTED

    @property
    def target(self) -> int:
        """The address where the transfer of the message begins; of no transfer its first argument."""
        later = self.what >> 26 in TRANSFERS and self.what & CONTINUES
        return self.first - self.span & 0xFFFFFFFF if later else self.first
