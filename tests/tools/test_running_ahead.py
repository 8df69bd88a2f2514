"""NIC software that runs ahead of its processor: equal times, and fewer wake-ups of Python.

Strategy: the processor's model is called clock by clock without a simulator, with a status register that changes and
accesses that are rejected at random times. A program waits for a bit, reads the register, and answers the first of its
bits. Then it executes paths, writes registers, words and the trace, and notes the time. It runs once with `work` and
`read`, which wake Python each time, and once with answers and `work_on`: register writes, words, records and times must
be equal.
"""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from firmware.common.nic.services import answered, begin
from firmware.verbs import Answer, Watch
from pymodels.costs.table import PathTable
from pymodels.hardware.processors import NicProcessor
from pymodels.kernel import Kernel
from pymodels.messages import MOST_MESSAGES
from pymodels.registers import Reg
from tb.bind.actor import PathNumbers
from tb.bind.lanai import RtlNic
from tb.build.doorway import copy_doorway
from tb.sim.compiled import COMPILED
from tb.sim.doorway import Doorway
from tb.sim.exchange import TRACE_RECORD

PERIOD, CLOCK, MEMORY = 30_000, 0, 0
EDGES = 3000
SEES_GRANT, SEES_CHANGE = 1, 2
ACT_REGISTER, ACT_WRITE, ACT_BITS = 2, 4, 8
BIT, RECORD = 0x10, 90
ANSWERS = (
    Answer(1, 1, "deliver", passed="look_isr"),
    Answer(2, 2, passed="arm"),
    Answer(BIT, 0, "sent", Reg.RMP, passed="sent"),
)
NODES = count(100)
"""Number of nodes; each run has its own processor, because the library keeps its state."""
TIME = ctypes.CFUNCTYPE(ctypes.c_int64)
AT = ctypes.CFUNCTYPE(None, ctypes.c_int64)
KICK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int64)


class Hooks(ctypes.Structure):
    """dw_hooks."""

    _fields_ = (
        ("now", TIME),
        ("wake_at", AT),
        ("kick_at", KICK),
        *((name, ctypes.c_void_p) for name in ("start", "faults", "quiet")),
    )


@dataclass
class Seen:
    """Record of a run."""

    writes: list[tuple[int, int, int]] = field(default_factory=list)
    """Edge, register and value of each write."""
    records: list[tuple[int, ...]] = field(default_factory=list)
    words: list[tuple[int, bytes]] = field(default_factory=list)
    """Memory content, and the first edge at which it was valid."""
    times: list[int] = field(default_factory=list)
    wakes: int = 0


