"""VIA's driver on a bus where stores arrive later than most interrupts are served.

Strategy: causes of interrupts follow each other closely: refills of queue caches, writes that the kernel copies,
sleeping threads. The driver clears an interrupt before it checks for events, and reads from the NIC in between. So no
event is served twice or missed: all messages arrive once, and in order.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from pymodels.machine import Machine
from pymodels.machine.timing import Timing
from tests.unit.via.via_bench import Pair, pair, pattern

US = 1_000_000
SLOW = Timing(pio_latency=9 * US, interrupt_least=US // 10, interrupt_most=9 * US)
ROUNDS = 24
SIZE = 128


def slow(seed: int, **options: int) -> Pair:
    """Create two hosts on slow buses, with a connection without loss."""
    return pair(Machine(2, seed=seed, timing=SLOW), Reliability.DELIVERY, **options)


async def receives(p: Pair) -> None:
    """Post a receive for each message."""
    for i in range(ROUNDS):
        await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(SIZE * i, SIZE)]))


async def sends(p: Pair, writes: bool) -> None:
    """Send messages of different bytes; with `writes`, each after an RDMA write of other bytes."""
    for i in range(ROUNDS):
        p.here.write(SIZE * i, pattern(SIZE, i))
        if writes:
            target = p.there.base + SIZE * (ROUNDS + i), p.there.handle
            await p.mine.post_send(p.here.descriptor(2 * i).rdma_write([p.here.part(SIZE * i, SIZE)], *target))
        await p.mine.post_send(p.here.descriptor(2 * i + 1).send([p.here.part(SIZE * i, SIZE)]))


async def take(p: Pair, sleeps: bool) -> list[bytes]:
    """Return the received messages in order."""
    found = []
    for i in range(ROUNDS):
        done = await (p.yours.receive_wait(timeout_us=5000) if sleeps else p.yours.poll_receive())
        assert done.status == Status.DONE | Status.RECEIVE
        found.append(p.there.read(SIZE * i, SIZE))
    return found


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("sleeps", [False, True], ids=["polls", "sleeps"])
def test_refills_and_sleepers_are_served_in_order_on_a_slow_bus(seed: int, sleeps: bool) -> None:
    p = slow(seed, send_words=64, receive_words=64, low_water=0)
    p.machine.finish(receives(p))
    _, arrived = p.machine.finish(sends(p, writes=False), take(p, sleeps), within_us=50_000)
    assert arrived == [pattern(SIZE, i) for i in range(ROUNDS)]


@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_copies_each_write_once_on_a_slow_bus(seed: int) -> None:
    p = slow(seed)
    p.machine.finish(receives(p))
    _, arrived = p.machine.finish(sends(p, writes=True), take(p, sleeps=False), within_us=50_000)
    assert arrived == [pattern(SIZE, i) for i in range(ROUNDS)]
    assert p.there.read(SIZE * ROUNDS, SIZE * ROUNDS) == b"".join(arrived)
    writes = p.vias[1].kernel_agent.writes
    assert (writes._taken, writes.refused) == (ROUNDS, 0)
