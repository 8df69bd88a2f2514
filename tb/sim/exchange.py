"""Commands, events and trace records that Python and the doorway exchange in every turn (the hot path).

This is the Python version, for a Python without headers and as a reference. `tb.sim.compiled` has the same effect in C.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from typing import Any, Literal, NoReturn, TypeVar

from pymodels.errors import SanlabError
from pymodels.kernel import Future, Kernel, Why
from tb.sim.turns import Cost, Turns

EVENTS = 1 << 16
EVENT_BYTES = 64
UNITS, COMMANDS, TURN = 17408, 256, 1 << 14
COMMAND_BYTES = 64
EVENT = struct.Struct("5q")
"""Event record: time, unit, code, a, b; the rest of its bytes is unused."""
TRACE_RECORD = struct.Struct("<qIHHIIqQ")
T = TypeVar("T")
Handler = Callable[[int, int, int, int], None]
"""Function called with (time in ps, code, a, b) for each event of a unit."""
Words = Callable[[str, int, Literal["q", "Q", "I", "B"]], memoryview]
"""Function that returns an array of the library: name, number of elements, `struct` type code."""


class Commands:
    """Command ring of a unit, and the futures of the commands whose completion is awaited."""

    def __init__(self, give: Callable[..., None], kernel: Kernel, ends: tuple[int, ...], other: Handler) -> None:
        self.give = give
        """Append a command (op, a, b, c) without a future."""
        self._kernel = kernel
        self._ends = ends
        self._other = other
        self._pending: deque[Future[Any]] = deque()

    def submit(self, why: Why, op: int, /, *words: int | bytes) -> Future[Any]:
        """Append a command (op, a, b, c) and return the future of its result. A hang report shows `why`."""
        self.give(op, *words)
        future = self._kernel.future(why)
        self._pending.append(future)
        return future

    def event(self, time: int, code: int, a: int, b: int) -> None:
        """Handle an event of the unit: complete the oldest awaited command with `a`, or call the handler of
        other events.
        """
        if code in self._ends:
            self._pending.popleft().set(a)
        else:
            self._other(time, code, a, b)


class Exchange:
    """Exchange of commands, events and trace records in one run."""

    def __init__(self, words: Words) -> None:
        self.handlers: dict[int, Handler] = {}
        """Event handlers by unit."""
        self.events = words("dw_events", EVENTS * EVENT_BYTES, "B")
        self.head = words("dw_event_head", 1, "Q")
        self.tail = words("dw_event_tail", 1, "Q")
        self.lost = words("dw_event_lost", 1, "Q")
        self.turn = words("dw_turn", 8 + TURN, "q")
        """Words that Python and C share in a turn: [0] now, [1] next alarm, [2] number of units with new
        commands, [8:] these units.
        """
        self.rings = words("dw_commands", UNITS * COMMANDS * COMMAND_BYTES, "B")
        self.given = words("dw_command_head", UNITS, "I")
        self.taken = words("dw_command_tail", UNITS, "I")
        self.trace_count = words("dw_trace_count", 1, "Q")
        self.trace_lost = words("dw_trace_lost", 1, "Q")
        self.records = memoryview(b"")
        """Memory of the trace."""
        self.room = 0
        """Capacity of the trace in records; 0 while the trace is off."""
        self.record: Callable[[int, int, int, int, int, int], None] = self._record
        """Append (time, unit, event, packet, argument, argument2) to the trace, unless it is off or full."""

    def backend(self, cls: type[T]) -> type[T]:
        """Return the class to instantiate: `cls` itself, with every method in Python."""
        return cls

    def cost(self) -> Cost:
        """Return the wall-time account of a run."""
        return Cost()

    def turns(self, *parts: Any) -> Turns:
        """Return the `Turns` of this exchange; `parts` are its parameters after `words` and `drain`."""
        return Turns(self.turn, self.drainer(), *parts)

    def commands(self, unit: int, kernel: Kernel, ends: tuple[int, ...], other: Handler, data: int = 0) -> Commands:
        """Return the command ring of a unit. A command has an op, two numbers, and a third number or up to
        `data` bytes.

        The unit takes a command at its first clock edge strictly after now. Each unit defines the meaning of `op` and
        the words.

        Args:
            unit: Number of the unit.
            kernel: Event loop of the run.
            ends: Event codes that complete awaited commands, in order.
            other: Handler of events with other codes.
            data: Maximum number of payload bytes of a command; 0 for a third number.

        Raises:
            SanlabError: The ring is full (from `give` and `ask`).
        """
        commands = Commands(self._giver(unit, data), kernel, ends, other)
        self.handlers[unit] = commands.event
        return commands

    def _giver(self, unit: int, data: int) -> Callable[..., None]:
        """Return the function (op, a, b, c) that appends a command."""
        ring, turn, heads, taken = self.rings, self.turn, self.given, self.taken
        pack = struct.Struct(f"4q{data}s" if data else "5q").pack_into
        base, given = unit * COMMANDS * COMMAND_BYTES, heads[unit]

        def give(op: int, a: int = 0, b: int = 0, c: int | bytes = b"" if data else 0, /) -> None:
            nonlocal given
            waiting = given - taken[unit] & 0xFFFFFFFF
            if not waiting:  # else its clock runs already, or starts when the previous command ends
                turn[8 + turn[2]] = unit
                turn[2] += 1
            elif waiting == COMMANDS:
                full(unit)
            pack(ring, base + given % COMMANDS * COMMAND_BYTES, turn[0], op, a, b, c)
            heads[unit] = given = given + 1 & 0xFFFFFFFF

        return give

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """Return a function (event, packet, argument, argument2, message=...) that appends a trace record of `unit` at
        the present time.
        """
        count, size, pack = self.trace_count, TRACE_RECORD.size, TRACE_RECORD.pack_into

        def record(event: int, packet: int = 0, argument: int = 0, argument2: int = 0, /, *, message: int = 0) -> None:
            n = count[0]
            if n < self.room:
                pack(self.records, n * size, kernel.now, unit, event, 0, packet, argument, argument2, message)
                count[0] = n + 1
            elif self.room:
                self.trace_lost[0] += 1

        return record

    def _record(self, time: int, unit: int, event: int, packet: int, argument: int, argument2: int, /) -> None:
        n = self.trace_count[0]
        if n < self.room:
            at = n * TRACE_RECORD.size
            TRACE_RECORD.pack_into(self.records, at, time, unit, event, 0, packet, argument, argument2, 0)
            self.trace_count[0] = n + 1
        elif self.room:
            self.trace_lost[0] += 1

    def drainer(self) -> Callable[[], None]:
        """Return a function that dispatches all new events to the handlers of their units.

        The function raises SanlabError if events were lost.
        """
        events, head, tails, lost = self.events, self.head, self.tail, self.lost
        unpack, tail, handlers = EVENT.unpack_from, tails[0], self.handlers

        def drain() -> None:
            nonlocal tail
            while tail != head[0]:
                time, unit, code, a, b = unpack(events, tail % EVENTS * EVENT_BYTES)
                handlers[unit](time, code, a, b)
                tail += 1
            tails[0] = tail
            if lost[0]:
                lost_events(lost[0])

        return drain


def full(unit: int) -> NoReturn:
    """Raise SanlabError because the command ring of a unit is full."""
    cause, remedy = "commands arrive faster than the unit takes them", "await the verbs that return a value"
    raise SanlabError(f"command ring of unit {unit} is full", cause, remedy)


def lost_events(count: int) -> NoReturn:
    """Raise SanlabError because `count` events were lost."""
    cause, remedy = "the event ring overflowed", "report this with the seed: the dispatcher must drain faster"
    raise SanlabError(f"{count} hardware events were lost", cause, remedy)
