"""Sending side of the NIC: doorbells start frames of the Send Ring, in the order in which they were rung."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from firmware.common.nic import HostDma, route_row
from firmware.common.nic.host_dma import TERMINAL
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import Hooks
from firmware.epos.nic.words import CONTROL, ROUTE, TX_CHAIN, Word, key_of
from firmware.verbs import Nic
from firmware.view import ClusterView
from pymodels.registers import Block, Isr, Reg
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

SEND = 1 << Isr.SEND


DoorbellHandler = Callable[[int, int, bool], Awaitable[None]]
"""Function that takes a doorbell for a protocol: node, value, and flag."""


@dataclass
class Out:
    """Frame whose doorbell has been taken."""

    node: int
    at: int
    """Address of the frame; the room for its route is before it."""
    size: int
    """Bytes of header and payload."""
    fetched: bool
    """True if its payload is in NIC memory."""
    process: int = 0
    """Process that has sent it."""
    counted: bool = True
    """True for a frame of the host, whose doorbell is completed when it has left."""
    rest: tuple[int, int] | None = None
    """Begin and end of the second piece of the packet, or None."""


class Sender:
    """Tx FIFO Queue, Tx DMA Requests and Send Ring."""

    def __init__(
        self,
        nic: Nic,
        view: ClusterView,
        place: Place,
        dma: HostDma,
        hooks: Hooks,
        handlers: Mapping[int, DoorbellHandler],
    ) -> None:
        self._nic, self._place, self._dma = nic, place, dma
        self._at_tx, self._at_tx_done = hooks["tx"], hooks["tx_done"]
        self._at_bell, self._at_fetch = hooks["bell"], hooks["fetch"]
        self._queue: deque[Out] = deque()
        """Frames with a doorbell that were not started on the send engine."""
        self._fetching: deque[Out] = deque()
        self._out: Out | None = None
        """Frame in the send engine, or None."""
        self._handlers, self._controls_sent = handlers, 0
        self._controls: deque[tuple[int, int, int]] = deque()
        """Control frames that wait for the send engine."""
        self._block = 0
        """Next block of the Tx DMA Requests to complete."""
        self._count = place.options.send_frames
        self.known = frozenset(peer for peer in range(place.peers) if place.node(peer) in view.routes)
        """Peers with a route."""
        for node, route in view.routes.items():
            nic.store_words(place.routes + 16 * node, route_row(route, nic.word_bytes))
        for index in range(place.tx_count):
            following = place.tx_blocks + Block.SIZE * ((index + 1) % place.tx_count)
            nic.store(place.tx_blocks + Block.SIZE * index, following | TERMINAL)

    async def rung(self, page: int, offset: int, bell: int) -> None:
        """Process a doorbell: send the frame, or queue it for its payload, the send engine, or an earlier frame."""
        nic, place = self._nic, self._place
        node, slot, size = bell >> 24, bell >> 16 & 127, bell & 0xFFFF
        process = page if place.stride else 0
        known = node in self.known
        there = known and slot < self._count and place.header_bytes <= size <= place.frame_bytes
        handled = known and slot in self._handlers
        if not (handled or there) or not all([await hook(process, bell) for hook in self._at_bell]):
            await nic.work("epos_empty")
            nic.store(Word.EMPTY, nic.load(Word.EMPTY) + 1)
            return
        if handled:
            await self._handlers[slot](process * place.peers + node, size, bool(bell >> 23 & 1))
            return
        large = bool(bell >> 23 & 1)
        out = Out(node, place.slot(slot, process), size, not large, process)
        nic.trace(TraceEvent.NIC_NOTICED, nic.load(out.at), message=nic.message_at(out.at))
        if large:
            if place.options.activate == "lanai":
                await nic.work("epos_fetch")
                if not all([await hook(out) for hook in self._at_fetch]):
                    await self.refuse(out)
                    return
                self._fetching.append(out)
                self._queue.append(out)
                await self._dma.pulse(TX_CHAIN)
            else:
                self._fetching.append(out)
                self._queue.append(out)
                await nic.work("epos_queue")
            await self.look_ahead()
        elif self._out is not None or (self._queue and not place.options.overtake):
            await nic.work("epos_queue")
            self._queue.append(out)
        else:
            await self.launch(out)

    async def look_ahead(self) -> None:
        """Check whether the DMA of a frame completed before its doorbell arrived.

        The chain executes every valid block, so this is possible. If earlier DMA is still in progress, its completion
        is checked instead.
        """
        if len(self._fetching) > 1:
            await self._nic.work("epos_behind")
            return
        await self._nic.work("epos_here")
        if self._nic.load(self._place.tx_blocks + Block.SIZE * self._block) & TERMINAL:
            await self.fetched()

    async def fetched(self) -> None:
        """Process completed blocks of the Tx DMA Requests: the payload of the oldest frames is in NIC memory."""
        nic, place = self._nic, self._place
        while self._fetching and nic.load(place.tx_blocks + Block.SIZE * self._block) & TERMINAL:
            await nic.work("epos_fetched")
            self._block = (self._block + 1) % place.tx_count
            self._fetching.popleft().fetched = True
        await self._next()

    async def launch(self, out: Out) -> None:
        """Write the route before the frame, and start both on the idle send engine."""
        nic, word = self._nic, self._nic.word_bytes
        self._out = out
        await nic.work("epos_tx")
        for hook in self._at_tx:
            if not await hook(out):
                return
        high, low, begin, skip = self.route(out.node)
        nic.store_words(out.at - ROUTE, (high, low))
        message = nic.message_at(out.at)
        nic.put_message(out.at - ROUTE + begin + skip, message)
        nic.trace(TraceEvent.NIC_SEND_START, nic.load(out.at), out.size, message=message)
        nic.write(Reg.SMP, out.at - ROUTE + begin)
        nic.write(Reg.SA, skip)
        nic.write(Reg.SMLT, out.at + (out.size + word - 1 & -word))

    def route(self, row: int) -> tuple[int, ...]:
        """Return the route to a peer's node: two words, the offset of its start, and the bytes to skip."""
        return tuple(self._nic.load_words(self._place.routes + 16 * self._place.node(row), 4))

    async def refuse(self, out: Out) -> None:
        """Reject a frame: count it, and complete its doorbell."""
        if self._out is out:
            self._out = None
        self._nic.store(Word.REFUSED, self._nic.load(Word.REFUSED) + 1)
        self.done_with(out.process)
        await self._next()

    def done_with(self, process: int) -> None:
        """Count one more completed doorbell of a process."""
        at = self._place.sent + self._place.stride * process
        self._nic.store(at, self._nic.load(at) + 1 & 0xFFFFFFFF)

    def waiting(self, at: int) -> bool:
        """Return True if the frame at an address has not left."""
        return any(one.at == at for one in (self._out, *self._queue) if one is not None)

    async def sent(self) -> None:
        """Handle SEND: complete the doorbell of the sent frame, unless a protocol sends it again."""
        nic, out = self._nic, self._out
        nic.write(Reg.ISR, SEND)
        self._out = None
        if out is None:
            raise RuntimeError(f"{nic.who}: the send engine finished without a frame")
        if out.rest:
            await nic.work("epos_piece")
            self._out, (begin, end), out.rest = out, out.rest, None
            nic.write(Reg.SMP, begin)
            nic.write(Reg.SA, 0)
            nic.write(Reg.SMLT, end)
            return
        await nic.work("epos_sent")
        for hook in self._at_tx_done:
            if await hook(out):
                return
        if out.counted:
            self.done_with(out.process)
        await self._next()

    async def _next(self) -> None:
        """Send the next control frame, otherwise the oldest fetched frame that may leave."""
        if self._controls and self._out is None:
            await self._control(*self._controls.popleft())
        if self._out is not None or not self._queue:
            return
        count = len(self._queue) if self._place.options.overtake else 1
        ready = next((one for one in islice(self._queue, count) if one.fetched), None)
        if ready is None:
            return
        await self._nic.work("epos_unqueue")
        self._queue.remove(ready)
        await self.launch(ready)

    async def send_control(self, row: int, kind: int, value: int) -> None:
        """Send a control frame from a row's process to its peer, as soon as the send engine is idle."""
        if self._out is None:
            await self._control(row, kind, value)
            return
        await self._nic.work("epos_control_wait")
        self._controls.append((row, kind, value))

    async def _control(self, row: int, kind: int, value: int) -> None:
        """Build a control frame, and start it on the send engine."""
        nic, place, word = self._nic, self._place, self._nic.word_bytes
        at, process, to = place.control + ROUTE, row // place.peers, row % place.processes
        self._out = Out(row % place.peers, at, 12, True, process, counted=False)
        await nic.work("epos_control")
        self._controls_sent += 1
        high, low, begin, skip = self.route(row)
        said = place.identity << 24 | to << 16 | process << 8 | kind
        words = key_of(CONTROL, nic.node, self._controls_sent), said, value
        nic.store_words(at - ROUTE, (high, low, *words))
        nic.write(Reg.SMP, at - ROUTE + begin)
        nic.write(Reg.SA, skip)
        nic.write(Reg.SMLT, at + (12 + word - 1 & -word))

    def wants(self) -> Iterator[Wait]:
        """Yield waits for the send engine and the DMA, for hang reports."""
        if self._out is not None:
            yield Wait(self._nic.who, Wanted("its outgoing frame to leave", f"NIC {self._place.node(self._out.node)}"))
        if self._fetching:
            yield Wait(self._nic.who, Wanted("the DMA of a frame"))
