"""Pinned pages that are freed while others write to them.

Strategy: a write misses the translation cache, and the block is freed at each of many times during the miss and the
write; its pages get a new owner at once. The new owner's bytes must never change. The writer's data must have arrived
before the block was freed, or the writer gets an error.
"""

from __future__ import annotations

import pytest

from firmware.grim.host import Grim, GrimError
from tests.unit.grim.grim_bench import Bench

FAR = 1 << 24
SIZE = 8192
DELAYS = range(60_000_000, 120_000_000, 400_000)
"""Delays after the call, from before the message arrives until it is stored."""


class Freed:
    """Writes of node 0 to pages that node 1 frees after a delay and allocates again."""

    def __init__(self) -> None:
        self.bench = Bench(2, segment_bytes=SIZE)
        self.near, self.far = self.bench.libraries
        self.harmed: list[int] = []
        """Delays after which a new owner found changed bytes."""
        self.stored = self.refused = 0

    async def once(self, delay: int, source: int, lock: int) -> None:
        """Write once, and free the target `delay` picoseconds later; a `lock` misses too."""
        near, far = self.near, self.far
        block = await far.pin_user_memory(SIZE)
        far.store_pinned(block, bytes(SIZE))
        word = await far.pin_user_memory(4) if lock else 0
        await near.send_memory(FAR, block, source, SIZE, lock=word)
        await far.host.sleep(delay)
        pages = [far.get_pinned_pa(block + at) for at in range(0, SIZE, 4096)]
        await far.free_pinned_va(block)
        self.stored += all(far.host.load_bytes(page, 4096) == b"\xee" * 4096 for page in pages)
        heir = await far.pin_user_memory(SIZE)
        assert sorted(far.get_pinned_pa(heir + at) for at in range(0, SIZE, 4096)) == sorted(pages)
        far.store_pinned(heir, b"\x33" * SIZE)
        await far.host.sleep(200_000_000)
        if far.load_pinned(heir, SIZE) != b"\x33" * SIZE:
            self.harmed.append(delay)
        await far.free_pinned_va(heir)
        await near.poll()
        try:
            near.get_my_vnn()
        except GrimError:
            self.refused += 1


@pytest.mark.parametrize("lock", [0, 1])
def test_pages_freed_during_a_miss_are_not_written_after_their_reuse(lock: int) -> None:
    freed = Freed()

    async def node(library: Grim, me: int) -> None:
        if me == 0:
            source = await library.malloc_pinned(SIZE)
            library.store_pinned(source, b"\xee" * SIZE)
            for delay in DELAYS:
                await freed.once(delay, source, lock)

    freed.bench.run(node)
    freed.bench.settle()
    assert freed.bench.nothing_left()
    assert freed.harmed == []
    assert freed.stored + freed.refused == len(DELAYS)
    assert min(freed.stored, freed.refused) > 10
