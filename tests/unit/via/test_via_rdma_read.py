"""RDMA reads, in which the target's process has no part.

Strategy: pieces of odd sizes from odd places are read into scattered segments, on every preset and both reliable
levels. All memory of both sides is compared with a model. Further reads name memory that is not registered for reads,
under another tag, beyond the end, or through a VI that forbids them: no byte may change, and the status has the error.
Descriptors posted after a read must not complete before it. Both sides read at once, packets are lost, memory is
deregistered, the peer disconnects.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.via.formats import Control, Reliability, Status
from firmware.via.host import Descriptor, VipError
from firmware.via.host.common.attributes import MemoryAttributes
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import join
from tests.unit.via.via_bench import Pair, pair, pattern

READ = Status.DONE | Status.READ
SIZE = 1 << 17
HERE, THERE = pattern(SIZE, 1), pattern(SIZE, 2)
"""Contents of the memory of the two processes."""
SIZES: list[list[int]] = [[], [1], [8, 0, 9], [1024], [100, 4096], [4000, 96, 4], [4096], [20000, 33333]]
PRESETS = pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
LEVELS = pytest.mark.parametrize("level", [Reliability.DELIVERY, Reliability.RECEPTION])


def made(preset: str = "firmvia", level: Reliability = Reliability.RECEPTION, nic: str = "lanai9", **more: Any) -> Pair:
    """Connect two processes that allow RDMA reads of their memory."""
    p = pair(Machine(2, nic=nic), level, preset=preset, vis=20, **more)
    for owner in (p.here, p.there):
        attributes = MemoryAttributes(owner.tag, rdma_write=True, rdma_read=True)
        p.machine.finish(owner.nic.set_memory(owner.handle, attributes))
    p.here.write(0, HERE)
    p.there.write(0, THERE)
    return p


async def read(p: Pair, to: list[tuple[int, int]], at: int, place: int = 0) -> Descriptor:
    """Read from an offset of the peer's memory into local pieces (offset, size)."""
    pieces = [p.here.part(offset, size) for offset, size in to]
    await p.mine.post_send(p.here.descriptor(place, 8).rdma_read(pieces, p.there.base + at, p.there.handle))
    return await p.mine.poll_send()


@LEVELS
@pytest.mark.parametrize("rdma", ["buffer", "table"])
def test_a_read_after_a_write_returns_the_written_data(level: Reliability, rdma: str) -> None:
    p = made(level=level, rdma=rdma)

    async def run() -> bytes:
        there = p.there.base, p.there.handle
        await p.mine.post_send(p.here.descriptor(0).rdma_write([p.here.part(0, 5000)], *there))
        await p.mine.post_send(p.here.descriptor(1).rdma_read([p.here.part(50000, 5000)], *there))
        assert [(await p.mine.poll_send()).status for _ in range(2)] == [Status.DONE | Status.WRITE, READ]
        return p.here.read(50000, 5000)

    assert p.machine.finish(run()) == [HERE[:5000]]


