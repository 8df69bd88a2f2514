"""`Host` verbs on a board: a program of the PC that reaches memory and NIC of one host over the serial bridge.

Instructions of host software take the PC's time, so compiled paths cost nothing here. Time is that of the board's
clock, which the PC reads at each access. Polled words are watched by comparators of the board.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import nullcontext
from typing import Any

from firmware.verbs import Signal
from pymodels.cards import SLOT, SLOT_BYTES, CardMap
from pymodels.costs.table import PathTable
from pymodels.errors import SanlabError
from pymodels.host import Moves, PollsCards, Processes
from pymodels.host.computing import ComputingError
from pymodels.host.interrupts import InterruptLine, Routine
from pymodels.host.polling import ALL
from pymodels.kernel import Event, Kernel, Task, Why
from pymodels.machine.host import ModelBuffer
from pymodels.machine.log import TraceLog
from pymodels.messages import HostMessages, Messages
from pymodels.trace import Part, TraceEvent, unit
from pymodels.waiting import Waits
from tb.board.link import BoardLink
from tb.board.memory import BoardMemory
from tb.board.watches import Watches

WORD = struct.Struct(">I")
LINE = 32
"""Bytes of one PIO_WRITE record."""


class BoardHostError(SanlabError):
    """Access of host software that a board cannot make."""


class BoardHost(Processes, PollsCards, HostMessages):
    """Host that satisfies the protocol `firmware.verbs.Host`."""

    copied_bytes = 0
    """Number of bytes that the CPU has copied from memory to memory."""

    def __init__(
        self,
        node: int,
        name: str,
        kernel: Kernel,
        link: BoardLink,
        watches: Watches,
        log: TraceLog,
        card: CardMap,
        messages: Messages,
    ) -> None:
        """Create the host of a node.

        Args:
            node: Number of the node on the board.
            name: Name of the host.
            kernel: Event loop of the run.
            link: Connection to the board.
            watches: Comparators of the board.
            log: Trace of the PC's software.
            card: Address map of the NIC.
            messages: Numbers of the messages of the run.
        """
        self.node, self.name, self.who = node, name, f"host {name}"
        self.card, self.nic_base = card, card.sram
        self.note_messages(messages, node)
        self.memory = BoardMemory(name, link.memory(node), link.memory_bytes)
        self.unit = unit(node, Part.HOST_CPU)
        self._kernel, self._link, self._watches, self._log = kernel, link, watches, log
        self._interrupts = InterruptLine(kernel, self.spawn, lambda: 0)
        self._begun = time.process_time_ns()
        self.start_processes(kernel, node)

    # Tasks and time.

    @property
    def now(self) -> int:
        """Time of the board at the PC's last access to it, in picoseconds."""
        return self._kernel.now

    @property
    def waits(self) -> Waits:
        """Registry of declared waits."""
        return self._kernel.waits

    @property
    def cpu_ps(self) -> int:
        """CPU time of the PC's process since the start of the run; the hosts of a board share the process."""
        return 1000 * (time.process_time_ns() - self._begun)

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        """Start a task."""
        return self._kernel.spawn(coroutine, f"{self.who}: {name}")

    def event(self, why: Why) -> Signal:
        """Return a new condition between tasks."""
        return Event(self._kernel, why)

    async def sleep(self, duration_ps: int, why: Why = "time") -> None:
        """Wait for a duration of the board's clock."""
        await self._kernel.sleep_until(self._link.read_time() + duration_ps, why)

    def trace(self, event: int, packet: int = 0, argument: int = 0, argument2: int = 0, *, message: int = 0) -> None:
        """Append a record of the PC's software, stamped with the board's time after the PC's last access to it.

        The call of a message is stamped with the present time of the board.
        """
        if self._log.enabled:
            self._link.read_time() if event == TraceEvent.SEND_CALL else self._link.fresh_time()
            self._log.add(self.unit, event, packet, argument, argument2, message)

    def use(self, table: PathTable) -> None:
        """Accept the cost table of a message layer, which charges nothing on a board."""

    # Memory.

    def allocate(self, size: int, align: int = 4096) -> ModelBuffer:
        """Return pinned, contiguous, zeroed memory. Raises MemoryError if the board has no room."""
        address = self.memory.allocate(size, align)
        return ModelBuffer(address, size, memoryview(self.memory.data)[address : address + size])

    def window(self, address: int, size: int) -> memoryview:
        """Return a view of host memory with its present content."""
        self.memory.fetch(address, size)
        return memoryview(self.memory.data)[address : address + size]

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return big-endian words of host memory."""
        return struct.unpack(f">{count}I", self.load_bytes(address, 4 * count))

    def store_words(self, address: int, words: Sequence[int]) -> None:
        """Store big-endian words in host memory."""
        self.store_bytes(address, struct.pack(f">{len(words)}I", *words))

    def load_bytes(self, address: int, count: int) -> bytes:
        """Return bytes of host memory."""
        self.memory.fetch(address, count)
        return bytes(self.memory.data[address : address + count])

    def store_bytes(self, address: int, data: bytes | memoryview) -> None:
        """Store bytes to host memory."""
        self.memory.store(address, data)

    async def copy_memory(self, path: str, target: int, source: int, size: int) -> None:
        """Copy bytes of host memory."""
        self.copied_bytes += size
        self.store_bytes(target, self.load_bytes(source, size))
        await self._turn()

    def _close(self, frame: int, closed: bool) -> None:
        if closed:
            what = f"{self.who}: read-only page {frame:#x}"
            raise BoardHostError(what, "the board has no rights of pages", "run on the RTL (run.on=rtl)")

    # The CPU.

    async def _turn(self) -> None:
        """Let other tasks of the PC run."""
        await self._kernel.sleep(0, "its turn on the PC")

    async def spend(self, path: str, times: int = 1) -> None:
        """Let other tasks run: the instructions of the path are those that the PC executes."""
        await self._turn()

    async def compute(self, what: str | float, times: int = 1) -> None:
        """Wait for `times` periods in ns of the board's clock; a compiled path takes the PC's time."""
        if isinstance(what, str):
            await self._turn()
        elif what < 0 or times < 0:
            cause = "a time to compute is not negative"
            raise ComputingError(f"{self.who}: compute({what}, {times})", cause, "give ns from 0 on")
        else:
            await self.sleep(round(1000 * what * times), "its own computing")

    async def switch_context(self) -> None:
        """Let other tasks run."""
        await self._turn()

    async def syscall(self) -> None:
        """Let other tasks run: the kernel's part is executed by the PC."""
        await self._turn()

    async def overhead(self, what: str) -> None:
        """Let other tasks run: costs beside paths are those of the PC."""
        await self._turn()

    async def poll(self, watches: Sequence[tuple[int, int]], path: str, moves: Moves | None = None) -> int:
        """Wait until a word of host memory differs from its value, and return its index.

        Args:
            watches: Address and present value of each word.
            path: Compiled path, without effect here.
            moves: Notification that the words have moved, which ends the wait; the index is then meaningless.
        """
        self.memory.flush()
        waiter = self._watches.wait(self.node, watches, f"a word of {self.name}'s memory to change")
        with moves.ending(waiter.end) if moves else nullcontext():
            return await waiter.hit

    # The bus.

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Store whole words to the NIC, in order."""
        offset = self._offset(address, len(data))
        self.memory.flush()
        for at in range(0, len(data), LINE):
            self._log.add(self.unit, TraceEvent.PIO_WRITE, 0, address + at, min(LINE, len(data) - at))
        self._link.write_nic(self.node, offset, bytes(data))
        await self._turn()

    async def pio_copy(self, address: int, source: int, size: int, combine: bool = True) -> None:
        """Copy bytes, rounded up to words, from host memory to the NIC."""
        await self.pio_write(address, self.load_bytes(source, size + 3 & ~3), combine)

    async def pio_read(self, address: int) -> int:
        """Return a word of the NIC, after all earlier stores."""
        (word,) = WORD.unpack(self._link.read_nic(self.node, self._offset(address, 4), 4))
        self._log.add(self.unit, TraceEvent.PIO_READ, 0, address, word & ALL)
        await self._turn()
        return int(word)

    async def fence(self) -> None:
        """Do nothing: stores are not combined."""

    def _offset(self, address: int, size: int) -> int:
        """Return the offset in the NIC's region. Raises BoardHostError for any other address, or parts of words."""
        if address & 3 or size & 3:
            cause = f"{size} bytes at {address:#x} are not whole aligned words"
            raise BoardHostError(f"{self.who}: PIO", cause, "use multiples of 4")
        if not SLOT <= address <= SLOT + SLOT_BYTES - size:
            cause, remedy = f"no card answers at {address:#x} of the bus", "a board's host has only its NIC"
            raise BoardHostError(f"{self.who}: PIO", cause, remedy)
        return address - SLOT

    # Interrupts.

    def on_interrupt(self, handler: Routine) -> None:
        """Register the driver's interrupt routine."""
        self._interrupts.serve_by(handler)

    @property
    def interrupt(self) -> Callable[[bool], None]:
        """Function that sets the level of the interrupt line."""
        return self._interrupts.change
