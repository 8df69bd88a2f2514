"""Two threads of a host.

Strategy: one thread sends through a small queue and must wait for room. The other polls, and its handlers answer
through the same channel; without the overflow queue such an answer goes before the waiting message. Each message must
arrive complete, with any rhythm of the receiver. Two threads that change one tree at the same time must have the effect
of one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from firmware.grim.host import Grim, GrimError
from tests.unit.grim.grim_bench import Bench

MESSAGES = 30
PAYLOAD = bytes(range(60))
SIZES = (300, 200)
"""Sizes of the messages of two threads, with segments of 64 bytes."""


@pytest.mark.parametrize("pause_us", [7, 9, 23, 56])
def test_reply_of_a_handler_and_message_of_another_thread_are_not_interleaved(pause_us: int) -> None:
    bench = Bench(2, queue_bytes=1024, host_queue_bytes=1024, segment_bytes=64, poll_first=0, overflow=0)
    got: list[bytes] = []
    asked: list[int] = []
    answers: list[int] = []
    sent: list[bool] = []

    async def node(library: Grim, me: int) -> None:
        async def ask(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            await library.send(1 << 24, numbers["answer"], a0)
            asked.append(a0)

        def answer(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            answers.append(a0)

        def take(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got.append(bytes(payload))

        numbers = await bench.publish(library, ask=ask, answer=answer, take=take)

        async def poll() -> None:
            while not sent:
                await library.poll()
                await library.host.sleep(pause_us * 1_000_000)

        if me == 0:
            poller = library.host.spawn(poll(), "the thread that polls")
            for _ in range(MESSAGES):
                await library.send(1 << 24, numbers["take"], payload=PAYLOAD)
            sent.append(True)
            await poller.finished
            await library.wait_for(lambda: len(asked) == MESSAGES)
            return
        for number in range(MESSAGES):
            await library.send(0, numbers["ask"], number)
            await library.host.sleep(pause_us * 1_000_000)
        await library.host.sleep(500_000_000)
        await library.wait_for(lambda: len(got) == MESSAGES and len(answers) == MESSAGES)

    bench.run(node)
    assert got == [PAYLOAD] * MESSAGES
    assert answers == list(range(MESSAGES))


class TwoSenders:
    """Two threads of node 0 that send to node 1 while a third polls, with a handler that takes long."""

    def __init__(self) -> None:
        self.bench = Bench(2, queue_bytes=1024, segment_bytes=64, poll_thread=1)
        self.got: list[bytes] = []
        self.slept: list[int] = []
        self.numbers: dict[str, int] = {}

    async def slow(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.slept.append(a0)
        await self.bench.libraries[0].host.sleep(100_000_000)

    def take(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.got.append(bytes(payload))

    async def thread(self, library: Grim, size: int) -> None:
        """Run a sending thread once the handler runs."""
        while not self.slept:
            await library.host.sleep(1_000_000)
        for number in range(MESSAGES):
            await library.send(1 << 24, self.numbers["take"], payload=bytes([number]) * size)

    async def node(self, library: Grim, me: int) -> None:
        self.numbers = await self.bench.publish(library, slow=self.slow, take=self.take)
        if me:
            for _ in range(5):
                await library.send(0, self.numbers["slow"])
            await library.wait_for(lambda: len(self.got) == MESSAGES * len(SIZES))
        else:
            for task in [library.host.spawn(self.thread(library, size), "a thread that sends") for size in SIZES]:
                await task.finished
            while library.overflow:
                await library.host.sleep(1_000_000)
        assert library.polling_thread is not None
        library.polling_thread.stop()


def test_segments_of_two_threads_are_not_interleaved_in_the_overflow_queue() -> None:
    senders = TwoSenders()
    senders.bench.run(senders.node)
    for size in SIZES:
        got = [data for data in senders.got if len(data) == size]
        assert got == [bytes([number]) * size for number in range(MESSAGES)]


def in_two_threads(*threads: Callable[[Grim, int], Coroutine[Any, Any, None]]) -> None:
    """Run threads at the same time, on a host whose channel 0 has subscribed to a tree."""
    bench = Bench(2, channels=2)
    done: list[bool] = []

    async def node(library: Grim, me: int) -> None:
        await bench.publish(library)
        if me == 0:
            tree = await library.subscribe_multicast_by_name("tree", 1)
            for task in [library.host.spawn(call(library, tree), "a thread") for call in threads]:
                await task.finished
            done.append(True)
        while not done:
            await library.poll()
            await library.host.sleep(1_000_000)

    bench.run(node, 50_000)


def test_concurrent_subscribe_and_unsubscribe_of_two_threads_are_serialised() -> None:
    async def leave(library: Grim, tree: int) -> None:
        await library.unsubscribe_multicast(tree, 1)

    async def join(library: Grim, tree: int) -> None:
        await library.subscribe_multicast(tree, 2)
        await library.host.sleep(1_000_000_000)
        await library.unsubscribe_multicast(tree, 2)

    in_two_threads(leave, join)


def test_second_of_two_threads_that_unsubscribe_a_channel_is_rejected() -> None:
    refused: list[str] = []

    async def leave(library: Grim, tree: int) -> None:
        try:
            await library.unsubscribe_multicast(tree, 1)
        except GrimError as error:
            refused.append(error.argument)

    in_two_threads(leave, leave)
    assert refused == ["channels"]
