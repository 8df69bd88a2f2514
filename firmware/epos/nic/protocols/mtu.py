"""MTU adaptation on the NIC: a node's MTU gives the position of its frames in their message.

Each node has two words with MTUs as powers of two: the MTU of its frames, and the last MTU of this host that it knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import INDEX, Kind

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(30, "a host may lower the MTU of its frames while it runs", peer=2, ordered=True)
WORDS = 2


class Side:
    """MTU adaptation of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program = program
        place = program.place
        for row in range(place.peers * place.processes):
            program.nic.store(self._word(row), place.options.mtu.bit_length() - 1)

    def _word(self, node: int) -> int:
        return int(self._program.place.peer_address("mtu", node, WORDS))

    def offset(self, frame: In) -> int:
        """Return the offset of a frame in its message."""
        shift: int = self._program.nic.load(self._word(frame.row))
        return (frame.number & INDEX) << shift

    async def rung(self, node: int, shift: int, bit: bool) -> None:
        """Send the host's new MTU to a node."""
        await self._program.nic.work("epos_tell_mtu")
        await self._program.sender.send_control(node, Kind.MTU, shift)

    async def control(self, source: int, kind: int, value: int) -> None:
        """Process a control frame with an MTU or its confirmation."""
        nic = self._program.nic
        if kind == Kind.MTU:
            await nic.work("epos_seen_mtu")
            nic.store(self._word(source), value)
            await self._program.sender.send_control(source, Kind.MTU_SEEN, value)
        elif kind == Kind.MTU_SEEN:
            await nic.work("epos_known_mtu")
            nic.store(self._word(source) + 4, value)
