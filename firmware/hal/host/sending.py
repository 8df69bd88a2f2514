"""Send buffers, and the orders by which the NIC sends them."""

from __future__ import annotations

from collections import Counter, deque

from firmware.common.host.payload import Data, MemoryRange, size_of
from firmware.common.host.words import store_words
from firmware.hal.host.errors import HalError
from firmware.hal.host.interface import KEEPABLE
from firmware.hal.nic.layout import BUFFERS, MOST, PROTOCOLS, Order, Place, Word, header
from firmware.hal.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.trace import TraceEvent

WORDS = 1 << 32
HEADER_BLOCK = 16
"""Header bytes copied by one turn of the copy loop."""


class Sender:
    """Send buffers of one host. A buffer is in use while it is kept, being sent again, or not yet read by the NIC."""

    def __init__(self, host: Host, view: ClusterView, memory: int) -> None:
        """Create the sender; `memory` is the physical address of the host buffers."""
        self._host, self._me, self._memory = host, view.me, memory
        most = Options.from_values(view.options).routes
        self._ways = {node: min(len(view.ways(node)), most) for node in view.routes if node != view.me}
        """Number of routes to each node that are used in turn."""
        self._turn = dict.fromkeys(self._ways, 0)
        self._free = deque(range(BUFFERS))
        self._kept: dict[int, Order] = {}
        """Kept buffers, each with its last order."""
        self._orders: deque[int] = deque()
        """Buffers of orders that the NIC may not have read yet, oldest first."""
        self._again: Counter[int] = Counter()
        """Buffers about to be sent again; not reused even if freed meanwhile."""
        self._read = self._ordered = 0
        self.sends = 0
        """Number of packets sent so far."""

    @property
    def keepable(self) -> int:
        """Number of send buffers that may still be kept."""
        return KEEPABLE - len(self._kept)

    def check(self, node: int, protocol: int, size: int, keep: bool) -> None:
        """Check the arguments of a send. Raises HalError."""
        if node not in self._ways:
            known = ", ".join(map(str, self._ways)) or "none"
            raise HalError(f"node {node!r}", "unknown node", f"send to one of {known}")
        if protocol not in range(PROTOCOLS):
            raise HalError(f"protocol {protocol!r}", "invalid protocol number", f"give 0 to {PROTOCOLS - 1}")
        if not 0 < size <= MOST:
            raise HalError(
                f"packet of {size} bytes", f"a packet has 1 to {MOST} bytes", "split the message, or give a header"
            )
        if keep and not self.keepable:
            cause = f"{KEEPABLE} of {BUFFERS} are kept already"
            raise HalError("kept send buffer", cause, "free one, or send without keep")

    async def send(self, node: int, protocol: int, head: bytes, data: Data, keep: bool) -> int:
        """Fill a buffer and order its packet. Return the buffer's number."""
        size = len(head) + size_of(data)
        self.check(node, protocol, size, keep)
        message = self._begin(size)
        buffer = await self._buffer()
        order = Order(size, protocol, 0, node, buffer)
        if keep:
            self._kept[buffer] = order
        await self._host.spend("hal_send")
        await self._fill(self._memory + Place.SEND + MOST * buffer, head, data)
        await self._order(order, message)
        return buffer

    async def again(self, buffer: int, head: bytes) -> None:
        """Order the packet of a kept buffer again."""
        order = self._of(buffer)
        if len(head) > order.size:
            cause = f"the packet has {order.size} bytes"
            raise HalError(f"header of {len(head)} bytes", cause, "give a header no longer than the packet")
        message = self._begin(order.size)
        self._again[buffer] += 1
        await self._host.spend("hal_send")
        while head and buffer in self._orders:  # the NIC has not read the old packet
            await self._look()
        await self._fill(self._memory + Place.SEND + MOST * buffer, head, b"")
        await self._order(order, message)
        self._again[buffer] -= 1
        self._recycle(buffer)

    def free(self, buffer: int) -> None:
        """Release a kept buffer."""
        self._of(buffer)
        del self._kept[buffer]
        self._recycle(buffer)

    def _recycle(self, buffer: int) -> None:
        """Mark a buffer as free unless it is still in use."""
        if buffer not in self._kept and buffer not in self._orders and not self._again[buffer]:
            self._free.append(buffer)

    def _of(self, buffer: int) -> Order:
        if buffer not in self._kept:
            raise HalError(
                f"send buffer {buffer!r}", "not a kept buffer", "give a buffer returned by `send` with keep=True"
            )
        return self._kept[buffer]

    def _begin(self, size: int) -> int:
        """Count a packet and return the number of its message in the trace."""
        self.sends += 1
        message = self._host.message()
        self._host.trace(TraceEvent.SEND_CALL, 0, size, message=message)
        return message

    async def _fill(self, address: int, head: bytes, data: Data) -> None:
        """Copy header and data into a buffer. Data outside host memory are charged the same time."""
        host = self._host
        if head:
            await host.spend("hal_header", -(-len(head) // HEADER_BLOCK))
            host.store_bytes(address, head)
        behind = address + len(head)
        if isinstance(data, MemoryRange):
            await host.copy_memory("hal_copy", behind, data.address, data.size)
        elif data:
            host.store_bytes(behind, bytes(data))
            await host.copy_memory("hal_copy", behind, behind, len(data))

    async def _order(self, order: Order, message: int) -> None:
        """Write the order into the NIC's ring when it has room, using the next route to the node."""
        await self._host.overhead("packet")
        while len(self._orders) == BUFFERS:
            await self._look()
        node = order.node
        order = order._replace(way=self._turn[node])
        self._turn[node] = (self._turn[node] + 1) % self._ways[node]
        place = self._ordered % BUFFERS
        key, _ = header(self._me, self._ordered, order)
        self._ordered += 1
        self._orders.append(order.buffer)
        self._host.trace(TraceEvent.PAYLOAD_WRITTEN, key, order.size, message=message)
        self._host.put_message(self._host.nic_base + Word.ORDERS + 4 * place, message)
        await store_words(self._host, Word.ORDERS + 4 * place, order.word)
        self._host.trace(TraceEvent.POINTER_WRITTEN, key, order.word, message=message)

    async def _buffer(self) -> int:
        """Return a free buffer, reading the NIC's progress while none is known to be free."""
        while not self._free:
            await self._look()
        return self._free.popleft()

    async def _look(self) -> None:
        """Poll until the NIC has read another order, and recycle the buffers."""
        host = self._host
        what, seen = "a send buffer", self._read % WORDS
        host.waits.want(host.who, what, f"NIC {self._me}")
        now = await host.poll_card(host.nic_base + Word.READ, seen, "hal_look_read")
        host.waits.got(host.who, what)
        while 0 < (now - self._read) % WORDS < WORDS // 2:  # another task may have polled later
            self._read += 1
            buffer = self._orders.popleft()
            self._recycle(buffer)
