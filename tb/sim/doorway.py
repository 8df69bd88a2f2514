"""The doorway seen from Python: the C library that the simulator and Python share (hdl/sim/doorway/doorway.h).

Plain integers through memoryviews and ctypes: no numpy scalar, no cocotb handle, is touched on the hot path.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pymodels.errors import SanlabError
from pymodels.kernel import Kernel
from pymodels.trace import RECORD
from tb.sim.compiled import exchange_with
from tb.sim.exchange import TRACE_RECORD, UNITS, Commands, Handler, T
from tb.sim.turns import Turns

MEMORIES, CLOCKS, WATCHES = 4096, 4096, 256
STEPS, LOOPS = 264, 8
STEP_WORDS = 6
ANSWERS, ANSWER_WORDS = 16, 10
I64 = ctypes.c_int64


class Doorway:
    """Memories, settings, commands, events and trace of the running simulation."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL(os.environ["SANLAB_DOORWAY"])
        self.lib.dw_now.restype = I64
        self.lib.dw_memory_create.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int]
        self.lib.dw_memory_create.restype = ctypes.c_void_p
        self.lib.dw_watch_add.argtypes = [ctypes.c_int, ctypes.c_uint64]
        self.lib.dw_watch_move.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_uint64]
        self.lib.dw_grant.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64]
        self.lib.dw_close.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int]
        self.lib.dw_clock.argtypes = [ctypes.c_int, I64]
        self.lib.dw_start.argtypes = [ctypes.c_int, I64]
        self.lib.dw_period.restype = I64
        self.lib.dw_quiet_until.restype = self.lib.dw_still_until.restype = self.lib.dw_want_cpu.restype = I64
        self.lib.dw_trace_whole.argtypes = self.lib.dw_cores_whole.argtypes = [I64]
        self.lib.dw_want_cpu.argtypes = [ctypes.c_int, I64]
        self.lib.dw_again.argtypes = [*[ctypes.c_uint64] * 3, I64, I64]
        self.lib.dw_wake_by.argtypes = [I64]
        self.lib.dw_set_python.argtypes = [ctypes.c_void_p]
        self.lib.dw_trace_create.argtypes = [ctypes.c_uint64]
        self.lib.dw_trace_create.restype = ctypes.c_void_p
        self.lib.dw_capture_create.argtypes = [ctypes.c_uint64, ctypes.c_int]
        self.lib.dw_capture_create.restype = ctypes.c_void_p
        self.lib.dw_capture_room.restype = ctypes.c_uint64
        self.lib.dw_fault_add.argtypes = [ctypes.c_int, ctypes.c_int, I64, I64, ctypes.c_int, ctypes.c_int]
        self.lib.dw_core_program.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
        self.lib.dw_core_program.restype = ctypes.c_void_p
        self.lib.dw_core_last.argtypes = [ctypes.c_int, ctypes.c_void_p]
        self.lib.dw_core_registers.restype = ctypes.c_void_p
        self.lib.dw_steps.restype = ctypes.c_void_p
        self.lib.dw_loss.argtypes = [ctypes.c_int] * 3 + [ctypes.c_double] * 3 + [ctypes.c_uint64]
        self.lib.dw_strike_add.argtypes = [ctypes.c_int, ctypes.c_int, I64, ctypes.c_uint64]
        self.lib.dw_delay.argtypes = [ctypes.c_int] * 3 + [I64]
        self.wake_by: Callable[[int], None] = self.lib.dw_wake_by
        self.exchange = exchange_with(Path(os.environ["SANLAB_DOORWAY"]), self.words)
        self.turn = self.exchange.turn
        self.record = self.exchange.record
        self._captured = memoryview(b"")

    def now(self) -> int:
        """Of the simulator, or of Python's turn, in which time may have gone on."""
        return max(int(self.lib.dw_now()), self.turn[0])

    def words(self, name: str, count: int, code: Literal["q", "Q", "I", "B"]) -> memoryview:
        """An array of the library: `count` elements of a type of `struct`."""
        size = count * struct.calcsize(code)
        return memoryview((ctypes.c_char * size).in_dll(self.lib, name)).cast("B").cast(code)

    def memory(self, number: int, size: int, unit: int) -> memoryview:
        """Create a sparse memory of `size` bytes, writable without a copy. Raises SanlabError when there is no room.

        Accesses beyond it and writes to watched words become events of `unit`.
        """
        base = self.lib.dw_memory_create(number, size, unit)
        if not base:
            raise SanlabError(
                f"no room for a memory of {size} bytes",
                "the operating system refused it",
                "set a smaller memory (SET memory.bytes=...)",
            )
        return memoryview((ctypes.c_char * size).from_address(base)).cast("B")

    def watch(self, memory: int, address: int) -> int:
        """A slot that watches the 32-bit word at `address`. Raises SanlabError when all slots are taken."""
        slot = int(self.lib.dw_watch_add(memory, address))
        if slot < 0:
            raise SanlabError(
                "too many polled words",
                f"memory {memory} has {WATCHES} watches already",
                "poll fewer words of host memory",
            )
        return slot

    def move_watch(self, memory: int, slot: int, address: int) -> None:
        """Let a slot that is not armed watch another word."""
        self.lib.dw_watch_move(memory, slot, address)

    def armed(self, memory: int) -> memoryview:
        """The arm flags of a memory's watches, one byte a slot."""
        return self.words("dw_armed", MEMORIES * WATCHES, "B")[memory * WATCHES : (memory + 1) * WATCHES]

    def flight(self, clocks: int) -> memoryview:
        """One byte a clock: 1 while something of its unit is in flight."""
        return self.words("dw_flight", CLOCKS, "B")[:clocks]

    def steps(self, unit: int) -> memoryview:
        """The polling steps of a processor by loop and step: address, expect, mask, is_register, clocks, accesses."""
        size = LOOPS * STEPS * STEP_WORDS
        return memoryview((ctypes.c_uint32 * size).from_address(self.lib.dw_steps(unit))).cast("B").cast("I")

    def hit_value(self, unit: int) -> memoryview:
        """Of the last hit of a processor's polling loop that is answered, three words: the register, which answer has
        begun, the register that it has read.
        """
        return self.words("dw_hit_value", 3 * UNITS, "I")[3 * unit : 3 * unit + 3]

    def answers(self, unit: int) -> memoryview:
        """The answers of a processor's polling loops: mask, clears, runs, reads, and two paths of three words."""
        size = ANSWERS * ANSWER_WORDS
        return self.words("dw_answers", UNITS * size, "I")[unit * size : (unit + 1) * size]

    def set(self, unit: int, key: int, value: int) -> None:
        """A run-time setting, read by RTL while it is in reset."""
        self.lib.dw_set(unit, key, value)

    def backend(self, cls: type[T]) -> type[T]:
        """Return the class of which to make objects: `cls`, or its subclass with hot methods in C."""
        return self.exchange.backend(cls)

    def commands(self, unit: int, kernel: Kernel, ends: tuple[int, ...], other: Handler, data: int = 0) -> Commands:
        """Return the command ring of a unit (`Exchange.commands`)."""
        return self.exchange.commands(unit, kernel, ends, other, data)

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """Return a function (event, packet, argument, argument2) that records for a unit at the present time."""
        return self.exchange.recorder(unit, kernel)

    def on_event(self, unit: int, handler: Handler) -> None:
        """Register the receiver of the events of a unit without commands."""
        self.exchange.handlers[unit] = handler

    def lost(self) -> tuple[int, int]:
        """Packets that random faults have lost, and damaged."""
        counts = self.words("dw_loss_count", 5, "q")
        return counts[1], counts[2]

    def held_back(self) -> int:
        """Packets that random faults have held back, so that others passed them."""
        return int(self.words("dw_loss_count", 5, "q")[4])

    @contextmanager
    def called_back(self, turns: Turns, failed: Callable[[BaseException], None]) -> Iterator[None]:
        """While in force, a wake is a turn, straight from the simulator, instead of toggling the top's `wake`."""
        callback = turns.callback(failed, self.hand_over)
        self.lib.dw_set_python(callback)
        try:
            yield
        finally:
            self.lib.dw_set_python(None)

    def hand_over(self) -> None:
        """End the calls: `wake` toggles once more, for the cocotb coroutine that waits for the end."""
        self.lib.dw_set_python(None)
        self.wake_by(self.now() + 2)

    @property
    def told(self) -> int:
        """How many events the hardware has told so far."""
        return int(self.exchange.head[0])

    def drainer(self) -> Callable[[], None]:
        """The function that hands every event since its last call to its unit's handler (`Exchange.drainer`)."""
        return self.exchange.drainer()

    def trace_create(self, records: int) -> None:
        """Room for the trace (virtual memory; pages exist once written). Raises SanlabError when there is none."""
        base = self.lib.dw_trace_create(records)
        if not base:
            remedy = "set a smaller trace (SET run.trace_records=...)"
            raise SanlabError(f"no room for a trace of {records} records", "the operating system refused it", remedy)
        self.exchange.records = memoryview((ctypes.c_char * (records * TRACE_RECORD.size)).from_address(base)).cast("B")
        self.exchange.room = records

    def trace_on(self, on: bool) -> None:
        """Switch the trace on or off (it is on by default)."""
        self.lib.dw_trace_whole(self.now())
        self.exchange.room = len(self.exchange.records) // TRACE_RECORD.size if on else 0
        ctypes.c_int.in_dll(self.lib, "dw_trace_on").value = int(on)

    @property
    def trace_lost(self) -> int:
        """Records for which the trace had no room."""
        self.lib.dw_trace_whole(self.now())
        return int(self.exchange.trace_lost[0])

    def trace(self) -> NDArray[np.void]:
        """The records so far, shape (n,), dtype `pymodels.trace.RECORD`; a view, no copy."""
        self.lib.dw_trace_whole(self.now())
        return np.frombuffer(self.exchange.records[: self.exchange.trace_count[0] * TRACE_RECORD.size], RECORD)

    def capture_create(self, size: int, kept: int) -> None:
        """Room of `size` bytes for the packets on the cables (0: none are kept), up to `kept` bytes of each.

        Raises SanlabError when there is none.
        """
        base = self.lib.dw_capture_create(size, kept)
        if size and not base:
            remedy = "set a smaller store (SET run.packets_MB=...)"
            raise SanlabError(f"no room for {size} bytes of packets", "the operating system refused it", remedy)
        if base:
            self._captured = memoryview((ctypes.c_char * size).from_address(base)).cast("B")

    def captured(self) -> tuple[list[memoryview], int]:
        """The packets that left cables: records as capture.c writes them, older ones first, views, no copy.

        And how many had to make room for later ones.
        """
        room, used = int(self.lib.dw_capture_room()), self.words("dw_capture_used", 2, "Q")
        half = ctypes.c_int.in_dll(self.lib, "dw_capture_half").value
        dropped = ctypes.c_uint64.in_dll(self.lib, "dw_capture_dropped").value
        return [self._captured[room * i : room * i + used[i]] for i in (1 - half, half)], int(dropped)
