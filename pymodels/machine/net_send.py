"""Send side of the packet interface: SMP, SA, SML, SMLT (fact sheet 3.5).

The bytes SMP + SA .. limit - 1 are sent. Several SML pieces and a final SMLT form one packet; SA counts only if SMP was
written before the limit. A write of a limit clears SEND; the end of the piece sets it. A limit written while an SML
piece is being sent replaces the old one. Firmware can thus follow a DMA that still fills the buffer. Misuse that the
chip ignores and flags raises an error here. The engine reads SRAM as late as possible: firmware that changes a buffer
before SEND_INT sends the changed data.
"""

from __future__ import annotations

from collections.abc import Callable

from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.network import Flight, ModelNetwork
from pymodels.machine.world import World
from pymodels.messages import PLACE
from pymodels.registers import Isr
from pymodels.trace import Part, TraceEvent, unit

SEND = 1 << Isr.SEND
KEY = 4
"""Bytes of a packet's key."""
ROUTE = bytes(range(0x80, 0x100))
"""All values with the top bit set, as in route bytes."""


class NetSend:
    """Send engine of one NIC."""

    def __init__(
        self, world: World, node: int, sram: Memory, network: ModelNetwork, raise_isr: Callable[[int, int], None]
    ) -> None:
        """Create an idle engine; `raise_isr(set, clear)` changes ISR bits."""
        self.pointer = 0
        self.align = 0
        self.packets = 0
        self._kernel = world.kernel
        self._node = node
        self._unit = unit(node, Part.NET_SEND)
        self._sram = sram
        self._network = network
        self._timing = world.timing
        self._log = world.log
        self._raise_isr = raise_isr
        self._messages = world.messages.sram(node)
        self._message = 0
        """Number of the message of the packet that was started last."""
        self.limit = 0
        self._fresh = True
        self._tail = False
        self._traced_bytes: int | None = None
        self._active = False
        self._moving = False
        self._abandoned = False
        self._flight: Flight | None = None
        self._outstanding = 0
        self._length = 0
        self._head = b""

    @property
    def busy(self) -> bool:
        """True while a limit is written and not reached."""
        return self._active

    @property
    def ends_packet(self) -> bool:
        """True while the end of a packet is being put on the wire."""
        return self._moving and self._tail

    def set_pointer(self, address: int) -> None:
        """Handle a write of SMP."""
        if self._active:
            raise MachineError(f"node {self._node}: SMP written while a piece is on its way; wait for SEND_INT")
        self.pointer, self._fresh = address, True

    def set_limit(self, limit: int, tail: bool, at: int | None = None, traced_bytes: int | None = None) -> None:
        """Handle a write of SML or SMLT.

        Args:
            limit: Address after the last byte.
            tail: True for SMLT, which ends the packet.
            at: Address for the trace record, if not that of the first byte in SRAM.
            traced_bytes: Length for the trace record, if not the number of bytes sent.
        """
        if self._active and self._tail:
            what = f"limit {limit:#x} written while the tail of a packet is on its way"
            raise MachineError(f"node {self._node}: {what}; wait for SEND_INT")
        if self._fresh:
            self.pointer += self.align
            self._fresh = False
        if self._flight is None and not self._active:
            place = self.pointer if at is None else at
            self._message = self._messages[place >> PLACE]
            self._log.begin(self._unit, place, self._message)
        if limit < self.pointer or (tail and self._length == 0 and limit == self.pointer):
            raise MachineError(f"node {self._node}: send limit {limit:#x} is not beyond SMP {self.pointer:#x}")
        self._sram.check(self.pointer, limit - self.pointer)
        self.limit, self._tail, self._traced_bytes = limit, tail, traced_bytes
        self._raise_isr(0, SEND)
        if not self._active:
            self._active = True
            self._kernel.at(
                self._kernel.now + (self._timing.send_start if self._flight is None else self._timing.nic_clock),
                self._pump,
            )

    def reset(self) -> None:
        """Reset the engine; a packet being sent is cut off and gets a wrong CRC."""
        self._active = self._fresh = False
        if self._flight is not None:
            self._abandoned = True
            if not self._moving:
                self._abandon()

    def _abandon(self) -> None:
        assert self._flight is not None
        flight, self._flight, self._abandoned = self._flight, None, False
        flight.crc_error ^= 0xFF
        self._network.carry(flight, b"", True)

    def credit(self, size: int) -> None:
        """Return `size` bytes of window: they have left the network, and sending may continue."""
        self._outstanding -= size
        if self._active and not self._moving:
            self._pump()

    def _pump(self) -> None:
        """Put the next chunk on the wire, unless STOP holds the sender."""
        if self._moving or not self._active or self._outstanding >= self._timing.slack:
            return
        if self._flight is None:
            self._flight = self._network.enter(self._node, self._message)
            self._length = 0
            self._head = b""
        most = self._timing.chunk if self._length else self._timing.chunk // 2
        size = min(most, self.limit - self.pointer)
        self._outstanding += size
        self._moving = True
        closing = 2 if self._tail and self.pointer + size == self.limit else 0  # CRC and GAP
        self._kernel.at(self._kernel.now + (size + closing) * self._timing.character, lambda: self._sent(size))

    def _sent(self, size: int) -> None:
        flight = self._flight
        assert flight is not None
        self._moving = False
        if self._abandoned:
            self._outstanding -= size
            self._abandon()
            return
        data = self._sram.read(self.pointer, size)
        self._sram.count("net send", self.pointer, size)
        self.pointer += size
        if len(self._head) < 32:
            self._head += data[:32]
        self._length += size
        done = self.pointer == self.limit
        tail = done and self._tail
        self._record_start(tail)
        self._network.carry(flight, data, tail)
        if not done:
            self._pump()
            return
        self._active = False
        if tail:
            self._flight = None
            self.packets += 1
            traced_bytes = self._length if self._traced_bytes is None else self._traced_bytes
            self._log.add(self._unit, TraceEvent.TX_TAIL, packet_key(self._head), traced_bytes, 0, flight.message)
            self._length = 0
        self._raise_isr(SEND, 0)

    def _record_start(self, tail: bool) -> None:
        """Record TX_START once the key of the packet has left SRAM."""
        if tail or len(self._head.lstrip(ROUTE)) >= KEY:
            self._log.begun(self._unit, TraceEvent.TX_START, packet_key(self._head))


def packet_key(head: bytes) -> int:
    """Return the first four bytes after the route bytes (whose top bit is 1), big-endian."""
    start = 0
    while start < len(head) and head[start] & 0x80:
        start += 1
    return int.from_bytes(head[start : start + 4], "big")
