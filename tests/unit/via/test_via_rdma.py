"""RDMA writes.

Strategy: RDMA writes with both options go to odd places of the target's memory, by size and by seed. All of that memory
is compared with a model. Further writes name memory that is not registered, not for RDMA, under another tag, or beyond
the end: no byte may change, and on reliable connections the initiator gets the status. Immediate data, and messages
posted after a write, must arrive after its data.
"""

from __future__ import annotations

import random

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Descriptor
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import User
from tests.unit.via.via_bench import Pair, pair, pattern

DONE = Status.DONE
WRITTEN = Status.DONE | Status.WRITE
WAYS = pytest.mark.parametrize("rdma", ["buffer", "table"])
SIZE = 1 << 17


async def write(p: Pair, at: int, to: int, size: int, immediate: int | None = None) -> Descriptor:
    """Write a piece of local memory to the peer's, and return the completed descriptor."""
    descriptor = p.here.descriptor(0)
    target = p.there.base + to, p.there.handle
    await p.mine.post_send(descriptor.rdma_write([p.here.part(at, size)] if size else [], *target, immediate))
    return await p.mine.poll_send()


def settle(p: Pair) -> None:
    """Wait until all packets in flight have been handled."""
    p.machine.run(p.machine.kernel.now / 1e6 + 2000)


@WAYS
@pytest.mark.parametrize("level", list(Reliability))
def test_writes_change_only_their_target(rdma: str, level: Reliability) -> None:
    p = pair(rdma=rdma, reliability=level)
    rng = random.Random(3)
    model = bytearray(SIZE)
    p.here.write(0, pattern(SIZE))

    async def run() -> None:
        for size in (0, 1, 4, 8, 9, 100, 1024, 4096, 5000, 20000):
            at, to = rng.randrange(SIZE - size), rng.randrange(SIZE - size)
            model[to : to + size] = pattern(SIZE)[at : at + size]
            done = await write(p, at, to, size)
            assert (done.status, done.length) == (WRITTEN, size)
            if level is Reliability.RECEPTION:
                assert p.there.read(0, SIZE) == model

    p.machine.finish(run())
    settle(p)
    assert p.there.read(0, SIZE) == model


@WAYS
def test_immediate_data_arrive_after_the_data_of_their_write(rdma: str) -> None:
    p = pair(rdma=rdma)
    p.here.write(0, pattern(9000))

    async def receive() -> Descriptor:
        await p.yours.post_receive(p.there.descriptor(0).receive([]))
        return await p.yours.poll_receive()

    async def send() -> None:
        await p.machine.host(0).sleep(50_000_000)
        await write(p, 0, 77, 9000, immediate=0x1234)

    received, _ = p.machine.finish(receive(), send())
    assert p.there.read(77, 9000) == pattern(9000)
    assert received.status == Status.DONE | Status.REMOTE_WRITE | Status.IMMEDIATE
    assert (received.immediate, received.length) == (0x1234, 9000)


@WAYS
@pytest.mark.parametrize("level", list(Reliability))
def test_a_message_after_a_write_arrives_when_the_write_is_in_memory(rdma: str, level: Reliability) -> None:
    """Send two messages, each after a write."""
    p = pair(rdma=rdma, reliability=level)
    p.here.write(0, pattern(18000))
    user, own = p.there, p.here

    async def receive() -> list[bytes]:
        seen = []
        for number in range(2):
            await p.yours.post_receive(user.descriptor(number).receive([user.part(60000, 4)]))
        for number in range(2):
            assert (await p.yours.poll_receive()).status == Status.DONE | Status.RECEIVE
            seen.append(user.read(20000 * number, 9000))
        return seen

    async def send() -> None:
        await p.machine.host(0).sleep(50_000_000)
        for number in range(2):
            target = user.base + 20000 * number, user.handle
            await p.mine.post_send(own.descriptor(number).rdma_write([own.part(9000 * number, 9000)], *target))
            await p.mine.post_send(own.descriptor(2 + number).send([own.part(0, 4)]))

    seen, _ = p.machine.finish(receive(), send())
    assert seen == [pattern(18000)[:9000], pattern(18000)[9000:]]


