"""Limits of real time: an endless loop and a blocked call end with an exception in the main thread; progress
does not.

Strategy: the main thread of the test is watched, with limits of a fraction of a second. No duration is compared; a
limit that does not act lets the test hang until its own timeout.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from firmware.mpi.host import Mpi
from tb.program.mpi import serve
from tb.tools import watchdog
from tb.tools.watchdog import RunLimitError, Watchdog
from tests.patience import PATIENCE_S, wait_for


@contextmanager
def watched(dog: Watchdog) -> Iterator[None]:
    before = signal.getsignal(watchdog.SIGNAL)
    dog.start()
    try:
        yield
    finally:
        dog.stop()
        dog.join(PATIENCE_S)
        signal.signal(watchdog.SIGNAL, before if before is not None else signal.SIG_DFL)


def loop() -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        pass


@pytest.fixture(autouse=True)
def fixture_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "TICK_S", 0.01)


def test_a_loop_without_simulated_time_ends_although_the_study_catches_exceptions() -> None:
    said = r"Python has run for 0.05 s without simulated time; SET run.turn_s"
    with pytest.raises(RunLimitError, match=said), watched(Watchdog(0.05, 0, lambda: 0, list)):
        loop()
    assert not issubclass(RunLimitError, Exception)


def test_a_blocked_call_ends_at_the_wall_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "WALL", 1)
    with pytest.raises(RunLimitError, match="Python has run"), watched(Watchdog(0.05, 0, lambda: 0, list)):
        time.sleep(PATIENCE_S)


def test_a_run_with_advancing_time_does_not_end() -> None:
    numbers = iter(range(10**9))
    dog = Watchdog(0.001, 0, lambda: next(numbers), list)
    with watched(dog):
        while next(numbers) < 100_000 and dog.is_alive():
            pass
        assert dog.is_alive()


def test_a_run_ends_at_its_limit_and_lists_waiting_tasks() -> None:
    numbers = iter(range(10**9))
    waiting = ["study s waits for a bus", "NIC 0 waits for its loop"]
    said = "the run takes longer than run.limit_s=0.05 s: study s waits for a bus; NIC 0 waits for its loop"
    with (
        pytest.raises(RunLimitError, match=said),
        watched(Watchdog(100, 0.05, lambda: next(numbers), lambda: waiting)),
    ):
        loop()


def test_the_note_is_repeated_only_after_turns_and_never_after_the_end() -> None:
    turn, notes = 0, list[int]()
    dog = Watchdog(100, 0, lambda: turn, list, lambda: notes.append(turn))
    with watched(dog):
        wait_for(lambda: notes == [0], "the first note")
        time.sleep(0.1)
        turn = 1
        wait_for(lambda: notes == [0, 1], "the note of the second turn")
    turn = 2
    time.sleep(0.1)
    assert notes == [0, 1]


@pytest.mark.parametrize(
    ("real_s", "simulated_s", "ends"), [(59, 9e9, False), (61, 1, False), (61, 61, True), (601, 0, True)]
)
def test_a_program_that_never_calls_mpi_init_ends_after_its_patience(
    real_s: float, simulated_s: float, ends: bool
) -> None:
    server = serve.Server.__new__(serve.Server)
    mpi: Mpi = Mpi.__new__(Mpi)
    said = SimpleNamespace(patience_s=60.0, output=lambda _: SimpleNamespace(is_file=lambda: False))
    vars(server).update(_start=said, _mpi=mpi, _number=3)
    if not ends:
        server._check_begun(real_s, simulated_s)
        return
    with pytest.raises(serve.ProgramError, match=r"rank 3: the program has not called MPI_Init for \d+ s"):
        server._check_begun(real_s, simulated_s)
