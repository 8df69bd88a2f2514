"""Words of host memory that the NI writes between two loads of the host, as on a board where loads take time.

Strategy: memory changes after the first load. A poll for a change of the new value would never end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from firmware.grim.host.dispatch import Dispatch
from firmware.grim.host.enable import synchronise
from firmware.grim.nic.words import State
from firmware.verbs import Host

STATUS = 0x2008
OLD, NEW = 0, int(State.RUNNING)


class Written:
    """Host with one word, which the NI writes right after the first load."""

    nic_base = 0

    def __init__(self) -> None:
        self.word, self.polls = OLD, 0

    def load_words(self, address: int, count: int) -> tuple[int, ...]:
        """Return the word, and let the NI write it."""
        word, self.word = self.word, NEW
        return (word,)

    async def poll(self, watches: Sequence[tuple[int, int]], path: str) -> int:
        """Return if the word differs; otherwise the real poll would never end."""
        assert dict(watches)[STATUS] != self.word, "polls for a change after the last one"
        self.polls += 1
        return 0

    async def spend(self, path: str, times: int = 1) -> None:
        """Take no time."""

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Store nothing."""

    def event(self, why: str) -> None:
        """Return no event."""


def finish(coroutine: Any) -> None:
    """Run a coroutine that never waits to its end."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


def test_synchronisation_ends_if_the_ni_writes_its_state_between_two_loads() -> None:
    host = Written()
    finish(synchronise(cast("Host", host), STATUS))
    assert host.polls == 1


@pytest.mark.parametrize("threaded", [False, True])
def test_a_wait_for_words_ends_if_the_ni_writes_them_after_the_condition(threaded: bool) -> None:
    host, queues = Written(), SimpleNamespace(overflowed=lambda: False)
    given: Any = (host, SimpleNamespace(), SimpleNamespace(crc32=0), {}, queues, SimpleNamespace(), None, deque())
    dispatch = Dispatch(*given)
    dispatch.threaded = threaded
    met = iter([False, True])

    def condition() -> bool:
        host.word = NEW
        return next(met)

    finish(dispatch.wait_for(condition, [STATUS]))
    assert host.polls == 1