@pytest.mark.parametrize("level", [Reliability.UNRELIABLE, Reliability.RECEPTION])
def test_a_message_after_a_rejected_write_is_handled_like_any_other(level: Reliability) -> None:
    """Send a message after a rejected write: it arrives, or is flushed with the broken connection."""
    p = pair(reliability=level)
    user, own = p.there, p.here

    async def receive() -> Status:
        await p.yours.post_receive(user.descriptor(0).receive([user.part(0, 4)]))
        return (await p.yours.poll_receive()).status

    async def send() -> list[Status]:
        await p.machine.host(0).sleep(50_000_000)
        await p.mine.post_send(own.descriptor(0).rdma_write([own.part(0, 3000)], user.base, user.handle + 1))
        await p.mine.post_send(own.descriptor(1).send([own.part(0, 4)]))
        return [(await p.mine.poll_send()).status for _ in range(2)]

    received, sent = p.machine.finish(receive(), send())
    if level is Reliability.UNRELIABLE:
        assert (received, sent) == (DONE | Status.RECEIVE, [WRITTEN, DONE])
    else:
        (counted,) = p.machine.finish(user.nic.query_counters())
        assert counted["no_descriptor"] == 0
        assert received == DONE | Status.RECEIVE | Status.FLUSHED
        assert sent == [WRITTEN | Status.RDMA_PROTECTION, DONE | Status.FLUSHED]


def refused(name: str, there: User) -> tuple[int, int]:
    """Return address and handle of memory that may not be written."""
    return {
        "no such handle": (there.base, there.handle + 1),
        "beyond the end": (there.base + SIZE - 100, there.handle),
        "before the start": (there.base - 4, there.handle),
        "not for RDMA": (there.places, there.place_handle),
        "far away": (0xFFFFFFF0, there.handle),
        "handle beyond the table": (there.base, 0xFFF),
    }[name]


@WAYS
@pytest.mark.parametrize(
    "name",
    ["no such handle", "beyond the end", "before the start", "not for RDMA", "far away", "handle beyond the table"],
)
@pytest.mark.parametrize("level", [Reliability.UNRELIABLE, Reliability.RECEPTION])
def test_memory_without_the_write_right_is_not_written(rdma: str, name: str, level: Reliability) -> None:
    p = pair(rdma=rdma, reliability=level)
    p.here.write(0, b"\xee" * 1000)

    async def run() -> Descriptor:
        va, handle = refused(name, p.there)
        await p.mine.post_send(p.here.descriptor(0).rdma_write([p.here.part(0, 1000)], va, handle))
        return await p.mine.poll_send()

    (done,) = p.machine.finish(run())
    settle(p)
    assert b"\xee" not in p.there.read(0, SIZE) + p.there.process.load_bytes(p.there.places, 1 << 16)
    if level is Reliability.RECEPTION:
        assert done.status == WRITTEN | Status.RDMA_PROTECTION
        assert p.mine.state is p.yours.state is State.ERROR
    else:
        assert done.status == WRITTEN


@WAYS
def test_memory_under_another_tag_is_not_written(rdma: str) -> None:
    p = pair(rdma=rdma, reliability=Reliability.RECEPTION)

    async def run() -> Descriptor:
        tag = p.there.nic.create_ptag()
        va = p.there.process.allocate(4096)
        handle = await p.there.nic.register_memory(va, 4096, tag, rdma_write=True)
        await p.mine.post_send(p.here.descriptor(0).rdma_write([p.here.part(0, 100)], va, handle))
        return await p.mine.poll_send()

    (done,) = p.machine.finish(run())
    assert done.status == WRITTEN | Status.RDMA_PROTECTION


@WAYS
def test_deregistered_memory_is_not_written(rdma: str) -> None:
    p = pair(rdma=rdma, reliability=Reliability.RECEPTION)

    async def run() -> list[Status]:
        statuses = []
        for _ in range(2):
            statuses.append((await write(p, 0, 0, 100)).status)
            if len(statuses) == 1:
                await p.there.nic.deregister_memory(p.there.handle)
        return statuses

    assert p.machine.finish(run()) == [[WRITTEN, WRITTEN | Status.RDMA_PROTECTION]]


@WAYS
def test_rdma_writes_work_on_a_nic_that_moves_whole_words(rdma: str) -> None:
    p = pair(Machine(2, nic="lanai4"), rdma=rdma, reliability=Reliability.RECEPTION)
    p.here.write(0, pattern(8000))
    p.machine.finish(write(p, 0, 4092, 8000))
    assert p.there.read(4092, 8000) == pattern(8000)
