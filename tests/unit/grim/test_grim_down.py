"""GRIM while a host is down.

Strategy: one NIC of three or four is reset under traffic, or its packets are lost until another host declares it down.
Every message between the other hosts must arrive, or be an error at its sender. Messages for the failed host must not
occupy queues forever.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import pytest

from firmware.grim.host import Grim, GrimError
from firmware.grim.nic.layout import Counter
from pymodels.registers import Control, Pci
from tests.unit.grim.grim_bench import Bench

QUICK: dict[str, Any] = {"timeout_us": 100, "timeout_tries": 4}
HOLD = (1 << Control.LANAI_RESET_ON | 1 << Control.EBUS_RESET_ON).to_bytes(4, "big")
BROADCASTS = 40


class Cast:
    """Hosts that poll; one of them broadcasts while another is down."""

    def __init__(self, nodes: int, sender: int, dead: int, **options: Any) -> None:
        self.bench = bench = Bench(nodes, 1, False, True, **{**QUICK, **options})
        self.sender, self.dead = sender, dead
        self.got: list[list[int]] = [[] for _ in range(nodes)]
        self.errors: list[list[str]] = [[] for _ in range(nodes)]
        bench.run(self.node, 500_000)
        bench.settle(5000)

    async def node(self, library: Grim, me: int) -> None:
        """Run the application of one node."""

        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            self.got[me].append(number)

        number = (await self.bench.publish(library, handler=handler))["handler"]
        await library.host.sleep(200_000_000)
        if me == self.dead:
            self.bench.machine.nic(me).card.write(Pci.CONTROL, HOLD)
            return
        for i in range(BROADCASTS if me == self.sender else 0):
            await noting(self.errors[me], library.broadcast(number, i))
        end = library.host.now + 20_000_000_000
        while library.host.now < end:
            await noting(self.errors[me], library.poll())
            await library.host.sleep(50_000_000)


@pytest.mark.parametrize(("nodes", "sender", "dead", "below"), [(3, 0, 2, ()), (3, 1, 2, ()), (4, 2, 1, (3,))])
def test_dead_host_in_a_tree_is_an_error_only_at_the_sender(
    nodes: int, sender: int, dead: int, below: tuple[int, ...]
) -> None:
    cast = Cast(nodes, sender, dead)
    for node in set(range(nodes)) - {dead, *below}:
        assert sorted(cast.got[node]) == list(range(BROADCASTS)), f"node {node}"
    told = [error for error in cast.errors[sender] if f"VNN {dead}" in error]
    assert len(told) == BROADCASTS, "each broadcast that did not come to all is an error"
    for node in set(range(nodes)) - {sender}:
        assert not cast.errors[node], f"node {node}"
    assert all(cast.bench.total(counter) == 0 for counter in (Counter.BLOCKED, Counter.STRANGE))


def lose_all(bench: Bench, source: int, destination: int, count: int) -> None:
    """Lose the next packets of a path."""
    faults = bench.machine.faults
    for number in range(count):
        faults.drop(source, destination, faults.passed(source, destination) + number)


def test_reads_of_a_host_wrongly_declared_down_do_not_block_others() -> None:
    """Node 0 receives nothing from node 1 for a while and declares it down; nodes 1 and 2 read from node 0."""
    bench = Bench(3, 1, False, True, reply_bytes=3 * 4096, **QUICK)
    near = bench.libraries[0]
    over = False
    errors: list[str] = []

    async def node(library: Grim, me: int) -> None:
        nonlocal over
        number = (await bench.publish(library, handler=lambda *message: None))["handler"]
        await library.host.sleep(200_000_000)
        there = await near.malloc_pinned(4096) if me else 0
        here, lock = await library.malloc_pinned(4096), await library.malloc_pinned(4)
        if me == 0:
            lose_all(bench, 0, 1, 60)
            await library.send(library.get_dest_id(1), number)
            while not over:
                await noting(errors, library.poll())
                await library.host.sleep(20_000_000)
        elif me == 1:
            await library.host.sleep(1_000_000_000)
            assert bench.count(0, Counter.UNREACHABLE) == 1, "node 0 holds node 1 for down"
            for _ in range(6):
                await noting(errors, library.fetch_memory(near.get_my_vnn() << 24, here, there, 4096, lock=lock))
        else:
            await library.host.sleep(3_000_000_000)
            for _ in range(20):
                library.store_pinned(lock, b"wait")
                await library.fetch_memory(near.get_my_vnn() << 24, here, there, 4096, lock=lock)
                await library.wait_for_lock(lock, 0)
            over = True

    bench.run(node, 20_000)


async def noting(errors: list[str], call: Awaitable[Any]) -> None:
    """Await a call, and record the error that it raises."""
    try:
        await call
    except GrimError as error:
        errors.append(str(error))


def test_streams_to_a_dead_host_that_time_out_together_are_all_closed() -> None:
    bench = Bench(2, 1, False, True, channels=2, **{**QUICK, "timeout_tries": 3})
    errors: list[str] = []

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=lambda *message: None))["handler"]
        if me == 1:
            return
        await library.host.sleep(200_000_000)
        bench.machine.nic(1).card.write(Pci.CONTROL, HOLD)
        for channel in range(2):
            await library.send(library.get_dest_id(1, 0, channel), number, channel=channel)
        while len(errors) < 2:
            await noting(errors, library.poll())
            await library.host.sleep(50_000_000)

    bench.run(node, 50_000)
    assert all("VNN 1" in error for error in errors)
