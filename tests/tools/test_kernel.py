"""Event loop that runs the coroutines of the software, in Python and in C.

Strategy: small coroutines append their observations to a list, and the list is compared as a whole. Order matters as
much as content, because two simulators must agree on it. All times must be odd picoseconds, whatever was requested.
Errors and hang reports are read as a user would read them.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable

import pytest

from pymodels.kernel import Event, Kernel, Queue


def test_tasks_run_in_the_order_in_which_they_became_ready(kernel: Kernel) -> None:
    seen = list[str]()

    async def task(name: str) -> None:
        seen.append(f"{name} begins")
        await kernel.sleep(10)
        seen.append(f"{name} ends")

    for name in "abc":
        kernel.spawn(task(name), name)
    kernel.run()
    assert seen == ["a begins", "b begins", "c begins", "a ends", "b ends", "c ends"]


def test_alarms_fire_by_time_and_equal_times_by_order_of_request(kernel: Kernel) -> None:
    seen = list[str]()
    for time, name in ((300, "late"), (100, "first"), (100, "second"), (200, "middle")):
        kernel.at(time, lambda name=name: seen.append(name))  # type: ignore[misc]
    kernel.run()
    assert seen == ["first", "second", "middle", "late"]


@pytest.mark.parametrize("asked", [0, 1, 2, 999, 1000, 7501])
def test_software_acts_at_odd_picoseconds_and_never_in_the_past(kernel: Kernel, asked: int) -> None:
    seen = list[int]()
    kernel.now = 501
    kernel.at(asked, lambda: seen.append(kernel.now))
    kernel.run()
    assert seen == [max(asked, 501) | 1]


def test_run_stops_at_the_given_time_and_can_continue(kernel: Kernel) -> None:
    seen = list[int]()
    for time in (101, 201, 301):
        kernel.at(time, lambda: seen.append(kernel.now))
    kernel.run(until_ps=201)
    assert seen == [101, 201]
    kernel.run()
    assert seen == [101, 201, 301]


def test_an_event_wakes_its_current_waiters_only(kernel: Kernel) -> None:
    seen = list[str]()
    event = Event(kernel, "the bell")

    async def waiter(name: str, before: Awaitable[None] | None) -> None:
        if before is not None:
            await before
        await event.wait()
        seen.append(name)

    kernel.spawn(waiter("early", None), "early")
    kernel.spawn(waiter("late", kernel.sleep(100)), "late")
    kernel.at(51, event.set)
    kernel.run()
    assert seen == ["early"]
    assert kernel.waiting() == ["late waits for the bell"]


def test_a_queue_keeps_the_order_of_its_items_between_tasks(kernel: Kernel) -> None:
    seen = list[int]()
    queue: Queue[int] = Queue(kernel, "work")

    async def consumer() -> None:
        while len(seen) < 5:
            seen.append(await queue.get())

    kernel.spawn(consumer(), "consumer")
    for i in range(5):
        kernel.at(10 * i // 2, lambda i=i: queue.put(i))  # type: ignore[misc]
    kernel.run()
    assert seen == [0, 1, 2, 3, 4]


def test_the_end_of_a_task_can_be_awaited_for_its_value(kernel: Kernel) -> None:

    async def inner() -> int:
        await kernel.sleep(100)
        return 42

    async def outer() -> int:
        return int(await kernel.spawn(inner(), "inner").finished) + 1

    task = kernel.spawn(outer(), "outer")
    kernel.run()
    assert task.finished.done and not kernel.tasks


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions carry notes from Python 3.11 on")
def test_an_exception_names_the_task_and_the_time(kernel: Kernel) -> None:

    async def broken() -> None:
        await kernel.sleep(2_000_000)
        raise KeyError("payload")

    kernel.spawn(broken(), "node 3 receive")
    with pytest.raises(KeyError) as caught:
        kernel.run()
    assert vars(caught.value)["__notes__"] == ["in task node 3 receive at 2.000001 us"]


def test_a_hang_report_names_the_waiting_tasks_and_their_reasons(kernel: Kernel) -> None:

    async def waiter() -> None:
        await kernel.future("an ACK of node 2")

    kernel.spawn(waiter(), "node 1 send")
    kernel.run()
    assert kernel.waiting() == ["node 1 send waits for an ACK of node 2"]


def test_a_future_set_twice_is_an_error_that_names_it(kernel: Kernel) -> None:
    future = kernel.future("the DMA's end")
    future.set(1)
    with pytest.raises(RuntimeError, match="the DMA's end"):
        future.set(2)


def test_a_stopped_task_makes_no_further_step(kernel: Kernel) -> None:
    """Stop a task that waits for time, is ready to run, or has ended; the others continue."""
    seen = list[str]()

    async def task(name: str, first: int) -> None:
        await kernel.sleep(first)
        seen.append(f"{name} begins")
        await kernel.sleep(100)
        seen.append(f"{name} ends")

    begins = {"w": 10, "r": 500, "e": 0, "o": 0}
    waits, ready, ended, other = (kernel.spawn(task(name, first), name) for name, first in begins.items())
    kernel.at(60, lambda: kernel.stop(waits))
    kernel.at(501, lambda: kernel.stop(ready))
    kernel.at(700, lambda: kernel.stop(ended))
    kernel.run()
    assert seen == ["e begins", "o begins", "w begins", "e ends", "o ends"]
    assert other.finished.done and ended.finished.done and not waits.finished.done and not ready.finished.done
    assert not kernel.tasks
