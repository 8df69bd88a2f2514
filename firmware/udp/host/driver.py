"""NIC driver: frames in kernel memory, the NIC's two rings, and the interrupt routine that takes received frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from firmware.common.host.card import acknowledge, load_chain, release
from firmware.common.host.words import store_words
from firmware.common.nic import chain_heads
from firmware.udp.nic.layout import CAME_BYTES, ORDERS, PORT, SIZE, SLOTS, Order, Word, header
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.trace import TraceEvent

BUFFER = 9216
"""Bytes from one buffer to the next: a frame in whole words and cache lines."""
SPARE = 192
"""Receive buffers in addition to the NIC's; they hold datagrams until a process receives them."""
WORDS = 1 << 32


class Frame(NamedTuple):
    """Received frame in its buffer."""

    address: int
    """Physical address."""
    size: int
    key: int
    """Trace key."""
    source: int
    """Sending node."""


class Driver:
    """Driver of one host.

    Send buffers are free when the NIC has read them, receive buffers when `give_back` has returned them.
    """

    def __init__(self, host: Host, view: ClusterView, take: Callable[[Frame], Awaitable[None]]) -> None:
        """Create the driver; the interrupt routine passes each frame to `take`, which returns it now or later."""
        self._host, self._me, self._nodes, self._take = host, view.me, len(view.names), take
        self._ring = host.allocate(CAME_BYTES).address
        first = host.allocate(BUFFER * (ORDERS + SLOTS + SPARE)).address
        self._free_send = deque(first + BUFFER * index for index in range(ORDERS))
        behind = first + BUFFER * ORDERS
        self._free = deque(behind + BUFFER * index for index in range(SLOTS + SPARE))
        """Free receive buffers."""
        self._given = [0] * SLOTS
        """Receive buffers of the NIC, by slot."""
        self._orders: deque[int] = deque()
        """Send buffers that the NIC may not have read yet, oldest first."""
        self._ordered = self._read = self._taken = 0
        self._taking = False
        """True while an interrupt routine takes frames."""
        self.interrupts = 0
        """Number of interrupts so far."""
        self.short = 0
        """Number of frames dropped for lack of a spare buffer."""

    async def start(self) -> None:
        """Give the NIC its receive buffers and the ring that announces frames."""
        host = self._host
        host.on_interrupt(self._serve)
        await release(host)
        for chain, block in chain_heads(PORT, self._nodes).items():
            await load_chain(host, chain, block)
        self._given = [self._free.popleft() for _ in range(SLOTS)]
        await store_words(host, Word.SLOTS, *self._given)
        await store_words(host, Word.CAME, self._ring)

    # ---- sending

    async def buffer(self) -> int:
        """Return a free send buffer, spinning in the kernel until the NIC has read one."""
        while not self._free_send:
            await self._look()
        return self._free_send.popleft()

    async def order(self, frame: int, size: int, node: int, message: int) -> None:
        """Have the NIC send a frame.

        Args:
            frame: physical address of its send buffer.
            size: bytes of the frame.
            node: destination node.
            message: number of the datagram in the trace.
        """
        host = self._host
        await host.spend("udp_transmit")
        await host.overhead("frame")
        while len(self._orders) == ORDERS:
            await self._look()
        key, _ = header(self._me, self._ordered, size)
        place = self._ordered % ORDERS
        self._ordered += 1
        self._orders.append(frame)
        words = Order(frame, size, node).words
        host.trace(TraceEvent.PAYLOAD_WRITTEN, key, size, message=message)
        host.put_message(host.nic_base + Word.ORDERS + 8 * place, message)
        await store_words(host, Word.ORDERS + 8 * place, *words)
        host.trace(TraceEvent.POINTER_WRITTEN, key, words[1], message=message)

    async def _look(self) -> None:
        """Spin until the NIC has read an order."""
        host, what = self._host, "a send buffer"
        host.waits.want(host.who, what, f"NIC {self._me}")
        now = await host.poll_card(host.nic_base + Word.READ, self._read % WORDS, "udp_look_read")
        host.waits.got(host.who, what)
        while 0 < (now - self._read) % WORDS < WORDS // 2:  # another thread may have polled later
            self._read += 1
            self._free_send.append(self._orders.popleft())

    # ---- receiving

    def _announced(self) -> tuple[int, ...]:
        """Return the two words that announce the next frame."""
        return self._host.load_words(self._ring + 8 * (self._taken % SLOTS), 2)

    async def _serve(self) -> None:
        """Take all received frames (interrupt routine). Frames after its read of the card interrupt again."""
        host = self._host
        self.interrupts += 1
        await host.spend("udp_interrupt")
        await acknowledge(host)
        await host.pio_read(host.nic_base + Word.CAME)
        if self._taking:
            return  # the routine of an earlier interrupt takes these frames, too
        self._taking = True
        while (words := self._announced())[1]:
            await self._next(words)
        self._taking = False

    async def _next(self, words: tuple[int, ...]) -> None:
        """Take a frame and give the NIC another buffer for it."""
        host, slot = self._host, self._taken % SLOTS
        frame = Frame(self._given[slot], words[1] & SIZE, words[0], words[0] >> 24)
        host.trace(TraceEvent.POLL_HIT, frame.key, 0, frame.source, message=host.message_at(frame.address))
        await host.spend("udp_frame")
        await host.overhead("frame")
        host.store_words(self._ring + 8 * slot + 4, (0,))
        self._taken += 1
        if self._free:
            self._given[slot] = self._free.popleft()
            await store_words(host, Word.SLOTS + 4 * slot, self._given[slot])
            await self._take(frame)
            return
        self.short += 1
        await store_words(host, Word.SLOTS + 4 * slot, frame.address)

    def give_back(self, frames: list[Frame]) -> None:
        """Return the buffers of frames."""
        self._free.extend(frame.address for frame in frames)
