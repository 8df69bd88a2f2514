"""Remote memory on the machine.

Strategy: known bytes are transferred by every operation between blocks of every kind of memory, with sizes and offsets
that cross segments, pages and granules. Afterwards the target has them, all memory around it is unchanged, and the lock
was written after the data. Counters of the NI must show the translation: a static hit, one miss and then hits, or one
block for each physical piece.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench

SEGMENT = 4096
EDGE = 512
"""Bytes around a target that are checked."""
Allocate = Callable[[Grim, int], Awaitable[int]]


async def contiguous(library: Grim, size: int) -> int:
    """Return contiguous memory."""
    return await library.malloc_pinned(size)


async def scattered(library: Grim, size: int) -> int:
    """Return scattered memory."""
    return await library.pin_user_memory(size)


class Pair:
    """Two nodes: node 0 runs operations, node 1 has memory and polls until node 0 is done."""

    def __init__(self, **options: int) -> None:
        self.bench = Bench(2, **options)  # type: ignore[arg-type]
        self.near, self.far = self.bench.libraries
        self.over = False

    def run(self, application: Callable[[], Awaitable[None]]) -> None:
        """Run `application` on node 0."""

        async def node(library: Grim, me: int) -> None:
            if me == 0:
                await application()
                await library.host.sleep(100_000_000)
                self.over = True
            while not self.over:
                await library.host.sleep(1_000_000)

        self.bench.run(node)
        self.bench.settle()
        assert self.bench.nothing_left()

    def count(self, node: int, counter: Counter) -> int:
        """Return a counter of a NIC's firmware."""
        return self.bench.count(node, counter)


