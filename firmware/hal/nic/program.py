"""The NIC's program: orders of the host go out, packets of the network go into its receive buffers."""

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
    """Both ways. It is what the packet port tells of packets."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort) -> None:
        self._nic, self._me, self._port = nic, view.me, port
        self._memory = nic.load(Word.MEMORY)
        self._place = 0
        """In the ring: where the next order will stand."""
        self._held = 0
        """An order for which the port has no room yet: its word, which is looked at no more."""
        self._taken = self._launched = self._read = 0
        """Orders that were taken, whose packets were launched, that are read out of their buffers."""
        self._orders: deque[Order] = deque()
        """Taken, not launched."""
        self._came = 0
        """Packets that were stored."""
        nic.waits.ask(self._wants)

    async def run(self) -> None:
        """Look at the port and at the ring, round and round."""
        port: list[Service] = self._port.services(self)
        ring: Service = Watch(Word.ORDERS, 0, "hal_look_order"), self._ordered

        def before(loop: PollLoop) -> None:
            loop.aim(len(port), Word.ORDERS + 4 * self._place)
            loop.expect(len(port), self._held)

        await serve(self._nic, [*port, ring], before)

    # ---- out

    async def _ordered(self) -> None:
        """There is an order: take it, if the port has room for its packet."""
        word = self._nic.load(Word.ORDERS + 4 * self._place)
        order = Order.of(word)
        if not self._port.room(order.size):
            await self._nic.work("hal_hold")
            self._held = word
            return
        await self._nic.work("hal_take")
        self._held = 0
        self._nic.store(Word.ORDERS + 4 * self._place, 0)
        self._place = (self._place + 1) % BUFFERS
        key, _ = header(self._me, self._taken, order)
        self._taken += 1
        self._nic.trace(TraceEvent.NIC_NOTICED, key)
        self._orders.append(order)
        self._nic.trace(TraceEvent.NIC_DMA_START, key, order.size)
        await self._port.fetch(self._memory + Place.SEND + MOST * order.buffer, order.size)
        await self._launch()

    async def _launch(self) -> None:
        """The oldest order's packet, if the port is ready and has, or waits for, its data."""
        if not (self._orders and self._port.ready() and (self._port.waits or self._read > self._launched)):
            return
        order = self._orders.popleft()
        await self._nic.work("hal_launch")
        words = header(self._me, self._launched, order)
        self._launched += 1
        self._nic.trace(TraceEvent.NIC_SEND_START, words[0], order.size)
        await self._port.launch(order.node, words, order.size, way=order.way)

    async def fetched(self) -> None:
        """From the port: a buffer is read, so the host may fill it anew."""
        self._read += 1
        await self._nic.work("hal_read")
        self._nic.store(Word.READ, self._read & 0xFFFFFFFF)
        if not self._port.waits:
            await self._launch()

    async def launched(self) -> None:
        """From the port: it is ready for the next packet, and may have room for another."""
        await self._launch()
        if self._held:
            await self._ordered()

    # ---- in

    async def arrived(self) -> None:
        """From the port: a packet. It is dropped when it is damaged, or when the host has no receive buffer free."""
        head, nic, port = self._port.head(), self._nic, self._port
        if not head.good or not 0 < head.size <= MOST:
            await nic.work("hal_bad")
            await self._drop(Word.BAD)
            return
        nic.trace(TraceEvent.NIC_RECV_START, head.header[0], head.source)
        if self._came - nic.load(Word.FREED) & 0xFFFFFFFF >= BUFFERS:
            await nic.work("hal_full")
            nic.trace(TraceEvent.NIC_DROPPED, head.header[0])
            await self._drop(Word.DROPPED)
            return
        await nic.work("hal_arrived")
        slot = self._came % BUFFERS
        self._came += 1
        nic.trace(TraceEvent.NIC_ACCEPT, head.header[0], head.source)
        nic.trace(TraceEvent.NIC_DMA_START, head.header[0], head.size, 8)
        await port.deliver(self._memory + Place.RECEIVE + MOST * slot, head.size)
        await port.drop()
        await port.store(self._memory + Place.CAME + 8 * slot, came(head.header))

    async def _drop(self, counter: Word) -> None:
        self._nic.store(counter, self._nic.load(counter) + 1 & 0xFFFFFFFF)
        await self._port.drop()

    async def stored(self) -> None:
        """From the port: packets are in host memory. A host that asked for it is interrupted. Sooner would be too soon:
        one that asks and then looks itself would see neither.
        """
        await self._nic.work("hal_told")
        if self._nic.load(Word.INTERRUPT):
            await self._nic.work("hal_interrupt")
            self._nic.store(Word.INTERRUPT, 0)
            await self._port.interrupt()

    # ---- reports

    def _wants(self) -> Iterator[Wait]:
        """For reports of who waits for whom."""
        if not self._port.ready():
            yield Wait(self._nic.who, Wanted("its outgoing packet to leave"))
