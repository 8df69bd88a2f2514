"""Errors of AM-II bulk data: data without a place are returned, and invalid calls send nothing.

Strategy: as in `test_am2_bulk`. Segments belong to programs, so the receiver's library must detect invalid places. The
returned data are compared with the sent data, and no byte of a segment may change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.am2.host import Am2Error, Code, Token
from firmware.am2.nic.words import Kind
from tests.unit.am2.am2_bench import KEEP
from tests.unit.am2.am2_segments import SIZE, Ends

PLACES = {
    "offset outside": (SIZE + 1, b"x" * 8, Code.BAD_SEGMENT_OFFSET),
    "offset far outside": (0xFFFF0000, b"", Code.BAD_SEGMENT_OFFSET),
    "beyond the end": (SIZE - 3, b"x" * 4, Code.BAD_LENGTH),
}


@pytest.mark.parametrize("what", PLACES)
def test_data_outside_of_the_segment_are_returned_complete_and_change_nothing(what: str) -> None:
    ends = Ends()
    at, data, code = PLACES[what]
    ends.run(ends.bench.endpoints[0].request_xfer(1, at, KEEP, data, 1, 2))
    (token,) = ends.bench.back[0]
    assert (token.status, token.opcode, token.offset, token.arguments) == (code, "request bulk", at, (1, 2))
    assert ends.bench.returned_data == [data]
    assert ends.whole()
    assert not ends.bench.came[1]


def test_a_transfer_with_a_returned_piece_runs_no_handler() -> None:
    ends = Ends()
    at, data = SIZE - 1000, bytes(1600)
    ends.put(1, at, data[:512])
    ends.run(ends.bench.endpoints[0].request_xfer(1, at, KEEP, data))
    assert {(token.status, token.offset) for token in ends.bench.back[0]} == {
        (Code.BAD_LENGTH, at + 512),
        (Code.BAD_SEGMENT_OFFSET, at + 1024),
    }
    assert not ends.bench.came[1]
    assert ends.whole()
    ends.put(1, 0, b"goes on")
    ends.run(ends.bench.endpoints[0].request_xfer(1, 0, KEEP, b"goes on"))
    assert ends.whole()


@pytest.mark.parametrize("what", PLACES)
def test_an_invalid_get_is_returned_and_changes_nothing(what: str) -> None:
    ends = Ends()
    at, data, code = PLACES[what]
    ends.run(ends.bench.endpoints[0].get_xfer(1, at, KEEP, 0, len(data)))
    (token,) = ends.bench.back[0]
    assert (token.status, token.opcode) == (code, "request get")
    assert ends.whole()
    assert not ends.bench.came[0]


def test_a_reply_outside_of_the_segment_is_rejected_and_returned_to_its_sender() -> None:
    ends = Ends()

    async def asked(token: Token) -> None:
        await token.reply_xfer(SIZE + 1, KEEP, b"nowhere")

    ends.bench.endpoints[1].set_handler(9, asked)
    ends.run(ends.bench.endpoints[0].request(1, 9))
    ends.bench.run(ends.bench.bundles[1].until(lambda: bool(ends.bench.back[1])))
    (token,) = ends.bench.back[1]
    assert (token.status, token.opcode, ends.bench.returned_data) == (
        Code.REPLY_REJECTED,
        "reply bulk",
        [b"nowhere"],
    )
    assert ends.whole()


Call = Callable[[Ends], Any]
MISUSES: dict[str, tuple[Call, Code, str]] = {
    "no offset": (lambda e: e.bench.endpoints[0].request_xfer(1, -1, KEEP, b""), Code.BAD_SEGMENT_OFFSET, "offset -1"),
    "a long offset": (
        lambda e: e.bench.endpoints[0].request_xfer(1, 1 << 32, KEEP, b""), Code.BAD_SEGMENT_OFFSET, "give an integer"
    ),
    "beyond all": (
        lambda e: e.bench.endpoints[0].request_xfer(1, (1 << 32) - 2, KEEP, b"12"), Code.BAD_LENGTH, "give fewer"
    ),
    "text": (lambda e: e.bench.endpoints[0].request_xfer(1, 0, KEEP, "x"), Code.BAD_LENGTH, "data must be bytes"),  # type: ignore[arg-type]
    "handler 0": (lambda e: e.bench.endpoints[0].request_xfer(1, 0, 0, b""), Code.BAD_HANDLER, "handler 0"),
    "a free translation": (lambda e: e.bench.endpoints[0].request_xfer(9, 0, KEEP, b""), Code.BAD_ENTRY, "is free"),
    "nine words": (
        lambda e: e.bench.endpoints[0].request_xfer(1, 0, KEEP, b"", *range(9)), Code.BAD_ARGUMENTS, "9 arguments"
    ),
    "getting beyond the own end": (
        lambda e: e.bench.endpoints[0].get_xfer(1, 0, KEEP, SIZE - 1, 2), Code.BAD_LENGTH, "own segment has 6000"
    ),
    "getting to outside": (
        lambda e: e.bench.endpoints[0].get_xfer(1, 0, KEEP, SIZE + 1, 0), Code.BAD_SEGMENT_OFFSET, "within it"
    ),
    "getting half a byte": (lambda e: e.bench.endpoints[0].get_xfer(1, 0, KEEP, 0, 0.5), Code.BAD_LENGTH, "0.5 bytes"),  # type: ignore[arg-type]
    "getting for no handler": (lambda e: e.bench.endpoints[0].get_xfer(1, 0, 77, 0, 1), Code.BAD_HANDLER, "set the"),
    "a segment that is not there": (
        lambda e: e.bench.endpoints[0].set_segment(0x7000_0000, 4), Code.BAD_SEGMENT_OFFSET, "nothing is mapped"
    ),
    "half a segment": (lambda e: e.bench.endpoints[0].set_segment(0, 0.5), Code.BAD_LENGTH, "invalid range"),  # type: ignore[arg-type]
    "no resources": (lambda e: e.bench.endpoints[0].set_expected_resources(0, 1), Code.BAD_ARGUMENTS, "give two"),
    "many resources": (lambda e: e.bench.endpoints[0].set_expected_resources(1, 33), Code.BAD_ARGUMENTS, "32 at most"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(name: str) -> None:
    ends = Ends()
    call, code, said = MISUSES[name]
    before = ends.bench.machine.faults.passed(0, 1)

    async def made() -> None:
        done = call(ends)
        if isinstance(done, Awaitable):
            await done

    with pytest.raises(Am2Error, match=said) as error:
        ends.bench.run(made())
    assert error.value.code is code
    assert ends.bench.machine.faults.passed(0, 1) == before
    ends.put(1, 0, b"goes on")
    ends.run(ends.bench.endpoints[0].request_xfer(1, 0, KEEP, b"goes on"))
    assert ends.whole()


def test_a_handler_cannot_begin_a_transfer() -> None:
    ends, refused = Ends(), list[str]()

    async def asked(token: Token) -> None:
        with pytest.raises(Am2Error) as error:
            await ends.bench.endpoints[1].request_xfer(0, 0, KEEP, b"")
        refused.append(error.value.cause)

    ends.bench.endpoints[1].set_handler(9, asked)
    ends.run(ends.bench.endpoints[0].request(1, 9))
    assert refused == ["the handler of a request short makes it"]


def test_an_unrequested_reply_with_data_writes_nothing() -> None:
    ends = Ends()

    async def forged(token: Token) -> None:
        await token.endpoint.reply(token, Kind.BULK, 200, (), b"forged", 0, True)

    ends.bench.endpoints[1].set_handler(9, forged)
    ends.run(ends.bench.endpoints[0].request(1, 9))
    ends.bench.run(ends.bench.bundles[1].until(lambda: bool(ends.bench.back[1])))
    assert ends.bench.back[1][0].status is Code.REPLY_REJECTED


def test_expected_resources_limit_the_unanswered_requests() -> None:
    ends = Ends()
    ends.bench.endpoints[0].set_expected_resources(1, 9)

    async def program() -> None:
        for _ in range(9):
            await ends.bench.endpoints[0].request(1, KEEP)
        assert ends.bench.endpoints[0].unanswered == 9

    ends.bench.run(program())
    ends.run()