@LEVELS
@pytest.mark.parametrize(
    ("preset", "nic"),
    [("firmvia", "lanai9"), ("bvia2", "lanai9"), ("hwvia", "lanai9"), ("firmvia", "lanai4"), ("bvia2", "lanai4")],
)
def test_a_read_copies_the_remote_data_and_changes_nothing_else(preset: str, level: Reliability, nic: str) -> None:
    p = made(preset, level, nic)
    rng, model = random.Random(5), bytearray(HERE)
    unit = 1 if nic == "lanai9" else 4

    async def run() -> None:
        for sizes in SIZES:
            starts = [rng.randrange(0, 15000, unit) + 40000 * i for i in range(len(sizes))]
            whole = [size // unit * unit for size in sizes]
            begin = at = rng.randrange(0, SIZE - sum(whole), unit)
            for start, size in zip(starts, whole, strict=True):
                model[start : start + size] = THERE[at : at + size]
                at += size
            done = await read(p, list(zip(starts, whole, strict=True)), begin)
            assert (done.status, done.length) == (READ, sum(whole))
            assert p.here.read(0, SIZE) == model
        assert p.there.read(0, SIZE) == THERE

    p.machine.finish(run())


def test_rdma_reads_work_on_the_sp_adapter() -> None:
    p = made(nic="sp")
    (done,) = p.machine.finish(read(p, [(3, 5000), (9000, 77)], 4001))
    assert (done.status, done.length) == (READ, 5077)
    assert p.here.read(3, 5000) + p.here.read(9000, 77) == THERE[4001:9078]


@PRESETS
@pytest.mark.parametrize("why", ["right", "tag", "end", "handle", "vi"])
def test_memory_without_the_read_right_is_not_read(preset: str, why: str) -> None:
    p = made(preset)

    async def run() -> Status:
        attributes = MemoryAttributes(p.there.tag, rdma_write=True, rdma_read=why != "right")
        if why == "tag":
            attributes = MemoryAttributes(p.there.nic.create_ptag(), rdma_read=True)
        if why == "vi":
            await p.mine.disconnect()
            await p.machine.host(0).sleep(200_000_000)
            await p.yours.disconnect()
            was = (await p.yours.query()).attributes
            await p.yours.set_attributes(type(was)(was.tag, was.reliability, was.most, True, False))
            await join(p.here, p.mine, p.there, p.yours, 1)
        await p.there.nic.set_memory(p.there.handle, attributes)
        if why == "handle":
            p.there.handle += 1 << 12
        return (await read(p, [(0, 100)], SIZE - 99 if why == "end" else 0)).status

    assert p.machine.finish(run()) == [READ | Status.RDMA_PROTECTION]
    assert p.here.read(0, SIZE) == HERE
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    assert p.mine.state is State.ERROR


@PRESETS
def test_rdma_reads_need_a_reliable_connection(preset: str) -> None:
    p = made(preset, Reliability.UNRELIABLE)
    (done,) = p.machine.finish(read(p, [(0, 100)], 0))
    assert done.status & Status.ERRORS == Status.FORMAT_ERROR
    assert p.here.read(0, 100) == HERE[:100]


@PRESETS
def test_an_invalid_read_descriptor_is_rejected(preset: str) -> None:
    p = made(preset)

    async def run() -> list[Status]:
        found = []
        for count, flags in ((0, Control.RDMA_READ), (2, Control.RDMA_READ | Control.IMMEDIATE)):
            descriptor = p.here.descriptor(0).rdma_read([p.here.part(0, 8)], p.there.base, p.there.handle)
            p.here.process.store_words(descriptor.va + 12, (count << 16 | flags,))
            await p.mine.post_send(descriptor)
            found.append((await p.mine.poll_send()).status & Status.ERRORS)
        return found

    assert p.machine.finish(run()) == [[Status.FORMAT_ERROR] * 2]


@PRESETS
@LEVELS
def test_sends_after_a_read_complete_after_it(preset: str, level: Reliability) -> None:
    p = made(preset, level)
    order: list[int] = []

    async def posts() -> None:
        for i in range(3):
            await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(100000 + 64 * i, 64)]))
        for i in range(3):
            target = p.there.base + 8192 * i, p.there.handle
            await p.mine.post_send(p.here.descriptor(2 * i).rdma_read([p.here.part(8192 * i, 8192)], *target))
            await p.mine.post_send(p.here.descriptor(2 * i + 1).send([p.here.part(100000, 64)]))

    async def watches() -> None:
        """Record the order in which descriptors get their statuses."""
        places = [p.here.descriptor(i) for i in range(6)]
        while len(order) < 6:
            for i, place in enumerate(places):
                if i not in order and place.status:
                    assert not place.status & Status.ERRORS
                    order.append(i)
            await p.machine.host(0).sleep(100_000)

    p.machine.finish(posts(), watches())
    assert order == [0, 1, 2, 3, 4, 5]
    assert p.here.read(0, 3 * 8192) == THERE[: 3 * 8192]


