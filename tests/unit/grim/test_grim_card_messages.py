"""Long messages to an FPGA card: what its NI lets into the card's rings, and when.

Strategy: the far node has a card with memory, but without a shell. Messages go to it from two channels of the near
node, and the test reads the rings. No other message may be between the segments of a long one. A sender that stops in
the middle must not keep others from the card, and its late segments must be errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any
from unittest.mock import patch

import pytest

from firmware.grim.formats import HEADER_BYTES, MAX_SEND, Header, MessageType, padded, unpack
from firmware.grim.host import GrimError, messages
from firmware.grim.host.channel_queue import Piece
from firmware.grim.host.segments import cut
from pymodels.card.registers import BANK_BYTES
from tests.unit.grim.grim_card_bench import FAR, FILLED, CardBench

HANDLER, SEGMENT = 77, 256
LONG = bytes(range(250)) * 5
OPTIONS = {"segment_bytes": SEGMENT}


@pytest.fixture(name="card")
def fixture_card() -> CardBench:
    """Return a card whose circuit has a handler number, and that is kept for 50 us."""
    return bench(card_hold_us=50)


def bench(**options: int) -> CardBench:
    """Return a card whose circuit has a handler number."""
    made = CardBench(**OPTIONS, **options)
    made.near.handlers.names[HANDLER] = "loopback"
    return made


def in_rings(card: CardBench) -> list[tuple[Header, bytes]]:
    """Return the messages in the card's rings, in the order in which the shell takes them."""
    found: list[tuple[Header, bytes]] = []
    at, turn = [0, 0], 0
    while True:
        begin = turn * BANK_BYTES + at[turn]
        data = memoryview(card.window.banks)[begin:]
        if data[:HEADER_BYTES] == FILLED * HEADER_BYTES:
            return found
        header = unpack(data)
        found.append((header, bytes(data[HEADER_BYTES : HEADER_BYTES + header.bytes])))
        at[turn] += HEADER_BYTES + padded(header.words)
        turn ^= 1


def only(count: int) -> Callable[..., Iterator[Piece]]:
    """Return a function that cuts a message into its first segments only, like a host that then stops."""
    return lambda *given: islice(cut(*given), count)


def test_segments_have_the_arguments_and_places_of_their_message(card: CardBench) -> None:
    card.run(lambda: card.near.send(FAR, HANDLER, 1, 2, 3, 4, LONG))
    found = in_rings(card)
    assert b"".join(payload for _, payload in found) == LONG
    assert [header.tree for header, _ in found] == [2, 3, 3, 3, 1]
    for header, _ in found:
        assert (header.type, header.handler) == (MessageType.CARD_SEGMENT, HANDLER)
        assert header.arguments == (1, 2, 3, 4)


def test_a_message_of_one_segment_is_an_ordinary_message(card: CardBench) -> None:
    card.run(lambda: card.near.send(FAR, HANDLER, payload=LONG[:SEGMENT]))
    ((header, payload),) = in_rings(card)
    assert (header.type, header.tree, payload) == (MessageType.ACTIVE, 0, LONG[:SEGMENT])


def test_no_other_message_comes_between_the_segments_of_a_long_one() -> None:
    card = bench(queue_bytes=1024)
    kernel = card.bench.machine.kernel

    async def others() -> None:
        for number in range(20):
            await card.near.send(FAR, HANDLER, number, channel=1)

    async def application() -> None:
        task = kernel.spawn(others(), "the other channel")
        for _ in range(3):
            await card.near.send(FAR, HANDLER, payload=LONG)
        await task.finished

    card.run(application)
    places = [header.tree for header, _ in in_rings(card) if header.type == MessageType.CARD_SEGMENT]
    assert places == [2, 3, 3, 3, 1] * 3
    inside = False
    for header, _ in in_rings(card):
        assert inside == (header.type == MessageType.CARD_SEGMENT and bool(header.tree & 1))
        inside = header.type == MessageType.CARD_SEGMENT and bool(header.tree & 2)
    assert len(in_rings(card)) == 35


def test_a_sender_that_stops_keeps_others_from_the_card_for_a_time_only(card: CardBench) -> None:
    near = card.near

    async def application() -> str:
        with patch.object(messages, "cut", only(2)):
            await near.send(FAR, HANDLER, payload=LONG)
        await near.host.sleep(10_000_000)
        await near.send(FAR, HANDLER, 5, channel=1)
        await near.host.sleep(20_000_000)
        assert len(in_rings(card)) == 2, "the other message is too early"
        await near.host.sleep(100_000_000)
        assert [header.arguments[0] for header, _ in in_rings(card)] == [0, 0, 5]
        with patch.object(messages, "cut", lambda *given: islice(cut(*given), 2, None)):
            return await card.error_of(near.send(FAR, HANDLER, payload=LONG))

    told = card.run(application)
    assert told.startswith("payload: segments of a message to the FPGA card of VNN 1 came too late"), told
    assert len(in_rings(card)) == 3


def test_the_first_segment_waits_until_the_queue_is_empty(card: CardBench) -> None:
    near = card.near
    emptied: list[bool] = []

    async def application() -> None:
        out = near.calls.messenger.queues.outgoing[0]
        put = out.put

        async def watched(piece: Piece) -> None:
            if piece.alone:
                emptied.append(out.front == out.back)
            await put(piece)

        with patch.object(out, "put", watched):
            for _ in range(5):
                await near.send(FAR, HANDLER, payload=LONG[:SEGMENT])
            await near.send(FAR, HANDLER, payload=LONG)

    card.run(application)
    assert emptied == [True]


def test_a_message_longer_than_its_circuit_accepts_raises_an_error_with_the_limit(card: CardBench) -> None:
    near = card.near
    near.nodes.limits = {"loopback": 1000}

    async def application() -> Any:
        await near.send(FAR, HANDLER, payload=LONG[:1000])
        with pytest.raises(GrimError, match="payload: 1250 bytes, but circuit 'loopback' .* accepts at most 1000;"):
            await near.send(FAR, HANDLER, payload=LONG)
        with pytest.raises(GrimError, match="one send carries at most"):
            await near.send(FAR, HANDLER, payload=bytes(MAX_SEND + 1))

    card.run(application)
    assert sum(len(payload) for _, payload in in_rings(card)) == 1000
