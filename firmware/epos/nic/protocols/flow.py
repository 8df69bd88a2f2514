"""Flow control on the NIC: what a node has copied out, as its frames and control frames say, is kept for the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Kind

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(
    40, "a message is sent when its receiver has a staging slot for it: credits", header=1, peer=1, ordered=True
)
NOTHING = 0xFFFFFFFF
"""In the header of a frame to several nodes."""


class Side:
    """Of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["flow"]

    async def rx(self, frame: In) -> bool:
        """The word of the header."""
        count = self._program.nic.load(frame.at + self._at)
        if count != NOTHING:
            await self.control(frame.row, Kind.CREDIT, count)
        return True

    async def control(self, source: int, kind: int, value: int) -> None:
        """A control frame."""
        if kind == Kind.CREDIT:
            self._program.nic.store(self._program.place.of("flow", source, 1), value)
        elif kind == Kind.PROBE:
            await self._program.nic.work("epos_answer")
            count = self._program.nic.load(self._program.place.freed(source)) & 0xFFFF
            await self._program.sender.tell(source, Kind.CREDIT, count)

    async def rung(self, node: int, count: int, probe: bool) -> None:
        """The host has a credit for a node, and no frame to it; or it asks for one."""
        await self._program.nic.work("epos_credit")
        await self._program.sender.tell(node, Kind.PROBE if probe else Kind.CREDIT, count)
