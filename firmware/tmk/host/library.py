"""TreadMarks as a program calls it, by the names of its manual without `Tmk_`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from numpy.typing import DTypeLike

from firmware.tmk.host.account import Account, Share
from firmware.tmk.host.barriers import BARRIERS, OWN, Barriers
from firmware.tmk.host.coherence import Coherence
from firmware.tmk.host.errors import TmkError
from firmware.tmk.host.locks import LOCKS, Locks
from firmware.tmk.host.memory import Memory
from firmware.tmk.host.shared import Shared, row_bytes
from firmware.tmk.host.substrate import Substrate
from firmware.tmk.host.wire import Kind, Message
from firmware.tmk.options import Options
from pymodels.host import PAGE, Fault, Rights

__all__ = ["BARRIERS", "LOCKS", "Tmk"]

DATA, ARRAY = 0, 1
"""Kinds of distributed data: bytes of the program, and the address of an array."""
ALIGN = 8
"""Alignment of allocated memory in bytes."""


class Tmk:
    """Process of the parallel program. Shared memory is accessed by `read`, `write` and `view` of `process`."""

    def __init__(self, substrate: Substrate, options: Options) -> None:
        self.proc_id, self.nprocs, self.process = substrate.me, substrate.nodes, substrate.process
        self._substrate = substrate
        self.memory = Memory(self.process, options.pages, self.nprocs, self.proc_id)
        self.coherence = Coherence(substrate, self.memory)
        self.locks = Locks(self.coherence)
        self.barriers = Barriers(self.coherence, options.collect_bytes)
        self._break = 0
        """Number of allocated bytes."""
        self.distributed: list[bytes] = []
        """Data distributed by the program in process 0 so far."""
        self._arrays: list[bytes] = []
        """Addresses of arrays that this process has not requested yet."""
        self._lists = self.distributed, self._arrays
        """Received data, by kind."""
        self.faults: list[tuple[int, int, bool]] = []
        """Page faults so far: time in ps, page, True for a write."""
        self._running = False
        self._serving: dict[Kind, Callable[[Message], Awaitable[None]]] = {
            Kind.LOCK: self.locks.handle_request,
            Kind.ARRIVAL: self.barriers.arrived,
            Kind.PAGE: self.coherence.give_page,
            Kind.DIFFS: self.coherence.give_diffs,
            Kind.DISTRIBUTE: self._take,
        }

    @property
    def sent(self) -> int:
        """Number of messages sent."""
        return self._substrate.sent

    @property
    def sent_bytes(self) -> int:
        """Bytes of the messages sent."""
        return self._substrate.sent_bytes

    @property
    def account(self) -> Account:
        """Time account from `startup` to `exit`."""
        return self._substrate.account

    async def poll(self) -> None:
        """Serve pending Requests with `scheme=polling`; free of cost with other schemes."""
        self._check(f"{self.process.who}: poll()")
        if not self._substrate.notified:
            await self._substrate.poll()

    async def startup(self) -> None:
        """Make the process reachable. Call it before any other call in every process; then meet at `barrier`."""
        if self._running:
            raise TmkError(f"{self.process.who}: startup()", "the process has started already", "call it once")
        self.process.on_fault(self._fault)
        self._running = True  # Requests may arrive as soon as the process is reachable
        await self._substrate.start(self._serve)
        self._substrate.account.open()

    async def exit(self) -> None:
        """Wait for all processes, then free shared memory and stop serving Requests."""
        await self._meet(f"{self.process.who}: exit()")
        self._substrate.account.close()
        self._running = False
        await self._substrate.stop()
        self.memory.free()

    def malloc(self, size: int) -> int:
        """Allocate zeroed shared memory and return its address, which is the same in every process.

        Process 0 allocates and distributes the address. Raises TmkError for another process, an invalid size, or too
        little memory.
        """
        return self._give_out(f"{self.process.who}: malloc({size!r})", size, ALIGN)

    def _give_out(self, what: str, size: int, align: int) -> int:
        """Allocate memory at a multiple of `align`."""
        if self.proc_id != 0:
            raise TmkError(what, f"this is process {self.proc_id}", "call it in process 0, and distribute the address")
        if type(size) is not int or size <= 0:
            raise TmkError(what, "invalid size", "give 1 byte or more")
        begin = -(-self._break // align) * align
        if begin + size > PAGE * len(self.memory.pages):
            left = PAGE * len(self.memory.pages) - begin
            raise TmkError(what, f"{left} bytes are left", "allocate less, or increase tmk.pages")
        self._break = begin + size
        self.memory.give_out(self._break)
        return self.memory.base + begin

    async def array(self, rows: int, columns: int, dtype: DTypeLike) -> Shared:
        """Return a zeroed array in shared memory. Every process calls it, in the same order.

        Args:
            rows: number of rows, each starting at a page.
            columns: elements of a row.
            dtype: numpy type of an element.

        Raises:
            TmkError: too little memory is left.
        """
        what = f"{self.process.who}: array({rows}, {columns})"
        if self.proc_id == 0:
            address = self._give_out(what, rows * row_bytes(columns, dtype), PAGE)
            await self._distribute(what, address.to_bytes(4, "big"), ARRAY)
        await self._meet(what)
        return Shared(self.process, int.from_bytes(self._arrays.pop(0), "big"), rows, columns, dtype)

    async def distribute(self, data: bytes) -> None:
        """Send bytes from process 0 to every other process, where they are appended to `distributed`. Waits for all."""
        what = f"{self.process.who}: distribute"
        if self.proc_id != 0:
            raise TmkError(what, f"this is process {self.proc_id}", "call it in process 0")
        await self._distribute(what, data, DATA)

    async def _distribute(self, what: str, data: bytes, which: int) -> None:
        self._check(what)
        self._lists[which].append(data)
        coherence, body = self.coherence, self._break.to_bytes(4, "big") + data
        async with self._substrate.section():
            asked = Message(Kind.DISTRIBUTE, 0, which, 0, body)
            requests = {to: asked._replace(sequence=coherence.sequence()) for to in range(1, self.nprocs)}
            await coherence.request_all(requests, "distribute")

    async def _take(self, message: Message) -> None:
        self._break = int.from_bytes(message.body[:4], "big")
        self._lists[message.number].append(message.body[4:])
        await self._substrate.send(0, Message(Kind.ACK, self.proc_id, 0, message.sequence))

    async def lock_acquire(self, number: int) -> None:
        """Acquire a lock. Raises TmkError for an invalid number or a lock already held."""
        self._check(f"{self.process.who}: lock_acquire({number!r})")
        async with self._substrate.section():
            await self.locks.acquire(number)

    async def lock_release(self, number: int) -> None:
        """Release a lock. Raises TmkError for an invalid number or a lock not held."""
        self._check(f"{self.process.who}: lock_release({number!r})")
        async with self._substrate.section():
            await self.locks.release(number)

    async def barrier(self, number: int) -> None:
        """Wait for all processes. Raises TmkError for an invalid number or different barriers."""
        self._check(f"{self.process.who}: barrier({number!r})")
        async with self._substrate.section():
            await self.barriers.barrier(number)

    async def _meet(self, what: str) -> None:
        """Wait at TreadMarks' internal barrier."""
        self._check(what)
        async with self._substrate.section():
            await self.barriers.meet(OWN)

    def _check(self, what: str) -> None:
        if not self._running:
            raise TmkError(what, "the process has not started, or has exited", "call startup first, and exit last")

    async def _serve(self, message: Message) -> None:
        await self._serving[message.kind](message)

    async def _fault(self, fault: Fault) -> None:
        """Handle a page fault (SIGSEGV)."""
        page, way = (fault.va - self.memory.base) // PAGE, "write" if fault.write else "read"
        what = f"{self.process.who}: {way} at {fault.va:#x}, page {page}"
        self._check(what)
        if not 0 <= page < len(self.memory.pages):
            raise TmkError(what, "outside of shared memory", f"it starts at {self.memory.base:#x}")
        if fault.va >= self.memory.base + self._break:
            given = f"{self._break} bytes are allocated"
            raise TmkError(what, given, "malloc it in process 0, and distribute the address")
        self.faults.append((fault.at, page, fault.write))
        self.account.since(fault.at, Share.PROTOCOL)
        async with self._substrate.section():
            await self.process.spend("tmk_fault")
            if self.memory.pages[page].right == Rights.NONE:
                await self.coherence.validate(page)
            if fault.write and self.memory.pages[page].right == Rights.READ:
                await self.coherence.write(page)
