"""What Python and the doorway exchange in every turn: commands, events, trace records. This is the hot path.

This is it in Python, through the library's arrays: for a Python without headers, and to compare. `tb.sim.compiled` does
it in C, with the same effect.
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
"""Time, unit, code, a, b; the rest of the record is unused."""
TRACE_RECORD = struct.Struct("<qIHHIIq")
T = TypeVar("T")
Handler = Callable[[int, int, int, int], None]
"""Called with (time ps, code, a, b) for each event of a unit."""
Words = Callable[[str, int, Literal["q", "Q", "I", "B"]], memoryview]
"""An array of the library by name: so many elements of a type of `struct`."""


class Commands:
    """The commands of a unit, and the futures of those whose end somebody waits for."""

    def __init__(self, give: Callable[..., None], kernel: Kernel, ends: tuple[int, ...], other: Handler) -> None:
        self.give = give
        """Append a command (op, a, b, c) whose end nobody waits for."""
        self._kernel = kernel
        self._ends = ends
        self._other = other
        self._pending: deque[Future[Any]] = deque()

    def ask(self, why: Why, op: int, /, *words: int | bytes) -> Future[Any]:
        """Append a command (op, a, b, c); the future of what it ends with. `why` is what a hang report says."""
        self.give(op, *words)
        future = self._kernel.future(why)
        self._pending.append(future)
        return future

    def event(self, time: int, code: int, a: int, b: int) -> None:
        """An event of the unit: the oldest command that was asked has ended with `a`, or something else."""
        if code in self._ends:
            self._pending.popleft().set(a)
        else:
            self._other(time, code, a, b)


class Exchange:
    """The exchange of one run."""

    def __init__(self, words: Words) -> None:
        self.handlers: dict[int, Handler] = {}
        """Receivers of the events of a unit without commands."""
        self.events = words("dw_events", EVENTS * EVENT_BYTES, "B")
        self.head = words("dw_event_head", 1, "Q")
        self.tail = words("dw_event_tail", 1, "Q")
        self.lost = words("dw_event_lost", 1, "Q")
        self.turn = words("dw_turn", 8 + TURN, "q")
        """What Python and C share in a turn: [0] now, [1] next alarm, [2] units given commands, [8:] which units."""
        self.rings = words("dw_commands", UNITS * COMMANDS * COMMAND_BYTES, "B")
        self.given = words("dw_command_head", UNITS, "I")
        self.taken = words("dw_command_tail", UNITS, "I")
        self.trace_count = words("dw_trace_count", 1, "Q")
        self.trace_lost = words("dw_trace_lost", 1, "Q")
        self.records = memoryview(b"")
        """The trace's room."""
        self.room = 0
        """Records that the trace takes; 0 while it is off."""
        self.record: Callable[[int, int, int, int, int, int], None] = self._record
        """Append time, unit, event, packet, argument, argument2 to the trace; nothing while it is off or full."""

    def backend(self, cls: type[T]) -> type[T]:
        """Return the class of which to make objects: here `cls` itself, with every method in Python."""
        return cls

    def cost(self) -> Cost:
        """The wall time of a run, by where it is spent."""
        return Cost()

    def turns(self, *parts: Any) -> Turns:
        """The turns of Python: see `Turns`, which also takes this exchange's share of it."""
        return Turns(self.turn, self.drainer(), *parts)

    def commands(self, unit: int, kernel: Kernel, ends: tuple[int, ...], other: Handler, data: int = 0) -> Commands:
        """The one way to give a unit commands: an op, two numbers, and a number or up to `data` bytes.

        The unit takes a command at its first clock edge strictly after now. The meaning of `op` and the words is the
        unit's own. Events with a code of `ends` end the commands that were asked, in their order; all others go to
        `other`. Raises SanlabError when the ring is full.
        """
        commands = Commands(self._giver(unit, data), kernel, ends, other)
        self.handlers[unit] = commands.event
        return commands

    def _giver(self, unit: int, data: int) -> Callable[..., None]:
        """The function (op, a, b, c) that appends a command."""
        ring, turn, heads, taken = self.rings, self.turn, self.given, self.taken
        pack = struct.Struct(f"4q{data}s" if data else "5q").pack_into
        base, given = unit * COMMANDS * COMMAND_BYTES, heads[unit]

        def give(op: int, a: int = 0, b: int = 0, c: int | bytes = b"" if data else 0, /) -> None:
            nonlocal given
            waiting = given - taken[unit] & 0xFFFFFFFF
            if not waiting:  # else its clock runs already, or will when the command before ends
                turn[8 + turn[2]] = unit
                turn[2] += 1
            elif waiting == COMMANDS:
                full(unit)
            pack(ring, base + given % COMMANDS * COMMAND_BYTES, turn[0], op, a, b, c)
            heads[unit] = given = given + 1 & 0xFFFFFFFF

        return give

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """A function (event, packet, argument, argument2) that records for `unit` at the present time."""
        count, size, pack = self.trace_count, TRACE_RECORD.size, TRACE_RECORD.pack_into

        def record(event: int, packet: int = 0, argument: int = 0, argument2: int = 0, /) -> None:
            n = count[0]
            if n < self.room:
                pack(self.records, n * size, kernel.now, unit, event, 0, packet, argument, argument2)
                count[0] = n + 1
            elif self.room:
                self.trace_lost[0] += 1

        return record

    def _record(self, time: int, unit: int, event: int, packet: int, argument: int, argument2: int, /) -> None:
        n = self.trace_count[0]
        if n < self.room:
            at = n * TRACE_RECORD.size
            TRACE_RECORD.pack_into(self.records, at, time, unit, event, 0, packet, argument, argument2)
            self.trace_count[0] = n + 1
        elif self.room:
            self.trace_lost[0] += 1

    def drainer(self) -> Callable[[], None]:
        """The function that hands every event since its last call to its unit's handler.

        It raises SanlabError when events were lost.
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
    """A unit's ring has no room."""
    cause, remedy = "it was given commands faster than it takes them", "await the verbs that return a value"
    raise SanlabError(f"unit {unit} has too many commands waiting", cause, remedy)


def lost_events(count: int) -> NoReturn:
    """So many events found no room."""
    cause, remedy = "the event ring overflowed", "report this with the seed: the dispatcher must drain faster"
    raise SanlabError(f"{count} hardware events were lost", cause, remedy)
