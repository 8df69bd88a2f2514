"""Two threads of a host that use one channel. Strategy: one sends messages through a small queue and must wait for room
in it; the other polls, and its handlers answer through the same channel. Without the overflow queue such a handler goes
before the message that waits. Whatever the other end's rhythm, each message must arrive whole.
"""

from __future__ import annotations

import pytest

from firmware.host.grim import Grim
from tests.unit.grim_bench import Bench

MESSAGES = 30
PAYLOAD = bytes(range(60))


@pytest.mark.parametrize("pause_us", [7, 9, 23, 56])
def test_handler_of_one_thread_and_message_of_another_are_not_mixed(pause_us: int) -> None:
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


def test_pieces_of_messages_of_two_threads_are_not_mixed_in_the_overflow_queue() -> None:
    """A third thread polls, and its handler takes long: meanwhile who finds no room appends to the overflow queue."""
    bench = Bench(2, queue_bytes=1024, segment_bytes=64, poll_thread=1)
    sizes = (300, 200)
    got: list[bytes] = []
    slept: list[int] = []

    async def node(library: Grim, me: int) -> None:
        async def slow(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            slept.append(a0)
            await library.host.sleep(100_000_000)

        def take(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got.append(bytes(payload))

        async def send(size: int) -> None:
            for number in range(MESSAGES):
                await library.send(1 << 24, numbers["take"], payload=bytes([number]) * size)

        numbers = await bench.publish(library, slow=slow, take=take)
        if me == 0:
            while not slept:
                await library.host.sleep(1_000_000)
            tasks = [library.host.spawn(send(size), "a thread that sends") for size in sizes]
            for task in tasks:
                await task.finished
            while library.overflow:
                await library.host.sleep(1_000_000)
        else:
            for _ in range(5):
                await library.send(0, numbers["slow"])
            await library.wait_for(lambda: len(got) == MESSAGES * len(sizes))
        assert library.polling_thread is not None
        library.polling_thread.stop()

    bench.run(node)
    for size in sizes:
        assert [data for data in got if len(data) == size] == [bytes([number]) * size for number in range(MESSAGES)]
