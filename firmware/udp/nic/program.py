"""The NIC's program: it knows frames by address and size, and nothing of what stands in them."""

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
    """Both rings. It is what the packet port tells of packets."""

    def __init__(self, nic: Nic, view: ClusterView, port: PacketPort) -> None:
        self._nic, self._me, self._port = nic, view.me, port
        self._ring = nic.load(Word.CAME)
        self._held = 0
        """Second word of an order for whose frame the port has no room yet."""
        self._frames: deque[Order] = deque()
        """Taken, not launched."""
        self._taken = self._launched = self._read = self._came = 0
        """Orders that were taken, launched, read out of host memory; frames that were stored."""
        nic.waits.ask(self._wants)

    async def run(self) -> None:
        """Look at the port and at the ring of orders, round and round."""
        services: list[Service] = self._port.services(self)
        services.append((Watch(self._at + 4, 0, "udp_look_order"), self._ordered))

        def before(loop: PollLoop) -> None:
            loop.aim(len(services) - 1, self._at + 4)
            loop.expect(len(services) - 1, self._held)

        await serve(self._nic, services, before)

    @property
    def _at(self) -> int:
        """Of the next order."""
        return Word.ORDERS + 8 * (self._taken % ORDERS)

    # ---- out

    async def _ordered(self) -> None:
        """There is an order: fetch its frame, if the port has room."""
        nic, at = self._nic, self._at
        order = Order.of(nic.load_words(at, 2))
        if not self._port.room(order.size):
            await nic.work("udp_hold")
            self._held = order.words[1]
            return
        await nic.work_on("udp_take")
        self._held = 0
        nic.store(at + 4, 0)
        key, _ = header(self._me, self._taken, order.size)
        self._taken += 1
        nic.trace(TraceEvent.NIC_NOTICED, key)
        self._frames.append(order)
        nic.trace(TraceEvent.NIC_DMA_START, key, order.size)
        await self._port.fetch(order.address, order.size)
        await self._launch()

    async def _launch(self) -> None:
        """The oldest frame, when the port is ready and has, or waits for, its bytes."""
        here = self._port.waits or self._read > self._launched
        if not (self._frames and here and self._port.ready()):
            return
        order = self._frames.popleft()
        await self._nic.work_on("udp_launch")
        words = header(self._me, self._launched, order.size)
        self._launched += 1
        self._nic.trace(TraceEvent.NIC_SEND_START, words[0], order.size)
        await self._port.launch(order.node, words, order.size)

    async def fetched(self) -> None:
        """From the port: a frame is read, so its buffer is the driver's again."""
        self._read += 1
        await self._nic.work("udp_read")
        self._nic.store(Word.READ, self._read & 0xFFFFFFFF)
        if not self._port.waits:
            await self._launch()

    async def launched(self) -> None:
        """From the port: it is ready for the next frame, and may have room for another."""
        await self._launch()
        if self._held:
            await self._ordered()

    # ---- in

    async def arrived(self) -> None:
        """From the port: a frame. It is dropped when it is damaged, or when there is no buffer for it."""
        head, nic, port = self._port.head(), self._nic, self._port
        if not head.good or not IP_LEAST <= head.size <= MOST:
            await nic.work("udp_bad")
            await self._drop(Word.BAD)
            return
        nic.trace(TraceEvent.NIC_RECV_START, head.header[0], head.source)
        place = self._came % SLOTS
        buffer = nic.load(Word.SLOTS + 4 * place)
        if not buffer:
            await nic.work("udp_full")
            nic.trace(TraceEvent.NIC_DROPPED, head.header[0])
            await self._drop(Word.DROPPED)
            return
        await nic.work_on("udp_arrived")
        nic.store(Word.SLOTS + 4 * place, 0)
        self._came += 1
        nic.trace(TraceEvent.NIC_ACCEPT, head.header[0], head.source)
        nic.trace(TraceEvent.NIC_DMA_START, head.header[0], head.size, 8)
        await port.deliver(buffer, head.size)
        await port.drop()
        await port.store(self._ring + 8 * place, came(head.header))
        await port.interrupt()

    async def _drop(self, counter: Word) -> None:
        self._nic.store(counter, self._nic.load(counter) + 1 & 0xFFFFFFFF)
        await self._port.drop()

    async def stored(self) -> None:
        """From the port: nobody waits for it."""

    def _wants(self) -> Iterator[Wait]:
        """For reports of who waits for whom."""
        if not self._port.ready():
            yield Wait(self._nic.who, Wanted("its outgoing frame to leave"))
