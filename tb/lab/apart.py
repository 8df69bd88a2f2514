"""Work in a forked copy of a running simulation that affects the original only by its answer."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from tb.lab.lab import Lab

SECONDS = 60
"""CPU seconds that a copy with limits may use: about fifty times the normal duration."""
BYTES = 2 << 30
"""Memory that a copy with limits may use in addition to its present size."""


async def apart(
    lab: Lab, work: Callable[[], Awaitable[Any]], failed: Callable[[BaseException], Any], limits: bool = False
) -> Any | None:
    """Execute `work` in a forked copy of this process and return its result, or None if the copy died.

    Args:
        lab: Lab of the running study.
        work: Coroutine function; its result must be plain values for JSON.
        failed: Function that returns the result for an exception raised anywhere in the copy.
        limits: True to kill a copy that uses excessive time or memory.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)

        def end(found: Any) -> NoReturn:
            with os.fdopen(write, "w", encoding="utf-8") as answer:
                json.dump(found, answer)
            os._exit(0)

        if limits:
            _limit()
        # An exception outside this task ends the copy too, without side effects.
        lab.running.engine.on_failure = lambda error: end(failed(error))
        end(await work())
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def _limit() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    with open("/proc/self/statm", encoding="ascii") as told:
        room = int(told.read().split()[0]) * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
