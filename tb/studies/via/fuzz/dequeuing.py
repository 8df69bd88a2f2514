"""Acts of dequeuing: by polling, spinning, sleeping or a handler, by one or two threads, with resized completion
queues.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from firmware.via.host import Descriptor, Result, Vi, VipError
from tb.fuzz.program import Act
from tb.studies.via.fuzz.completions import Completions
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.messages import ends, send, size_of
from tb.studies.via.fuzz.queue import Queue
from tb.studies.via.fuzz.side import Side

LIMIT_US, LOOK_PS = 100_000, 20_000_000


async def take(link: Link, act: Act) -> None:
    """Dequeue finished descriptors, and wait for the next one of each queue with posted descriptors."""
    side, _ = ends(link, act)
    for queue in (side.sends, side.receives):
        await _wait(link, act, side, queue, min(len(queue.posted), 1))
    await side.take_all()


async def two_threads(link: Link, act: Act) -> None:
    """Send two messages, and have two threads wait for both ends at one end of the connection."""
    side, other = ends(link, act)
    size = size_of(act, side)
    for _ in range(2):
        if link.alive and await other.receive(str(act), size, 1):
            await send(link, act, size)
    at, queue = (side, side.sends) if act.values["queue"] == "sends" else (other, other.receives)
    await _wait(link, act, at, queue, min(len(queue.posted), 2))
    await at.take_all()


async def resize(link: Link, act: Act) -> None:
    """Resize a completion queue, by `threads` threads at a time."""
    side, _ = ends(link, act)
    completions = side.completions[act.values["queue"] == "receives"]
    if completions is not None:
        sizes = [act.whole("entries") - number for number in range(act.whole("threads"))]
        await _threads(side, [partial(completions.resize, size) for size in sizes])


async def _wait(link: Link, act: Act, side: Side, queue: Queue, threads: int) -> None:
    """Have `threads` threads wait at a queue or its completion queue, if no excuse lets them wait for ever."""
    how, completions = str(act.values["how"]), side.completions[queue.receives]
    if not link.alive or side.epoch.excuses or how == "done":
        return
    if completions is None:
        await _at_queue(side, queue, threads, WORK[how][queue.receives])
    elif completions.sure:
        threads = min(threads, completions.unreported(queue))
        await _at_completions(side, completions, threads, COMPLETIONS["wait" if completions.shared else how])


async def _at_queue(side: Side, queue: Queue, threads: int, call: Callable[[Side], Awaitable[Descriptor]]) -> None:
    """Check that each thread gets one of the oldest descriptors."""
    found = await _threads(side, [partial(call, side)] * threads)
    taken = [descriptor for descriptor in found if descriptor is not None]
    for post in list(queue.posted)[: len(taken)]:
        if post.descriptor not in taken:
            side.wrong(f"{post.what} was not dequeued, but a later one was")
            return
        queue.ended(post.descriptor)


async def _at_completions(
    side: Side, completions: Completions, threads: int, call: Callable[[Side, Completions], Awaitable[tuple[Vi, bool]]]
) -> None:
    """Check that each thread gets a completion; a shared queue may notify threads of other connections instead."""
    may = (Result.TIMEOUT,) if completions.shared else ()
    for found in await _threads(side, [partial(call, side, completions)] * threads, may):
        if found is not None:
            completions.on_completion(side, found[0].number, found[1])


async def _threads(
    side: Side, calls: Sequence[Callable[[], Awaitable[Any]]], may: tuple[Result, ...] = ()
) -> list[Any]:
    """Run one thread per call and return their results."""
    tasks = [side.owner.process.spawn(side.call("a thread", call, may), "one of two") for call in calls]
    return [await task.finished for task in tasks]


async def _called(side: Side, notify: Callable[[Callable[..., None]], None]) -> tuple[Any, ...]:
    """Return the arguments of a handler's call. Raises VipError if the handler reports an error."""
    calls: list[tuple[Any, ...]] = []
    notify(lambda *values: calls.append(values))
    host = side.owner.nic.host
    limit = host.now + LIMIT_US * 1_000_000
    while not calls:
        if host.now > limit:
            raise VipError(Result.TIMEOUT, "a handler", "call it")
        await host.sleep(LOOK_PS, "a handler to be called")
    return calls[0]


async def _notified(side: Side, receives: bool) -> Descriptor:
    """Return the next descriptor of a work queue, received by a handler."""
    vi, descriptor = await _called(side, side.vi.receive_notify if receives else side.vi.send_notify)
    if vi is not side.vi:
        side.wrong(f"a handler of its VI was called for VI {vi.number}")
    found: Descriptor = descriptor
    return found


async def _from_handler(side: Side, completions: Completions) -> tuple[Vi, bool]:
    """Return the next completion, received by a handler."""
    vi, receive = await _called(side, completions.queue.notify)
    return vi, receive


WORK: Mapping[str, tuple[Callable[[Side], Awaitable[Descriptor]], Callable[[Side], Awaitable[Descriptor]]]] = {
    "poll": (lambda side: side.vi.poll_send(), lambda side: side.vi.poll_receive()),
    "wait": (lambda side: side.vi.send_wait(LIMIT_US), lambda side: side.vi.receive_wait(LIMIT_US)),
    "notify": (lambda side: _notified(side, False), lambda side: _notified(side, True)),
}
"""Calls that return the next finished send and the next finished receive."""
COMPLETIONS: Mapping[str, Callable[[Side, Completions], Awaitable[tuple[Vi, bool]]]] = {
    "poll": lambda side, completions: completions.queue.poll(),
    "wait": lambda side, completions: completions.queue.wait(LIMIT_US),
    "notify": _from_handler,
}
