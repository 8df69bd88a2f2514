"""NIC firmware: sends the host's descriptors as packets and stores received packets in host memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from firmware.am.nic.layout import MOST, STRIDE, VALID, WORDS, Control, Place, Word, key, second
from firmware.am.options import Options
from firmware.common.nic import PacketPort, Service, serve
from firmware.verbs import Nic, PollLoop, Watch
from firmware.view import ClusterView
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

LAST = 4 * WORDS
"""Offset of the last word of a descriptor."""


@dataclass
class Outgoing:
    """Message taken from the descriptor ring and not sent yet."""

    words: tuple[int, ...]
    control: Control
    payload: bool
    """True while the payload has not been sent."""
    message: int
    """Number of the message in the trace."""

    @property
    def node(self) -> int:
        """Destination node."""
        return self.words[0] >> 24


class Program:
    """Firmware state for both directions, called back by the packet port."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort) -> None:
        self._nic, self._me, self._port = nic, view.me, port
        self._memory, self._place = nic.load(Word.MEMORY), Place(len(view.names))
        self._next = 0
        """Index of the next descriptor in the ring."""
        self._held = 0
        """Last word of a descriptor whose payload the port has no room for, or 0."""
        self._out: deque[Outgoing] = deque()
        """Messages taken and not sent yet."""
        self._taken = self._gone = self._came = 0
        """Numbers of messages taken, sent and received."""
        self._fetched = 0
        """Number of payloads fetched and not sent yet."""
        self._interrupts = Options.from_values(view.options).receive == "interrupt"
        nic.waits.register(self._wants)

    async def run(self) -> None:
        """Poll the packet port and the descriptor ring forever."""
        port: list[Service] = self._port.services(self)
        ring: Service = Watch(self._at, 0, "am_look_descriptor"), self._take_descriptor

        def before(loop: PollLoop) -> None:
            loop.aim(len(port), self._at)
            loop.expect(len(port), self._held)

        await serve(self._nic, [*port, ring], before)

    @property
    def _at(self) -> int:
        """Address of the last word of the next descriptor."""
        return Word.DESCRIPTORS + STRIDE * self._next + LAST

    # ---- sending

    async def _take_descriptor(self) -> None:
        """Take the next descriptor if the port has room for its payload."""
        nic, at = self._nic, self._at
        control = Control.decode(nic.load(at))
        if control.size and not self._port.room(control.size):
            await nic.work("am_hold")
            self._held = nic.load(at)
            return
        await nic.work("am_take")
        self._held = 0
        address, *words = nic.load_words(at - LAST, 1 + WORDS)
        nic.store(at, 0)
        self._next = (self._next + 1) % self._place.entries
        message = nic.message_at(at - LAST)
        nic.trace(TraceEvent.NIC_NOTICED, key(self._me, self._taken), message=message)
        self._taken += 1
        self._out.append(Outgoing(tuple(words), control, bool(control.size), message))
        if control.size:
            nic.trace(TraceEvent.NIC_DMA_START, key(self._me, self._taken - 1), control.size, message=message)
            await self._port.fetch(address, control.size, message)
        await self._launch()

    async def _launch(self) -> None:
        """Send the oldest message if the port is ready: first its payload, once fetched, then the message."""
        if not (self._out and self._port.ready()):
            return
        out, nic = self._out[0], self._nic
        if out.payload:
            if self._port.waits or self._fetched:
                await self._launch_payload(out)
            return
        await nic.work("am_launch")
        self._out.popleft()
        words = key(self._me, self._gone), second(out.control, False)
        self._gone += 1
        nic.trace(TraceEvent.NIC_SEND_START, words[0], LAST, message=out.message)
        inline = b"".join(word.to_bytes(4, "big") for word in out.words)
        await self._port.launch(out.node, words, LAST, inline, message=out.message)

    async def _launch_payload(self, out: Outgoing) -> None:
        await self._nic.work("am_launch_payload")
        out.payload = False
        self._fetched -= 1
        words = key(self._me, self._gone, payload=True), second(out.control, True)
        await self._port.launch(out.node, words, out.control.size, message=out.message)

    async def fetched(self) -> None:
        """Handle a fetched payload (called by the port)."""
        self._fetched += 1
        await self._launch()

    async def launched(self) -> None:
        """Send the next packet and retry a held descriptor (called by the port when it is ready)."""
        await self._launch()
        if self._held:
            await self._take_descriptor()

    # ---- receiving

    async def arrived(self) -> None:
        """Store a received packet in host memory; count and drop a damaged packet (called by the port)."""
        head, nic, port = self._port.head(), self._nic, self._port
        first, word = head.header
        if not head.good or not 0 < head.size <= MOST:
            await nic.work("am_bad")
            nic.store(Word.BAD, nic.load(Word.BAD) + 1 & 0xFFFFFFFF)
            await port.drop()
            return
        if word >> 28 & 1:
            await nic.work("am_payload")
            at = self._place.receive + Place.buffer(head.source, word >> 27 & 1, word >> 25 & 3)
            await port.deliver(self._memory + at, head.size)
            await port.drop()
            return
        nic.trace(TraceEvent.NIC_RECV_START, first, head.source, message=head.message)
        await nic.work("am_arrived")
        at = self._memory + self._place.queue + STRIDE * (self._came % self._place.entries)
        self._came += 1
        nic.trace(TraceEvent.NIC_ACCEPT, first, head.source, message=head.message)
        nic.trace(TraceEvent.NIC_DMA_START, first, head.size, 8, message=head.message)
        await port.deliver(at, head.size)
        await port.drop()
        await port.store(at + LAST, (first, VALID), head.message)

    async def stored(self) -> None:
        """Raise the interrupt, if enabled, for messages that are in host memory (called by the port).

        An earlier interrupt would be lost: a host that enables it and then polls would see neither interrupt nor
        message.
        """
        if not self._interrupts:
            return
        nic = self._nic
        await nic.work("am_stored")
        if nic.load(Word.INTERRUPT):
            await nic.work("am_interrupt")
            nic.store(Word.INTERRUPT, 0)
            await self._port.interrupt()

    # ---- reports

    def _wants(self) -> Iterator[Wait]:
        """Yield the waits of this NIC for a hang report."""
        if not self._port.ready():
            yield Wait(self._nic.who, Wanted("its outgoing packet to leave"))
