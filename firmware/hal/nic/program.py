"""NIC firmware: sends the packets of the host's orders and stores received packets in its receive buffers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from firmware.common.nic import PacketPort, Service, serve
from firmware.hal.nic.layout import BUFFERS, MOST, Order, Place, Word, came, header
from firmware.verbs import Nic, PollLoop, Watch
from firmware.view import ClusterView
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted


class Program:
    """Firmware state for both directions, called back by the packet port."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort) -> None:
        self._nic, self._me, self._port = nic, view.me, port
        self._memory = nic.load(Word.MEMORY)
        self._place = 0
        """Index of the next order in the ring."""
        self._held = 0
        """Word of an order that the port has no room for, or 0; it is not polled again."""
        self._taken = self._launched = self._read = 0
        """Numbers of orders taken, of packets launched, and of buffers read."""
        self._orders: deque[tuple[Order, int]] = deque()
        """Orders taken and not launched yet, each with the number of its message."""
        self._came = 0
        """Number of packets stored."""
        nic.waits.register(self._wants)

    async def run(self) -> None:
        """Poll the packet port and the ring of orders forever."""
        port: list[Service] = self._port.services(self)
        ring: Service = Watch(Word.ORDERS, 0, "hal_look_order"), self._take_order

        def before(loop: PollLoop) -> None:
            loop.aim(len(port), Word.ORDERS + 4 * self._place)
            loop.expect(len(port), self._held)

        await serve(self._nic, [*port, ring], before)

    # ---- sending

    async def _take_order(self) -> None:
        """Take the next order if the port has room for its packet."""
        word = self._nic.load(Word.ORDERS + 4 * self._place)
        order = Order.decode(word)
        if not self._port.room(order.size):
            await self._nic.work("hal_hold")
            self._held = word
            return
        await self._nic.work("hal_take")
        self._held = 0
        self._nic.store(Word.ORDERS + 4 * self._place, 0)
        message = self._nic.message_at(Word.ORDERS + 4 * self._place)
        self._place = (self._place + 1) % BUFFERS
        key, _ = header(self._me, self._taken, order)
        self._taken += 1
        self._nic.trace(TraceEvent.NIC_NOTICED, key, message=message)
        self._orders.append((order, message))
        self._nic.trace(TraceEvent.NIC_DMA_START, key, order.size, message=message)
        await self._port.fetch(self._memory + Place.SEND + MOST * order.buffer, order.size, message)
        await self._launch()

    async def _launch(self) -> None:
        """Send the packet of the oldest order if the port is ready and has its data or can wait for them."""
        if not (self._orders and self._port.ready() and (self._port.waits or self._read > self._launched)):
            return
        order, message = self._orders.popleft()
        await self._nic.work("hal_launch")
        words = header(self._me, self._launched, order)
        self._launched += 1
        self._nic.trace(TraceEvent.NIC_SEND_START, words[0], order.size, message=message)
        await self._port.launch(order.node, words, order.size, way=order.way, message=message)

    async def fetched(self) -> None:
        """Publish that a buffer has been read (called by the port)."""
        self._read += 1
        await self._nic.work("hal_read")
        self._nic.store(Word.READ, self._read & 0xFFFFFFFF)
        if not self._port.waits:
            await self._launch()

    async def launched(self) -> None:
        """Send the next packet and retry a held order (called by the port when it is ready)."""
        await self._launch()
        if self._held:
            await self._take_order()

    # ---- receiving

    async def arrived(self) -> None:
        """Store a received packet; drop and count it if it is damaged or no buffer is free (called by the port)."""
        head, nic, port = self._port.head(), self._nic, self._port
        if not head.good or not 0 < head.size <= MOST:
            await nic.work("hal_bad")
            await self._drop(Word.BAD)
            return
        nic.trace(TraceEvent.NIC_RECV_START, head.header[0], head.source, message=head.message)
        if self._came - nic.load(Word.FREED) & 0xFFFFFFFF >= BUFFERS:
            await nic.work("hal_full")
            nic.trace(TraceEvent.NIC_DROPPED, head.header[0], message=head.message)
            await self._drop(Word.DROPPED)
            return
        await nic.work("hal_arrived")
        slot = self._came % BUFFERS
        self._came += 1
        nic.trace(TraceEvent.NIC_ACCEPT, head.header[0], head.source, message=head.message)
        nic.trace(TraceEvent.NIC_DMA_START, head.header[0], head.size, 8, message=head.message)
        await port.deliver(self._memory + Place.RECEIVE + MOST * slot, head.size)
        await port.drop()
        await port.store(self._memory + Place.CAME + 8 * slot, came(head.header), head.message)

    async def _drop(self, counter: Word) -> None:
        self._nic.store(counter, self._nic.load(counter) + 1 & 0xFFFFFFFF)
        await self._port.drop()

    async def stored(self) -> None:
        """Raise the interrupt, if enabled, for packets that are in host memory (called by the port).

        An earlier interrupt would be lost: a host that enables it and then polls would see neither interrupt nor
        packet.
        """
        await self._nic.work("hal_told")
        if self._nic.load(Word.INTERRUPT):
            await self._nic.work("hal_interrupt")
            self._nic.store(Word.INTERRUPT, 0)
            await self._port.interrupt()

    # ---- reports

    def _wants(self) -> Iterator[Wait]:
        """Yield the waits of this NIC for a hang report."""
        if not self._port.ready():
            yield Wait(self._nic.who, Wanted("its outgoing packet to leave"))
