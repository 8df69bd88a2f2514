"""Option `crc32`: a message that is changed between the two libraries reaches no handler; the next call raises an
error.

Strategy: messages of no, one and several segments, from bytes and from host memory, arrive unchanged. Then one bit of a
message is flipped in the receiver's queue: in its payload, arguments, handler or CRC. With the option this is an error,
without it a changed message. Without the option no time is charged for it.
"""

from __future__ import annotations

import zlib
from typing import Any
from unittest.mock import patch

import pytest

from firmware.grim.formats import HEADER_BYTES
from firmware.grim.host import Grim, crc
from firmware.grim.host.errors import GrimError
from firmware.grim.nic.layout import HostQueue
from firmware.grim.options import Options
from firmware.options import OptionError
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.test_grim_segments import Span, pattern

PAYLOAD = pattern(61)
PLACES = {
    "payload": (HEADER_BYTES + 17, 1),
    "argument": (23, 1),
    "handler": (15, 1),
    "sender": (6, 1),
}
"""Byte of the message in the queue, and the bit that is flipped in it."""


def sent(payload: Any, crc32: int = 0) -> list[tuple[int, int, bytes]]:
    """Return what the handler of node 1 receives of a message from node 0."""
    bench, got = Bench(2, segment_bytes=64, crc32=crc32), list[tuple[int, int, bytes]]()

    def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
        got.append((a0, a3, bytes(data)))

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=handler))["handler"]
        if me:
            await library.wait_for(lambda: bool(got))
            return
        data = payload
        if isinstance(data, int):
            buffer = library.host.allocate(data + 4)
            buffer.view[:data] = pattern(data)
            data = Span(buffer.address, data)
        await library.send(library.get_dest_id(1), number, 7, 0, 0, -5, data)

    bench.run(node)
    bench.settle()
    assert bench.nothing_left()
    return got


@pytest.mark.parametrize("size", [0, 1, 4, 59, 60, 61, 64, 500])
@pytest.mark.parametrize("in_memory", [False, True])
def test_messages_arrive_as_they_were_sent(size: int, in_memory: bool) -> None:
    assert sent(size if in_memory else pattern(size), crc32=1) == [(7, -5, pattern(size))]


def struck(place: tuple[int, int], crc32: int = 0) -> tuple[list[tuple[int, bytes]], list[GrimError]]:
    """Flip a bit of a message in the queue of node 1; return what handlers receive, and errors."""
    bench, got, errors = Bench(2, crc32=crc32), list[tuple[int, bytes]](), list[GrimError]()

    def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
        got.append((a1, bytes(data)))

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=handler))["handler"]
        if not me:
            await library.send(library.get_dest_id(1), number, 0, 3, payload=PAYLOAD)
            return
        (incoming,) = library.calls.messenger.dispatch.incoming
        await library.host.sleep(200_000_000)
        assert incoming.pending()
        incoming._view[HostQueue.RING + incoming.position + place[0]] ^= place[1]
        try:
            await library.poll()
            await library.poll()
        except GrimError as error:
            errors.append(error)

    bench.run(node)
    return got, errors


@pytest.mark.parametrize("place", PLACES)
def test_bit_flip_in_the_queue_is_an_error(place: str) -> None:
    got, errors = struck(PLACES[place], crc32=1)
    assert not got and "CRC-32 error" in str(errors[0])


def test_unknown_message_type_does_not_bypass_the_crc() -> None:
    assert struck((4, 0x40), crc32=1) == ([(3, PAYLOAD)], [])


def test_bit_flip_in_the_crc_is_an_error() -> None:
    got, errors = struck((HEADER_BYTES + len(PAYLOAD), 1), crc32=1)
    assert not got and len(errors) == 1


@pytest.mark.parametrize("place", ["payload", "argument"])
def test_handler_gets_changed_data_without_crc32(place: str) -> None:
    got, errors = struck(PLACES[place])
    assert len(got) == 1 and got[0] != (3, PAYLOAD) and not errors


def test_disabled_crc32_has_no_cost_and_no_check() -> None:
    with patch.object(crc, "crc_of", side_effect=AssertionError):
        assert sent(pattern(500)) == [(7, -5, pattern(500))]


def test_crc_is_ieee_802_3_over_sender_handler_arguments_and_payload() -> None:
    assert crc.crc_of(0x3132, 0, (0, 0, 0, 0), b"") == zlib.crc32(b"\0\0\x31\x32" + bytes(20))
    assert crc.crc_of(1, 2, (3, -4, 5, 6), b"ab") == crc.crc_of(1, 2, (3, 0xFFFFFFFC, 5, 6), memoryview(b"ab"))


def test_crc32_with_dma_injection_is_rejected() -> None:
    with pytest.raises(OptionError, match="which has no CRC behind it"):
        Options.from_values({"crc32": 1, "dma_inject": 1})
