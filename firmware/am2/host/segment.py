"""Segment of an endpoint: memory of its process that bulk data are written to and read from."""

from __future__ import annotations

from firmware.am2.host.errors import Am2Error
from firmware.am2.host.message import EndpointName, Token
from firmware.am2.nic.words import Code
from pymodels.host.faults import ProtectionFault
from pymodels.host.process import Process

MOST = (1 << 32) - 1
"""Maximum segment size in bytes: offsets are words."""


class Segment:
    """Segment of one endpoint, empty until the program sets it."""

    def __init__(self, who: str, process: Process) -> None:
        self._who, self._process = who, process
        self.va = self.size = 0
        self._begun: dict[tuple[EndpointName, int], int] = {}
        """Offset of the first piece, by sender and transfer."""

    def set(self, va: int, size: int) -> None:
        """Set the memory. Raises Am2Error."""
        what = f"{self._who}: a segment at {va!r} of {size!r} bytes"
        if type(va) is not int or type(size) is not int or not 0 <= size <= MOST:
            raise Am2Error(what, "invalid range", f"give an address, and 0 to {MOST} bytes", Code.BAD_LENGTH)
        try:
            self._process.pieces(va, size, write=True)
        except ProtectionFault as fault:
            raise Am2Error(what, str(fault), "give memory of the process", Code.BAD_SEGMENT_OFFSET) from None
        self.va, self.size = va, size

    def flaw(self, offset: int, size: int) -> Code:
        """Return the error code of a range: BAD_SEGMENT_OFFSET outside, BAD_LENGTH beyond the end, or OK."""
        if offset > self.size:
            return Code.BAD_SEGMENT_OFFSET
        return Code.BAD_LENGTH if offset + size > self.size else Code.OK

    async def take(self, offset: int, va: int, size: int) -> None:
        """Copy bytes from a staging block to their place by the CPU."""
        if size:
            await self._process.copy_memory("am2_copy", self.va + offset, va, size)

    # ---- data that come in pieces

    def begins(self, token: Token) -> None:
        """Record the first piece of a transfer."""
        self._begun[token.source, token.head.transfer] = token.offset

    def begin(self, token: Token) -> int | None:
        """Return the offset of all data of a last piece, or None if no transfer has begun at or before it."""
        number = token.head.transfer
        begin = self._begun.get((token.source, number)) if number else token.offset
        return begin if begin is not None and begin <= token.offset else None

    def ended(self, token: Token) -> None:
        """Make the token of the last piece refer to all data."""
        begin = self.begin(token)
        assert begin is not None
        self._begun.pop((token.source, token.head.transfer), None)
        token.size += token.offset - begin
        token.offset, token.va = begin, self.va + begin

    def bytes(self, offset: int, size: int) -> bytes:
        """Return bytes of the segment."""
        return self._process.load_bytes(self.va + offset, size) if size else b""
