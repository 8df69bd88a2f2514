"""MTU adaptation on the NIC: how a node cuts its frames tells where they belong in their message.

For each node two words, MTUs as powers of two: that of its frames, and the last of this host's that it knows.
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
    """Of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program = program
        place = program.place
        for row in range(place.peers * place.processes):
            program.nic.store(self._word(row), place.options.mtu.bit_length() - 1)

    def _word(self, node: int) -> int:
        return int(self._program.place.of("mtu", node, WORDS))

    def offset(self, frame: In) -> int:
        """Of a frame in its message."""
        shift: int = self._program.nic.load(self._word(frame.row))
        return (frame.number & INDEX) << shift

    async def rung(self, node: int, shift: int, bit: bool) -> None:
        """The host cuts its frames so from now on."""
        await self._program.nic.work("epos_tell_mtu")
        await self._program.sender.tell(node, Kind.MTU, shift)

    async def control(self, source: int, kind: int, value: int) -> None:
        """A control frame."""
        nic = self._program.nic
        if kind == Kind.MTU:
            await nic.work("epos_seen_mtu")
            nic.store(self._word(source), value)
            await self._program.sender.tell(source, Kind.MTU_SEEN, value)
        elif kind == Kind.MTU_SEEN:
            await nic.work("epos_known_mtu")
            nic.store(self._word(source) + 4, value)
