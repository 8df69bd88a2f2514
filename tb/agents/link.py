"""Agents for links: driver and monitor of link characters, source and sink of packet streams inside a chip.

All agents run on a `Grid`: they sample before a clock edge and drive after it. Gaps and stalls are iterators of
booleans; True leaves the slot empty.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from cocotb.triggers import Event

from pymodels.link.characters import Symbol, packet_characters
from tb.agents.bus import Driver, Monitor
from tb.agents.grid import Grid
from tb.agents.lanes import Assembler, Lane
from tb.agents.streams import Pauses, never
from tb.agents.wires import require


class LinkDriver(Driver):
    """Driver of link characters into `rx`; pauses at STOP and resumes at GO on `tx`.

    `append((lane, wire))` queues a packet; `lanes[k].characters` accepts raw characters.

    Args:
        entity: Handle with the wires rx and tx, 9 bits a lane.
        grid: Grid on which the driver samples and drives.
        lanes: Number of ports.
    """

    _signals: ClassVar[list[str]] = ["rx", "tx"]

    def __init__(self, entity: Any, grid: Grid, lanes: int = 1) -> None:
        super().__init__(entity, "", entity.clk)
        self.lanes = [Lane() for _ in range(lanes)]
        self.bus.rx.value = 0
        self._shown = 0
        grid.samplers.append(self._sample)
        grid.drivers.append(self._drive)

    async def _driver_send(self, transaction: tuple[int, bytes], sync: bool = True) -> None:
        lane, wire = transaction
        self.lanes[lane].characters.extend(packet_characters(wire))

    @property
    def idle(self) -> bool:
        """True if no character is queued."""
        return not any(lane.characters for lane in self.lanes)

    def _sample(self, now: int) -> None:
        tx = int(self.bus.tx.value)
        for number, lane in enumerate(self.lanes):
            lane.hear(tx >> 9 * number & 0x1FF)

    def _drive(self, now: int) -> None:
        rx = 0
        for number, lane in enumerate(self.lanes):
            rx |= lane.leave() << 9 * number
        if rx != self._shown:
            self._shown = rx
            self.bus.rx.value = rx


class LinkMonitor(Monitor):
    """Monitor of the packets on one lane of `tx`; `_recv` gets the bytes of each packet at its GAP.

    Args:
        entity: Handle with the wire tx, 9 bits a lane.
        grid: Grid on which the monitor samples.
        lane: Port number.
    """

    _signals: ClassVar[list[str]] = ["tx"]

    def __init__(self, entity: Any, grid: Grid, lane: int = 0) -> None:
        self.lane = lane
        self._assembler = Assembler()
        self.packet = self._assembler.packet
        """Bytes received of the current packet."""
        self.log_of_data: list[tuple[int, int]] = []
        """(grid point, character) of each data character and GAP."""
        self.controls: list[tuple[int, Symbol]] = []
        """(grid point, symbol) of each control character other than GAP and IDLE."""
        self._arrived: deque[bytes] = deque()
        self._complete = Event()
        super().__init__(entity, "", entity.clk)
        grid.samplers.append(self._sample)

    def __str__(self) -> str:
        return f"output {self.lane}"

    def _sample(self, now: int) -> None:
        character = int(self.bus.tx.value) >> 9 * self.lane & 0x1FF
        if not character:
            return
        try:
            packet, symbol = self._assembler.take(character)
        except ValueError as error:
            raise AssertionError(f"{error} on output {self.lane} at {now}") from None
        if packet is not None:
            self._arrived.append(packet)
            self._complete.set()
        if symbol is None or symbol is Symbol.GAP:
            self.log_of_data.append((now, character))
        else:
            self.controls.append((now, symbol))

    async def _monitor_recv(self) -> None:
        while True:
            await self._complete.wait()
            self._complete.clear()
            while self._arrived:
                self._recv(self._arrived.popleft())


class PacketSource:
    """Source of packets on a stream (`prefix`_valid, _ready, _tail, _data): one beat a byte, then one beat
    with tail.
    """

    def __init__(self, entity: Any, prefix: str, grid: Grid, gaps: Pauses | None = None) -> None:
        self.gaps = gaps or never()
        self.beats: deque[tuple[int, int]] = deque()
        """Queued beats: (tail, byte)."""
        self._wires = require(entity, prefix, ("valid", "ready", "tail", "data"))
        self._offered = False
        for wire in ("valid", "tail", "data"):
            self._wires[wire].value = 0
        grid.samplers.append(self._sample)
        grid.drivers.append(self._drive)

    def send(self, wire: bytes) -> None:
        """Queue a packet."""
        self.beats.extend((0, byte) for byte in wire)
        self.beats.append((1, 0))

    @property
    def idle(self) -> bool:
        """True if the block has accepted all queued beats."""
        return not self.beats and not self._offered

    def _sample(self, now: int) -> None:
        if self._offered and int(self._wires["ready"].value):
            self._offered = False

    def _drive(self, now: int) -> None:
        if self._offered:
            return
        if self.beats and not next(self.gaps):
            tail, byte = self.beats.popleft()
            self._wires["tail"].value, self._wires["data"].value = tail, byte
            self._wires["valid"].value = 1
            self._offered = True
        else:
            self._wires["valid"].value = 0


class PacketSink:
    """Sink of packets on a stream; calls `taken` with the bytes of each packet at its tail."""

    def __init__(
        self, entity: Any, prefix: str, grid: Grid, taken: Callable[[bytes], None], stalls: Pauses | None = None
    ) -> None:
        self.stalls = stalls or never()
        self.times: list[int] = []
        """Grid points of the received beats."""
        self.packet = bytearray()
        self._taken = taken
        self._wires = require(entity, prefix, ("valid", "ready", "tail", "data"))
        self._ready = True
        self._wires["ready"].value = 1
        grid.samplers.append(self._sample)
        grid.drivers.append(self._drive)

    def _sample(self, now: int) -> None:
        if not (self._ready and int(self._wires["valid"].value)):
            return
        self.times.append(now)
        if int(self._wires["tail"].value):
            self._taken(bytes(self.packet))
            self.packet.clear()
        else:
            self.packet.append(int(self._wires["data"].value))

    def _drive(self, now: int) -> None:
        ready = not next(self.stalls)
        if ready != self._ready:
            self._ready = ready
            self._wires["ready"].value = int(ready)
