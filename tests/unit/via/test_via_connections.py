"""Separation of successive connections of a VI.

Strategy: a connection ends at one side before the other side knows, or while a message, an acknowledgement or an RDMA
write is in flight. The VI is connected again at once, to another process or the same one. Descriptors, bytes and
statuses of the new connection must be its own, and the old descriptors must complete.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Descriptor, Vi
from firmware.via.host.common.attributes import MemoryAttributes
from firmware.via.nic.layout import State
from pymodels.machine import Machine
from tb.studies.via._via import User, join, user
from tests.unit.via.via_bench import Pair, pair, pattern

DONE, RECEIVED = Status.DONE, Status.DONE | Status.RECEIVE
UNRELIABLE, DELIVERY, RECEPTION = Reliability.UNRELIABLE, Reliability.DELIVERY, Reliability.RECEPTION
PRESETS = pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
EACH = pytest.mark.parametrize("level", list(Reliability))


def lose_next(p: Pair, source: int) -> None:
    """Lose the next packet of a node."""
    p.machine.faults.drop(source, 1 - source, p.machine.faults.passed(source, 1 - source))


async def _again(p: Pair, level: Reliability) -> tuple[User, Vi]:
    """Connect another process of the same host to the same VI of the other host, with a posted receive."""
    fresh = await user(p.vias[0])
    vi = await fresh.nic.create_vi(fresh.tag, reliability=level)
    await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 1000)]))
    await join(fresh, vi, p.there, p.yours, 1)
    return fresh, vi


@PRESETS
@EACH
def test_packets_of_an_ended_connection_are_not_accepted(preset: str, level: Reliability) -> None:
    """Continue to send on a connection that the other side has ended."""
    p = pair(preset=preset, vis=8, reliability=level)

    async def old() -> None:
        """Send until the connection breaks."""
        p.here.write(0, b"\xee" * 1000)
        while p.mine.state is State.CONNECTED:
            await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 1000)]))
            await p.mine.poll_send()

    async def new() -> Descriptor:
        lose_next(p, 1)
        await p.yours.disconnect()
        sender = p.machine.host(0).spawn(old(), "who missed it")
        await p.machine.host(0).sleep(100_000_000)
        fresh, vi = await _again(p, level)
        await sender.finished
        fresh.write(0, pattern(1000))
        await vi.post_send(fresh.descriptor(0).send([fresh.part(0, 1000)]))
        assert (await vi.poll_send()).status == DONE
        return await p.yours.poll_receive()

    (received,) = p.machine.finish(new())
    assert (received.status, received.length) == (RECEIVED, 1000)
    assert p.there.read(0, 1000) == pattern(1000)
    assert p.mine.state is State.ERROR


@PRESETS
@pytest.mark.parametrize("level", [DELIVERY, RECEPTION])
def test_a_message_sent_during_a_reconnection_does_not_belong_to_the_new_connection(
    preset: str, level: Reliability
) -> None:
    p = pair(preset=preset, vis=8, reliability=level)

    async def run() -> tuple[list[Status], Descriptor]:
        own, fresh = p.here, await user(p.vias[1])
        vi = await fresh.nic.create_vi(fresh.tag, reliability=level)
        await vi.post_receive(fresh.descriptor(0).receive([fresh.part(0, 100)]))
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, 1 << 16)]))
        await p.mine.post_send(own.descriptor(0).send([own.part(0, 1 << 16)]))
        await p.machine.host(0).sleep(30_000_000)
        await p.mine.disconnect()
        await join(fresh, vi, own, p.mine, 0)
        own.write(0, pattern(100))
        await p.mine.post_send(own.descriptor(1).send([own.part(0, 100)]))
        statuses = [(await p.mine.poll_send()).status for _ in range(2)]
        received = await vi.poll_receive()
        assert fresh.read(0, 100) == pattern(100)
        return statuses, received

    ((statuses, received),) = p.machine.finish(run())
    assert statuses == [DONE | Status.FLUSHED, DONE]
    assert (received.status, received.length) == (RECEIVED, 100)
    p.machine.run(p.machine.kernel.now / 1e6 + 10_000)
    assert p.mine.state is State.CONNECTED


def slow_copies(side: str, path: str) -> int:
    """Make the kernel take half a millisecond for each piece of an RDMA write."""
    return 500_000_000 if path == "check_write" else 0


@pytest.mark.parametrize("level", [DELIVERY, RECEPTION])
def test_a_write_completes_when_its_data_are_in_memory(level: Reliability) -> None:
    p = pair(Machine(2, cost=slow_copies), reliability=level)
    p.here.write(0, pattern(1000))

    async def run() -> list[Status]:
        own, target = p.here, (p.there.base, p.there.handle)
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(5000, 1000)]))
        await p.mine.post_send(own.descriptor(0).rdma_write([own.part(0, 1000)], *target))
        await p.mine.post_send(own.descriptor(1).send([own.part(0, 1000)]))
        written = (await p.mine.poll_send()).status
        assert p.there.read(0, 1000) == pattern(1000)
        return [written, (await p.mine.poll_send()).status]

    assert p.machine.finish(run()) == [[DONE | Status.WRITE, DONE]]


@pytest.mark.parametrize("rdma", ["buffer", "table"])
@pytest.mark.parametrize("level", [DELIVERY, RECEPTION])
def test_a_forbidden_write_fails_only_its_own_descriptor(rdma: str, level: Reliability) -> None:
    """Post a forbidden write between two sends."""
    p = pair(reliability=level, rdma=rdma)

    async def run() -> list[Status]:
        own = p.here
        for number in range(2):
            await p.yours.post_receive(p.there.descriptor(number).receive([p.there.part(5000, 1000)]))
        await p.mine.post_send(own.descriptor(0).send([own.part(0, 1000)]))
        await p.mine.post_send(own.descriptor(1).rdma_write([own.part(0, 1000)], p.there.base, p.there.handle + 1))
        await p.mine.post_send(own.descriptor(2).send([own.part(0, 1000)]))
        return [(await p.mine.poll_send()).status for _ in range(3)]

    ((before, written, behind),) = p.machine.finish(run())
    assert (before, written) == (DONE, DONE | Status.WRITE | Status.RDMA_PROTECTION)
    assert behind in (DONE, DONE | Status.FLUSHED)


@pytest.mark.parametrize("level", [DELIVERY, RECEPTION])
@pytest.mark.parametrize("older", ["write", "read"])
def test_only_the_rejected_message_gets_the_error(older: str, level: Reliability) -> None:
    """Post a slow write or read, then a send without a receive: only the send fails."""
    p = pair(Machine(2, cost=slow_copies), reliability=level)
    p.machine.finish(p.there.nic.set_memory(p.there.handle, MemoryAttributes(p.there.tag, True, True)))

    async def run() -> list[Status]:
        own, target = p.here, (p.there.base, p.there.handle)
        first, parts = own.descriptor(0), [own.part(0, 1000 if older == "write" else 20000)]
        made = first.rdma_write(parts, *target) if older == "write" else first.rdma_read(parts, *target)
        await p.mine.post_send(made)
        await p.mine.post_send(own.descriptor(1).send([own.part(0, 1000)]))
        return [(await p.mine.poll_send()).status for _ in range(2)]

    before = DONE | Status.WRITE if older == "write" else DONE | Status.READ | Status.FLUSHED
    assert p.machine.finish(run()) == [[before, DONE | Status.REMOTE_DESCRIPTOR]]


@pytest.mark.parametrize("rdma", ["buffer", "table"])
@EACH
def test_immediate_data_of_a_forbidden_write_are_not_delivered(rdma: str, level: Reliability) -> None:
    p = pair(reliability=level, rdma=rdma)

    async def run() -> tuple[Status, Descriptor]:
        own = p.here
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(5000, 1000)]))
        wrong = p.there.base, p.there.handle + 1
        await p.mine.post_send(own.descriptor(0).rdma_write([own.part(0, 2000)], *wrong, immediate=7))
        status = (await p.mine.poll_send()).status
        await p.machine.host(0).sleep(100_000_000)
        if level is UNRELIABLE:
            own.write(0, pattern(100))
            await p.mine.post_send(own.descriptor(0).send([own.part(0, 100)]))
        return status, await p.yours.poll_receive()

    ((status, received),) = p.machine.finish(run())
    if level is UNRELIABLE:
        assert (status, received.status, received.length) == (DONE | Status.WRITE, RECEIVED, 100)
    else:
        assert status == DONE | Status.WRITE | Status.RDMA_PROTECTION
        assert (received.status, received.length) == (RECEIVED | Status.FLUSHED, 0)


def test_a_write_that_is_not_copied_at_the_end_of_its_connection_is_dropped() -> None:
    p = pair(Machine(2, cost=slow_copies))
    p.here.write(0, b"\xee" * 20_000)

    async def run() -> None:
        own, target = p.here, (p.there.base, p.there.handle)
        await p.mine.post_send(own.descriptor(0).rdma_write([own.part(0, 20_000)], *target))
        await p.mine.poll_send()
        await p.machine.host(0).sleep(100_000_000)
        await p.yours.disconnect()
        await p.machine.host(0).sleep(1_000_000_000)
        p.there.write(0, bytes(20_000))
        await p.mine.disconnect()
        await join(own, p.mine, p.there, p.yours, 1, 50_000)
        await p.machine.host(0).sleep(20_000_000_000)

    p.machine.finish(run())
    assert p.mine.state is p.yours.state is State.CONNECTED
    assert p.there.read(0, 20_000) == bytes(20_000)
