"""Transfers of several messages that cannot complete.

Strategy: in every kind of memory, a block is between neighbours of known bytes. Transfers that go beyond it, or whose
lock is invalid, leave all memory unchanged; transfers whose block is freed meanwhile leave the lock unchanged. Each
gives one error, and so does every other failure at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench

FAR = 1 << 24
BLOCK = 4096
LONG = 3 * BLOCK
OLD, NEW, FREE, TAKEN = b"\x33", b"\xee", 0x11111111, 7
KINDS = ["static", "run-time", "scattered"]


class Blocks:
    """Three adjacent blocks and a lock of the far node, and a long block with a lock of the near node."""

    def __init__(self, kind: str = "static", **options: int | str) -> None:
        self.bench = Bench(2, translation_static=1, **options)  # type: ignore[arg-type]
        self.near, self.far = self.bench.libraries
        self.kind = kind

    async def prepare(self) -> None:
        """Allocate all."""
        near, far = self.near, self.far
        await near.host.sleep(100_000_000)  # the far node is enabled too
        if self.kind == "run-time":
            await far.malloc_pinned(4 << 20)  # takes the only static entry
        give = far.pin_user_memory if self.kind == "scattered" else far.malloc_pinned
        self.blocks = [await give(BLOCK) for _ in range(3)]
        self.far_lock, self.near_lock = await far.malloc_pinned(4), await near.malloc_pinned(4)
        self.here = await near.malloc_pinned(LONG)
        for block in self.blocks:
            far.store_pinned(block, OLD * BLOCK)
        near.store_pinned(self.here, NEW * LONG)
        for library, lock in ((far, self.far_lock), (near, self.near_lock)):
            library.store_pinned(lock, FREE.to_bytes(4, "big"))

    def as_before(self) -> bool:
        """Return True if no byte and no lock has changed."""
        locks = self.far.load_pinned(self.far_lock, 4), self.near.load_pinned(self.near_lock, 4)
        there = b"".join(self.far.load_pinned(block, BLOCK) for block in self.blocks)
        here = self.near.load_pinned(self.here, LONG)
        return (there, here, *locks) == (OLD * LONG, NEW * LONG, *[FREE.to_bytes(4, "big")] * 2)

    async def errors(self) -> list[str]:
        """Return all errors that arrive within some time."""
        found = self.here_already()
        await self.near.host.sleep(600_000_000)
        await self.near.poll()
        return found + self.here_already()

    def here_already(self) -> list[str]:
        """Return the errors that have arrived and were not raised by a call."""
        found = [str(error) for error in self.near.calls.errors]
        self.near.calls.errors.clear()
        return found

    def run(self, application: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `application` on the near node."""

        async def node(library: Grim, me: int) -> None:
            if me == 0:
                await self.prepare()
                await application()

        self.bench.run(node)
        self.bench.settle()
        assert self.bench.nothing_left()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("warm", [0, 1])
@pytest.mark.parametrize("offset", [0, BLOCK - 4])
@pytest.mark.parametrize("act", ["write", "read"])
def test_transfer_longer_than_its_block_writes_nothing(kind: str, warm: int, offset: int, act: str) -> None:
    world = Blocks(kind)

    async def application() -> None:
        near, block = world.near, world.blocks[1]
        if warm:
            for each in world.blocks:
                await near.fetch_memory(FAR, world.here, each, BLOCK)
            await near.host.sleep(200_000_000)
            near.store_pinned(world.here, NEW * LONG)
        if act == "write":
            await near.send_memory(FAR, block + offset, world.here, LONG, lock=world.far_lock, value=TAKEN)
        else:
            await near.fetch_memory(FAR, world.here, block + offset, LONG, lock=world.near_lock)
        (error,) = await world.errors()
        assert world.as_before()
        where = f"the transfer at {block + offset:#x} exceeds its block on VNN 1"
        assert error == f"number of bytes: {where}; give a size that ends within the block"

    world.run(application)


@pytest.mark.parametrize("kind", KINDS)
def test_transfer_of_a_whole_block_succeeds(kind: str) -> None:
    world = Blocks(kind, segment_bytes=1024)

    async def application() -> None:
        near, far, block = world.near, world.far, world.blocks[1]
        await near.send_memory(FAR, block, world.here, BLOCK, lock=world.far_lock, value=TAKEN)
        await far.wait_for_lock(world.far_lock, TAKEN)
        assert far.load_pinned(block, BLOCK) == NEW * BLOCK
        await near.fetch_memory(FAR, world.here, world.blocks[0], BLOCK, lock=world.near_lock)
        await near.wait_for_lock(world.near_lock, 0)
        assert near.load_pinned(world.here, LONG) == OLD * BLOCK + NEW * (LONG - BLOCK)
        assert await world.errors() == []

    world.run(application)


@pytest.mark.parametrize("physical", [0, 1])
def test_invalid_lock_is_detected_before_the_first_of_several_messages(physical: int) -> None:
    world = Blocks(segment_bytes=1024)

    async def application() -> None:
        near, far, block = world.near, world.far, world.blocks[1]
        if physical:
            await near.send_physical_memory(FAR, far.get_pinned_pa(block), world.here, BLOCK, lock=0x123000)
        else:
            await near.send_memory(FAR, block, world.here, BLOCK, lock=0x123000)
        (error,) = await world.errors()
        assert error.startswith("lock: VNN 1 has no pinned memory at the lock of the transfer at ")
        assert world.as_before()

    world.run(application)


