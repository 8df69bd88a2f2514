"""Replies to remote reads, which a NI sends by itself: they must not wait for what depends on them.

Strategy: hosts read from each other more than the queues of replies hold, with every kind of sequencing; all reads must
return the right bytes. Where a run hangs because a driver does not answer, the report must say which resource each NI
lacks, and who holds it.
"""

from __future__ import annotations

import random
import re

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from pymodels.machine import MachineError
from tests.unit.grim.grim_bench import Bench

SIZE = 128 << 10


@pytest.mark.parametrize("timeout_us", [0, 500])
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_mutual_reads_beyond_the_reply_queues_complete(sequencing: str, timeout_us: int) -> None:
    nodes = 2
    bench = Bench(nodes, sequencing=sequencing, timeout_us=timeout_us, channels=2, reply_bytes=16384)
    data = [random.Random(node).randbytes(SIZE) for node in range(nodes)]
    blocks: list[int] = [0] * nodes

    async def node(library: Grim, me: int) -> None:
        block, result, lock = [await library.malloc_pinned(size) for size in (SIZE, SIZE, 4)]
        library.store_pinned(block, data[me])
        library.store_pinned(lock, b"wait")
        blocks[me] = block
        while not all(blocks):
            await library.host.sleep(1_000_000)
        peer = (me + 1) % nodes
        await library.fetch_memory(peer << 24, result, blocks[peer], SIZE, lock=lock, channel=me % 2)
        await library.wait_for_lock(lock, 0)
        assert library.load_pinned(result, SIZE) == data[peer]

    bench.run(node, within_us=20_000)
    bench.settle(2000)
    assert bench.nothing_left()
    assert bench.total(Counter.NACKS_SENT) > 0, "queues of replies were full"


def test_hang_of_reads_names_reply_queue_and_missing_translation() -> None:
    bench = Bench(2, reply_bytes=20_000)

    async def asleep() -> None:
        await bench.machine.host(1).sleep(1_000_000_000_000)

    async def node(library: Grim, me: int) -> None:
        if me == 0:
            return
        library.host.on_interrupt(asleep)
        await library.host.sleep(50_000_000)
        far = await bench.libraries[0].malloc_pinned(1 << 16)
        near = await library.pin_user_memory(1 << 16)
        await library.fetch_memory(0, near, far, 1 << 16)
        await library.wait_for(lambda: False)

    with pytest.raises(MachineError, match="nothing is left|not finished"):
        bench.run(node, within_us=3000)
    waits = {re.sub(r" \(.*\)|\d+ (?=messages)", "", str(wait)) for wait in bench.machine.nic(0).waits.declared()}
    assert waits == {
        "NIC 1 waits for room in the queue of replies of VNN 0, held by NIC 0",
        "NIC 0 waits for room for a second message that waits for a translation of VNN 1, held by host host1",
        "NIC 1 waits for answers of host0 to messages",
        "NIC 0 waits for answers of host1 to messages",
    }
