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
