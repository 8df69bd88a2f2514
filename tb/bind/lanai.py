"""`Nic` verbs on the RTL: SRAM as shared memory, registers and work through the processor's command ring."""

from __future__ import annotations

import struct
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from firmware.verbs import Watch
from pymodels.costs.table import PathTable
from pymodels.hardware.processors import NicProcessor, nic_charge
from pymodels.kernel import Future, Kernel, Task
from pymodels.messages import NicMessages
from pymodels.trace import Part, unit
from tb.bind.actor import Actor, PathNumbers, big_endian
from tb.sim.doorway import ANSWER_WORDS, ANSWERS, LOOPS, STEP_WORDS, STEPS, Doorway
from tb.sim.exchange import Commands

OP_WORK, OP_POLL, OP_READ, OP_WRITE, OP_TRACE, OP_TELL, OP_STORE = 1, 2, 3, 4, 5, 6, 7
LOW_BITS = 31
"""Bits of a message's number in the second word of OP_TRACE; 15 further bits are in the first."""
QUIET = 1 << 32
"""Flag in a path's number: the work ends without an event."""
STEP_READS = 2
"""Flag in a step's `register` word: a hit reads the register once more."""
STEP_ANSWERS, STEP_FIRST = 8, 16
"""Bit positions in a step's `register` word: number of answers, index of the first answer."""
STOPPED = 24
"""Event of a core that has stopped (hdl/sim/doorway/core.c)."""
ENDS = (16, 17, 18)
"""Event codes that complete a command: work done, polling loop hit, register read. Other events report an
access beyond the SRAM.
"""
WORD = struct.Struct(">I")
QUADS = struct.Struct("=2q")
"""Four words in memory order as two arguments of a command."""


def _unknown_program(time: int, fault: int, address: int) -> None:
    raise RuntimeError(f"unknown program: a core stopped at {address:#x}, fault {fault}, at {time} ps")


