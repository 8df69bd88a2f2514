"""Reliability on the NIC: each frame that is in host memory is acknowledged; one that comes again only that.

A frame is known from when it comes, and acknowledged from when it is stored: what comes again between is dropped in
silence, since its acknowledgement is still to come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Kind

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(
    50, "each frame is acknowledged by the receiving NIC, and sent again until it is", header=1, peer=3, ordered=True
)
WORDS = 3
"""For each node: the last frame that came of it, the last of this host's that it has acknowledged, and the last of its
frames that is in host memory.
"""


class Side:
    """Of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["reliability"]
        self.duplicates = 0

    def _word(self, source: int) -> int:
        return int(self._program.place.of("reliability", source, WORDS))

    async def rx(self, frame: In) -> bool:
        """Whether it comes for the first time."""
        nic, source = self._program.nic, frame.row
        number = nic.load(frame.at + self._at)
        if nic.load(self._word(source)) == number:
            await nic.work("epos_duplicate")
            self.duplicates += 1
            if nic.load(self._word(source) + 8) == number:
                await self._program.sender.tell(source, Kind.ACK, number)
            return False
        nic.store(self._word(source), number)
        frame.count = number
        return True

    async def stored(self, frame: In) -> None:
        """It is in host memory: tell its sender."""
        self._program.nic.store(self._word(frame.row) + 8, frame.count)
        await self._program.sender.tell(frame.row, Kind.ACK, frame.count)

    async def control(self, source: int, kind: int, value: int) -> None:
        """A control frame."""
        if kind == Kind.ACK:
            self._program.nic.store(self._word(source) + 4, value)
