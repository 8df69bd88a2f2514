"""NIC firmware: moves frames by address and size, without interpreting their contents."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from firmware.common.nic import PacketPort, Service, serve
from firmware.udp.nic.layout import IP_LEAST, MOST, ORDERS, SLOTS, Order, Word, came, header
from firmware.verbs import Nic, PollLoop, Watch
from firmware.view import ClusterView
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted


class Program:
    """Firmware state of both rings, called back by the packet port."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort) -> None:
        self._nic, self._me, self._port = nic, view.me, port
        self._ring = nic.load(Word.CAME)
        self._held = 0
        """Second word of an order that the port has no room for, or 0."""
        self._frames: deque[tuple[Order, int]] = deque()
        """Orders taken and not launched yet, each with the number of its message."""
        self._taken = self._launched = self._read = self._came = 0
        """Numbers of orders taken, launched and read, and of frames stored."""
        nic.waits.register(self._wants)

    async def run(self) -> None:
        """Poll the packet port and the ring of orders forever."""
        services: list[Service] = self._port.services(self)
        services.append((Watch(self._at + 4, 0, "udp_look_order"), self._take_order))

        def before(loop: PollLoop) -> None:
            loop.aim(len(services) - 1, self._at + 4)
            loop.expect(len(services) - 1, self._held)

        await serve(self._nic, services, before)

    @property
    def _at(self) -> int:
        """Address of the next order."""
        return Word.ORDERS + 8 * (self._taken % ORDERS)

    # ---- sending

    async def _take_order(self) -> None:
        """Take the next order and fetch its frame if the port has room."""
        nic, at = self._nic, self._at
        order = Order.decode(nic.load_words(at, 2))
        if not self._port.room(order.size):
            await nic.work("udp_hold")
            self._held = order.words[1]
            return
        await nic.work_on("udp_take")
        self._held = 0
        nic.store(at + 4, 0)
        key, _ = header(self._me, self._taken, order.size)
        self._taken += 1
        message = nic.message_at(at)
        nic.trace(TraceEvent.NIC_NOTICED, key, message=message)
        self._frames.append((order, message))
        nic.trace(TraceEvent.NIC_DMA_START, key, order.size, message=message)
        await self._port.fetch(order.address, order.size, message)
        await self._launch()

    async def _launch(self) -> None:
        """Send the oldest frame when the port is ready and has its bytes or can wait for them."""
        here = self._port.waits or self._read > self._launched
        if not (self._frames and here and self._port.ready()):
            return
        order, message = self._frames.popleft()
        await self._nic.work_on("udp_launch")
        words = header(self._me, self._launched, order.size)
        self._launched += 1
        self._nic.trace(TraceEvent.NIC_SEND_START, words[0], order.size, message=message)
        await self._port.launch(order.node, words, order.size, message=message)

    async def fetched(self) -> None:
        """Publish that a frame has been read (called by the port)."""
        self._read += 1
        await self._nic.work("udp_read")
        self._nic.store(Word.READ, self._read & 0xFFFFFFFF)
        if not self._port.waits:
            await self._launch()

    async def launched(self) -> None:
        """Send the next frame and retry a held order (called by the port when it is ready)."""
        await self._launch()
        if self._held:
            await self._take_order()

    # ---- receiving

    async def arrived(self) -> None:
        """Store a received frame; drop and count it if it is damaged or has no buffer (called by the port)."""
        head, nic, port = self._port.head(), self._nic, self._port
        if not head.good or not IP_LEAST <= head.size <= MOST:
            await nic.work("udp_bad")
            await self._drop(Word.BAD)
            return
        nic.trace(TraceEvent.NIC_RECV_START, head.header[0], head.source, message=head.message)
        place = self._came % SLOTS
        buffer = nic.load(Word.SLOTS + 4 * place)
        if not buffer:
            await nic.work("udp_full")
            nic.trace(TraceEvent.NIC_DROPPED, head.header[0], message=head.message)
            await self._drop(Word.DROPPED)
            return
        await nic.work_on("udp_arrived")
        nic.store(Word.SLOTS + 4 * place, 0)
        self._came += 1
        nic.trace(TraceEvent.NIC_ACCEPT, head.header[0], head.source, message=head.message)
        nic.trace(TraceEvent.NIC_DMA_START, head.header[0], head.size, 8, message=head.message)
        await port.deliver(buffer, head.size)
        await port.drop()
        await port.store(self._ring + 8 * place, came(head.header), head.message)
        await port.interrupt()

    async def _drop(self, counter: Word) -> None:
        self._nic.store(counter, self._nic.load(counter) + 1 & 0xFFFFFFFF)
        await self._port.drop()

    async def stored(self) -> None:
        """Do nothing: the firmware does not wait for stores (called by the port)."""

    def _wants(self) -> Iterator[Wait]:
        """Yield the waits of this NIC for a hang report."""
        if not self._port.ready():
            yield Wait(self._nic.who, Wanted("its outgoing frame to leave"))