@PRESETS
def test_both_sides_read_each_other_at_once(preset: str) -> None:
    p = made(preset)

    async def many(me: Any, vi: Any, other: Any, other_bytes: bytes) -> None:
        for turn in range(4):
            for i in range(4):
                source = other.base + 4096 * i, other.handle
                await vi.post_send(me.descriptor(i).rdma_read([me.part(65536 + 4096 * i, 4000)], *source))
            for _ in range(4):
                assert (await vi.poll_send()).status == READ, turn
        for i in range(4):
            assert me.read(65536 + 4096 * i, 4000) == other_bytes[4096 * i :][:4000]

    p.machine.finish(many(p.here, p.mine, p.there, THERE), many(p.there, p.yours, p.here, HERE))


@PRESETS
@pytest.mark.parametrize(("source", "number"), [(0, 0), (0, 1), (1, 0), (1, 2), (1, 4)])
def test_a_lost_packet_of_a_read_breaks_the_connection(preset: str, source: int, number: int) -> None:
    """Lose one packet: address or request, or one of five packets of data, the last of which may be the last of all."""
    p = made(preset, timeout_us=400, packet=1024)
    faults = p.machine.faults
    faults.drop(source, 1 - source, faults.passed(source, 1 - source) + number)
    (done,) = p.machine.finish(read(p, [(0, 5000)], 0))
    assert done.status == READ | Status.TRANSPORT_ERROR or done.status == READ | Status.FLUSHED
    p.machine.run(p.machine.kernel.now / 1e6 + 1000)
    assert p.mine.state is State.ERROR


@PRESETS
@pytest.mark.parametrize("after_us", [1, 5, 10, 20, 40])
def test_memory_deregistered_during_a_read_is_no_longer_read(preset: str, after_us: int) -> None:
    p = made(preset)
    frames = [p.there.process.pieces(p.there.base + 4096 * i, 4096)[0][0] for i in range(16)]

    async def reads() -> Status:
        return (await read(p, [(0, 60000)], 0)).status

    async def takes_back() -> None:
        await p.machine.host(1).sleep(after_us * 1_000_000)
        await p.there.nic.deregister_memory(p.there.handle)
        for frame in frames:
            p.machine.host(1).store_bytes(frame, b"secret!!" * 512)

    status, _ = p.machine.finish(reads(), takes_back())
    assert status in (READ, READ | Status.RDMA_PROTECTION)
    assert b"secret" not in p.here.read(0, 60000)
    if after_us < 10:
        assert status != READ


@PRESETS
def test_a_read_ends_when_the_peer_disconnects(preset: str) -> None:
    p = made(preset)

    async def ends() -> None:
        await p.machine.host(1).sleep(8_000_000)
        await p.yours.disconnect()

    done, _ = p.machine.finish(read(p, [(0, 60000)], 0), ends())
    assert done.status & Status.ERRORS or p.here.read(0, 60000) == THERE[:60000], "all of it, or told that it is not"
    p.machine.run(p.machine.kernel.now / 1e6 + 500)

    async def again() -> Status:
        await p.mine.disconnect()
        await join(p.here, p.mine, p.there, p.yours, 1)
        return (await read(p, [(0, 9000)], 50)).status

    assert p.machine.finish(again()) == [READ]
    assert p.here.read(0, 9000) == THERE[50:9050]


def test_the_target_memory_of_a_pending_read_cannot_be_deregistered() -> None:
    p = made()

    async def run() -> None:
        target = p.there.base, p.there.handle
        await p.mine.post_send(p.here.descriptor(0).rdma_read([p.here.part(0, 60000)], *target))
        p.here.process.store_words(p.here.places + 28, (1,))  # a forged status
        with pytest.raises(VipError):
            await p.here.nic.deregister_memory(p.here.handle)
        p.here.process.store_words(p.here.places + 28, (0,))
        assert (await p.mine.poll_send()).status == READ
        await p.here.nic.deregister_memory(p.here.handle)

    p.machine.finish(run())
