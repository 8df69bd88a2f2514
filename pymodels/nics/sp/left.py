"""Left engine of the SP adapter: commands in order of insertion, and the Send FIFO that FETCH fills."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pymodels.machine.memory import MachineError, Memory
from pymodels.machine.world import World
from pymodels.messages import command_place
from pymodels.nics.sp.packets import ReceiveBuffer
from pymodels.nics.sp.registers import SpCommand, SpSize
from pymodels.trace import Part, TraceEvent, unit

FETCH, PACKET, READ, ALARM = (1 << bit for bit in (SpCommand.FETCH, SpCommand.PACKET, SpCommand.READ, SpCommand.ALARM))
NEXT = 1 << 16
"""Flag of an entry that marks the end of a packet; not a bit of a command."""


@dataclass
class Entry:
    """Command: its first word, host address, bytes to store."""

    first: int
    address: int
    data: bytearray

    @property
    def size(self) -> int:
        """Number of bytes to move."""
        return 0 if self.first & (ALARM | NEXT) else self.first & 0xFFFF


class LeftEngine:
    """Engine that executes commands between host memory and the adapter."""

    def __init__(
        self,
        world: World,
        node: int,
        receive: ReceiveBuffer,
        changed: Callable[[], None],
        alarm: Callable[[], None],
    ) -> None:
        """Create an idle engine.

        Args:
            world: The machine's shared resources.
            node: Node of the adapter.
            receive: Receive buffer, whose packets STORE reads.
            changed: Function called when STATUS may have changed.
            alarm: Function called when an ALARM is executed.
        """
        self.fifo: deque[bytes] = deque()
        """Content of the Send FIFO, one entry for each FETCH."""
        self.fetched = self.stored = 0
        self.words = bytes(SpSize.READ)
        """Result of the last READ."""
        self.read_done = False
        self.host_memory: Memory
        self.check_grant: Callable[[int, int], None] = lambda address, size: None
        self._kernel = world.kernel
        self._node = node
        self._unit = unit(node, Part.HOST_DMA)
        self._log = world.log
        self._messages = world.messages.sram(node)
        self._timing = world.timing
        self._receive = receive
        self._changed = changed
        self._alarm = alarm
        self._entries: deque[Entry] = deque()
        self._busy = False

    @property
    def idle(self) -> bool:
        """True if every command is finished."""
        return not self._busy and not self._entries

    def insert(self, first: int, address: int) -> None:
        """Insert a command. Its data follow, unless they are those of a packet."""
        data = bytearray()
        size = first & 0xFFFF
        if first & PACKET:
            data += self._receive.take(size)
            self._trace_move(size)
        if first & READ:
            self.read_done = False
        if first & FETCH and size > (SpSize.READ if first & READ else SpSize.FIFO):
            raise MachineError(f"node {self._node}: FETCH or READ of {size} bytes is more than there is room for")
        self._entries.append(Entry(first, address, data))
        self._go_on()

    def insert_words(self, *words: int) -> None:
        """Append data to the command inserted last."""
        if not self._entries:
            raise MachineError(f"node {self._node}: words without a command that waits for them")
        last = self._entries[-1]
        for word in words:
            last.data += word.to_bytes(4, "big")
        self._go_on()

    def insert_next(self) -> None:
        """Insert the end of a packet."""
        self._entries.append(Entry(NEXT, 0, bytearray()))
        self._go_on()

    def room_made(self) -> None:
        """Continue after the right engine has removed bytes from the Send FIFO."""
        self._go_on()

    def _go_on(self) -> None:
        """Start the next command if its data and room are available."""
        while not self._busy and self._entries:
            entry = self._entries[0]
            if entry.first & NEXT:
                self._entries.popleft()
                self._receive.release()
                continue
            if not entry.first & (FETCH | ALARM) and len(entry.data) < entry.size:
                return
            held = sum(_whole(len(data)) for data in self.fifo)
            if entry.first & FETCH and not entry.first & READ and held + _whole(entry.size) > SpSize.FIFO:
                return
            self._begin(entry)

    def _begin(self, entry: Entry) -> None:
        self._busy = True
        if entry.size:
            self.check_grant(entry.address, entry.size)
            self._trace(TraceEvent.DMA_START, entry)
        start = self._timing.dma_start if entry.size else 0
        self._kernel.at(self._kernel.now + start + entry.size * self._timing.dma_byte, self._done)

    def _done(self) -> None:
        entry = self._entries.popleft()
        self._busy = False
        if entry.size:
            self._trace(TraceEvent.DMA_DONE, entry)
        if entry.first & ALARM:
            self._alarm()
        elif entry.first & READ:
            self.words = self.host_memory.read(entry.address, entry.size).ljust(SpSize.READ, b"\0")
            self.read_done = True
        elif entry.first & FETCH:
            self.fifo.append(self.host_memory.read(entry.address, entry.size))
            self.fetched += 1
        else:
            self.host_memory.write(entry.address, bytes(entry.data[: entry.size]))
            self.stored += 1
        self._changed()
        self._go_on()

    def _trace(self, event: TraceEvent, entry: Entry) -> None:
        """Record the start or the end of a command with its number among the FETCHes or among the STOREs."""
        if entry.first & FETCH:
            number, store, moved = self.fetched, False, entry.size
        else:
            number, store, moved = self.stored, True, -entry.size
        message = self._messages[command_place(number, store)]
        self._log.add(self._unit, event, number, int(store), moved, message)

    def _trace_move(self, size: int) -> None:
        """Record the move of packet bytes to the Recv/Cmd FIFO, which takes no time in the machine."""
        number = self.stored + sum(not entry.first & (FETCH | ALARM | NEXT) for entry in self._entries)
        message = self._messages[command_place(number, True)]
        for event in (TraceEvent.MOVE_START, TraceEvent.MOVE_DONE):
            self._log.add(unit(self._node, Part.NET_RECV), event, self._receive.key, number, size, message)


def _whole(size: int) -> int:
    """Return the bytes of the Send FIFO that a FETCH occupies."""
    return size + 7 & ~7