class RtlNic(NicMessages, Actor):
    """Processor of one NIC; each NIC kind has a subclass (`tb.nics`).

    Commands end in order, each with an event except register writes.
    """

    kind: str
    word_bytes = 8
    compiled = "NicMethods"
    """C type of tb/sim/twin/doorway_python.c with the hot verbs of the subclass `RtlNicC` (`tb.sim.compiled`)."""

    def __init__(
        self,
        node: int,
        kernel: Kernel,
        doorway: Doorway,
        sram: memoryview,
        processor: NicProcessor,
        paths: PathNumbers,
    ) -> None:
        super().__init__(f"NIC {node}", unit(node, Part.NIC_CPU), kernel, doorway)
        self.note_messages(doorway.messages, node)
        self.node = node
        self.sram = sram
        self.sram_bytes = len(sram)
        self._commands = doorway.commands(self.unit, kernel, ENDS, self._wild)
        self._processor = processor
        self._paths = paths
        self._charges: dict[str | tuple[str, int], tuple[int, int, int]] = {}
        """Cached charges by path, or by path and repetitions."""
        self._loops = self._answers = 0
        self._programs: list[Task] = []
        self.programs: list[Coroutine[Any, Any, Any]] = []
        """Coroutines started on the processor and not halted."""
        self.stopped: Callable[[int, int, int], None] = _unknown_program
        """Function called when a core stops: time, fault, address."""
        self._record = self.trace
        self._goes_on = 0
        """Time at which the last unawaited path was given; until then the software runs ahead of the processor."""
        self._at_once: Future[None] = kernel.future()
        self._at_once.set(None)
        self._hit_value, self._answer_words = doorway.hit_value(self.unit), doorway.answers(self.unit)
        self.steps = doorway.steps(self.unit)
        """Polling steps that the processor port model reads."""

    def use(self, table: PathTable) -> None:
        super().use(table)
        self._charges.clear()

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> Task:
        task = super().spawn(coroutine, name)
        self._programs.append(task)
        self.programs.append(coroutine)
        return task

    def halt(self) -> None:
        """Stop the processor's tasks.

        A polling loop that still runs in hardware ends at the next change that it polls, and its event is dropped.
        Change a word of SRAM before another program starts.
        """
        for task in self._programs:
            self._kernel.stop(task)
        self._programs.clear()
        self.programs.clear()
        self.waits.end(self.who)
        for at in range(0, self._loops * STEPS * STEP_WORDS, STEP_WORDS):
            address, _, _, register = self.steps[at : at + 4]
            self.steps[at + 3] = int(register > 0)
            self.steps[at + 1] = ~(0 if register else self.load(address)) & 0xFFFFFFFF
            self.steps[at + 2] = 0xFFFFFFFF
        self._loops = self._answers = 0

    def _wild(self, time: int, code: int, a: int, b: int) -> None:
        """Handle an access beyond the SRAM, or the stop of a core that executes machine code."""
        if code == STOPPED:
            self.stopped(time, a, b)
        access = f"SRAM {'write' if b else 'read'} at {a:#x}, beyond its {self.sram_bytes} bytes"
        self.wild.append(f"node {self.node}: {access}, at {time / 1e6:.3f} us")

    def load(self, address: int) -> int:
        return WORD.unpack_from(self.sram, address)[0]  # type: ignore[no-any-return]

    def store(self, address: int, value: int) -> None:
        WORD.pack_into(self.sram, address, value)

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        return big_endian(count).unpack_from(self.sram, address)

    def store_words(self, address: int, words: Sequence[int]) -> None:
        big_endian(len(words)).pack_into(self.sram, address, *words)

    def load_bytes(self, address: int, count: int) -> bytes:
        return bytes(self.sram[address : address + count])

    def write(self, register: int, value: int) -> None:
        self._commands.give(OP_WRITE, register, value)

    def read(self, register: int) -> Future[int]:
        return self._commands.submit(f"register {register:#x}", OP_READ, register)

    def work(self, path: str, times: int = 1) -> Future[Any]:
        clocks, accesses, number = self._charges.get(path if times == 1 else (path, times)) or self._charge(path, times)
        return self._commands.submit(path, OP_WORK, clocks, accesses, number)

    def post(self, path: str) -> None:
        clocks, accesses, number = self._charges.get(path) or self._charge(path)
        self._commands.give(OP_WORK, clocks, accesses, number | QUIET)

    def work_on(self, path: str, times: int = 1) -> Future[None]:
        clocks, accesses, number = self._charges.get(path if times == 1 else (path, times)) or self._charge(path, times)
        self._commands.give(OP_WORK, clocks, accesses, number | QUIET)
        self._goes_on = self._kernel.now
        self.trace = self._trace_behind
        return self._at_once

    def caught_up(self) -> Future[Any]:
        behind = self._goes_on == self._kernel.now
        return self._commands.submit("its instructions", OP_TELL) if behind else self._at_once

    def _trace_behind(
        self, event: int, packet: int = 0, argument: int = 0, argument2: int = 0, *, message: int = 0
    ) -> None:
        """Append a trace record when the processor has completed the unawaited path, or at once if none is pending."""
        if self._goes_on == self._kernel.now:
            high, low = divmod(message, 1 << LOW_BITS)
            self._commands.give(OP_TRACE, high << 48 | argument << 16 | event, low << 32 | packet, argument2)
        else:
            self.trace = self._record
            self._record(event, packet, argument, argument2, message=message)

    def store_on(self, address: int, words: Sequence[int]) -> None:
        if self._goes_on != self._kernel.now:
            self.store_words(address, words)
        else:
            self._store_behind(address, words)

    def _store_behind(self, address: int, words: Sequence[int]) -> None:
        """Store words when the processor has completed the unawaited path."""
        stored = big_endian(len(words)).pack(*words).ljust(16, b"\0")
        self._commands.give(OP_STORE, address | len(words) << 32, *QUADS.unpack(stored))

    def begun(self, watch: Watch) -> tuple[int, int, int] | None:
        register, number, value = self._hit_value
        return register, number, value

    def _charge(self, path: str, times: int = 1) -> tuple[int, int, int]:
        """Return and cache clocks, SRAM accesses and trace number of a path."""
        cost = nic_charge(self.table.cost(path), self._processor, times)
        number = self._paths.number(self.table.name, path)
        charge = cost.clocks, min(cost.accesses, cost.clocks), number
        self._charges[path, times] = charge
        if times == 1:
            self._charges[path] = charge
        return charge

    def _answering(self, step: Watch) -> int:
        """Store a step's answers for the processor and return the flags of its `register` word."""
        if not step.answers:
            return STEP_READS * step.reads
        first = self._answers
        self._answers += len(step.answers)
        if self._answers > ANSWERS:
            raise ValueError(f"too many answers: the polling loops of a firmware have at most {ANSWERS}")
        for number, answer in enumerate(step.answers, first):
            passed, path = [self._charge(one) if one else (0, 0, 0) for one in (answer.passed, answer.path)]
            reads = -1 if answer.reads is None else answer.reads
            packed = struct.pack("2I8i", answer.mask, answer.clears, bool(answer.path), reads, *passed, *path)
            self._answer_words[number * ANSWER_WORDS : (number + 1) * ANSWER_WORDS] = memoryview(packed).cast("I")
        return STEP_READS * step.reads | len(step.answers) << STEP_ANSWERS | first << STEP_FIRST

    def poll_loop(self, steps: Sequence[Watch]) -> RtlPollLoop:
        loop = self._loops
        self._loops += 1
        if loop >= LOOPS or len(steps) > STEPS:
            raise ValueError(f"a firmware has at most {LOOPS} polling loops of {STEPS} steps (steps: {len(steps)})")
        if not steps:
            raise ValueError("polling loop without steps: it would never end")
        at = loop * STEPS * STEP_WORDS
        for step in steps:
            cost = nic_charge(self.table.cost(step.path), self._processor)
            clocks = max(cost.clocks, 1)
            compared = step.address, step.expect, step.mask, int(step.register) | self._answering(step)
            packed = struct.pack("6I", *compared, clocks, min(cost.accesses, clocks))
            self.steps[at : at + STEP_WORDS] = memoryview(packed).cast("I")
            at += STEP_WORDS
        return self._doorway.backend(RtlPollLoop)(self.steps, self._commands, self._kernel, loop, len(steps))


class RtlPollLoop:
    """Polling loop in the processor port model."""

    compiled = "PollLoopMethods"
    """C type of tb/sim/twin/doorway_python.c with the hot methods of the subclass `RtlPollLoopC`."""

    def __init__(self, steps: memoryview, commands: Commands, kernel: Kernel, loop: int, count: int) -> None:
        """Bind loop number `loop` with `count` steps; `steps` are those of all loops of the processor."""
        self._steps = steps
        self._commands = commands
        self._loop = loop
        self._count = count
        self._hit: Future[int] = kernel.future()
        self._hit.set(count - 1)
        self._base = loop * STEPS * STEP_WORDS + 1

    def expect(self, step: int, value: int) -> None:
        self._steps[self._base + step * STEP_WORDS] = value & 0xFFFFFFFF

    def aim(self, step: int, address: int) -> None:
        self._steps[self._base - 1 + step * STEP_WORDS] = address

    def first(self, count: int) -> None:
        self._count = count

    def run(self, start: int | None = None) -> Future[int]:
        first = (self._hit.value + 1) % self._count if start is None else start
        why = "its polling loop to see something"
        self._hit = self._commands.submit(why, OP_POLL, self._loop, self._count, first)
        return self._hit
