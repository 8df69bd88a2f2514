"""Packet loss during messages, including receives with long lists of segments.

Strategy: packets of a chosen number are lost on the machine, one or many in a row. They are lost at start, middle and
end of messages, on each reliability level. A completed receive must have the bytes of exactly one message. Every
descriptor is used once, by its own message or with an error, and no byte outside of the segments changes.
"""

from __future__ import annotations

import pytest

from firmware.via.formats import Reliability, Status
from firmware.via.host import Descriptor
from tests.unit.via.via_bench import Pair, pair, pattern

RECEIVED = Status.DONE | Status.RECEIVE
SEGMENTS = 60


def lose(p: Pair, first: int, count: int = 1) -> None:
    """Lose packets of the sender, counted from its next packet."""
    passed = p.machine.faults.passed(0, 1)
    for number in range(passed + first, passed + first + count):
        p.machine.faults.drop(0, 1, number)


def scattered(p: Pair, number: int, size: int) -> Descriptor:
    """Create a receive of `size` bytes in segments of eight bytes with gaps between them."""
    parts = [p.there.part(16 * (SEGMENTS * number + i), 8) for i in range(size // 8)]
    return p.there.descriptor(number, SEGMENTS).receive(parts)


def test_a_long_receive_with_a_lost_packet_fails_and_the_next_one_takes_the_next_message() -> None:
    """Use a page list longer than half of the queue cache, which cannot be read again."""
    p, size, packets = pair(packet=64), 8 * SEGMENTS, 8
    p.there.write(0, bytes(32 * size))

    async def run() -> list[tuple[Status, int]]:
        for number in range(3):
            await p.yours.post_receive(scattered(p, number, size))
        for number in range(3):
            p.here.write(size * number, pattern(size, number))
            await p.mine.post_send(p.here.descriptor(number).send([p.here.part(size * number, size)]))
        return [(done.status, done.length) for done in [await p.yours.poll_receive() for _ in range(3)]]

    lose(p, packets - 1)
    (told,) = p.machine.finish(run())
    assert told == [(RECEIVED | Status.PARTIAL_ERROR, 0), (RECEIVED, size), (RECEIVED, size)]
    for number in (1, 2):
        whole = p.there.read(2 * size * number, 2 * size)
        assert b"".join(whole[at : at + 8] for at in range(0, 2 * size, 16)) == pattern(size, number)
        assert not any(whole[at + 8 + i] for at in range(0, 2 * size, 16) for i in range(8))


async def exchange(p: Pair, *sizes: int, most: int = 65536) -> tuple[list[Status], list[tuple[Status, bytes]]]:
    """Post receives for twice as many messages, send the messages, and return the results of both sides."""
    user, own = p.there, p.here
    for number in range(2 * len(sizes)):
        await p.yours.post_receive(user.descriptor(number).receive([user.part(most * number, most)]))
    for number, size in enumerate(sizes):
        own.write(most * number, pattern(size, number))
        await p.mine.post_send(own.descriptor(number).send([own.part(most * number, size)]))
    await p.machine.host(0).sleep(10_000_000_000)
    sent, received, number = [], [], 0
    while len(p.mine.sends) and (done := await p.mine.send_done()) is not None:
        sent.append(done.status)
    while len(p.yours.receives) and (done := await p.yours.receive_done()) is not None:
        received.append((done.status, user.read(most * number, done.length)))
        number += 1
    return sent, received


@pytest.mark.parametrize("level", list(Reliability))
@pytest.mark.parametrize("count", [1, 63, 64, 65, 128])
@pytest.mark.parametrize("first", [0, 10, 90], ids=["from the start", "in the middle", "across the end"])
def test_packets_lost_in_a_row_never_join_two_messages(level: Reliability, count: int, first: int) -> None:
    """Send three messages of 100 packets, then one more."""
    sizes = (6400, 6400, 6400, 500)
    p = pair(reliability=level, packet=64)
    lose(p, first, count)
    ((sent, received),) = p.machine.finish(exchange(p, *sizes, most=6400))
    whole = [pattern(size, number) for number, size in enumerate(sizes)]
    arrived = [data for status, data in received if status == RECEIVED]
    if level is Reliability.UNRELIABLE:
        lost = len(whole) - len(arrived)
        assert lost == 1 + (first + count > 100) + (first + count > 200)
        assert arrived == whole[lost:]
        assert sent == [Status.DONE] * 4
    else:
        assert arrived == []
        assert sent == [Status.DONE | Status.TRANSPORT_ERROR] + [Status.DONE | Status.FLUSHED] * 3


@pytest.mark.parametrize("level", [Reliability.DELIVERY, Reliability.RECEPTION])
def test_a_reliable_connection_breaks_after_any_number_of_lost_messages(level: Reliability) -> None:
    p = pair(reliability=level)
    lose(p, 1, 64)
    ((sent, received),) = p.machine.finish(exchange(p, *[100] * 80, most=100))
    assert sent[:2] == [Status.DONE, Status.DONE | Status.TRANSPORT_ERROR]
    assert set(sent[2:]) == {Status.DONE | Status.FLUSHED}
    assert [data for status, data in received if status == RECEIVED] == [pattern(100, 0)]


@pytest.mark.parametrize("what", ["write to a buffer", "write by table", "send"])
def test_a_send_after_an_abandoned_message_takes_the_only_receive(what: str) -> None:
    """Deregister the memory of a message while it is sent."""
    p, size = pair(preset="hwvia", vis=8, rdma="table" if "table" in what else "buffer"), 60_000

    async def run() -> tuple[Descriptor, Descriptor]:
        own = p.here
        va = own.process.allocate(size)
        handle = await own.nic.register_memory(va, size, own.tag)
        await p.yours.post_receive(p.there.descriptor(0).receive([p.there.part(0, size)]))
        parts, target = [(va, handle, size)], (p.there.base, p.there.handle)
        place = own.descriptor(0)
        await p.mine.post_send(place.send(parts) if what == "send" else place.rdma_write(parts, *target))
        await p.machine.host(0).sleep(100_000_000)
        await own.nic.deregister_memory(handle)
        await p.mine.post_send(own.descriptor(1).send([own.part(0, 100)]))
        return await p.mine.poll_send(), await p.yours.poll_receive()

    p.here.write(0, pattern(100))
    ((given_up, received),) = p.machine.finish(run())
    assert given_up.status & Status.PROTECTION_ERROR
    assert (received.status, received.length) == (RECEIVED, 100)
    assert p.there.read(0, 100) == pattern(100)


@pytest.mark.parametrize("level", list(Reliability))
@pytest.mark.parametrize("by_us", [0, 100])
def test_a_duplicate_packet_is_dropped(level: Reliability, by_us: int) -> None:
    """Duplicate each packet of three messages, at once or late."""
    p = pair(reliability=level)
    passed = p.machine.faults.passed(0, 1)
    for number in range(6):
        p.machine.faults.double(0, 1, passed + number, by_us * 1_000_000)
    ((sent, received),) = p.machine.finish(exchange(p, 100, 3000, 200, most=3000))
    assert sent == [Status.DONE] * 3
    assert received == [(RECEIVED, pattern(size, number)) for number, size in enumerate((100, 3000, 200))]


@pytest.mark.parametrize("level", list(Reliability))
@pytest.mark.parametrize("late", [0, 1, 2, 3, 4])
def test_a_packet_overtaken_by_later_ones_counts_as_lost(level: Reliability, late: int) -> None:
    """Send messages of one packet, of four packets across a page, and of one packet."""
    p = pair(reliability=level)
    p.machine.faults.reorder(0, 1, p.machine.faults.passed(0, 1) + late, 2_000_000_000)
    ((sent, received),) = p.machine.finish(exchange(p, 100, 3000, 200, most=3000))
    arrived = [data for status, data in received if status == RECEIVED]
    whole = [pattern(100, 0), pattern(3000, 1), pattern(200, 2)]
    lost = int(late > 0)
    if level is Reliability.UNRELIABLE:
        assert arrived == [data for number, data in enumerate(whole) if number != lost]
    else:
        assert arrived == whole[:lost]
        assert sent[lost] == Status.DONE | Status.TRANSPORT_ERROR
