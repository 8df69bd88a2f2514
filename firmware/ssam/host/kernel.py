"""Kernel part of SSAM: traps that send and poll. The CPU copies every byte; nothing is retransmitted (paper 002)."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from firmware.common.host.lock import Lock
from firmware.common.host.request_reply import Kind
from firmware.nics.fifo.cells import PART, Cell, CellPort, key
from firmware.ssam.host.area import Area
from firmware.ssam.host.errors import SsamError
from firmware.ssam.host.message import ARGUMENTS, FORMAT, MOST, SLOT, Header
from firmware.ssam.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.host.process import Process
from pymodels.trace import TraceEvent

KEY_AT, SOURCE_AT = 0, 8
"""Offsets of the header fields that the kernel writes."""


class Coming(NamedTuple):
    """Message being received into a slot of the kernel's memory."""

    slot: int
    """Physical address of the slot."""
    size: int
    """Number of bytes received so far."""
    trace: int
    """Trace key of the last cell."""
    source: int
    message: int
    """Number of the message in the trace."""


class SsamKernel:
    """Kernel part of SSAM on one host."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.me = host, view.me
        self.nodes = len(view.names)
        self.partners = sorted(vnn for vnn in view.routes if vnn != view.me)
        self.messages = Options.from_values(view.options).messages(self.nodes)
        self._port = CellPort(host, view.me, view.routes)
        self._turn = Lock(host, "SSAM's part of the kernel")
        self._areas: dict[int, Area] = {}
        self._free: deque[int] = deque()
        """Free slots of the kernel's memory, out of `_slots`."""
        self._slots = 0
        self._coming: dict[int, Coming] = {}
        """Partly received messages, by source."""
        self._whole: deque[Coming] = deque()
        """Complete messages that no process has yet."""
        self._numbers = dict.fromkeys(self.partners, 0)
        """Number of the last cell, by source."""
        self.started = False
        self.traps = self.inside_ps = 0
        """Number of traps, and their total time in ps."""
        self.copied = {"process_to_card": 0, "card_to_kernel": 0, "kernel_to_process": 0}
        """Bytes of messages copied by the CPU, by copy."""
        self.lost_cells = self.incomplete = self.unclaimed = 0
        """Number of lost cells, of messages dropped because of them, and of messages with an unknown key."""

    async def start(self) -> None:
        """Initialise the card, once a host."""
        if not self.started:
            self.started = True
            await self._port.start()

    async def open(self, process: Process, program: int) -> Area:
        """Trap: allocate the buffers of a process. Raises SsamError if the key is in use on this host."""
        async with self._kernel_of(process):
            if program in self._areas:
                owner = self._areas[program].process.who
                raise SsamError(f"key {program:#x}", f"{owner} has opened the device with it", "use another key")
            area = self._areas[program] = Area(self.host, process, program, self.messages)
            self._grow(len(self._areas) * self.messages + self.nodes)
            return area

    def _grow(self, slots: int) -> None:
        """Extend the kernel's memory to at least `slots` message slots."""
        if slots > self._slots:
            base = self.host.allocate(SLOT * (slots - self._slots)).address
            self._free.extend(range(base, base + SLOT * (slots - self._slots), SLOT))
            self._slots = slots

    async def close(self, area: Area) -> None:
        """Trap: release the buffers of a process; later messages to it are dropped."""
        async with self._kernel_of(area.process):
            del self._areas[area.key]
            area.close()

    @asynccontextmanager
    async def _kernel_of(self, process: Process) -> AsyncIterator[None]:
        """Enter the kernel for a process; one thread at a time is in SSAM's kernel part."""
        self.traps += 1
        begun = self.host.now
        await process.syscall()
        self.inside_ps += self.host.now - begun
        async with self._turn:
            await process.host.scheduler.enter()
            begun = self.host.now
            try:
                yield
            finally:
                self.inside_ps += self.host.now - begun
                process.host.scheduler.leave()

    # ---- sending

    async def send(self, area: Area, offset: int, number: int) -> None:
        """Trap: send the message at an offset of the area. Raises SsamError for an invalid message."""
        async with self._kernel_of(area.process):
            host, at = self.host, area.outgoing(offset)
            await host.spend("ssam_trap_send")
            header = Header.decode(host.load_bytes(at, FORMAT.size))
            self._check(area, header)
            host.store_words(at + KEY_AT, (area.key,))
            host.store_bytes(at + SOURCE_AT, bytes([self.me]))
            host.trace(TraceEvent.TRAPPED, 0, header.size, message=number)
            message = host.load_bytes(at, header.size)
            for begin in range(0, header.size, PART):
                while not await self._port.room():
                    await self._drain()
                cell = await self._port.put(header.destination, message, begin, number)
                host.trace(TraceEvent.PAYLOAD_WRITTEN, cell, PART, message=number)
            self.copied["process_to_card"] += header.size
            area.sent()

    def _check(self, area: Area, header: Header) -> None:
        who = area.process.who
        if header.destination not in self.partners:
            raise SsamError(f"{who}: message to node {header.destination}", "unknown node", f"one of {self.partners}")
        if header.kind not in tuple(Kind) or header.arguments > ARGUMENTS or header.data > MOST:
            raise SsamError(f"{who}: message to node {header.destination}", "invalid header", "use the library")

    # ---- receiving

    async def poll(self, area: Area) -> None:
        """Trap: move all received cells into the kernel's memory and complete messages to their processes."""
        async with self._kernel_of(area.process):
            await self.host.spend("ssam_trap_poll")
            await self._drain()
            await self._hand_over()

    async def _drain(self) -> None:
        """Receive cells while the kernel has memory for a message."""
        while self._free and await self._port.there():
            await self._put_together(await self._port.look())

    async def _put_together(self, cell: Cell) -> None:
        """Append the data of a cell to its message."""
        host, trace, message = self.host, key(cell.source, self.me, cell.number), self._port.message
        host.trace(TraceEvent.POLL_HIT, trace, 0, cell.source, message=message)
        data = await self._port.take(cell)
        missing = (cell.number - self._numbers[cell.source] - 1) & 0xFF
        self._numbers[cell.source] = cell.number
        self.lost_cells += missing
        before = self._coming.pop(cell.source, None)
        if before is not None and (missing or cell.first or before.size + len(data) > SLOT):
            self._throw_away(before)
            before = None
        if before is None:
            if not cell.first:
                return
            before = Coming(self._free.popleft(), 0, trace, cell.source, message)
        host.store_bytes(before.slot + before.size, data)
        now = Coming(before.slot, before.size + len(data), trace, cell.source, message)
        if cell.left <= PART:
            self.copied["card_to_kernel"] += now.size
            host.trace(TraceEvent.IN_KERNEL, trace, now.size, cell.source, message=message)
            self._whole.append(now)
        else:
            self._coming[cell.source] = now

    def _throw_away(self, message: Coming) -> None:
        self.incomplete += 1
        self._free.append(message.slot)

    async def _hand_over(self) -> None:
        """Copy complete messages to their processes in order of arrival; those without a free slot wait."""
        host = self.host
        for _ in range(len(self._whole)):
            message = self._whole.popleft()
            await host.spend("ssam_file")
            area = self._areas.get(Header.decode(host.load_bytes(message.slot, FORMAT.size)).key)
            if area is not None and not area.room():
                self._whole.append(message)
                continue
            if area is None:
                self.unclaimed += 1
            else:
                await host.copy_memory("ssam_copy", area.incoming(), message.slot, message.size)
                self.copied["kernel_to_process"] += message.size
                area.put(message.trace, message.message)
                about = message.trace, message.size, message.source
                host.trace(TraceEvent.IN_PROCESS, *about, message=message.message)
            self._free.append(message.slot)
