"""What Python and the doorway exchange in every turn: commands, events, trace records. The hot path.

`CompiledExchange` does it by one call into C each (hdl/sim/doorway_python.c), `Exchange` in Python, with the same
effect: for a Python without headers, and to compare.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal, NoReturn

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel

EVENTS = 1 << 16
EVENT_BYTES = 64
UNITS, COMMANDS, TURN = 4096, 256, 1 << 14
COMMAND_BYTES = 64
EVENT = struct.Struct("5q")
"""Time, unit, code, a, b; the rest of the record is unused."""
TRACE_RECORD = struct.Struct("<qIHHIIq")
COMPILED = "SANLAB_COMPILED"
"""The environment variable that forbids the compiled exchange when it is 0."""
Handler = Callable[[int, int, int, int], None]
"""Called with (time ps, code, a, b) for each event of a unit."""
Words = Callable[[str, int, Literal["q", "Q", "I", "B"]], memoryview]
"""An array of the library by name: so many elements of a type of `struct`."""


def exchange_with(library: Path, words: Words) -> Exchange:
    """The exchange with a doorway library: the compiled one where it was built beside it."""
    module = library.with_name("doorway_python.so")
    if os.environ.get(COMPILED) == "0" or not module.exists():
        return Exchange(words)
    spec = spec_from_file_location(module.stem, module)
    assert spec is not None
    assert spec.loader is not None
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    compiled.bind(str(library))
    return CompiledExchange(words, compiled)


class Exchange:
    """The exchange in Python, through the library's arrays."""

    def __init__(self, words: Words) -> None:
        self.events = words("dw_events", EVENTS * EVENT_BYTES, "B")
        self.head = words("dw_event_head", 1, "Q")
        self.tail = words("dw_event_tail", 1, "Q")
        self.lost = words("dw_event_lost", 1, "Q")
        self.turn = words("dw_turn", 8 + TURN, "q")
        """What Python and C share in a turn: [0] now, [1] next alarm, [2] units given commands, [8:] which units."""
        self.commands = words("dw_commands", UNITS * COMMANDS * COMMAND_BYTES, "B")
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

    def giver(self, unit: int, data: int = 0) -> Callable[..., None]:
        """The function (op, a, b, c) that appends commands to a unit's ring; c is a number, or up to `data` bytes.

        The unit takes a command at its first clock edge strictly after now. The meaning of `op` and the words is the
        unit's own. A unit has one giver; it raises SanlabError when the ring is full.
        """
        ring, turn, heads, taken = self.commands, self.turn, self.given, self.taken
        pack = struct.Struct(f"4q{data}s" if data else "5q").pack_into
        base, given = unit * COMMANDS * COMMAND_BYTES, heads[unit]

        def give(op: int, a: int = 0, b: int = 0, c: int | bytes = b"" if data else 0) -> None:
            nonlocal given
            waiting = given - taken[unit] & 0xFFFFFFFF
            if not waiting:  # else its clock runs already, or will when the command before ends
                turn[8 + turn[2]] = unit
                turn[2] += 1
            elif waiting == COMMANDS:
                _full(unit)
            pack(ring, base + given % COMMANDS * COMMAND_BYTES, turn[0], op, a, b, c)
            heads[unit] = given = given + 1 & 0xFFFFFFFF

        return give

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """A function (event, packet, argument, argument2) that records for `unit` at the present time."""
        count, size, pack = self.trace_count, TRACE_RECORD.size, TRACE_RECORD.pack_into

        def record(event: int, packet: int = 0, argument: int = 0, argument2: int = 0) -> None:
            n = count[0]
            if n < self.room:
                pack(self.records, n * size, kernel.now, unit, event, 0, packet, argument, argument2)
                count[0] = n + 1
            elif self.room:
                self.trace_lost[0] += 1

        return record

    def _record(self, time: int, unit: int, event: int, packet: int, argument: int, argument2: int) -> None:
        n = self.trace_count[0]
        if n < self.room:
            at = n * TRACE_RECORD.size
            TRACE_RECORD.pack_into(self.records, at, time, unit, event, 0, packet, argument, argument2)
            self.trace_count[0] = n + 1
        elif self.room:
            self.trace_lost[0] += 1

    def drainer(self, handlers: dict[int, Handler]) -> Callable[[], None]:
        """The function that hands every event since its last call to its unit's handler.

        It raises SanlabError when events were lost.
        """
        events, head, tails, lost = self.events, self.head, self.tail, self.lost
        unpack, tail = EVENT.unpack_from, tails[0]

        def drain() -> None:
            nonlocal tail
            while tail != head[0]:
                time, unit, code, a, b = unpack(events, tail % EVENTS * EVENT_BYTES)
                handlers[unit](time, code, a, b)
                tail += 1
            tails[0] = tail
            if lost[0]:
                _lost(lost[0])

        return drain


class CompiledExchange(Exchange):
    """The same by the extension module."""

    def __init__(self, words: Words, compiled: Any) -> None:
        super().__init__(words)
        self._compiled = compiled
        self.record = compiled.record

    def giver(self, unit: int, data: int = 0) -> Callable[..., None]:
        """`Giver` of the module."""
        return self._compiled.Giver(unit, data, partial(_full, unit))  # type: ignore[no-any-return]

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """`Recorder` of the module."""
        return self._compiled.Recorder(unit, kernel)  # type: ignore[no-any-return]

    def drainer(self, handlers: dict[int, Handler]) -> Callable[[], None]:
        """`drain` of the module, and the check."""
        compiled = self._compiled.drain

        def drain() -> None:
            if count := compiled(handlers):
                _lost(count)

        return drain


def _full(unit: int) -> NoReturn:
    cause, remedy = "it was given commands faster than it takes them", "await the verbs that return a value"
    raise SanlabError(f"unit {unit} has too many commands waiting", cause, remedy)


def _lost(count: int) -> NoReturn:
    cause, remedy = "the event ring overflowed", "report this with the seed: the dispatcher must drain faster"
    raise SanlabError(f"{count} hardware events were lost", cause, remedy)
