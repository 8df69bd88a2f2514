"""The receiving half: packets from the link, their order, their place in the endpoint's queue in host memory.

Two buffers: while the packet in one is looked at and carried to the host, the other is armed. A message is accepted
when its sequence number is the expected one of its stream and the endpoint's queue has room; the first that finds no
room is answered by a NACK, and everything of its stream is dropped silently until it returns (paper 000, 4.2.1;
readings B5). The host DMA of a long message begins while it still arrives; the queue's back pointer moves only when
all of it is there and its CRC is good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.nic.grim.buffering import Buffering
from firmware.nic.grim.cards import NO_CARD
from firmware.nic.grim.costs_of import RECEIVE_PATHS
from firmware.nic.grim.cutting import CutThrough
from firmware.nic.grim.delivery import NO_BUFFER, OWN, REPORT, Delivery
from firmware.nic.grim.endpoints import Endpoints
from firmware.nic.grim.layout import NONE, Counter
from firmware.nic.grim.ni import Ni
from firmware.nic.grim.reports import Reports
from firmware.nic.grim.sending import Sender
from firmware.nic.grim.verdicts import Verdicts
from pymodels.formats.grim import (
    CONTROL_BYTES,
    COUNTER_MASK,
    FIRST_CONTROL,
    GRIM_ID,
    HEADER_BYTES,
    MAX_WINDOW,
    TAG,
    TREES,
    Cause,
    Device,
    Lack,
    MessageType,
    padded,
)
from pymodels.registers import Isr, Reg
from pymodels.trace import TraceEvent

if TYPE_CHECKING:
    from firmware.nic.grim.multicast import Multicast
    from firmware.nic.grim.remote import Remote

RECV = 1 << Isr.RECV | 1 << Isr.HEAD
BUFF = 1 << Isr.BUFF


class Receiver(Verdicts):
    """Receive buffers and endpoint queues; the rest is in Verdicts."""

    def __init__(self, ni: Ni, sender: Sender, delivery: Delivery) -> None:
        super().__init__(ni, sender)
        self.delivery = delivery
        channels = ni.options.channels
        self.endpoints = Endpoints(ni)
        self.stalled = NONE
        """The stream of a remote memory message that waits for a translation: nothing of it may overtake."""
        self.remote: Remote
        self.multicast: Multicast
        self._ends = [ni.me << 8] * channels
        """The endpoint of each channel."""
        if ni.card_channel != NO_CARD:
            self._ends[ni.card_channel] |= Device.CELOXICA
        self.armed = NONE
        self.free = [True] * len(ni.layout.buffers)
        self.buffering = Buffering(ni, self, delivery) if ni.options.buffering == "both" else None
        self.cut_through = CutThrough(ni, self, delivery)
        self.reports = Reports(ni, sender, self.endpoints, delivery)
        self._overlong = False

    def start(self) -> None:
        """Take over the endpoint queues that the host has registered, and arm."""
        self.endpoints.start()
        self._arm(0)

    def _arm(self, buffer: int) -> None:
        at = self.layout.buffers[buffer]
        self.cut_through.arm(buffer)
        self.nic.write(Reg.RMP, at)
        self.nic.write(Reg.RML, at + self.layout.buffer_bytes)
        self.armed = buffer

    async def packet(self) -> tuple[int, int] | None:
        """RECV: a packet is complete. Arm the other buffer, then deal with it. A control message is returned: its two
        words.
        """
        nic, buffer = self.nic, self.armed
        nic.write(Reg.ISR, RECV)
        at = self.layout.buffers[buffer]
        w0, w1, w2, w3 = nic.load_words(at, 4)
        is_control = w1 >> 26 >= FIRST_CONTROL
        length = CONTROL_BYTES if is_control else HEADER_BYTES + padded(w2 >> 16)
        # A control message has one length; a data message must have the one that its header says. RMP is behind the
        # word with the syndrome.
        good = (is_control and not self._lossy) or await nic.read(Reg.RMP) == at + length + nic.word_bytes
        early, overlong, self._overlong = self.cut_through.take(), self._overlong, False
        self.free[buffer] = False
        other = 1 - buffer if self.buffering is None else self._any_free()
        if self.free[other]:
            self._arm(other)
        else:
            self.armed = NONE
            self.ni.count(Counter.STARVED)
        nic.trace(TraceEvent.NIC_RECV_START, w0, w1 >> 8 & 0xFF)
        if overlong or not good or length > self.layout.host_slot or w0 >> 16 != GRIM_ID or nic.load(at + length) >> 24:
            await self._bad(buffer, w0, overlong)
        elif self._lossy and await self._foreign(w1):
            self.ni.count(Counter.FOREIGN)
            nic.trace(TraceEvent.NIC_DROPPED, w0, Counter.FOREIGN)
            self.release(buffer)
        elif is_control:
            self.release(buffer)
            return w0, w1
        else:
            await self._message(buffer, (w0, w1, w2, w3), length, early)
        return None

    async def _foreign(self, w1: int) -> bool:
        """Whether a packet is of no connection that there is. Notices and their answers need none."""
        await self.nic.work("connection_look")
        source = w1 >> 8 & 0xFF
        return w1 >> 26 < MessageType.SYNC and (source >= self.ni.nodes or w1 & TAG != self.ni.tags[source])

    async def _bad(self, buffer: int, key: int, overlong: bool) -> None:
        """A packet that must not be believed: counted, never answered."""
        self.ni.count(Counter.OVERLONG if overlong else Counter.BAD_CRC)
        self.nic.trace(TraceEvent.NIC_DROPPED, key, Counter.BAD_CRC)
        await self.nic.work("receive_bad")
        self.release(buffer)

    async def _message(self, buffer: int, words: tuple[int, int, int, int], length: int, early: int) -> None:
        w0, w1, w2, w3 = words
        channel, source = w3 >> 16 & 0xFF, w1 >> 8 & 0xFF
        stream = self.stream(w1, w3)
        if stream == NONE:
            await self._strange(buffer, w0)
        elif w0 & COUNTER_MASK != self.expected[stream]:
            if self._lossy and w0 - self.expected[stream] & COUNTER_MASK > MAX_WINDOW and stream != self.stalled:
                await self._again(buffer, words, stream)
            else:
                await self._out_of_order(buffer, w0, stream)
        elif stream == self.stalled:
            await self.refuse(buffer, w0, source, stream, Lack.TRANSLATION)
        elif w1 >> 26 in TREES:
            await self.multicast.arrived(buffer, words, stream)
        elif w2 & 0xFFFF == self._ends[channel] and MessageType.ACTIVE <= w1 >> 26 <= MessageType.ERROR_REPORT:
            if self.buffering is not None and channel != self.ni.card_channel:
                await self.buffering.take(buffer, w0, source, stream, channel, length, early)
            elif self.endpoints.room(channel, length):
                await self.accept(buffer, w0, source, stream, channel, length, early)
            else:
                await self.refuse(buffer, w0, source, stream)
        elif w2 & 0xFFFF == self.ni.me << 8 and MessageType.RM_V <= w1 >> 26 <= MessageType.RM_REPLY:
            await self.remote.arrived(buffer, (w0, w1, w2, w3), stream)
        else:
            cause = Cause.UNKNOWN_TYPE if w2 & 0xFFFF == self.ni.me << 8 else Cause.UNKNOWN_ENDPOINT
            await self.impossible(buffer, w0, source, stream, cause)

    def stream(self, w1: int, w3: int) -> int:
        """Number of the stream that a header names, or NONE if this NI does not have it."""
        origin, source, target, nodes = w3 >> 24, w1 >> 8 & 0xFF, w3 >> 16 & 0xFF, self.ni.nodes
        targets = self.layout.targets if w1 >> 26 >= MessageType.MULTICAST else self.ni.options.channels
        itself = source == self.ni.me and not self.ni.to_itself
        if origin >= self.layout.sources or target >= targets or source >= nodes or itself:
            return NONE
        if self._per_ni:
            return source + nodes * self.layout.lane(origin)
        return (origin * nodes + source) * self.layout.targets + target

    def _any_free(self) -> int:
        """A free receive buffer, those that the loop watches first; when none is, the present one."""
        return self.free.index(True) if True in self.free else self.armed

    async def accept(
        self, buffer: int, key: int, source: int, stream: int, channel: int, length: int, early: int
    ) -> None:
        """A message that the endpoint's queue has room for: bring it there, and acknowledge it."""
        self.take(key, source, stream)
        await self.nic.work(RECEIVE_PATHS[self._per_ni])
        if channel == self.ni.card_channel and self._lossy:  # a card answers to the source as it stands
            self.nic.store(self.layout.buffers[buffer] + 4, self.nic.load(self.layout.buffers[buffer] + 4) & ~TAG)
            await self.nic.work("connection_tag")
        place, pointer, after = await self.endpoints.append(channel, length)
        if early < length:
            at = self.layout.buffers[buffer]
            self.delivery.data(at + early, place + early, length - early, False, (NO_BUFFER, key, length))
        self.delivery.word(after, pointer, (buffer, key, length))
        await self.delivery.start()
        self.nic.trace(TraceEvent.NIC_DMA_START, key, length - early, 4)
        await self.acknowledge(key, source, stream)

    def release(self, buffer: int) -> None:
        """A buffer is free again; armed at once if none is."""
        self.free[buffer] = True
        if self.armed == NONE:
            self._arm(buffer)

    async def dma_done(self) -> None:
        """WAKE: blocks of the host DMA are finished; their buffers are free."""
        await self.nic.work("dma_done")
        blocks = reports = 0
        while (entry := self.delivery.finished()) is not None:
            buffer, key, size = entry
            blocks += 1
            if buffer == REPORT:
                reports += 1
            elif buffer >= 0:
                self.nic.trace(TraceEvent.NIC_DMA_DONE, key, size)
                self.release(buffer)
            if buffer <= OWN:
                await self.multicast.ended(buffer)
            elif self.remote.under_way:
                await self.remote.ended(buffer, key, size)
        if blocks > 2:  # the path has the two of a message
            await self.nic.work("dma_done", (blocks - 1) // 2)
        if reports:
            await self.reports.brought(reports)
        if self.buffering is not None:
            await self.buffering.drained()
        await self.cut_through.more()

    async def overrun(self) -> None:
        """BUFF: a packet longer than any message. Let it run over the buffer until its tail, and drop it."""
        self.nic.write(Reg.ISR, BUFF)
        self._overlong = True
        await self.nic.work("receive_overlong")
        at = self.layout.buffers[self.armed]
        self.nic.write(Reg.RMP, at)
        self.nic.write(Reg.RML, at + self.layout.buffer_bytes)
