"""Polling loops of services (`firmware.common.nic.services`).

On the machine's SRAM, `Loop` returns the step of the changed word. All loops with a `Watched` word compare it with the
same value.
"""

from __future__ import annotations

from firmware.common.nic import Loop, Watched
from firmware.verbs import Nic, Watch
from pymodels.machine import Machine

FIRST, SECOND = 0x100, 0x104


async def nothing() -> None:
    """Do nothing: a handler."""


def nic() -> tuple[Machine, Nic]:
    machine = Machine(nodes=2, seed=1, trace=False)
    return machine, machine.nic(0)


def test_a_loop_returns_the_step_of_the_changed_word_and_continues_after_it() -> None:
    machine, one = nic()
    found: list[str] = []

    async def note(what: str) -> None:
        found.append(what)

    first, second = Watch(FIRST, 0, "poll_news"), Watched(SECOND, 0, "poll_news")
    loop = Loop(one, [(first, lambda: note("first")), (second, lambda: note("second"))])

    async def program() -> None:
        one.store(SECOND, 5)
        await loop.steps[await loop.run()]()
        one.store(FIRST, 1)
        for _ in range(2):
            await loop.steps[await loop.run()]()

    machine.finish(program(), within_us=100)
    assert found == ["second", "first", "second"]


def test_a_watched_word_is_compared_with_the_same_value_in_all_loops() -> None:
    machine, one = nic()
    word = Watched(FIRST, 0, "poll_news")
    short = Loop(one, [(word, nothing)])
    long = Loop(one, [(word, nothing), (Watch(SECOND, 0, "poll_news"), nothing)])
    found: list[int] = []

    async def program() -> None:
        one.store(FIRST, 7)
        found.append(await short.run())
        word.expect(7)  # no news any more, in the other loop neither
        one.store(SECOND, 1)
        found.append(await long.run())
        word.expect(0)
        found.append(await long.run())

    machine.finish(program(), within_us=100)
    assert found == [0, 1, 0]
