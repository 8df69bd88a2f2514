"""Protection on the NIC: each process of a host has its own rings, queues and staging, and reaches no other's.

A process is given whole pages of the NIC's memory: its Send Ring, its Tx DMA Requests, its words; and one page of the
doorbell region, by whose number the NIC knows who has rung. What it writes there it can also write wrong:

- what it asks the DMA for is copied into the NIC's own chain, if it lies in the memory that the driver has pinned for
  it, and comes to its own Send Ring;
- the header of a frame is copied out of its pages, looked at, and leaves from there, so that it cannot be changed in
  between: the source is who has rung, and it says whom the frame is for;
- a doorbell for a frame that waits already is passed over, so that its ring bounds what it has waiting; held frames
  beyond its part of the Receive Ring are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import DATA, ROUTE, Told, Word
from pymodels.registers import Block, Flag, Reg
from pymodels.trace import TraceEvent

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In
    from firmware.epos.nic.sending import Out

PROTOCOL = Protocol(70, "a process reaches no ring, queue or memory of another one", header=1)
HIGH = 1 << 31
"""Of the third word of a header: no frame has it."""


class Side:
    """Of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, place = program, program.place
        self._word = place.words["protection"]
        self._pinned = [program.nic.load_words(place.owner(process)[2], 2) for process in range(place.processes)]
        self._asked = [0] * place.processes
        """Of each process: its requests that were taken."""
        self._tail = 0
        """The next block of the NIC's chain."""
        self._share = max(1, (place.options.receive_frames - 1) // place.processes)
        """Frames of a process that may wait in the Receive Ring."""

    def owns(self, process: int, address: int, size: int) -> bool:
        """Whether bytes of host memory are a process's."""
        begin, room = self._pinned[process]
        return bool(begin <= address and address + size <= begin + room)

    async def bell(self, process: int, bell: int) -> bool:
        """Whether there is such a process, and its frame does not wait already: that one is sent as it stands then."""
        place, sender, slot = self._program.place, self._program.sender, bell >> 16 & 127
        if process >= place.processes:
            return False
        if slot < place.options.send_frames and sender.waiting(place.slot(slot, process)):
            sender.done_with(process)
            return False
        return True

    async def fetch(self, out: Out) -> bool:
        """A process's request becomes a block of the NIC's chain, if it may ask for that."""
        nic, place = self._program.nic, self._program.place
        count, size = place.options.send_frames, out.size - place.header_bytes
        at = place.requests + place.stride * out.process + Block.SIZE * (self._asked[out.process] % count)
        self._asked[out.process] += 1
        high, address = nic.load_words(at + Block.EAH, 2)
        if high or not size or not self.owns(out.process, address, size):
            await nic.work("epos_forged")
            return False
        block, self._tail = place.tx_blocks + Block.SIZE * self._tail, (self._tail + 1) % place.tx_count
        following = place.tx_blocks + Block.SIZE * self._tail
        nic.store_words(block + Block.CSUM, (0, size, out.at + place.header_bytes, 0, address))
        nic.store(block, following | int(Flag.WAKE | Flag.E2L))
        return True

    async def tx(self, out: Out) -> bool:
        """The header leaves from the NIC's own memory, and then the rest from the Send Ring."""
        nic, place, sender = self._program.nic, self._program.place, self._program.sender
        header = [*nic.load_words(out.at, place.header + place.header % 2)]
        if not self._fair(out, header):
            await nic.work("epos_forged")
            await sender.refuse(out)
            return False
        header[self._word] = out.node % place.processes
        high, low, begin, skip = sender.route(out.node)
        nic.store_words(place.head - ROUTE, (high, low, *header))
        nic.trace(TraceEvent.NIC_SEND_START, header[0], out.size)
        nic.write(Reg.SMP, place.head - ROUTE + begin)
        nic.write(Reg.SA, skip)
        end = -(-out.size // nic.word_bytes) * nic.word_bytes
        if end <= 4 * len(header):
            nic.write(Reg.SMLT, place.head + end)
        else:
            out.rest = out.at + 4 * len(header), out.at + end
            nic.write(Reg.SML, place.head + 4 * len(header))
        return False

    def _fair(self, out: Out, header: list[int]) -> bool:
        """Whether a header says who sends it, in this composition, and how much there is."""
        nic, place, told = self._program.nic, self._program.place, Told.of(header[2])
        named = header[0] >> 16 == DATA << 8 | nic.node and header[1] >> 24 == place.identity
        mine = told.source == nic.node * place.processes + out.process
        return bool(named and mine and not header[2] & HIGH and told.size == out.size - place.header_bytes)

    def row(self, frame: In) -> int:
        """The process that a frame is for, and its source."""
        place = self._program.place
        process = self._program.nic.load(frame.at + 4 * self._word) % place.processes
        return int(process * place.peers + frame.told.source % place.peers)

    async def rx(self, frame: In) -> bool:
        """Whether a frame that has to wait may: no process fills the Receive Ring."""
        nic = self._program.nic
        held = self._program.receiver.held[frame.row // self._program.place.peers]
        if not frame.waits or len(held) < self._share:
            return True
        await nic.work("epos_full")
        nic.store(Word.REFUSED, nic.load(Word.REFUSED) + 1)
        return False
