"""Flow control on the NIC: stores, for the host, the number of messages that each node reports as copied out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Kind

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(
    40, "a message is sent when its receiver has a staging slot for it (credits)", header=1, peer=1, ordered=True
)
NOTHING = 0xFFFFFFFF
"""Header word of a frame to several nodes."""


class Side:
    """Flow control of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["flow"]

    async def rx(self, frame: In) -> bool:
        """Process the credits in the header."""
        count = self._program.nic.load(frame.at + self._at)
        if count != NOTHING:
            await self.control(frame.row, Kind.CREDIT, count)
        return True

    async def control(self, source: int, kind: int, value: int) -> None:
        """Process a control frame with credits or a request for them."""
        if kind == Kind.CREDIT:
            self._program.nic.store(self._program.place.peer_address("flow", source, 1), value)
        elif kind == Kind.PROBE:
            await self._program.nic.work("epos_answer")
            count = self._program.nic.load(self._program.place.freed(source)) & 0xFFFF
            await self._program.sender.send_control(source, Kind.CREDIT, count)

    async def rung(self, node: int, count: int, probe: bool) -> None:
        """Send a credit of the host to a node without a frame, or a request for credits."""
        await self._program.nic.work("epos_credit")
        await self._program.sender.send_control(node, Kind.PROBE if probe else Kind.CREDIT, count)
