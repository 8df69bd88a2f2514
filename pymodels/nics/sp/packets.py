"""Receive buffer and send side of the SP adapter.

On the machine's wires the VIA header precedes the rest of the switch header. The packet's key thus comes first, as in
every packet of the machine. Only adapters interpret these bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pymodels.formats.sp import HEADER_BYTES, MAX_USER, ROUTE_BYTES, VIA_BYTES
from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.net_send import NetSend
from pymodels.machine.network import Flight, ModelNetwork
from pymodels.machine.world import World
from pymodels.nics.sp.registers import RecvStatus, SpSize
from pymodels.trace import Part, TraceEvent, unit

FIXED = HEADER_BYTES - ROUTE_BYTES + VIA_BYTES
"""Bytes before the user data on the machine's wires, without the route."""


@dataclass
class Packet:
    """Packet in the receive buffer: its six header words, user data, RECV_STATUS."""

    words: tuple[int, ...]
    user: bytes
    status: int
    taken: int = 0


class ReceiveBuffer:
    """Receive buffer for two complete packets; further packets stay in the network."""

    def __init__(self, world: World, node: int, changed: Callable[[], None]) -> None:
        self._packets: deque[Packet] = deque()
        """Packets that occupy a buffer, oldest first; the processor has finished the first `_seen`."""
        self._seen = 0
        self._node = node
        self._unit = unit(node, Part.NET_RECV)
        self._log = world.log
        self._messages = world.messages
        self._changed = changed
        self._coming = bytearray()
        self._backlog: deque[tuple[Flight, bytes, int, bool]] = deque()

    @property
    def head(self) -> Packet | None:
        """Packet that the processor accesses."""
        return self._packets[self._seen] if self._seen < len(self._packets) else None

    @property
    def key(self) -> int:
        """Key of the packet at the head, 0 if there is none."""
        return self.head.words[4] if self.head else 0

    def take(self, size: int) -> bytes:
        """Return the next user bytes of the packet at the head. Raises MachineError if it has fewer."""
        packet = self.head
        if packet is None or packet.taken + size > len(packet.user):
            raise MachineError(f"node {self._node}: STORE of {size} bytes that no packet at the head has")
        packet.taken += size
        return packet.user[packet.taken - size : packet.taken]

    def next(self) -> None:
        """Advance the head to the next packet. Raises MachineError if there is no packet."""
        if self.head is None:
            raise MachineError(f"node {self._node}: RECV_NEXT without a packet")
        self._seen += 1
        self._changed()

    def release(self) -> None:
        """Free the oldest packet, whose commands have all been executed."""
        self._packets.popleft()
        self._seen -= 1
        while self._backlog and len(self._packets) < SpSize.PACKETS:
            self._take(*self._backlog.popleft())

    def offer(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        """Accept bytes from the network."""
        if self._backlog or len(self._packets) == SpSize.PACKETS:
            self._backlog.append((flight, data, size, tail))
        else:
            self._take(flight, data, size, tail)

    def _take(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        if not self._coming:
            self._messages.arrives(self._node, flight.message)
            self._log.add(self._unit, TraceEvent.RX_HEAD, flight.key, 0, 0, flight.message)
        self._coming += data
        if tail:
            self._whole(bytes(self._coming), flight)
            self._coming.clear()
        flight.taken(size, tail)

    def _whole(self, data: bytes, flight: Flight) -> None:
        """Store a packet whose tail has arrived."""
        fixed, user = data[:FIXED].ljust(FIXED, b"\0"), data[FIXED:]
        words = [int.from_bytes(fixed[at : at + 4], "big") for at in range(0, FIXED, 4)]
        wrong = len(data) < FIXED or len(user) > MAX_USER or words[2] & 0xFFFF != VIA_BYTES + len(user)
        status = len(user) | bool(flight.crc_error) << RecvStatus.BAD_CRC | wrong << RecvStatus.BAD_SIZE
        self._packets.append(Packet((0, 0, *words[2:], *words[:2]), user, status))
        whole = HEADER_BYTES + VIA_BYTES + len(user) + 1
        self._log.add(self._unit, TraceEvent.RX_TAIL, flight.key, whole, flight.crc_error, flight.message)
        self._changed()


class Fifo(Protocol):
    """Interface of the left engine to the send side."""

    fifo: deque[bytes]

    def room_made(self) -> None:
        """Continue after bytes have left the Send FIFO."""


class SendSide:
    """Send side: registers SEND0.., OWN0.. and SEND_START; one packet in transmission and one waiting."""

    def __init__(self, world: World, node: int, network: ModelNetwork, left: Fifo, changed: Callable[[], None]) -> None:
        self.words = [0] * 6
        self.own = [0] * (SpSize.INLINE // 4)
        self.sent = 0
        self._buffer = Memory(f"node {node} link interface", 4096)
        self.engine = NetSend(world, node, self._buffer, network, self._progress)
        self._node = node
        self._left = left
        self._changed = changed
        self._waiting: tuple[int, int] | None = None
        self._going = False

    @property
    def free(self) -> bool:
        """True if the next packet may be written."""
        return self._waiting is None

    def start(self, value: int) -> None:
        """Handle a write of SEND_START. Raises MachineError for an invalid value."""
        size, own = value & 0xFFF, value >> 16 & 0x7F
        if self._waiting is not None or size > MAX_USER or own > SpSize.INLINE or (size and own):
            raise MachineError(f"node {self._node}: SEND_START of {value:#x} makes no packet now")
        self._waiting = size, own

    def go_on(self) -> None:
        """Send the waiting packet if the link interface is free and all user data are in the Send FIFO."""
        if self._going or self._waiting is None or (self._waiting[0] and not self._left.fifo):
            return
        size, own = self._waiting
        data = self._left.fifo.popleft() if size else _bytes(self.own)[:own]
        if len(data) != size + own:
            what = f"SEND_START of {size} bytes, the oldest FETCH has {len(data)}"
            raise MachineError(f"node {self._node}: {what}")
        self._waiting = None
        self._going = True
        header = _bytes(self.words)
        route = header[:ROUTE_BYTES].rstrip(b"\0")
        packet = route + header[HEADER_BYTES:] + header[ROUTE_BYTES:HEADER_BYTES] + data
        self._buffer.write(0, packet)
        self.engine.set_pointer(0)
        self.engine.set_limit(len(packet), True, traced_bytes=len(data))
        self._left.room_made()

    def _progress(self, raised: int, cleared: int) -> None:
        """Handle the start or the end of a packet in the engine."""
        if raised:
            self._going = False
            self.sent += 1
            self._changed()


def _bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "big") for word in words)
