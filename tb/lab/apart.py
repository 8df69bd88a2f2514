"""What is done in a copy of a running simulation, and leaves no other trace than its answer."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from tb.lab.lab import Lab

SECONDS = 60
"""Of a processor, that a copy with limits may take: some fifty times what one takes that ends."""
BYTES = 2 << 30
"""Memory that it may take beside what there is."""


async def apart(
    lab: Lab, work: Callable[[], Awaitable[Any]], failed: Callable[[BaseException], Any], limits: bool = False
) -> Any | None:
    """Do something in a copy of this process, forked now; what it returns, in plain values. None when the copy died.

    `failed` gives the answer for what is raised anywhere in the copy. `limits`: a copy that takes more time or memory
    than anything that makes sense dies.
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
        # what the copy raises outside of this task ends it too, and nothing of it is left behind
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
