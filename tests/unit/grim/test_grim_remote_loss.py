"""Remote memory on networks that lose packets, with the time-out extension.

Strategy: between two nodes, writes, reads, replies and answers are lost by seed. Targets are in memory whose
translation is cached, and in memory whose misses are served meanwhile. All data must be in place, every lock written,
every queue empty.
"""

from __future__ import annotations

import random

import pytest

from firmware.grim.host import Grim, GrimError
from firmware.grim.nic.layout import Counter
from tests.unit.grim.grim_bench import Bench

US = 1_000_000
ROUNDS = 12
NOWHERE = 0x7000_0000
"""Virtual address outside all allocations."""


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_remote_writes_and_reads_survive_losses(seed: int, sequencing: str) -> None:
    bench = Bench(2, seed, timeout_us=200, retry_delay_us=5, sequencing=sequencing, translation_runtime=3)
    near, far = bench.libraries
    rng = random.Random(seed)
    over = False

    async def node(library: Grim, me: int) -> None:
        nonlocal over
        while me == 1 and not over:
            await library.host.sleep(10_000_000)
        if me == 1:
            return
        faults = bench.machine.faults
        for there, back in ((0, 1), (1, 0)):
            for _ in range(25):
                faults.drop(there, back, faults.passed(there, back) + rng.randrange(1, 150))
        lock = await near.malloc_pinned(4)
        for i in range(1, ROUNDS + 1):
            size = rng.choice([4, 300, 4096, 9000])
            data = rng.randbytes(size)
            here = await near.malloc_pinned(size)
            place = await (far.pin_user_memory(size + 8) if i % 3 else far.malloc_pinned(size + 8))
            near.store_pinned(here, data)
            near.store_pinned(lock, b"wait")
            await near.send_memory(1 << 24, place, here, size, lock=place + size + 3 & ~3, value=i)
            await near.fetch_memory(1 << 24, here, place, size, lock=lock)
            await near.wait_for_lock(lock, 0)
            assert far.load_pinned(place, size) == near.load_pinned(here, size) == data
            assert far.load_pinned(place + size + 3 & ~3, 4) == i.to_bytes(4, "big")
        over = True

    bench.run(node)
    bench.settle(5000)
    assert bench.nothing_left()
    assert bench.total(Counter.RESENT) > 5


@pytest.mark.parametrize("kind", ["write", "read", "read that was accepted"])
def test_remote_memory_of_a_host_that_is_down_is_an_error_at_the_caller(kind: str) -> None:
    bench = Bench(2, 1, False, True, timeout_us=100, timeout_tries=4)
    near, far = bench.libraries

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            return
        here = await near.malloc_pinned(64)
        there = await (far.pin_user_memory(64) if kind == "read that was accepted" else far.malloc_pinned(64))
        reset = (1 << 30).to_bytes(4, "big")
        if kind == "write":
            bench.machine.nic(1).card.write(0x800040, reset)  # in reset: packets vanish
            await near.send_memory(1 << 24, there, here, 64)
        else:
            if kind == "read":
                bench.machine.nic(1).card.write(0x800040, reset)
            await near.fetch_memory(1 << 24, here, there, 64)
            await near.host.sleep(8_000_000)  # the miss of an accepted read is under way
            bench.machine.nic(1).card.write(0x800040, reset)
        with pytest.raises(GrimError, match="^destination: VNN 1 does not answer: it is down"):
            await near.wait_for(lambda: False)

    bench.run(node)
    nic, layout = bench.machine.nic(0), near.layout
    assert len(set(nic.load_words(layout.channels, 2))) == 1, "its queue is empty again"


@pytest.mark.parametrize(("call", "slow"), [("write", 1), ("bad write", 1), ("read", 0), ("read", 1)])
def test_host_with_slow_miss_service_is_not_declared_down(call: str, slow: int) -> None:
    """Stop the host `slow` for longer than all time-outs together when its NI requests a translation."""
    bench = Bench(2, 1, False, True, timeout_us=100, timeout_tries=4)
    near, far = bench.libraries

    async def stand_still() -> None:
        host = bench.machine.host(slow)
        while not bench.count(slow, Counter.MISSES):
            await near.host.sleep(US // 10)
        host.pause_between(host.now / US, host.now / US + 2000)

    async def node(library: Grim, me: int) -> None:
        if me == 1:
            return
        here, there = [
            await (one.pin_user_memory(64) if node == slow else one.malloc_pinned(64))
            for node, one in enumerate((near, far))
        ]
        near.store_pinned(here, b"near" * 16)
        far.store_pinned(there, b"far " * 16)
        near.host.spawn(stand_still(), "a host that stands still")
        if call == "bad write":
            await near.send_memory(1 << 24, NOWHERE, here, 64)
            with pytest.raises(GrimError, match="^address: "):
                await near.wait_for(lambda: False)
            return
        if call == "write":
            await near.send_memory(1 << 24, there, here, 64)
        else:
            await near.fetch_memory(1 << 24, here, there, 64)
        while near.load_pinned(here, 64) != far.load_pinned(there, 64):
            await near.poll()
            await near.host.sleep(10 * US)

    bench.run(node, 10_000)
    assert bench.total(Counter.TIMEOUTS) > 0 and bench.total(Counter.PARTED) == 0
    assert bench.nothing_left()
