"""Reports of a NI to other hosts: the copy for a child of a multicast tree has failed.

Strategy: the child has restarted without the tree, and the host that sends to the tree does not read the reports. The
NI must store no more than it has room for, and serve all other hosts as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firmware.grim.formats import HEADER_BYTES, REPORT_TOKENS, TOKENS, TREE_TOKENS
from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench, restart_nic
from tests.unit.grim.test_grim_down import noting

US = 1_000_000
OPTIONS: dict[str, Any] = {
    "timeout_us": 60,
    "timeout_tries": 4,
    "host_queue_bytes": 1024,
    "segment_bytes": 256,
    "poll_first": 0,
}
ENDPOINT = 1024 // HEADER_BYTES
"""Largest number of reports in an endpoint's queue of 1 KB."""
ROOT, SILENT, CHILD, OTHER = range(4)


class Tree:
    """Tree of ROOT, whose only member CHILD has restarted without it. SILENT sends to the tree, and reads nothing until
    OTHER has done the task of a test.
    """

    def __init__(self, casts: int, other: Callable[[Tree, Grim], Any], **options: int | str) -> None:
        self.bench, self._casts, self._other = Bench(4, 1, **{**OPTIONS, **options}), casts, other
        self.number, self.tree, self.block, self.told = 0, 0, 0, list[str]()
        """Number of the handler, number of the tree, ROOT's memory, and errors reported to SILENT."""
        self.done: set[str] = set()
        """Tasks that are done."""
        self.bench.run(self._node, 200_000)

    async def cast(self, library: Grim, count: int, errors: list[str]) -> None:
        """Send to the tree."""
        for _ in range(count):
            await noting(errors, library.send_mc(self.tree, self.number))

    async def read(self, library: Grim, errors: list[str], count: int) -> None:
        """Poll until `count` errors were reported."""
        end = library.host.now + 50_000 * US
        while len(errors) < count and library.host.now < end:
            await noting(errors, library.poll())
            await library.host.sleep(US)

    async def _until(self, library: Grim, what: str) -> None:
        while what not in self.done:
            await library.poll()
            await library.host.sleep(20 * US)

    async def _node(self, library: Grim, me: int) -> None:
        self.number = (await self.bench.publish(library, take=lambda *message: None))["take"]
        if me == ROOT:
            self.tree, self.block = await library.find_multicast_tree("some"), await library.malloc_pinned(4096)
            self.done.add("found")
        await self._until(library, "found")
        if me == CHILD:
            await library.subscribe_multicast_by_name("some", 1)
        else:
            await library.find_multicast_tree("some")
        self.done.add(f"ready {me}")
        for node in range(4):
            await self._until(library, f"ready {node}")
        if me == CHILD:
            library = await restart_nic(self.bench, CHILD)
            library.register_handler(lambda *message: None, "take")
            await library.sync_handlers()
            self.done.add("restarted")
        await self._until(library, "restarted")
        await self._act(library, me)
        await self._until(library, "end")

    async def _act(self, library: Grim, me: int) -> None:
        if me == SILENT:
            await self.cast(library, self._casts, self.told)
            await library.host.sleep(20_000 * US)
            self.done.add("silent")
            end = library.host.now + 50_000 * US
            while "served" not in self.done and library.host.now < end:
                await library.host.sleep(20 * US)
            await self.read(library, self.told, self._casts)
            self.done.add("end")
        elif me == OTHER:
            await self._until(library, "silent")
            await self._other(self, library)
            self.done.add("served")


async def read_memory(tree: Tree, library: Grim) -> None:
    """Read ROOT's memory more often than a NI has tokens of its own."""
    block = await library.malloc_pinned(4096)
    for _ in range(20):
        library.store_pinned(block, b"wait")
        await library.fetch_memory(library.get_dest_id(ROOT), block + 64, tree.block, 4, lock=block)
        await library.wait_for_lock(block, 0)
    tree.done.add("has read")


async def cast_too(tree: Tree, library: Grim) -> None:
    """Send messages to the tree, each of which fails and is reported."""
    errors = list[str]()
    await tree.cast(library, 20, errors)
    await tree.read(library, errors, 20)
    assert len(errors) == 20
    tree.done.add("has been told")


@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
@pytest.mark.parametrize(("other", "did"), [(read_memory, "has read"), (cast_too, "has been told")])
def test_host_that_reads_no_reports_does_not_block_others(
    other: Callable[[Tree, Grim], Any], did: str, sequencing: str
) -> None:
    tree = Tree(ENDPOINT + 30, other, sequencing=sequencing)
    assert did in tree.done
    assert len(tree.told) == ENDPOINT + 30
    assert tree.bench.nothing_left()


def test_no_multicast_copy_is_made_while_its_sender_reads_no_reports() -> None:
    kept = list[int]()

    async def look(tree: Tree, library: Grim) -> None:
        kept.append(tree.bench.count(ROOT, Counter.ERRORS_SEEN) - ENDPOINT)

    casts = 2 * TOKENS
    tree = Tree(casts, look)
    assert 0 < kept[0] <= TOKENS + TREE_TOKENS + REPORT_TOKENS, "the NI keeps more than it has places for"
    assert len(tree.told) == casts
    assert tree.bench.nothing_left()
