"""Reliability on the NIC: each frame stored in host memory is acknowledged; a duplicate is only acknowledged again.

A frame's number is recorded when it arrives, and the frame is acknowledged when it is stored. A duplicate in between is
dropped silently, because the acknowledgement will follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Kind

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(
    50, "each frame is acknowledged by the receiving NIC, and retransmitted until it is", header=1, peer=3, ordered=True
)
WORDS = 3
"""Words of each node: its last frame received, this host's last frame that it acknowledged, and its last frame stored
in host memory.
"""


class Side:
    """Reliability of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["reliability"]
        self.duplicates = 0

    def _word(self, source: int) -> int:
        return int(self._program.place.peer_address("reliability", source, WORDS))

    async def rx(self, frame: In) -> bool:
        """Return True for a frame that arrives for the first time; acknowledge a duplicate of a stored one."""
        nic, source = self._program.nic, frame.row
        number = nic.load(frame.at + self._at)
        if nic.load(self._word(source)) == number:
            await nic.work("epos_duplicate")
            self.duplicates += 1
            if nic.load(self._word(source) + 8) == number:
                await self._program.sender.send_control(source, Kind.ACK, number)
            return False
        nic.store(self._word(source), number)
        frame.count = number
        return True

    async def stored(self, frame: In) -> None:
        """Acknowledge a frame whose DMA to host memory has finished."""
        self._program.nic.store(self._word(frame.row) + 8, frame.count)
        await self._program.sender.send_control(frame.row, Kind.ACK, frame.count)

    async def control(self, source: int, kind: int, value: int) -> None:
        """Store the number of an acknowledged frame for the host."""
        if kind == Kind.ACK:
            self._program.nic.store(self._word(source) + 4, value)
