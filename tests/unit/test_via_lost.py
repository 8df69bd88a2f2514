"""Packets lost in the middle of things, of receives with long lists of segments among them.

Strategy: packets of a chosen number are lost on the machine, one or very many in a row, at begin, middle and end of
messages, on each reliability level. What is done must have the bytes of one message, whole; every descriptor is used
once, by its own message or with an error, and nothing outside of the receives' segments is touched.
"""

from __future__ import annotations

from firmware.host.via import Descriptor
from pymodels.formats.via import Status
from tests.unit.via_bench import Pair, pair, pattern

RECEIVED = Status.DONE | Status.RECEIVE
SEGMENTS = 60


def lose(p: Pair, first: int, count: int = 1) -> None:
    """Lose packets of the sender, counted from its next one."""
    passed = p.machine.faults.passed(0, 1)
    for number in range(passed + first, passed + first + count):
        p.machine.faults.drop(0, 1, number)


def scattered(p: Pair, number: int, size: int) -> Descriptor:
    """A receive of so many segments of eight bytes as make the size, with holes between them."""
    parts = [p.there.part(16 * (SEGMENTS * number + i), 8) for i in range(size // 8)]
    return p.there.descriptor(number, SEGMENTS).receive(parts)


def test_a_long_receive_that_lost_a_packet_is_used_up_and_the_next_one_takes_the_next_message() -> None:
    """The list of pages is longer than half of the queue cache, so that it cannot be read again."""
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
