"""Python interface of the doorway, the C library that the simulator and Python share (hdl/sim/doorway/doorway.h).

The hot path handles plain integers through memoryviews and ctypes, without numpy scalars and cocotb handles.
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
from pymodels.messages import CARD_PLACES, PLACE, Messages
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
        self.lib.dw_messages_create.argtypes = [ctypes.c_int, *[ctypes.c_uint64] * 3, ctypes.c_int]
        self.lib.dw_messages_create.restype = ctypes.c_void_p
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
        self.messages = Messages()
        """The messages of this run, for the trace."""

    def now(self) -> int:
        """Return the simulated time in ps: the simulator's, or the later one that the current Python turn has
        reached.
        """
        return max(int(self.lib.dw_now()), self.turn[0])

    def words(self, name: str, count: int, code: Literal["q", "Q", "I", "B"]) -> memoryview:
        """Return an array of the library: `count` elements of a `struct` type code."""
        size = count * struct.calcsize(code)
        return memoryview((ctypes.c_char * size).in_dll(self.lib, name)).cast("B").cast(code)

    def memory(self, number: int, size: int, unit: int) -> memoryview:
        """Create a sparse memory and return a writable view of it.

        Args:
            number: Number of the memory.
            size: Size in bytes.
            unit: Unit that gets an event for each access beyond the memory and each write to a watched word.

        Raises:
            SanlabError: The operating system did not provide the memory.
        """
        base = self.lib.dw_memory_create(number, size, unit)
        if not base:
            raise SanlabError(
                f"no room for a memory of {size} bytes",
                "the operating system rejected the allocation",
                "set a smaller memory (SET memory.bytes=...)",
            )
        return memoryview((ctypes.c_char * size).from_address(base)).cast("B")

    def places(self, node: int, sram_bytes: int, first: int, step: int, commands: bool) -> memoryview:
        """Create the numbers of messages in the memories of a node's NIC and card, and return them.

        The code is in `hdl/sim/doorway/messages.c`.

        Args:
            node: Number of the node (VNN).
            sram_bytes: Size of the memory.
            first: First number of packets that arrive.
            step: Difference of two successive numbers.
            commands: True if records of the host DMA name commands by their numbers, not addresses.

        Raises:
            SanlabError: The operating system did not provide the memory.
        """
        count = sram_bytes >> PLACE
        places = count + CARD_PLACES
        base = self.lib.dw_messages_create(node, count, first, step, commands)
        if not base:
            remedy = "run without a trace (SET run.trace=0)"
            raise SanlabError(f"no room for {places} numbers of messages", "the operating system rejected it", remedy)
        return memoryview((ctypes.c_uint64 * places).from_address(base)).cast("B").cast("Q")

    def watch(self, memory: int, address: int) -> int:
        """Return a new watch slot for the 32-bit word at `address`. Raises SanlabError if all slots are in use."""
        slot = int(self.lib.dw_watch_add(memory, address))
        if slot < 0:
            raise SanlabError(
                "too many polled words",
                f"all {WATCHES} watches of memory {memory} are in use",
                "poll fewer words of host memory",
            )
        return slot

    def move_watch(self, memory: int, slot: int, address: int) -> None:
        """Assign a disarmed watch slot to another word."""
        self.lib.dw_watch_move(memory, slot, address)

    def armed(self, memory: int) -> memoryview:
        """Return the arm flags of a memory's watches, one byte a slot."""
        return self.words("dw_armed", MEMORIES * WATCHES, "B")[memory * WATCHES : (memory + 1) * WATCHES]

    def flight(self, clocks: int) -> memoryview:
        """Return one byte for each clock, 1 while its unit has something in flight."""
        return self.words("dw_flight", CLOCKS, "B")[:clocks]

    def steps(self, unit: int) -> memoryview:
        """Return a processor's polling steps by loop and step: address, expect, mask, is_register, clocks, accesses."""
        size = LOOPS * STEPS * STEP_WORDS
        return memoryview((ctypes.c_uint32 * size).from_address(self.lib.dw_steps(unit))).cast("B").cast("I")

    def hit_value(self, unit: int) -> memoryview:
        """Return three words about the last answered hit of a processor's polling loop.

        The words are the polled register, the number of the answer that has begun, and the register that the answer has
        read.
        """
        return self.words("dw_hit_value", 3 * UNITS, "I")[3 * unit : 3 * unit + 3]

    def answers(self, unit: int) -> memoryview:
        """Return the answers of a processor's polling loops: mask, clears, runs, reads, and two paths of
        three words each.
        """
        size = ANSWERS * ANSWER_WORDS
        return self.words("dw_answers", UNITS * size, "I")[unit * size : (unit + 1) * size]

    def set(self, unit: int, key: int, value: int) -> None:
        """Set a run-time parameter of a unit, which RTL reads during reset."""
        self.lib.dw_set(unit, key, value)

    def backend(self, cls: type[T]) -> type[T]:
        """Return `cls`, or its subclass with hot methods in C if the C extension is in use."""
        return self.exchange.backend(cls)

    def commands(self, unit: int, kernel: Kernel, ends: tuple[int, ...], other: Handler, data: int = 0) -> Commands:
        """Return the command ring of a unit (see `Exchange.commands`)."""
        return self.exchange.commands(unit, kernel, ends, other, data)

    def recorder(self, unit: int, kernel: Kernel) -> Callable[..., None]:
        """Return a function (event, packet, argument, argument2, message=...) that appends a unit's trace record at
        the present time.
        """
        return self.exchange.recorder(unit, kernel)

    def on_event(self, unit: int, handler: Handler) -> None:
        """Register the event handler of a unit that has no command ring."""
        self.exchange.handlers[unit] = handler

    def lost(self) -> tuple[int, int]:
        """Return the numbers of packets that random faults have lost and damaged."""
        counts = self.words("dw_loss_count", 5, "q")
        return counts[1], counts[2]

    def held_back(self) -> int:
        """Return the number of packets that random faults have delayed so that later packets overtook them."""
        return int(self.words("dw_loss_count", 5, "q")[4])

    @contextmanager
    def called_back(self, turns: Turns, failed: Callable[[BaseException], None]) -> Iterator[None]:
        """Let the simulator call `turns` at each wake-up inside the context, instead of toggling the top
        level's `wake`.
        """
        callback = turns.callback(failed, self.hand_over)
        self.lib.dw_set_python(callback)
        try:
            yield
        finally:
            self.lib.dw_set_python(None)

    def hand_over(self) -> None:
        """End the direct calls and toggle `wake` once, for the cocotb coroutine that waits for the end."""
        self.lib.dw_set_python(None)
        self.wake_by(self.now() + 2)

    @property
    def event_count(self) -> int:
        """Number of events that the hardware has reported so far."""
        return int(self.exchange.head[0])

    def drainer(self) -> Callable[[], None]:
        """Return a function that dispatches all new events to the handlers of their units (see `Exchange.drainer`)."""
        return self.exchange.drainer()

    def trace_create(self, records: int) -> None:
        """Reserve virtual memory for `records` trace records. Raises SanlabError if the operating system
        rejects the size.
        """
        base = self.lib.dw_trace_create(records)
        if not base:
            remedy = "set a smaller trace (SET run.trace_records=...)"
            raise SanlabError(
                f"no room for a trace of {records} records", "the operating system rejected the allocation", remedy
            )
        self.exchange.records = memoryview((ctypes.c_char * (records * TRACE_RECORD.size)).from_address(base)).cast("B")
        self.exchange.room = records

    def trace_on(self, on: bool) -> None:
        """Switch the trace on or off; it is on by default."""
        self.lib.dw_trace_whole(self.now())
        self.exchange.room = len(self.exchange.records) // TRACE_RECORD.size if on else 0
        ctypes.c_int.in_dll(self.lib, "dw_trace_on").value = int(on)

    @property
    def trace_lost(self) -> int:
        """Number of records that a full trace has dropped."""
        self.lib.dw_trace_whole(self.now())
        return int(self.exchange.trace_lost[0])

    def trace(self) -> NDArray[np.void]:
        """Return the records so far as a view of shape (n,) and dtype `pymodels.trace.RECORD`."""
        self.lib.dw_trace_whole(self.now())
        return np.frombuffer(self.exchange.records[: self.exchange.trace_count[0] * TRACE_RECORD.size], RECORD)

    def capture_create(self, size: int, kept: int) -> None:
        """Reserve memory for the packets on the cables.

        Args:
            size: Bytes of the store; 0 stores no packets.
            kept: Maximum number of bytes stored of each packet.

        Raises:
            SanlabError: The operating system did not provide the memory.
        """
        base = self.lib.dw_capture_create(size, kept)
        if size and not base:
            remedy = "set a smaller store (SET run.packets_MB=...)"
            raise SanlabError(
                f"no room for {size} bytes of packets", "the operating system rejected the allocation", remedy
            )
        if base:
            self._captured = memoryview((ctypes.c_char * size).from_address(base)).cast("B")

    def captured(self) -> tuple[list[memoryview], int]:
        """Return the stored packets of the cables and the number of packets dropped for later ones.

        The packets are views of records in the format of capture.c, older records first.
        """
        room, used = int(self.lib.dw_capture_room()), self.words("dw_capture_used", 2, "Q")
        half = ctypes.c_int.in_dll(self.lib, "dw_capture_half").value
        dropped = ctypes.c_uint64.in_dll(self.lib, "dw_capture_dropped").value
        return [self._captured[room * i : room * i + used[i]] for i in (1 - half, half)], int(dropped)
