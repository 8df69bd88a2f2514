"""The order of operations (paper 000, 4.5.6), and misses that stall one stream only.

Strategy: pairs of operations are sent back to back over one channel, and their results show which came first.
Translations that miss are between them, where reordering is most likely. A remote memory operation may complete before
the active message in front of it; every other pair keeps its order.
"""

from __future__ import annotations

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench

KINDS = ["static", "miss"]


async def block_of(library: Grim, kind: str, size: int) -> int:
    """Return memory whose translation is cached, or misses at first."""
    return await (library.malloc_pinned(size) if kind == "static" else library.pin_user_memory(size))


def test_active_messages_keep_their_order() -> None:
    bench = Bench(2)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            got.append(a0)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            for i in range(50):
                await library.send(1 << 24, number, i, payload=bytes(i * 97 % 5000))
        else:
            await library.wait_for(lambda: len(got) == 50)

    bench.run(node)
    assert got == list(range(50))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("buffering", ["sending", "both"])
def test_active_message_after_a_write_finds_the_data(kind: str, buffering: str) -> None:
    bench = Bench(2, buffering=buffering)
    seen: list[bytes] = []
    block = 0

    async def node(library: Grim, me: int) -> None:
        nonlocal block

        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            seen.append(library.load_pinned(block, 5000)[-4:])

        if me == 1:
            block = await block_of(library, kind, 5000)
        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 1:
            await library.wait_for(lambda: len(seen) == 3)
            return
        source = await library.malloc_pinned(5000)
        for i in range(3):
            library.store_pinned(source + 4996, bytes([i + 1] * 4))
            await library.send_memory(1 << 24, block, source, 5000)
            await library.send(1 << 24, number)

    bench.run(node)
    assert seen == [bytes([i + 1] * 4) for i in range(3)]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_writes_keep_their_order(first: str, second: str) -> None:
    """Put the lock of the second write into the block of the first; the lock must remain."""
    bench = Bench(2)
    near, far = bench.libraries

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            return
        one, other = await block_of(far, first, 8192), await block_of(far, second, 64)
        source = await near.malloc_pinned(8192)
        near.store_pinned(source, b"\xaa" * 8192)
        for value in range(1, 5):
            await near.send_memory(1 << 24, one, source, 8192)
            await near.send_memory(1 << 24, other, source, 64, lock=one + 4096, value=value)
            await near.host.sleep(400_000_000)
            assert far.load_pinned(one + 4096, 4) == value.to_bytes(4, "big")
            assert far.load_pinned(one + 4100, 4) == b"\xaa" * 4
            far.store_pinned(one, bytes(8192))

    bench.run(node)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("buffering", ["sending", "both"])
def test_reads_and_writes_of_one_address_keep_their_order(kind: str, buffering: str) -> None:
    bench = Bench(2, buffering=buffering)
    near, far = bench.libraries

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            return
        place = await block_of(far, kind, 4096)
        words = [await near.malloc_pinned(4096) for _ in range(3)]
        results = [await block_of(near, kind, 4096) for _ in range(3)]
        for i, word in enumerate(words):
            near.store_pinned(word, bytes([i + 1]) * 4096)
        lock = await near.malloc_pinned(4)
        near.store_pinned(lock, b"wait")
        for word, result in zip(words, results, strict=True):
            await near.send_memory(1 << 24, place, word, 4096)
            await near.fetch_memory(1 << 24, result, place, 4096, lock=lock if result == results[-1] else 0)
        await near.wait_for_lock(lock, 0)
        assert [near.load_pinned(result, 4096) for result in results] == [bytes([i + 1]) * 4096 for i in range(3)]

    bench.run(node)


def test_write_may_bypass_the_active_message_before_it() -> None:
    """Let the receiver not poll: its message waits in the endpoint's queue, and the write after it completes."""
    bench = Bench(2)
    handled = False

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            nonlocal handled
            handled = True

        number = (await bench.publish(library, handler=handler))["handler"]
        near, far = bench.libraries
        if me == 0:
            block, source = await far.malloc_pinned(64), await near.malloc_pinned(64)
            near.store_pinned(source, b"\x11" * 64)
            await near.send(1 << 24, number)
            await near.send_memory(1 << 24, block, source, 64)
            await near.host.sleep(100_000_000)
            assert far.load_pinned(block, 64) == b"\x11" * 64
            assert not handled
            bench.machine.host(1).spawn(far.wait_for(lambda: handled), "far")

    bench.run(node)
    bench.settle()
    assert handled


def test_miss_stalls_only_its_stream() -> None:
    bench = Bench(2, channels=2)
    times: dict[int, int] = {}

    async def node(library: Grim, me: int) -> None:
        def handler(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            times.setdefault(a0, library.host.now)

        number = (await bench.publish(library, handler=handler))["handler"]
        near, far = bench.libraries
        if me == 1:
            await library.wait_for(lambda: len(times) == 2)
            return
        block, source = await far.pin_user_memory(64), await near.malloc_pinned(64)
        await near.send_memory(1 << 24, block, source, 64, channel=0)
        await near.send(1 << 24, number, 0, channel=0)
        await near.send(1 << 24 | 1, number, 1, channel=1)

    bench.run(node)
    assert times[1] < times[0] - 8_000_000, "the other channel's message did not wait for the interrupt"
    assert bench.count(1, Counter.MISSES) == bench.count(1, Counter.PARKED) == 1
    assert bench.count(1, Counter.NACKS_SENT) >= 1, "the stream's next message came back"


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_many_streams_that_miss_at_once_all_complete(sequencing: str) -> None:
    """Let one message wait in a receive buffer, which is the maximum; the others are rejected and resent."""
    bench = Bench(3, channels=4, translation_runtime=3, sequencing=sequencing, retry_delay_us=2)
    far = bench.libraries[2]

    async def node(library: Grim, me: int) -> None:
        if me == 2:
            return
        source = await library.malloc_pinned(4096)
        library.store_pinned(source, bytes([me + 1]) * 4096)
        blocks = []
        for round_ in range(3):
            for channel in range(4):
                block = await far.pin_user_memory(9000)
                blocks.append(block)
                await library.send_memory(2 << 24 | channel, block + 4000, source, 4096, channel=channel)
                if round_:
                    await library.fetch_memory(2 << 24, source, blocks[-5] + 4000, 4096, channel=channel)
        await library.host.sleep(3_000_000_000)
        for block in blocks:
            assert far.load_pinned(block + 4000, 4096) == bytes([me + 1]) * 4096
        assert library.load_pinned(source, 4096) == bytes([me + 1]) * 4096

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()
    assert bench.count(2, Counter.MISSES) >= 24
