"""Rendezvous on the NIC: a buffer that the host has posted for a node is granted to it, and its frames go there.

For each node: what the host has posted (number and bytes), what that node has granted to this host, and the number that
it asks for; then the pages of the posted buffer. Numbers run from 1 to 2047 and again, the same on both sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import Kind, Word

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In

PROTOCOL = Protocol(
    20, "long messages go straight into a buffer that the receiver has posted", header=1, peer=3, pages=True
)
POSTED, GRANTED, ASKED, PAGES = range(4)
"""Words of a node."""
BYTES = 21
"""Bits of the bytes in a word of POSTED and GRANTED; the number is above."""
NUMBERS = 2047


class Side:
    """Of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, self._at = program, 4 * program.place.words["rendezvous"]
        self._mtu = program.place.options.mtu

    def _word(self, node: int, which: int) -> int:
        """Address of a word of a node."""
        place = self._program.place
        return int(place.of("rendezvous", node, PAGES + place.pages)) + 4 * which

    async def rx(self, frame: In) -> bool:
        """A frame of a message that was granted goes to its page; one beyond the posted buffer nowhere."""
        nic = self._program.nic
        if not nic.load(frame.at + self._at):
            return True
        await nic.work("epos_direct")
        page, inside = divmod(frame.offset, self._mtu)
        there = nic.load(self._word(frame.row, PAGES + page)) if page < self._program.place.pages else 0
        if there and not self._program.allows(frame.row, there + inside, frame.told.size):
            there = 0
        frame.address = there + inside
        if not there:
            nic.store(Word.REFUSED, nic.load(Word.REFUSED) + 1)
        return bool(there)

    async def rung(self, node: int, number: int, posted: bool) -> None:
        """The host asks a node for a buffer; or it has posted one for it."""
        nic = self._program.nic
        if not posted:
            await nic.work("epos_ask")
            await self._program.sender.tell(node, Kind.ASK, number)
            return
        await nic.work("epos_posted")
        if nic.load(self._word(node, ASKED)) == nic.load(self._word(node, POSTED)) >> BYTES:
            await self._grant(node)

    async def _grant(self, node: int) -> None:
        """What is posted for a node is for its message."""
        await self._program.nic.work("epos_grant")
        await self._program.sender.tell(node, Kind.GRANT, self._program.nic.load(self._word(node, POSTED)))

    async def control(self, source: int, kind: int, value: int) -> None:
        """A control frame."""
        nic = self._program.nic
        if kind == Kind.GRANT:
            await nic.work("epos_granted_in")
            nic.store(self._word(source, GRANTED), value)
        elif kind == Kind.ASK:
            await nic.work("epos_asked")
            nic.store(self._word(source, ASKED), value)
            if nic.load(self._word(source, POSTED)) >> BYTES == value:
                await self._grant(source)
