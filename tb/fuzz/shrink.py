"""Shrinking of failing programs: hypothesis removes and reduces choices, and keeps those with the same failure."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from threading import Thread

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import NoSuchExample

from tb.fuzz.draw import Draw, strategy
from tb.fuzz.program import Program

SMALL = "shrunk: "
"""Prefix of the lines of a shrunk program among the failures of a run."""
KEY = b"the failing program"
NOT_SHRUNK = KEY + b".secondary"
"""Database key under which hypothesis keeps failing examples that may be shrunk."""


def sort_of(failure: str) -> str:
    """Return the kind of a failure: its first line without numbers."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", failure.splitlines()[0]) if failure else ""


def shrink(
    make: Callable[[Draw], Program], numbers: list[int], fails: Callable[[Program], bool], seconds: float
) -> Program | None:
    """Return the smallest failing program found, or None if the original one does not fail.

    Args:
        make: Function that draws programs.
        numbers: Integers from which the failing program was drawn.
        fails: Function that returns True if a program fails in the same way.
        seconds: Time limit.
    """
    until = time.monotonic() + seconds
    database = InMemoryExampleDatabase()
    database.save(NOT_SHRUNK, choices_to_bytes(numbers))
    quiet = settings(
        database=database,
        phases=(Phase.reuse, Phase.shrink),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    known: dict[str, bool] = {}
    failing: list[Program] = []

    def still(program: Program) -> bool:
        text = str(program)
        if text not in known:
            known[text] = time.monotonic() < until and fails(program)
            failing.extend([program] * known[text])
        return known[text]

    try:
        return find(strategy(make), still, settings=quiet, database_key=KEY)
    except NoSuchExample:
        return failing[-1] if failing else None


async def shrink_awaiting(
    make: Callable[[Draw], Program], numbers: list[int], fails: Callable[[Program], Awaitable[bool]], seconds: float
) -> Program | None:
    """Return the result of `shrink` for a coroutine function `fails`. Hypothesis runs in its own thread, in turn with
    this one.
    """
    asked: SimpleQueue[Program | None] = SimpleQueue()
    answers: SimpleQueue[bool] = SimpleQueue()
    small: list[Program | None] = []

    def still(program: Program) -> bool:
        asked.put(program)
        return answers.get()

    def work() -> None:
        try:
            small.append(shrink(make, numbers, still, seconds))
        finally:
            asked.put(None)

    Thread(target=work, daemon=True).start()
    while (program := asked.get()) is not None:
        answers.put(await fails(program))
    return small[0] if small else None
