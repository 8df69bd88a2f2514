"""A program that fails, made as small as it gets: hypothesis leaves out and lessens what was drawn, and keeps what
still fails in the same way.
"""

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
"""Before each line of a program that was made smaller, among what was wrong with it."""
KEY = b"the failing program"
NOT_SHRUNK = KEY + b".secondary"
"""Where hypothesis keeps what has failed and may still be made smaller."""


def sort_of(failure: str) -> str:
    """What a failure is about, without its numbers and names."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", failure.splitlines()[0]) if failure else ""


def shrink(
    make: Callable[[Draw], Program], numbers: list[int], fails: Callable[[Program], bool], seconds: float
) -> Program | None:
    """The smallest program found that fails, beginning with the one that was drawn from these numbers. None when it
    fails no more. After `seconds` what has been found must do.
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
    """`shrink`, where a program must be awaited to know whether it fails. Hypothesis works in a thread of its own, one
    of the two at a time.
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
