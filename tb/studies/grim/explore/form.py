"""Normal form of NIC states that have the same future behaviour.

Absolute positions do not affect the firmware. So rings are rotated to their first entry, and the armed receive buffer
becomes the first buffer if no other is in use. Memory that is written before it is read again is set to zero.
"""

from __future__ import annotations

from firmware.grim.nic.layout import CONTROL_ENTRY, L2E_CHAIN, Layout
from firmware.grim.nic.parts import Parts
from pymodels.machine.nic import ModelNic
from pymodels.registers import Block, Flag


def normalise(parts: Parts, nic: ModelNic, layout: Layout) -> None:
    """Normalise the state of a NIC; see `Play`."""
    begin_answers(parts, nic, layout)
    begin_chain(parts, nic, layout)
    begin_buffers(parts, nic, layout)
    begin_streams(parts)


def begin_streams(parts: Parts) -> None:
    """Move each stream's cursor to its oldest waiting message, which the firmware finds from any earlier position.

    The cursor of a stream without waiting messages is cleared, because the next waiting message sets it.
    """
    streams = parts.outgoing.streams
    for stream, waits in enumerate(streams.waiting):
        streams.cursor[stream] = _oldest(parts, stream) if waits else 0


def _oldest(parts: Parts, stream: int) -> int:
    """Return the position of a stream's oldest waiting message, or the cursor if the firmware finds none."""
    order, streams = parts.outgoing.order, parts.outgoing.streams
    try:
        channel, slot, _ = streams.next_waiting(stream)
    except LookupError:
        return streams.cursor[stream]
    return order.place(channel, slot)


def begin_answers(parts: Parts, nic: ModelNic, layout: Layout) -> None:
    """Rotate the ring of answers so that the leaving, otherwise the next answer is in its first entry."""
    out, size = parts.transmitter, CONTROL_ENTRY * layout.control_entries
    at = out._leaving_at - layout.control
    leaves = out.busy and 0 <= at < size
    first = at if leaves else CONTROL_ENTRY * out._head
    ring = nic.sram.read(layout.control, size)
    used = (ring[first:] + ring[:first])[: CONTROL_ENTRY * (out.waiting + leaves)]
    nic.sram.write(layout.control, used.ljust(size, b"\0"))
    out._head = int(leaves)
    if leaves:
        out._leaving_at -= first
        nic.send.pointer -= first
        nic.send.limit -= first
    elif not out.busy:
        out._leaving_at, out.leaving = 0, (0, 0)
        nic.send.pointer = nic.send.limit = 0


def begin_chain(parts: Parts, nic: ModelNic, layout: Layout) -> None:
    """Rotate an empty DMA chain to the host to its first block."""
    ring, dma = parts.delivery, nic.dma
    if ring._tail != ring._done or not ring._tail or dma.busy or any(dma.running):
        return
    ring._tail = ring._done = 0
    ring._entries = [(0, 0, 0)] * ring._count
    dma.lists[L2E_CHAIN], dma.progress[L2E_CHAIN], dma._job = layout.blocks, 0, (0, 0, 0, 0, 0)
    nic.sram.write(layout.pointers, bytes(8 * layout.blocks_count))
    for index in range(layout.blocks_count):
        following = layout.blocks + Block.SIZE * ((index + 1) % layout.blocks_count)
        word = (following | Flag.TERMINAL).to_bytes(4, "big")
        nic.sram.write(layout.blocks + Block.SIZE * index, word.ljust(Block.SIZE, b"\0"))


def begin_buffers(parts: Parts, nic: ModelNic, layout: Layout) -> None:
    """Exchange the receive buffers if all are free and the armed one is not the first; clear the unused ones."""
    buffers, receive = parts.buffers, nic.receive
    if buffers.armed > 0 and all(buffers.free):
        first, armed = layout.buffers[0], layout.buffers[buffers.armed]
        nic.sram.write(first, nic.sram.read(armed, layout.buffer_bytes))
        for register in ("pointer", "limit", "_end", "_fill"):
            setattr(receive, register, getattr(receive, register) - armed + first)
        buffers.armed = 0
    for number, free in enumerate(buffers.free):
        if free and number != buffers.armed:
            nic.sram.write(layout.buffers[number], bytes(layout.buffer_bytes))
