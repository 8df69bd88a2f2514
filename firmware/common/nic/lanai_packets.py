"""`PacketPort` on a LANai: send slots and receive buffers in SRAM.

Payload is fetched into a slot after the room for route and header. Received packets stay in buffers until the host DMA
has moved them to the host.

    send slot        route, right-aligned (8) | header (8) | payload (most)
    receive buffer   header (8) | payload (most) | syndrome

A LANai 9 moves bytes from and to any address. A LANai 4 moves whole words only (`DirectTransfers`): there addresses are
multiples of 4, and the padding of the last word reaches the host too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from firmware.common.nic.packets import Arrived, PortEvents, padding
from firmware.common.nic.services import Reply, Service, answered
from firmware.common.nic.transfers import (
    BUFFERS,
    HEADER_BYTES,
    ROUTE_BYTES,
    SLOTS,
    PortMap,
    Transfers,
    Way,
)
from firmware.common.nic.whole_words import has_whole_words
from firmware.verbs import Answer, Nic, Watch
from firmware.view import ClusterView
from pymodels.errors import SanlabError
from pymodels.registers import Isr, Reg

DIRECT = 8
"""Number of bytes that `packet_launch_inline` moves; each further word is one `packet_launch_word`."""
LOOK = "packet_look"
"""Path of one sample of ISR."""
NONE = -1
"""Buffer number for no buffer."""
RECV, SEND = 1 << Isr.RECV | 1 << Isr.HEAD, 1 << Isr.SEND
INTERRUPT = 1 << Isr.HOST_SIG


class LanaiPackets:
    """Packets of a LANai."""

    prepares = True
    waits = False

    def __init__(
        self,
        nic: Nic,
        view: ClusterView,
        base: int,
        most: int,
        transfers: Callable[[Nic, PortMap], Transfers],
        exact: bool = False,
    ) -> None:
        """Create the port.

        Args:
            nic: NIC that runs the firmware.
            view: View of the node.
            base: First SRAM address of the port's memory (`PortMap`).
            most: Maximum payload in bytes.
            transfers: Class of the transfers of this kind of NIC.
            exact: True if the length of each packet is checked to the byte.
        """
        self.most, self.stored = most, 0
        self._exact = exact
        self._nic, self._map = nic, PortMap(base, most, len(view.names))
        at = self._map
        self._dma = transfers(nic, at)
        self._skips = [self._route(view, vnn) for vnn in range(len(view.names))]
        self._fetched: deque[int] = deque()
        """Sizes of the fetches that have not been launched."""
        self._prepared: deque[tuple[int, int]] = deque()
        """Slot, and bytes that the send engine skips, of the oldest fetches that have a header."""
        self._slot = self._first = 0
        """Slots of the next fetch and of the next launch."""
        self._sending = False
        self._fetches_started = self._fetches_done = 0
        """Numbers of started and of completed fetches."""
        self._armed = self._current = NONE
        self._pending = [0] * BUFFERS
        """Number of pending deliveries from each receive buffer, plus one until the packet is dropped."""
        self._taken = 0
        self._issued = 0
        self._interrupt = False
        self._was_read = self._reading = False
        self._unreported = 0
        """Number of complete fetches not yet reported to the layer."""
        self._on: PortEvents
        nic.write(Reg.EIMR, INTERRUPT)
        self._arm(0)

    def _route(self, view: ClusterView, vnn: int) -> int:
        """Store the route to a node in SRAM, and return how many of its 8 bytes the send engine skips."""
        route = view.routes.get(vnn, b"")
        if len(route) > ROUTE_BYTES:
            what = f"route {view.names[view.me]} -> {view.names[vnn]}"
            raise SanlabError(what, f"has {len(route)} bytes", f"give 1 to {ROUTE_BYTES}")
        words = divmod(int.from_bytes(route, "big"), 1 << 32)
        self._nic.store_words(self._map.routes + 16 * vnn, (*words, ROUTE_BYTES - len(route)))
        return ROUTE_BYTES - len(route)

    # ---- out

    async def fetch(self, address: int, size: int, message: int = 0) -> None:
        """Fetch payload into the next send slot."""
        slot = self._slot
        self._slot = (slot + 1) % SLOTS
        self._fetched.append(size)
        self._fetches_started += 1
        await self._dma.fetch(self._payload(slot), address, size, message)

    def room(self, size: int) -> bool:
        """Return True if a slot is free. The slot of the packet in the send engine is occupied."""
        return len(self._fetched) + self._sending < SLOTS

    def ready(self) -> bool:
        """Return True if the send engine is idle."""
        return not self._sending

    async def prepare(self, node: int, header: tuple[int, int]) -> None:
        """Write route and header before the place of the payload."""
        nic = self._nic
        await nic.work_on("packet_prepare")
        slot = (self._first + len(self._prepared)) % SLOTS
        self._prepared.append((slot, self._skips[node]))
        nic.store_words(self._map.slots[slot], (*nic.load_words(self._map.routes + 16 * node, 2), *header))

    async def launch_prepared(self, size: int, message: int = 0) -> None:
        """Give the oldest slot to the send engine."""
        await self._nic.work_on("packet_go")
        self._take(size)
        slot, skip = self._prepared.popleft()
        self._go(self._map.slots[slot], skip, size, message)

    async def launch(
        self, node: int, header: tuple[int, int], size: int, inline: bytes = b"", way: int = 0, message: int = 0
    ) -> None:
        """Write route and header before the payload, and give the packet to the send engine."""
        nic = self._nic
        if inline or not size:
            await nic.work_on("packet_launch_inline")
            if size > DIRECT:
                await nic.work_on("packet_launch_word", -(-(size - DIRECT) // 4))
            at = self._map.slots[SLOTS]
            padded = inline + bytes(-len(inline) % 4)
            words = [int.from_bytes(padded[i : i + 4], "big") for i in range(0, len(padded), 4)]
            nic.store_words(at + ROUTE_BYTES + HEADER_BYTES, words)
        else:
            await nic.work_on("packet_launch")
            at = self._map.slots[self._first]
            self._take(size)
        nic.store_words(at, (*nic.load_words(self._map.routes + 16 * node, 2), *header))
        self._go(at, self._skips[node], size, message)

    def _take(self, size: int) -> None:
        """Remove the oldest fetch. Raises RuntimeError if its size differs."""
        self._first = (self._first + 1) % SLOTS
        if self._fetched.popleft() != size:
            what = f"launched a packet of {size} bytes, which is not the size of the oldest fetch"
            raise RuntimeError(f"node {self._nic.node}: {what}")

    def _go(self, at: int, skip: int, size: int, message: int) -> None:
        """Give a slot to the send engine."""
        self._sending = True
        self._nic.put_message(at + skip, message)
        nic, word = self._nic, self._nic.word_bytes
        nic.write(Reg.SMP, at + skip - skip % word)
        nic.write(Reg.SA, skip % word)
        nic.write(Reg.SMLT, at + ROUTE_BYTES + HEADER_BYTES + (size + word - 1 & -word))

    async def _sent(self, _: int) -> None:
        """Handle SEND: the engine has read the packet."""
        self._sending = False
        await self._on.launched()

    def _payload(self, slot: int) -> int:
        return self._map.slots[slot] + ROUTE_BYTES + HEADER_BYTES

    # ---- in

    def _arm(self, buffer: int) -> None:
        self._armed = buffer
        self._nic.write(Reg.RMP, self._map.buffers[buffer])
        self._nic.write(Reg.RML, self._map.buffers[buffer] + self._map.buffer_bytes)

    async def _received(self, end: int) -> None:
        """Handle RECV: a packet is complete up to `end`. Arm the next buffer and report the packet to the layer."""
        nic = self._nic
        whole = True
        if self._exact:
            flags = await nic.read(Reg.ISR)
            await nic.work("packet_exact")
            whole, end = has_whole_words(flags, nic.word_bytes), await nic.read(Reg.RMP)
        self._current, self._taken, self._armed = self._armed, 0, NONE
        self._pending[self._current] = 1
        following = (self._current + 1) % BUFFERS
        if not self._pending[following]:
            self._arm(following)
        at = self._map.buffers[self._current]
        first, second = nic.load_words(at, 2)
        behind = end - nic.word_bytes
        padded = behind - at - HEADER_BYTES
        size = padded - padding(second, padded)
        fits = 0 <= size <= self.most and padded - size < nic.word_bytes
        good = whole and fits and not nic.load(behind) >> 24
        self._head = Arrived(first >> 24, (first, second), size, good, nic.message_at(at))
        await self._on.arrived()

    def head(self) -> Arrived:
        """Return the packet in the current buffer."""
        return self._head

    async def inline(self) -> tuple[int, int]:
        """Return the first two words of payload."""
        at = self._map.buffers[self._current] + HEADER_BYTES
        words = self._nic.load_bytes(at, min(self._head.size, 8)).ljust(8, b"\0")
        return int.from_bytes(words[:4], "big"), int.from_bytes(words[4:], "big")

    async def deliver(self, address: int, size: int) -> None:
        """Deliver the next piece of payload."""
        while self._dma.full:
            await self._wait()
        self._pending[self._current] += 1
        at = self._map.buffers[self._current] + HEADER_BYTES + self._taken
        moved = size if self._nic.word_bytes == 8 else size + 3 & ~3
        self._taken += size
        self._nic.put_message(address, self._head.message, in_host=True)
        await self._dma.deliver(at, address, moved, self._current, self._head.message)

    async def drop(self) -> None:
        """Release the buffer, which is free once its deliveries have ended."""
        await self._nic.work_on("packet_drop")
        self._release(self._current)

    def _release(self, buffer: int) -> None:
        """Decrement the use count of a buffer, and arm it if it is free and next in turn."""
        self._pending[buffer] -= 1
        if not self._pending[buffer] and self._armed == NONE and buffer == (self._current + 1) % BUFFERS:
            self._arm(buffer)

    async def store(self, address: int, words: Sequence[int], message: int = 0) -> None:
        """Store words of the firmware to the host."""
        while self._dma.full:
            await self._wait()
        self._issued += 1
        await self._dma.store(words, address, message)

    async def quiet(self) -> None:
        """Poll until all earlier fetches and stores have ended."""
        stores, fetches = self._issued, self._fetches_started
        while self.stored < stores or self._fetches_done < fetches:
            await self._wait()

    async def interrupt(self) -> None:
        """Raise the interrupt now, or after the last pending store."""
        await self._nic.work_on("packet_interrupt")
        self._interrupt = True
        self._raise()

    def _raise(self) -> None:
        if self._interrupt and self.stored == self._issued:
            self._interrupt = False
            self._nic.write(Reg.ISR, INTERRUPT)

    async def read(
        self, address: int, count: int, meanwhile: Callable[[], Awaitable[None]] | None = None
    ) -> tuple[int, ...]:
        """Read words of host memory into the scratch area, and poll until they arrive."""
        self._was_read = False
        self._reading = True
        await self._dma.read(self._map.scratch, address, 4 * count)
        if meanwhile is not None:
            await meanwhile()
        while not self._was_read:
            await self._wait()
        self._reading = False
        words = self._nic.load_words(self._map.scratch, count)
        await self._report_fetches()
        return words

    # ---- the host DMA

    def services(self, on: PortEvents) -> list[Service]:
        """Return the services of the two network engines and of the ends of DMA transfers."""
        self._on = on
        self._ends = replies = self._dma.replies(self._over)
        self._loop = self._nic.poll_loop([reply.watch for reply in replies])
        received = Answer(RECV & ~(1 << Isr.HEAD), RECV, "packet_head", None if self._exact else Reg.RMP)
        sent = Answer(SEND, SEND)
        further = Reply(self._nic, sent, LOOK, self._sent), Reply(self._nic, received, LOOK, self._received)
        self._all = [*replies, *further]
        answers = tuple(replace(reply.answer, passed="packet_which") for reply in self._all)
        mask = sum(answer.mask for answer in answers)
        self._any = Watch(Reg.ISR, 0, LOOK, mask, register=True, reads=True, answers=answers)
        return [(self._any, self._serve_engines)]

    async def _serve_engines(self) -> None:
        """Handle set bits of the engines: host transfers first, because they may free the next one."""
        flags, number, value = await answered(self._nic, self._any)
        if number < len(self._all):
            await self._all[number].go_on(value)
        for reply in self._all[number + 1 :]:
            if flags & reply.answer.mask:
                await reply.all()
            else:
                await self._nic.work_on("packet_which")

    def background(self) -> list[Service]:
        """Return the services of the ends of transfers."""
        return [(reply.watch, reply.hit) for reply in self._ends]

    async def _wait(self) -> None:
        """Poll until a transfer ends, and handle its end."""
        await self._ends[await self._loop.run()].hit()

    async def _over(self, transfers: list[tuple[Way, int]]) -> None:
        """Handle ended transfers: release buffers, count stores and fetches, complete a read."""
        before = self.stored
        for way, buffer in transfers:
            if way is Way.STORE:
                self.stored += 1
            elif way is Way.DELIVER:
                self._release(buffer)
            elif way is Way.FETCH:
                self._fetches_done += 1
                self._unreported += 1
            elif way is Way.READ:
                self._was_read = True
        if self.stored != before:
            self._raise()
            await self._on.stored()
        if not self._reading:
            await self._report_fetches()

    async def _report_fetches(self) -> None:
        """Report complete fetches to the layer. Not called within a read, because the layer may read."""
        while self._unreported:
            self._unreported -= 1
            await self._on.fetched()
