"""Handlers of AM-II bulk data get place and size of the whole transfer, not of the last piece (AM 2.0).

Strategy: two hosts of the machine. The arguments of handlers for sent, requested and replied data are compared with
those of the calls. Further cases are a failed transfer of the same number, and lost pieces. A last piece without a
transfer, as a process that writes its own frame can create, must be returned.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from firmware.am2.host import Code, EndpointName, Token
from firmware.am2.host.transfer import Piece, Put
from firmware.am2.nic.words import Head, Kind
from tests.unit.am2.am2_bench import TAG
from tests.unit.am2.am2_segments import LENGTHS, MEDIUM, SIZE, Ends, each_nic

Seen = list[tuple[int, int, bytes]]


def keeping(seen: Seen) -> Any:
    """Return a handler that records offset, size and bytes."""

    async def keep(token: Token) -> None:
        assert token.va == token.endpoint.process_place + token.offset  # type: ignore[attr-defined]
        seen.append((token.offset, token.size, token.data))

    return keep


def ends_that_keep(nic: str = "lanai9", **options: Any) -> tuple[Ends, Seen]:
    """Return two endpoints whose handler 9 records its arguments, and the records."""
    ends, seen = Ends(nic, **options), Seen()
    for endpoint, place in zip(ends.bench.endpoints, ends.places, strict=True):
        setattr(endpoint, "process_place", place)  # noqa: B010 - for the handler
        endpoint.set_handler(9, keeping(seen))
    return ends, seen


@each_nic
def test_the_handler_of_sent_data_gets_the_whole_transfer(nic: str) -> None:
    ends, seen = ends_that_keep(nic)
    sent = [(7 * size, size, random.Random(size).randbytes(size)) for size in LENGTHS]

    async def program() -> None:
        for at, _, data in sent:
            await ends.bench.endpoints[0].request_xfer(1, at % (SIZE - len(data)), 9, data)
            await ends.bench.bundles[0].until(lambda: not ends.bench.endpoints[0].unanswered)

    ends.run(program())
    assert seen == [(at % (SIZE - size), size, data) for at, size, data in sent]


@each_nic
def test_the_handler_of_a_get_gets_the_whole_transfer(nic: str) -> None:
    ends, seen = ends_that_keep(nic)

    async def program() -> None:
        for size in LENGTHS:
            await ends.bench.endpoints[0].get_xfer(1, 3000, 9, 40, size)
            await ends.bench.bundles[0].until(lambda: not ends.bench.endpoints[0].unanswered)

    ends.run(program())
    there = bytes(ends.images[1])
    assert seen == [(40, size, there[3000 : 3000 + size]) for size in LENGTHS]


def test_concurrent_transfers_over_a_faulty_network_are_each_handled_whole() -> None:
    ends, seen = ends_that_keep()
    ends.bench.machine.faults.lose(0.05, 0.03, 5, reordered=0.05, doubled=0.05)
    sent = [(1200 * number, 1100, random.Random(number).randbytes(1100)) for number in range(4)]

    async def program() -> None:
        for at, _, data in sent:
            await ends.bench.endpoints[0].request_xfer_async(1, at, 9, data)

    ends.run(program())
    assert sorted(seen) == sent


def test_a_failed_transfer_leaves_no_state_for_the_next_one_of_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, seen = ends_that_keep()
    monkeypatch.setattr("firmware.am2.host.transfer.NUMBERS", 2)  # every transfer has the same number

    async def program() -> None:
        endpoint, bundle = ends.bench.endpoints[0], ends.bench.bundles[0]
        await endpoint.request_xfer(1, SIZE - 2 * MEDIUM, 9, bytes(3 * MEDIUM))
        await bundle.until(lambda: not endpoint.unanswered)
        await endpoint.request_xfer(1, 100, 9, b"x" * 2 * MEDIUM)

    ends.run(program())
    assert [token.status for token in ends.bench.back[0]] == [Code.BAD_LENGTH]
    assert seen == [(100, 2 * MEDIUM, b"x" * 2 * MEDIUM)]


@pytest.mark.parametrize("number", [0, 5])
def test_a_last_piece_without_a_transfer_is_returned(number: int) -> None:
    ends, seen = ends_that_keep()
    endpoint = ends.bench.endpoints[0]

    class Forged(Put):
        """Transfer whose last piece is sent alone, with another number."""

        def head(self, number_: int) -> Head | None:
            """Return the head of the last piece."""
            kind = Kind.BULK if number else Kind.PIECE
            return Head(kind, 0, 9, transfer=number)

    async def program() -> None:
        where = EndpointName(1, 0)
        await endpoint._begin(Forged(where, TAG, 9, (), [Piece(50, (), b"forged", 6)]))

    ends.run(program())
    assert [token.status for token in ends.bench.back[0]] == [Code.BAD_ARGUMENTS]
    assert not seen and ends.whole()
