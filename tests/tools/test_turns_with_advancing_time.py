"""Turns of Python in which simulated time advances: alarms are taken without the simulator while the hardware is idle.

Strategy: a simulator of the test reports the time and the end of its clocks' sleep to the doorway, and records its
requests. A program sleeps repeatedly and notes the time. The extent of a turn, the requests after it, and the program's
times are compared with those of a simulator that is called each time. This holds for turns in C and in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

from pymodels.kernel import Kernel
from tb.build.doorway import copy_doorway
from tb.sim.compiled import COMPILED
from tb.sim.doorway import Doorway
from tb.sim.exchange import TRACE_RECORD

UNIT, CLOCK, STEP, SIGHT, SLEEPS = 5, 3, 100, 1000, 30
BUSY, FOREVER = 0, 1 << 62
TIME = ctypes.CFUNCTYPE(ctypes.c_int64)
AT = ctypes.CFUNCTYPE(None, ctypes.c_int64)
START = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int64)
KICK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int64)


class Hooks(ctypes.Structure):
    """dw_hooks."""

    _fields_ = (
        *(("now", TIME), ("wake_at", AT), ("kick_at", KICK)),
        *(("start", START), ("faults", ctypes.c_void_p), ("quiet_until", TIME)),
    )


class Simulator:
    """Environment of the turns of Python."""

    def __init__(self, doorway: Doorway, still: bool = True) -> None:
        self.doorway, self.now, self.quiet = doorway, 1, SIGHT
        self.wakes: list[int] = []
        """Times for which a turn was requested."""
        self.kicks: list[tuple[int, int]] = []
        """Clocks started by software, with the times."""
        self.beats = 0
        self.hooks = Hooks(
            now=TIME(lambda: self.now),
            wake_at=AT(self.wakes.append),
            kick_at=KICK(lambda clock, time: self.kicks.append((clock, time))),
            start=START(lambda on, end: None),
            quiet_until=TIME(lambda: self.quiet),
        )
        doorway.lib.dw_set_hooks(self.hooks)
        doorway.lib.dw_unit_clock(UNIT, CLOCK)
        doorway.trace_create(1 << 10)
        doorway.trace_on(True)
        self.kernel = doorway.backend(Kernel)()
        self.times: list[int] = []
        self.cost = doorway.exchange.cost()
        self.main = self.kernel.spawn(self._program(), "program")
        until = doorway.lib.dw_still_until if still else None
        parts = self.kernel, self.main.finished, self.cost, FOREVER // 2, self._beat, lambda: None, until
        self.turns = doorway.exchange.turns(*parts)
        self.does: Callable[[int], object] = lambda number: None
        """Actions of the program at each time."""

    def _beat(self, now: int) -> None:
        self.beats += 1

    async def _program(self) -> None:
        for number in range(SLEEPS):
            await self.kernel.sleep(STEP)
            self.times.append(self.kernel.now)
            self.does(number)

    def turn(self, now: int) -> bool:
        """Run one turn and return True if there are more."""
        self.now = now
        self.wakes.clear()
        self.doorway.lib.dw_wake_now()  # makes no call and records the end of this wake-up
        self.doorway.lib.dw_begin_turn()
        more = self.turns()
        self.doorway.lib.dw_end_turn()
        return more


@pytest.fixture(name="simulator", params=["compiled", "in Python"])
def fixture_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Callable[..., Simulator]:
    """Return a function that creates a simulator with its own library."""
    copy_doorway(tmp_path)
    monkeypatch.setenv("SANLAB_DOORWAY", str(tmp_path / "libdoorway.so"))
    monkeypatch.setenv(COMPILED, str(int(request.param == "compiled")))
    return lambda **more: Simulator(Doorway(), **more)


EVERY = [1 + STEP * number for number in range(1, SLEEPS + 1)]


def test_alarms_before_the_next_edge_are_processed_in_one_turn_at_their_times(
    simulator: Callable[..., Simulator],
) -> None:
    one = simulator()
    assert one.turn(1)
    assert one.times == [time for time in EVERY if time < SIGHT] and one.wakes == [EVERY[9]]
    assert one.cost.python_wakes == 1 and one.doorway.now() == EVERY[8]
    one.quiet = FOREVER
    assert not one.turn(EVERY[9])
    assert one.times == EVERY and one.cost.python_wakes == 2


@pytest.mark.parametrize("why", ["it works", "its clocks are always on", "signals are written by handles"])
def test_time_does_not_advance_in_a_turn_while_the_hardware_may_act(
    why: str, simulator: Callable[..., Simulator]
) -> None:
    one = simulator(still="signals" not in why)
    if "works" in why:
        one.quiet = BUSY
    if "always" in why:
        one.doorway.lib.dw_start(1, 1)
    assert one.turn(1) and one.times == [] and one.wakes == [EVERY[0]]
    assert one.turn(EVERY[0]) and one.times == EVERY[:1] and one.wakes == [EVERY[1]]


def test_a_command_ends_the_turn_and_starts_its_clock_at_its_own_time(simulator: Callable[..., Simulator]) -> None:
    one = simulator()
    commands = one.doorway.commands(UNIT, one.kernel, (), lambda time, code, a, b: None)
    one.does = lambda number: commands.give(1, 2) if number == 3 else None
    assert one.turn(1)
    assert one.times == EVERY[:4] and one.kicks == [(CLOCK, EVERY[3])] and one.wakes == [EVERY[4]]
    given = one.doorway.words("dw_commands", (UNIT + 1) * 256 * 8, "q")[UNIT * 256 * 8]
    assert given == EVERY[3], "the unit takes it at its first edge behind that"


def test_records_have_the_times_at_which_software_made_them(simulator: Callable[..., Simulator]) -> None:
    one = simulator()
    record = one.doorway.recorder(UNIT, one.kernel)
    one.does = lambda number: record(7, number)
    one.turn(1)
    rows = one.doorway.exchange.records[: one.doorway.exchange.trace_count[0] * TRACE_RECORD.size]
    assert [row[0] for row in TRACE_RECORD.iter_unpack(rows)] == EVERY[:9]


def test_a_turn_of_endless_software_is_interrupted_by_the_heartbeat(simulator: Callable[..., Simulator]) -> None:
    class LookedError(Exception):
        """Error raised at the heartbeat."""

    def beat(now: int) -> None:
        raise LookedError(now)

    one = simulator()
    one.quiet = FOREVER

    async def for_ever() -> None:
        while True:
            await one.kernel.sleep(STEP)

    one.kernel.spawn(for_ever(), "another one")
    never, until = one.kernel.future(), one.doorway.lib.dw_still_until
    turns = one.doorway.exchange.turns(one.kernel, never, one.cost, FOREVER // 2, beat, lambda: None, until)
    one.doorway.lib.dw_begin_turn()
    with pytest.raises(LookedError):
        turns()
