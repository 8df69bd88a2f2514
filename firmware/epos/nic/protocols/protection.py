"""Protection on the NIC: each process of a host has its own rings, queues and staging, and cannot access those of
others.

A process is given whole pages of the NIC's memory with its Send Ring, its Tx DMA Requests and its words. It also gets
one page of the doorbell region, whose number identifies the process to the NIC. A process may write anything to its
pages, so the NIC checks all of it:

- A DMA request is copied into the NIC's own chain, if its source is in the memory that the driver has pinned for the
  process, and its target is the process's own Send Ring.
- The header of a frame is copied out of the pages, checked, and sent from there, so that it cannot change in between.
  Its source is the process that has rung. The header also names the destination process.
- A doorbell for a frame that already waits is ignored, so that the ring bounds the number of waiting frames.
- Held frames beyond the process's share of the Receive Ring are rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firmware.epos.nic.protocols import Protocol
from firmware.epos.nic.words import DATA, ROUTE, FrameInfo, Word
from pymodels.registers import Block, Flag, Reg
from pymodels.trace import TraceEvent

if TYPE_CHECKING:
    from firmware.epos.nic.receiving import In
    from firmware.epos.nic.sending import Out

PROTOCOL = Protocol(70, "a process cannot access rings, queues or memory of another one", header=1)
HIGH = 1 << 31
"""Bit of a header's third word that no valid frame has."""


class Side:
    """Protection of one NIC."""

    def __init__(self, program: Any) -> None:
        self._program, place = program, program.place
        self._word = place.words["protection"]
        self._pinned = [program.nic.load_words(place.owner(process)[2], 2) for process in range(place.processes)]
        self._asked = [0] * place.processes
        """Number of DMA requests taken from each process."""
        self._tail = 0
        """Next block of the NIC's chain."""
        self._share = max(1, (place.options.receive_frames - 1) // place.processes)
        """Maximum number of a process's frames that wait in the Receive Ring."""

    def owns(self, process: int, address: int, size: int) -> bool:
        """Return True if a range of host memory belongs to a process."""
        begin, room = self._pinned[process]
        return bool(begin <= address and address + size <= begin + room)

    async def bell(self, process: int, bell: int) -> bool:
        """Return True for a doorbell of a known process whose frame does not already wait."""
        place, sender, slot = self._program.place, self._program.sender, bell >> 16 & 127
        if process >= place.processes:
            return False
        if slot < place.options.send_frames and sender.waiting(place.slot(slot, process)):
            sender.done_with(process)
            return False
        return True

    async def fetch(self, out: Out) -> bool:
        """Copy a valid DMA request of a process into the NIC's chain. Return False for an invalid one."""
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
        """Send the header from the NIC's own memory, and then the rest from the Send Ring."""
        nic, place, sender = self._program.nic, self._program.place, self._program.sender
        header = [*nic.load_words(out.at, place.header + place.header % 2)]
        if not self._fair(out, header):
            await nic.work("epos_forged")
            await sender.refuse(out)
            return False
        header[self._word] = out.node % place.processes
        high, low, begin, skip = sender.route(out.node)
        nic.store_words(place.head - ROUTE, (high, low, *header))
        message = nic.message_at(out.at)
        nic.put_message(place.head - ROUTE + begin + skip, message)
        nic.trace(TraceEvent.NIC_SEND_START, header[0], out.size, message=message)
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
        """Return True if a header has the sender's address, this composition, and the right size."""
        nic, place, info = self._program.nic, self._program.place, FrameInfo.decode(header[2])
        named = header[0] >> 16 == DATA << 8 | nic.node and header[1] >> 24 == place.identity
        mine = info.source == nic.node * place.processes + out.process
        return bool(named and mine and not header[2] & HIGH and info.size == out.size - place.header_bytes)

    def row(self, frame: In) -> int:
        """Return the row of a frame's destination process and its source."""
        place = self._program.place
        process = self._program.nic.load(frame.at + 4 * self._word) % place.processes
        return int(process * place.peers + frame.info.source % place.peers)

    async def rx(self, frame: In) -> bool:
        """Return True if a frame may be held, so that no process fills the Receive Ring."""
        nic = self._program.nic
        held = self._program.receiver.held[frame.row // self._program.place.peers]
        if not frame.waits or len(held) < self._share:
            return True
        await nic.work("epos_full")
        nic.store(Word.REFUSED, nic.load(Word.REFUSED) + 1)
        return False
