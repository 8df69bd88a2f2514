"""Messages of each size that a layer carries arrive unchanged; other sizes and invalid destinations are rejected.

Strategy: one run of a case sends all sizes at word edges, cell edges and the limits of the layer, in a shuffled order;
each test compares one size of it.
"""

from __future__ import annotations

import random
from functools import cache

import pytest

from firmware.mail import MailError
from firmware.promises import Promise
from pymodels.machine import MachineError
from tests.unit.conformance.bench import message
from tests.unit.conformance.cases import Case, every_case

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 257, 1000, 1023, 1024, 1025, 4095, 4096, 4097)
AT_LIMIT = (-2, -1)
"""Positions of the longest sizes in `carried`."""


def carried(case: Case) -> list[int]:
    """Return the sizes that a case carries, including its longest two."""
    mail = case.bench().mails[0]
    return sorted({size for size in (*SIZES, mail.most - 1, mail.most) if mail.least <= size <= mail.most})


@cache
def received(case: Case) -> set[int]:
    """Send one message of each size, and return the sizes that were received once and unchanged."""
    bench, sizes = case.bench(), carried(case)
    random.Random(len(sizes)).shuffle(sizes)
    near, far = bench.mails

    async def sends() -> None:
        for number, size in enumerate(sizes):
            await near.send(1, message(0, 1, number, size))
        await near.finish()

    async def receives() -> list[tuple[int, bytes]]:
        found = [await far.receive() for _ in sizes]
        await far.finish()
        return found

    came = bench.run(sends(), receives(), within_us=100_000)[1]
    expected = [(0, message(0, 1, number, size)) for number, size in enumerate(sizes)]
    assert came == expected if Promise.ORDER in case.promised else came != expected, "its order is not as promised"
    return {size for size, one in zip(sizes, expected, strict=True) if came.count(one) == 1}


@pytest.mark.parametrize("size", SIZES)
@every_case
def test_a_message_arrives_unchanged_or_is_rejected_by_its_size(case: Case, size: int) -> None:
    mail = case.bench().mails[0]
    if mail.least <= size <= mail.most:
        assert size in received(case)
    else:
        bench = case.bench()
        with pytest.raises(MailError, match=f"a message of {size} bytes: mail carries {mail.least} to {mail.most}"):
            bench.run(bench.mails[0].send(1, bytes(size)))


@pytest.mark.parametrize("place", AT_LIMIT)
@every_case
def test_the_longest_messages_arrive_unchanged(case: Case, place: int) -> None:
    assert carried(case)[place] in received(case)


@every_case
def test_a_message_beyond_the_limit_is_rejected_and_the_next_one_arrives(case: Case) -> None:
    bench = case.bench()
    near, far = bench.mails
    with pytest.raises(MailError, match=f"a message of {near.most + 1} bytes"):
        bench.run(near.post(1, bytes(near.most + 1)))
    data = message(0, 1, 0, 40)

    async def sends() -> None:
        await near.post(1, data)
        await near.posted()

    assert bench.run(sends(), far.receive(), within_us=50_000)[1] == (0, data)


@every_case
def test_a_message_to_an_unknown_host_is_an_error_of_its_sender(case: Case) -> None:
    bench = case.bench()
    with pytest.raises(Exception, match=r".") as raised:
        bench.run(bench.mails[0].post(2, bytes(8)), within_us=50_000)
    assert not isinstance(raised.value, MachineError), "the sender hangs"


@every_case
def test_a_message_to_its_own_host_arrives_where_promised_and_is_an_error_elsewhere(case: Case) -> None:
    bench = case.bench()
    mail, data = bench.mails[0], message(0, 0, 0, 40)

    async def both() -> tuple[int, bytes]:
        await mail.post(0, data)
        found = await mail.receive()
        await mail.posted()
        return found

    if Promise.SELF in case.promised:
        assert bench.run(both(), within_us=50_000) == [(0, data)]
    else:
        with pytest.raises(Exception, match=r".") as raised:
            bench.run(both(), within_us=50_000)
        assert not isinstance(raised.value, MachineError), "the sender hangs"