class Clocked:
    """Processor of a NIC, its status register, and turns of Python."""

    def __init__(self, doorway: Doorway, ahead: bool, seed: int) -> None:
        self.doorway, self.ahead, self.rng, self.seen = doorway, ahead, random.Random(seed), Seen()
        self.kernel = doorway.backend(Kernel)()
        self.now, self.due = 1, 0
        hooks = Hooks(TIME(lambda: self.now), AT(self._wake_at), KICK(lambda clock, time: None), None, None, None)
        self._hooks = hooks  # C keeps the pointers only
        doorway.lib.dw_set_hooks(hooks)
        doorway.lib.dw_clock(CLOCK, PERIOD)
        self.memory = doorway.memory(MEMORY, 64, 0)
        self.nic = doorway.backend(RtlNic)(
            next(NODES), self.kernel, doorway, self.memory, NicProcessor(1, 1, 1, 0), PathNumbers()
        )
        self.nic.use(PathTable.load("nic", "echo"))
        self.drain = doorway.exchange.drainer()
        self.nic.spawn(self._program(), "program")

    def _wake_at(self, time: int) -> None:
        self.due = time

    async def _program(self) -> None:
        nic = self.nic
        watch = Watch(Reg.ISR, 0, "look_isr", BIT, register=True, reads=True, answers=ANSWERS)
        loop = nic.poll_loop([watch])  # in both runs: paths have the same numbers
        if not self.ahead:
            loop = nic.poll_loop([replace(watch, reads=False, answers=())])
        step: Callable[..., object] = nic.work_on if self.ahead else nic.work
        while True:
            await loop.run()
            flags, number, value = await (answered(nic, watch) if self.ahead else self._answer(watch))
            nic.trace(RECORD, flags, number, value)
            nic.write(Reg.ISR, BIT)
            await step("send")  # type: ignore[misc]
            nic.store_on(8, (number, flags, value, 4))
            nic.trace(RECORD, 0xFFFFFFFF, 0xFFFFFFFF, -(1 << 40), message=MOST_MESSAGES)
            nic.write(Reg.RMP, 1)
            nic.trace(RECORD, 1, 2, message=1 << 31)
            await step("sent")  # type: ignore[misc]
            if flags & 1:
                await step("deliver", 2)  # type: ignore[misc]
                nic.write(Reg.RMP, 2)
            if flags & 2:
                await nic.caught_up()
                self.seen.times.append(self.kernel.now)
                nic.trace(RECORD, 1, 3)
            await step("arm")  # type: ignore[misc]

    async def _answer(self, watch: Watch) -> tuple[int, int, int]:
        """Return the part left to software if the processor begins no answer by itself."""
        flags = await self.nic.read(watch.address)
        for number, answer in enumerate(watch.answers):
            if flags & answer.mask:
                return flags, number, await begin(self.nic, answer)
            await self.nic.work(answer.passed)
        return flags, len(watch.answers), 0

    def run(self) -> Seen:
        """Run all edges and return the record."""
        clock = self.doorway.lib.san_processor_clock
        clock.argtypes, clock.restype = [ctypes.c_int] * 3 + [ctypes.c_int64] * 2 + [ctypes.c_int] * 3, ctypes.c_int64
        lib, trace, self.doorway.exchange.trace_count[0] = self.doorway.lib, self.doorway.exchange.trace_count, 0
        isr, changed, action = 0, 0, 0
        self._turn()
        for edge in range(1, EDGES):
            self.now = edge * PERIOD
            granted = SEES_GRANT * (self.rng.random() < 0.8)
            action = clock(self.nic.unit, MEMORY, CLOCK, self.now, edge, granted | changed, isr, isr)
            before = isr
            words = bytes(self.memory[8:24])
            if not self.seen.words or self.seen.words[-1][1] != words:
                self.seen.words.append((edge, words))
            if action & ACT_WRITE:
                register, value = lib.san_processor_address(self.nic.unit), lib.san_processor_data(self.nic.unit)
                self.seen.writes.append((edge, register, value))
                isr &= ~(value if register == Reg.ISR else 0)
            if self.rng.random() < 0.02:
                isr |= BIT
            isr = isr & BIT | self.rng.randrange(4)
            changed = SEES_CHANGE * (isr != before)
            if self.due:
                self.now = self.due
                lib.dw_wake_now()
                self._turn()
        raw = self.doorway.exchange.records[: trace[0] * TRACE_RECORD.size]
        self.seen.records = sorted((time, *rest) for time, _, *rest in TRACE_RECORD.iter_unpack(raw))
        return self.seen

    def _turn(self) -> None:
        self.due, self.kernel.now, self.doorway.turn[0] = 0, self.now | 1, self.now
        self.seen.wakes += 1
        self.drain()
        self.kernel.run_ready()
        self.doorway.turn[2] = 0


@pytest.fixture(name="library")
def fixture_library(tmp_path: Path) -> Path:
    """Return a newly loaded doorway library, without state of other tests."""
    copy_doorway(tmp_path)
    return tmp_path / "libdoorway.so"


@pytest.mark.parametrize("compiled", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_software_running_ahead_does_the_same_at_the_same_time_with_fewer_wake_ups(
    library: Path, monkeypatch: pytest.MonkeyPatch, compiled: int, seed: int
) -> None:
    monkeypatch.setenv("SANLAB_DOORWAY", str(library))
    monkeypatch.setenv(COMPILED, str(compiled))
    doorway = Doorway()
    doorway.trace_create(1 << 14)
    doorway.trace_on(True)
    usual, ahead = (Clocked(doorway, one, seed).run() for one in (False, True))
    assert ahead.writes == usual.writes and len(usual.writes) > 50
    assert ahead.words == usual.words and len(usual.words) > 10
    assert ahead.times == usual.times and len(usual.times) > 5
    assert ahead.records == usual.records and len(usual.records) > 100
    assert ahead.wakes < 0.5 * usual.wakes


@pytest.mark.parametrize("compiled", [0, 1])
def test_a_message_number_beyond_the_largest_is_an_error(
    library: Path, monkeypatch: pytest.MonkeyPatch, compiled: int
) -> None:
    monkeypatch.setenv("SANLAB_DOORWAY", str(library))
    monkeypatch.setenv(COMPILED, str(compiled))
    nic = Clocked(Doorway(), True, 1).nic
    nic.work_on("send")
    nic.trace(RECORD, message=MOST_MESSAGES)
    with pytest.raises((OverflowError, struct.error)):
        nic.trace(RECORD, message=MOST_MESSAGES + 1)