@pytest.mark.parametrize("kind", [contiguous, scattered])
@pytest.mark.parametrize(("size", "offset"), [(1, 0), (4, 4), (255, 256), (4096, 1000), (5000, 3072), (20_001, 12)])
def test_write_changes_only_its_target(kind: Allocate, size: int, offset: int) -> None:
    pair = Pair()
    data = random.Random(size).randbytes(size)

    async def application() -> None:
        near, far = pair.near, pair.far
        target = await kind(far, 2 * EDGE + offset + size) + EDGE + offset & ~3
        source, lock = await near.malloc_pinned(size), await far.malloc_pinned(4)
        near.store_pinned(source, data)
        around = far.load_pinned(target - EDGE, size + 2 * EDGE - 4)
        await near.send_memory(1 << 24, target, source, size, lock=lock, value=0xC0FFEE)
        await far.wait_for_lock(lock, 0xC0FFEE)
        assert far.load_pinned(target - EDGE, size + 2 * EDGE - 4) == around[:EDGE] + data + around[EDGE + size :]

    pair.run(application)
    messages = -(-size // SEGMENT)
    assert pair.count(1, Counter.REMOTE_WRITES) == messages
    served = pair.far.translations_served
    assert served == (1 if kind is scattered else 0) == pair.count(1, Counter.MISSES)
    locks = min(messages, 2)  # with the first message, to be checked, and with the last, to be set
    assert pair.count(1, Counter.HITS_STATIC) == locks + (0 if kind is scattered else messages)


@pytest.mark.parametrize("kind", [contiguous, scattered])
@pytest.mark.parametrize("size", [3, 4096, 9000])
def test_physical_write_needs_no_translation(kind: Allocate, size: int) -> None:
    pair = Pair()
    data = random.Random(size).randbytes(size)

    async def application() -> None:
        near, far = pair.near, pair.far
        target, source, lock = await far.malloc_pinned(size), await kind(near, size), await far.malloc_pinned(4)
        near.store_pinned(source, data)
        await near.send_physical_memory(1 << 24, far.get_pinned_pa(target), source, size, lock=lock, value=7)
        await far.wait_for_lock(lock, 7)
        assert far.load_pinned(target, size) == data

    pair.run(application)
    assert pair.count(1, Counter.HITS_STATIC) == (2 if size > SEGMENT else 1), "the lock's"
    assert pair.count(1, Counter.MISSES) == 0


@pytest.mark.parametrize("here", [contiguous, scattered])
@pytest.mark.parametrize("there", [contiguous, scattered])
@pytest.mark.parametrize("size", [2, 4096, 30_003])
def test_read_brings_the_remote_bytes_and_then_clears_the_lock(here: Allocate, there: Allocate, size: int) -> None:
    pair = Pair()
    data = random.Random(size).randbytes(size)

    async def application() -> None:
        near, far = pair.near, pair.far
        target, source, lock = await here(near, size + 8), await there(far, size + 8), await near.malloc_pinned(4)
        far.store_pinned(source + 4, data)
        near.store_pinned(lock, bytes([0xFF] * 4))
        before = near.load_pinned(target, 4)
        await near.fetch_memory(1 << 24, target + 4, source + 4, size, lock=lock)
        await near.wait_for_lock(lock, 0)
        assert near.load_pinned(target, size + 4) == before + data
        assert far.load_pinned(source + 4, size) == data

    pair.run(application)
    messages = -(-size // SEGMENT)
    assert pair.count(1, Counter.REMOTE_READS) == pair.count(0, Counter.REPLIES) == messages
    assert pair.count(0, Counter.ACKS_SEEN) >= messages


def test_read_stays_in_the_queue_until_its_data_are_stored() -> None:
    pair = Pair()

    async def application() -> None:
        near, far, nic = pair.near, pair.far, pair.bench.machine.nic(0)
        target, source, lock = await near.malloc_pinned(64), await far.malloc_pinned(64), await near.malloc_pinned(4)
        near.store_pinned(lock, b"full")
        await near.fetch_memory(1 << 24, target, source, 64, lock=lock)
        while near.load_pinned(lock, 4) != bytes(4):
            assert nic.load(near.layout.channels) == 0, "the front pointer"
            await near.host.sleep(100_000)
        await near.host.sleep(50_000_000)
        assert nic.load(near.layout.channels) == 40

    pair.run(application)


def test_scattered_pages_are_transferred_in_pieces_and_contiguous_memory_in_one() -> None:
    for kind, fragments in ((contiguous, 0), (scattered, 4 + 2)):
        pair = Pair(segment_bytes=16384)

        async def application(pair: Pair = pair, kind: Allocate = kind) -> None:
            near, far = pair.near, pair.far
            target, source = await kind(far, 16384), await near.malloc_pinned(16384)
            await near.send_memory(1 << 24, target, source, 16384)
            near.store_pinned(lock := await near.malloc_pinned(4), b"full")
            await near.fetch_memory(1 << 24, source, target, 8192, lock=lock)
            while near.load_pinned(lock, 4) != bytes(4):
                await near.host.sleep(100_000)

        pair.run(application)
        assert pair.count(1, Counter.FRAGMENTS) == fragments


def test_region_beyond_the_static_entries_is_served_by_the_driver() -> None:
    pair = Pair(translation_static=1)

    async def application() -> None:
        near, far = pair.near, pair.far
        await far.malloc_pinned(4 << 20)
        target, source = await far.malloc_pinned(100), await near.malloc_pinned(100)
        for i in range(3):
            await near.send_memory(1 << 24, target, source, 100, lock=target, value=i + 1)
            await far.wait_for_lock(target, i + 1)

    pair.run(application)
    assert pair.far.translations_served == 1
    assert pair.count(1, Counter.HITS_RUNTIME) >= 4


def test_oldest_run_time_entry_is_replaced() -> None:
    pair = Pair(translation_runtime=2)

    async def application() -> None:
        near, far = pair.near, pair.far
        blocks, source = [await far.pin_user_memory(64) for _ in range(3)], await near.malloc_pinned(64)
        for i, block in enumerate([*blocks, *blocks], 1):
            await near.send_memory(1 << 24, block, source, 60, lock=block + 60, value=i)
            await far.wait_for_lock(block + 60, i)

    pair.run(application)
    assert pair.far.translations_served == 6


def test_transfer_within_a_node_is_a_copy() -> None:
    pair = Pair()

    async def application() -> None:
        near = pair.near
        source, target, lock = await near.malloc_pinned(99), await near.pin_user_memory(99), await near.malloc_pinned(4)
        near.store_pinned(source, bytes(range(99)))
        await near.send_memory(0, target, source, 99, lock=lock, value=3)
        assert near.load_pinned(target, 99) == bytes(range(99))
        assert near.load_pinned(lock, 4) == b"\0\0\0\3"
        near.store_pinned(source, bytes(99))
        await near.fetch_memory(0, target, source, 99, lock=lock)
        assert near.load_pinned(target, 99) == bytes(99)

    pair.run(application)


def test_handler_may_write_remote_memory() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> None:
        block = await library.malloc_pinned(64)

        async def reply(source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
            await library.send_memory(source, a0, block, 60, lock=a0 + 60, value=1)

        number = (await bench.publish(library, reply=reply))["reply"]
        if me == 1:
            library.store_pinned(block, bytes(range(60)))
            bench.machine.host(1).spawn(library.wait_for(lambda: False), "far")
        else:
            await library.send(library.get_dest_id(1), number, block)
            await library.wait_for_lock(block + 60, 1)
            assert library.load_pinned(block, 60) == bytes(range(60))

    bench.run(node)


WAYS: list[dict[str, int | str]] = [
    {"dma_inject": 1},
    {"doorbell_notify": 1, "queue_bytes": 65536},
    {"sequencing": "per-ni"},
    {"queue_style": "slotted"},
    {"queue_style": "hybrid"},
    {"buffering": "both"},
    {"segment_bytes": 60_000, "multicast_trees": 0},
    {"window": 1, "retry_delay_us": 0},
    {"write_combine": 0, "poll_first": 0, "cut_through_bytes": 0},
]


@pytest.mark.parametrize("options", WAYS, ids=lambda options: next(iter(options)))
def test_remote_memory_works_with_every_protocol_option(options: dict[str, Any]) -> None:
    pair = Pair(**options)
    data = random.Random(1).randbytes(70_001)

    async def application() -> None:
        near, far = pair.near, pair.far
        source, place = await near.malloc_pinned(70_001), await far.pin_user_memory(70_001)
        back, lock = await near.pin_user_memory(70_001), await near.malloc_pinned(4)
        near.store_pinned(source, data)
        near.store_pinned(lock, b"wait")
        await near.send_memory(1 << 24, place, source, 70_001)
        await near.fetch_memory(1 << 24, back, place, 70_001, lock=lock)
        await near.wait_for_lock(lock, 0)
        assert near.load_pinned(back, 70_001) == far.load_pinned(place, 70_001) == data

    pair.run(application)


def test_reads_beyond_a_full_scoreboard_continue_when_the_last_reply_is_stored() -> None:
    """Queue more reads than the channel has tokens; the end of a DMA, without a packet, frees a token."""
    pair, data = Pair(channels=32, segment_bytes=256), random.Random(3).randbytes(12 * 256)

    async def application() -> None:
        await pair.near.host.sleep(100_000_000)  # 32 endpoints take the far host longer to enable
        source, target = await pair.far.malloc_pinned(len(data)), await pair.near.malloc_pinned(len(data))
        lock = await pair.near.malloc_pinned(4)
        pair.far.store_pinned(source, data)
        pair.near.store_pinned(lock, b"wait")
        where = pair.near.get_dest_id(1, 0, 12)
        await pair.near.fetch_memory(where, target, source, len(data), lock=lock, channel=12)
        await pair.near.wait_for_lock(lock, 0)
        assert pair.near.load_pinned(target, len(data)) == data

    pair.run(application)
