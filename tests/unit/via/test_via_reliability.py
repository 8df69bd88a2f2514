"""Reliability levels (readings C11).

Strategy: packets of a chosen number are lost or damaged, receive descriptors are missing or too short, peers
disconnect. Statuses of both sides must be those of the specification, other posted descriptors are flushed, and no
wrong data are delivered. The time of a send's completion is compared with that of the acknowledgement, or of the data
in memory.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Descriptor
from firmware.via.host.library.work_queue import WorkQueue
from firmware.via.nic.layout import State
from pymodels.machine import Machine, Timing
from tests.unit.via.via_bench import Pair, pair, pattern

DONE, RECEIVED = Status.DONE, Status.DONE | Status.RECEIVE
UNRELIABLE, DELIVERY, RECEPTION = Reliability.UNRELIABLE, Reliability.DELIVERY, Reliability.RECEPTION
RELIABLE = pytest.mark.parametrize("level", [DELIVERY, RECEPTION])
EACH = pytest.mark.parametrize("level", list(Reliability))


async def receives(p: Pair, count: int, size: int = 4096) -> None:
    """Post receives, one page each."""
    for i in range(count):
        await p.yours.post_receive(p.there.descriptor(i).receive([p.there.part(4096 * i, size)]))


async def sends(p: Pair, *sizes: int) -> None:
    """Post sends of these sizes."""
    for i, size in enumerate(sizes):
        p.here.write(4096 * i, pattern(size, i))
        await p.mine.post_send(p.here.descriptor(i).send([p.here.part(4096 * i, size)]))


async def sent(p: Pair, count: int) -> list[Status]:
    """Return the statuses of `count` sends."""
    return [await _next(p, p.mine.sends) for _ in range(count)]


async def received(p: Pair, count: int) -> list[Status]:
    """Return the statuses of `count` receives."""
    return [await _next(p, p.yours.receives) for _ in range(count)]


async def _next(p: Pair, queue: WorkQueue) -> Status:
    while not len(queue):
        await p.machine.host(0).sleep(1_000_000)
    return (await queue.poll()).status


def lose(p: Pair, number: int, source: int = 0) -> None:
    """Lose the packet with this number, counted from the next one."""
    target = 1 - source
    p.machine.faults.drop(source, target, p.machine.faults.passed(source, target) + number)


@EACH
def test_messages_arrive_on_every_level(level: Reliability) -> None:
    p = pair(reliability=level)
    p.machine.finish(receives(p, 8))
    statuses, others, _ = p.machine.finish(sent(p, 8), received(p, 8), sends(p, 0, 4, 9, 3000, 4096, 1, 0, 1025))
    assert statuses == [DONE] * 8
    assert others == [RECEIVED] * 8
    assert p.there.read(12288, 3000) == pattern(3000, 3)


def test_an_unreliable_sender_does_not_detect_a_loss_which_affects_one_message() -> None:
    """Lose the second of three packets of the second message: its descriptor serves the third message."""
    p = pair()
    p.machine.finish(receives(p, 3))
    lose(p, 2)
    statuses, others, _ = p.machine.finish(sent(p, 3), received(p, 2), sends(p, 100, 3000, 200))
    assert (statuses, others) == ([DONE] * 3, [RECEIVED] * 2)
    assert p.there.read(0, 100) == pattern(100, 0)
    assert p.there.read(4096, 200) == pattern(200, 2)
    assert p.mine.state is p.yours.state is State.CONNECTED


def test_a_damaged_packet_counts_as_lost() -> None:
    p = pair()
    p.machine.finish(receives(p, 2))
    p.machine.faults.corrupt(0, 1, p.machine.faults.passed(0, 1), offset=30)
    (others, _) = p.machine.finish(received(p, 1), sends(p, 100, 200))
    assert others == [RECEIVED]
    assert p.there.read(0, 200) == pattern(200, 1)


@RELIABLE
@pytest.mark.parametrize("packet", [0, 1, 2])
def test_a_lost_packet_breaks_a_reliable_connection(level: Reliability, packet: int) -> None:
    p = pair(reliability=level)
    p.machine.finish(receives(p, 4))
    lose(p, 1 + packet)
    statuses, others, _ = p.machine.finish(sent(p, 3), received(p, 4), sends(p, 100, 3000, 200))
    assert statuses[0] == DONE
    assert statuses[1] == DONE | Status.TRANSPORT_ERROR
    assert statuses[2] == DONE | Status.FLUSHED
    assert others == [RECEIVED] + [RECEIVED | Status.FLUSHED] * 3
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    assert p.mine.state is p.yours.state is State.ERROR


@RELIABLE
def test_a_lost_acknowledgement_breaks_the_connection_after_the_time_limit(level: Reliability) -> None:
    p = pair(reliability=level, timeout_us=500)
    p.machine.finish(receives(p, 2))
    lose(p, 0, source=1)
    begun = p.machine.kernel.now
    statuses, _ = p.machine.finish(sent(p, 1), sends(p, 100))
    assert statuses == [DONE | Status.TRANSPORT_ERROR]
    assert 500 < (p.machine.kernel.now - begun) / 1e6 < 600
    assert p.mine.state is State.ERROR


@RELIABLE
def test_an_acknowledgement_covers_earlier_messages(level: Reliability) -> None:
    """Lose the acknowledgement of the first of three messages: the next one covers it."""
    p = pair(reliability=level)
    p.machine.finish(receives(p, 3))
    lose(p, 0, source=1)
    statuses, others, _ = p.machine.finish(sent(p, 3), received(p, 3), sends(p, 100, 200, 300))
    assert (statuses, others) == ([DONE] * 3, [RECEIVED] * 3)
    p.machine.run(p.machine.kernel.now / 1e6 + 10_000)
    assert p.mine.state is p.yours.state is State.CONNECTED


def test_an_unreliable_message_without_a_receive_descriptor_is_dropped() -> None:
    p = pair()

    async def run() -> None:
        await sends(p, 100)
        assert await sent(p, 1) == [DONE]
        await p.machine.host(0).sleep(50_000_000)
        await receives(p, 1)
        await sends(p, 200)
        assert await received(p, 1) == [RECEIVED]

    p.machine.finish(run())
    assert p.there.read(0, 200) == pattern(200)


@RELIABLE
def test_a_message_without_a_receive_descriptor_breaks_a_reliable_connection(level: Reliability) -> None:
    p = pair(reliability=level)
    statuses, _ = p.machine.finish(sent(p, 2), sends(p, 3000, 100))
    assert statuses == [DONE | Status.REMOTE_DESCRIPTOR, DONE | Status.FLUSHED]


@EACH
def test_a_receive_descriptor_that_is_too_short_is_a_length_error(level: Reliability) -> None:
    p = pair(reliability=level)
    p.machine.finish(receives(p, 2, size=150))
    guard = p.there.read(150, 1000)
    statuses, others, _ = p.machine.finish(sent(p, 1), received(p, 1), sends(p, 3000))
    assert others == [RECEIVED | Status.LENGTH_ERROR]
    assert p.there.read(150, 1000) == guard
    assert statuses == [DONE if level is UNRELIABLE else DONE | Status.REMOTE_DESCRIPTOR]
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    assert (p.yours.state is State.ERROR) == (level is not UNRELIABLE)


def test_a_send_completes_as_its_reliability_level_defines() -> None:
    """Slow the DMA to the host: unreliable completes before delivery, delivery before reception."""
    times = {}
    for level in Reliability:
        p = pair(Machine(2, timing=Timing(dma_byte=20_000)), reliability=level)
        p.machine.finish(receives(p, 1))
        begun = p.machine.kernel.now
        p.machine.finish(sends(p, 1000), sent(p, 1))
        times[level] = p.machine.kernel.now - begun
        in_memory = p.there.read(0, 1000) == pattern(1000)
        assert in_memory == (level is RECEPTION)
    assert times[UNRELIABLE] < times[DELIVERY] < times[RECEPTION]


@EACH
def test_disconnecting_flushes_both_sides(level: Reliability) -> None:
    p = pair(reliability=level)
    p.machine.finish(receives(p, 3))

    async def mine() -> Descriptor:
        await p.mine.post_receive(p.here.descriptor(5).receive([p.here.part(0, 64)]))
        await p.mine.disconnect()
        return await p.mine.poll_receive()

    others, done = p.machine.finish(received(p, 3), mine())
    assert others == [RECEIVED | Status.FLUSHED] * 3
    assert done.status == RECEIVED | Status.FLUSHED
    assert (p.mine.state, p.yours.state) == (State.CLOSED, State.ERROR)
    statuses, _ = p.machine.finish(sent(p, 1), sends(p, 64))
    assert statuses == [DONE | Status.FLUSHED]


def test_the_error_handler_is_called_for_a_broken_connection() -> None:
    p = pair(reliability=Reliability.DELIVERY)
    told: list[str] = []
    p.mine.on_error(lambda: told.append("mine"))
    p.yours.on_error(lambda: told.append("yours"))
    p.machine.finish(sends(p, 100), sent(p, 1))
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    assert sorted(told) == ["mine", "yours"]


def test_descriptors_posted_to_a_broken_vi_are_flushed() -> None:
    p = pair()
    p.machine.finish(p.mine.disconnect())
    p.machine.run(p.machine.kernel.now / 1e6 + 100)
    others, _ = p.machine.finish(received(p, 2), receives(p, 2))
    assert others == [RECEIVED | Status.FLUSHED] * 2


@RELIABLE
@pytest.mark.parametrize("preset", ["firmvia", "bvia2", "hwvia"])
def test_a_send_with_an_error_completes_after_earlier_sends(level: Reliability, preset: str) -> None:
    """Delay the acknowledgement of the first send."""
    p = pair(reliability=level, preset=preset, vis=8)
    p.machine.finish(receives(p, 1))
    p.machine.faults.delay(1, 0, p.machine.faults.passed(1, 0), 500_000_000)

    async def run() -> list[Status]:
        right, wrong = p.here.descriptor(0), p.here.descriptor(1)
        await p.mine.post_send(right.send([p.here.part(0, 100)]))
        await p.mine.post_send(wrong.send([(p.here.base, p.here.handle + 1, 100)]))
        await p.machine.host(0).sleep(200_000_000)
        assert right.status == wrong.status == Status(0)
        return await sent(p, 2)

    assert p.machine.finish(run()) == [[DONE, DONE | Status.PROTECTION_ERROR]]


@pytest.mark.parametrize("who", ["process", "peer", "nic"])
def test_a_break_is_reported_once_and_an_own_disconnect_never(who: str) -> None:
    p = pair(reliability=Reliability.DELIVERY)
    told: list[str] = []
    p.mine.on_error(lambda: told.append("mine"))
    p.yours.on_error(lambda: told.append("yours"))

    async def run() -> None:
        if who == "nic":  # a send without a receive: both NICs break it
            await p.mine.post_send(p.here.descriptor(0).send([p.here.part(0, 10)]))
            await p.mine.poll_send()
            await p.machine.host(0).sleep(100_000_000)
        await (p.mine if who != "peer" else p.yours).disconnect()
        await p.machine.host(0).sleep(300_000_000)
        await (p.yours if who != "peer" else p.mine).disconnect()
        await p.machine.host(0).sleep(300_000_000)

    p.machine.finish(run())
    assert sorted(told) == {"process": ["yours"], "peer": ["mine"], "nic": ["mine", "yours"]}[who]