def test_lock_is_not_set_if_the_target_is_freed_and_pinned_again_during_a_write() -> None:
    world = Blocks(segment_bytes=256)
    outcomes: set[str] = set()

    async def once(delay: int) -> None:
        near, far = world.near, world.far
        block = await far.malloc_pinned(BLOCK)
        far.store_pinned(world.far_lock, FREE.to_bytes(4, "big"))
        await near.send_memory(FAR, block, world.here, BLOCK, lock=world.far_lock, value=TAKEN)
        await far.host.sleep(delay)
        await far.free_pinned_va(block)
        await far.host.sleep(3_000_000)
        assert await far.malloc_pinned(BLOCK) == block
        errors = await world.errors()
        is_set = far.load_pinned(world.far_lock, 4) == TAKEN.to_bytes(4, "big")
        assert len(errors) == 1 - is_set
        outcomes.update(error[:7] for error in errors)
        outcomes.add("set" if is_set else "not set")
        await far.free_pinned_va(block)

    async def application() -> None:
        for delay in range(0, 30_000_000, 1_500_000):
            await once(delay)

    world.run(application)
    assert outcomes == {"address", "set", "not set"}


def test_lock_is_not_set_if_the_target_is_freed_and_pinned_again_during_a_read() -> None:
    world = Blocks(segment_bytes=256)
    outcomes: set[bool] = set()

    async def once(delay: int) -> None:
        near = world.near
        target = await near.malloc_pinned(BLOCK)
        near.store_pinned(world.near_lock, FREE.to_bytes(4, "big"))
        await near.fetch_memory(FAR, target, world.blocks[1], BLOCK, lock=world.near_lock)
        await near.host.sleep(delay)
        await near.free_pinned_va(target)
        await near.host.sleep(3_000_000)
        assert await near.malloc_pinned(BLOCK) == target
        errors = await world.errors()
        cleared = near.load_pinned(world.near_lock, 4) == bytes(4)
        assert len(errors) == 1 - cleared
        outcomes.add(cleared)
        await near.free_pinned_va(target)

    async def application() -> None:
        for delay in range(0, 60_000_000, 3_000_000):
            await once(delay)

    world.run(application)
    assert outcomes == {True, False}


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_each_failed_transfer_raises_one_error_and_others_none(sequencing: str) -> None:
    world = Blocks(channels=2, segment_bytes=512, sequencing=sequencing)

    async def application() -> None:
        near, far, (first, second, third) = world.near, world.far, world.blocks
        errors: list[str] = []
        for _ in range(3):
            for call in (
                near.send_memory(FAR, first, world.here, LONG, lock=world.far_lock, value=TAKEN),
                near.send_memory(FAR, second, world.here, BLOCK, channel=1),
                near.fetch_memory(FAR, world.here, third + 4, LONG, lock=world.near_lock, channel=1),
                near.send_memory(FAR | 1, first + 1024, world.here, 8192),
                near.send_memory(FAR | 1, third, world.here, 4),
            ):
                errors += world.here_already()
                await call
        errors += await world.errors()
        assert len(errors) == 9
        for address in (first, third + 4, first + 1024):
            assert sum(f"the transfer at {address:#x} exceeds" in error for error in errors) == 3
        assert far.load_pinned(second, BLOCK) == NEW * BLOCK
        assert far.load_pinned(third, BLOCK) == NEW * 4 + OLD * (BLOCK - 4)
        assert far.load_pinned(first, BLOCK) == OLD * BLOCK
        assert far.load_pinned(world.far_lock, 4) == near.load_pinned(world.near_lock, 4) == FREE.to_bytes(4, "big")

    world.run(application)


def test_failed_message_is_reported_even_if_its_argument_is_an_address_of_a_failed_transfer() -> None:
    world = Blocks()

    async def application() -> None:
        near, block = world.near, world.blocks[1]
        near.handlers.merge({"handler": 20})
        await near.send_memory(FAR, block, world.here, LONG)
        near.messages.target(FAR, 0).destination |= 1  # a device that it does not have
        for argument in (block + 8, block + 8, 5):
            await near.send(FAR, 20, argument)
        near.messages._targets.clear()
        errors = await world.errors()
        assert [error.split(":")[0] for error in errors] == ["number of bytes", *["destination"] * 3]

    world.run(application)
    assert world.bench.count(1, Counter.ERRORS_SENT) == 6


def test_reads_from_several_nodes_on_one_channel_are_independent() -> None:
    """Let the first read miss again in its middle, where the second overtakes it."""
    bench = Bench(2, channels=2)
    near, far = bench.libraries
    long, short = 80 * 1024, 20 * 1024

    async def node(library: Grim, me: int) -> None:
        await library.host.sleep(100_000_000)
        if me == 1:
            return
        slow, fast = await far.pin_user_memory(long), await far.malloc_pinned(short)
        first, second = await near.malloc_pinned(long), await near.malloc_pinned(short)
        locks = [await near.malloc_pinned(4) for _ in range(2)]
        for lock in locks:
            near.store_pinned(lock, b"full")
        far.store_pinned(slow, NEW * long)
        far.store_pinned(fast, NEW * short)
        await near.fetch_memory(FAR, first, slow, long, lock=locks[0])
        await near.fetch_memory(FAR | 1, second, fast, short, lock=locks[1])
        await near.wait_for_lock(locks[1], 0)
        assert near.load_pinned(locks[0], 4) == b"full", "overtaken"
        await near.wait_for_lock(locks[0], 0)
        assert near.load_pinned(first, long) == NEW * long
        assert near.load_pinned(second, short) == NEW * short

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()
    assert bench.total(Counter.ERRORS_SENT) == 0
