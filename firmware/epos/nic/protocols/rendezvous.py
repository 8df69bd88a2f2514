"""Rendezvous on the NIC: a buffer that the host has posted is granted to a node, whose frames then go directly into it.

For each node there are words for the buffer that the host has posted: number, bytes and pages. Further words are the
buffer that the node has granted to this host, and the buffer number that the node requests. Numbers run from 1 to 2047
and wrap, the same on both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Kind, Word

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(
    20, "long messages go directly into a buffer that the receiver has posted", header=1, peer=3, pages=True
)
POSTED, GRANTED, ASKED, PAGES = range(4)
"""Indices of a node's words."""
BYTES = 21
"""Number of bits for the bytes in a word of POSTED and GRANTED; the buffer number is above them."""
NUMBERS = 2047


class Side:
    """Rendezvous of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["rendezvous"]
        self._mtu = program.place.options.mtu

    def _word(self, node: int, which: int) -> int:
        """Return the address of a node's word."""
        place = self._program.place
        return int(place.peer_address("rendezvous", node, PAGES + place.pages)) + 4 * which

    async def rx(self, frame: In) -> bool:
        """Set the target page of a frame in a granted buffer. Return False for a frame beyond the buffer."""
        nic = self._program.nic
        if not nic.load(frame.at + self._at):
            return True
        await nic.work("epos_direct")
        page, inside = divmod(frame.offset, self._mtu)
        there = nic.load(self._word(frame.row, PAGES + page)) if page < self._program.place.pages else 0
        if there and not self._program.allows(frame.row, there + inside, frame.info.size):
            there = 0
        frame.address = there + inside
        if not there:
            nic.store(Word.REFUSED, nic.load(Word.REFUSED) + 1)
        return bool(there)

    async def rung(self, node: int, number: int, posted: bool) -> None:
        """Request a buffer from a node, or grant the buffer that the host has posted for it."""
        nic = self._program.nic
        if not posted:
            await nic.work("epos_ask")
            await self._program.sender.send_control(node, Kind.ASK, number)
            return
        await nic.work("epos_posted")
        if nic.load(self._word(node, ASKED)) == nic.load(self._word(node, POSTED)) >> BYTES:
            await self._grant(node)

    async def _grant(self, node: int) -> None:
        """Grant the posted buffer to a node."""
        await self._program.nic.work("epos_grant")
        await self._program.sender.send_control(node, Kind.GRANT, self._program.nic.load(self._word(node, POSTED)))

    async def control(self, source: int, kind: int, value: int) -> None:
        """Process a control frame with a grant or a request."""
        nic = self._program.nic
        if kind == Kind.GRANT:
            await nic.work("epos_granted_in")
            nic.store(self._word(source, GRANTED), value)
        elif kind == Kind.ASK:
            await nic.work("epos_asked")
            nic.store(self._word(source, ASKED), value)
            if nic.load(self._word(source, POSTED)) >> BYTES == value:
                await self._grant(source)
