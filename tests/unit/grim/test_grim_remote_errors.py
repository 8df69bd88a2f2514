"""Remote memory that must not be accessed.

Strategy: each operation that only the other node can reject is tried once, between blocks of known bytes. The caller
gets an exception that names the argument, the queue continues, and all memory is unchanged. A physical write has no
protection: the machine stops with an error that names it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from firmware.grim.host import Grim, GrimError
from firmware.grim.nic.layout import Counter
from pymodels.machine import MachineError
from tests.unit.grim.grim_bench import Bench

FAR = 1 << 24


def test_addresses_that_are_not_pinned_have_no_translation() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> None:
        block, user = await library.malloc_pinned(5000), await library.pin_user_memory(9000)
        for va in (block, block + 4999, user, user + 4096, user + 8999):
            assert library.get_pinned_va(library.get_pinned_pa(va)) == va
        for call in (library.get_pinned_pa, library.get_pinned_va):
            with pytest.raises(GrimError, match="is not in pinned memory"):
                call(0x77)

    bench.run(node)


def test_contiguous_memory_runs_out_with_a_clear_error() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> None:
        blocks = [await library.malloc_pinned(4 << 20) for _ in range(15)]
        with pytest.raises(
            GrimError, match="^number of bytes: 4194304: the host has no contiguous region of 4194304 left"
        ):
            await library.malloc_pinned(4 << 20)
        await library.free_pinned_va(blocks[3])
        assert await library.malloc_pinned(4 << 20) == blocks[3]

    bench.run(node)


def test_blocks_are_never_adjacent_and_freed_ones_are_reused() -> None:
    bench = Bench(1)

    async def node(library: Grim, me: int) -> None:
        blocks = [(await library.malloc_pinned(size), size) for size in (1, 256, 257, 5000, 4)]
        for (one, size), (other, _) in pairwise(blocks):
            assert other >= one + size + 256 - size % 256
        await library.free_pinned_va(blocks[2][0])
        assert await library.malloc_pinned(200) == blocks[2][0]

    bench.run(node)


class Neighbours:
    """Three adjacent blocks of the far node, of which only the middle one is a target, and a block of the near node."""

    def __init__(self, kind: str) -> None:
        self.bench = Bench(2, translation_static=1)
        self.near, self.far = self.bench.libraries
        self.kind = kind

    def run(self, application: Callable[[int, int], Awaitable[str]]) -> str:
        """Run `application(block, source)` on the near node; return its result after all memory is found unchanged."""

        async def node(library: Grim, me: int) -> str:
            if me == 1:
                return ""
            if self.kind == "run-time":
                await self.far.malloc_pinned(4 << 20)  # takes the only static entry
            blocks = [await self._block() for _ in range(3)]
            source = await library.malloc_pinned(8192)
            library.store_pinned(source, b"\xee" * 8192)
            for block in blocks:
                self.far.store_pinned(block, b"\x33" * 1000)
            result = await application(blocks[1], source)
            await library.host.sleep(300_000_000)
            for block in (blocks[0], blocks[2]):
                assert self.far.load_pinned(block, 1000) == b"\x33" * 1000
            lock = await self.far.malloc_pinned(4)
            await library.send_memory(FAR, blocks[0], source, 8, lock=lock, value=1)
            await self.far.wait_for_lock(lock, 1)
            return result

        result = self.bench.run(node)[0]
        self.bench.settle()
        assert self.bench.nothing_left()
        assert self.bench.count(1, Counter.ERRORS_SENT) == self.bench.count(0, Counter.ERRORS_SEEN) >= 1
        return str(result)

    async def _block(self) -> int:
        return await (self.far.pin_user_memory(1000) if self.kind == "scattered" else self.far.malloc_pinned(1000))

    async def error_of(self, call: Awaitable[None]) -> str:
        """Return the text of the error that a call raises."""
        await call
        with pytest.raises(GrimError) as caught:
            await self.near.wait_for(lambda: False)
        return str(caught.value)


ALL = ["static", "run-time", "scattered"]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("warm", [0, 1])
@pytest.mark.parametrize(("offset", "size"), [(0, 1100), (0, 8192), (996, 300)])
def test_write_beyond_its_block_does_not_change_the_next_block(kind: str, warm: int, offset: int, size: int) -> None:
    """End a block within a granule or page, the rest of which is unallocated."""
    nodes = Neighbours(kind)

    async def application(block: int, source: int) -> str:
        if warm:
            await nodes.near.send_memory(FAR, block, source, 1000)
        return await nodes.error_of(nodes.near.send_memory(FAR, block + offset, source, size))

    message = nodes.run(application)
    assert message.startswith("number of bytes: the transfer at 0x")
    assert message.endswith(" exceeds its block on VNN 1; give a size that ends within the block")


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("warm", [0, 1])
def test_access_to_freed_memory_is_an_error_and_does_not_change_its_new_block(kind: str, warm: int) -> None:
    nodes = Neighbours(kind)

    async def application(block: int, source: int) -> str:
        if warm:
            await nodes.near.send_memory(FAR, block, source, 1000)
            await nodes.near.host.sleep(100_000_000)
        await nodes.far.free_pinned_va(block)
        await nodes.near.host.sleep(10_000_000)
        return await nodes.error_of(nodes.near.send_memory(FAR, block, source, 1000))

    message = nodes.run(application)
    assert message.endswith(
        "is not in pinned memory of VNN 1; give an address that malloc_pinned returned there and that is not freed"
    )


@pytest.mark.parametrize("lock", [0x123000, 0x4000_0000 + (3 << 20)])
def test_lock_outside_pinned_memory_is_an_error_before_any_byte_is_written(lock: int) -> None:
    nodes = Neighbours("static")

    async def application(block: int, source: int) -> str:
        message = await nodes.error_of(nodes.near.send_memory(FAR, block, source, 1000, lock=lock, value=9))
        assert nodes.far.load_pinned(block, 1000) == b"\x33" * 1000
        return message

    assert "lock: VNN 1 has no pinned memory at the lock of the transfer at" in nodes.run(application)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("size", [8, 8192])
def test_read_of_memory_that_is_not_pinned_is_an_error(kind: str, size: int) -> None:
    nodes = Neighbours(kind)

    async def application(block: int, source: int) -> str:
        message = await nodes.error_of(nodes.near.fetch_memory(FAR, source, 0x6000_0000, size))
        assert nodes.near.load_pinned(source, 8192) == b"\xee" * 8192
        return message

    assert nodes.run(application).startswith("address: 0x60000000 is not in pinned memory of VNN 1")


def test_memory_freed_during_a_read_is_reported_on_the_reading_host() -> None:
    bench = Bench(2)
    near, far = bench.libraries

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            return
        target, source = await near.pin_user_memory(64), await far.malloc_pinned(64)
        await near.fetch_memory(FAR, target, source, 64)
        await near.free_pinned_va(target)
        with pytest.raises(
            GrimError, match="^target: target or lock was freed before the data from .* of VNN 1 arrived"
        ):
            await near.wait_for(lambda: False)

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()


def test_failed_long_transfer_raises_one_error() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            return
        source = await library.malloc_pinned(40_000)
        await library.send_memory(FAR, 0x7000_0000, source, 8_000)
        with pytest.raises(GrimError, match="^address: 0x70000000"):
            await library.wait_for(lambda: False)
        await library.host.sleep(100_000_000)
        await library.poll()
        await library.poll()

    bench.run(node)


def test_physical_write_outside_memory_stops_the_machine_by_name() -> None:
    bench = Bench(2)

    async def node(library: Grim, me: int) -> None:
        if me == 0:
            source = await library.malloc_pinned(64)
            await library.send_physical_memory(FAR, 0x3F0_0000, source, 64)
        await library.host.sleep(100_000_000)

    with pytest.raises(MachineError, match="^host host1: DMA at 0x3f00000 .. 0x3f00040 is not in allocated memory"):
        bench.run(node)
