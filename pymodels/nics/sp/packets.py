"""The packets of the SP adapter: its receive buffer, and its send side.

On the machine's wires the VIA header stands in front of what the switches leave of the switch header, so that the
packet's key comes first, as in every packet of the machine; nobody but two adapters looks.
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
"""Bytes in front of the user data on the machine's wires, route apart."""


@dataclass
class Packet:
    """A packet in the receive buffer: its six header words, user data, RECV_STATUS."""

    words: tuple[int, ...]
    user: bytes
    status: int
    taken: int = 0


class ReceiveBuffer:
    """Whole packets, two at most; whatever comes then stays in the network."""

    def __init__(self, world: World, node: int, changed: Callable[[], None]) -> None:
        self._packets: deque[Packet] = deque()
        """Those whose room is taken, oldest first; the processor is through with the first `_seen`."""
        self._seen = 0
        self._node = node
        self._unit = unit(node, Part.NET_RECV)
        self._log = world.log
        self._changed = changed
        self._coming = bytearray()
        self._backlog: deque[tuple[Flight, bytes, int, bool]] = deque()

    @property
    def head(self) -> Packet | None:
        """The packet that the processor looks at."""
        return self._packets[self._seen] if self._seen < len(self._packets) else None

    @property
    def key(self) -> int:
        """Key of the packet at the head, 0 if there is none."""
        return self.head.words[4] if self.head else 0

    def take(self, size: int) -> bytes:
        """The next user bytes of the packet at the head. MachineError when it does not have them."""
        packet = self.head
        if packet is None or packet.taken + size > len(packet.user):
            raise MachineError(f"node {self._node}: STORE of {size} bytes that no packet at the head has")
        packet.taken += size
        return packet.user[packet.taken - size : packet.taken]

    def next(self) -> None:
        """The processor is through with the packet at the head. MachineError when there is none."""
        if self.head is None:
            raise MachineError(f"node {self._node}: RECV_NEXT without a packet")
        self._seen += 1
        self._changed()

    def release(self) -> None:
        """All that was asked of the oldest packet is done."""
        self._packets.popleft()
        self._seen -= 1
        while self._backlog and len(self._packets) < SpSize.PACKETS:
            self._take(*self._backlog.popleft())

    def offer(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        """Bytes from the network."""
        if self._backlog or len(self._packets) == SpSize.PACKETS:
            self._backlog.append((flight, data, size, tail))
        else:
            self._take(flight, data, size, tail)

    def _take(self, flight: Flight, data: bytes, size: int, tail: bool) -> None:
        if not self._coming:
            self._log.add(self._unit, TraceEvent.RX_HEAD, flight.key)
        self._coming += data
        if tail:
            self._whole(bytes(self._coming), flight)
            self._coming.clear()
        flight.taken(size, tail)

    def _whole(self, data: bytes, flight: Flight) -> None:
        """The tail has come."""
        fixed, user = data[:FIXED].ljust(FIXED, b"\0"), data[FIXED:]
        words = [int.from_bytes(fixed[at : at + 4], "big") for at in range(0, FIXED, 4)]
        wrong = len(data) < FIXED or len(user) > MAX_USER or words[2] & 0xFFFF != VIA_BYTES + len(user)
        status = len(user) | bool(flight.crc_error) << RecvStatus.BAD_CRC | wrong << RecvStatus.BAD_SIZE
        self._packets.append(Packet((0, 0, *words[2:], *words[:2]), user, status))
        whole = HEADER_BYTES + VIA_BYTES + len(user) + 1
        self._log.add(self._unit, TraceEvent.RX_TAIL, flight.key, whole, flight.crc_error)
        self._changed()


class Fifo(Protocol):
    """What the send side asks of the left engine."""

    fifo: deque[bytes]

    def room_made(self) -> None:
        """Bytes have left the Send FIFO."""


class SendSide:
    """SEND0 and on, OWN0 and on, SEND_START; one packet on its way, one that waits."""

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
        """The next packet may be written."""
        return self._waiting is None

    def start(self, value: int) -> None:
        """SEND_START. MachineError for what makes no packet."""
        size, own = value & 0xFFF, value >> 16 & 0x7F
        if self._waiting is not None or size > MAX_USER or own > SpSize.INLINE or (size and own):
            raise MachineError(f"node {self._node}: SEND_START of {value:#x} makes no packet now")
        self._waiting = size, own

    def go_on(self) -> None:
        """Send what waits, when the link interface is free and all user data are in the Send FIFO."""
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
        self.engine.set_limit(len(packet), True, told=len(data))
        self._left.room_made()

    def _progress(self, raised: int, cleared: int) -> None:
        """The engine has begun, or is through with the packet."""
        if raised:
            self._going = False
            self.sent += 1
            self._changed()


def _bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "big") for word in words)
