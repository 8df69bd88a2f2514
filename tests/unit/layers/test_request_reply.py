"""Requests and replies of SSAM and HPAM.

Strategy: two to four hosts of the machine. Requests and replies of all sizes must arrive once, in order and unchanged,
also in all-to-all storms. Handlers may answer a request once, and a reply not at all. Each misuse raises its own error
and sends nothing.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firmware.common.host.code_image import ImageError
from pymodels.errors import SanlabError
from tests.unit.layers.request_bench import Bench

LAYERS = ("ssam", "hpam")
MOST = {"ssam": 2000, "hpam": 1980}
"""Maximum number of data bytes."""
SIZES = (0, 1, 3, 27, 28, 29, 72, 73, 500, 1980)
each_layer = pytest.mark.parametrize("layer", LAYERS)


@each_layer
def test_requests_and_replies_arrive_once_in_order_and_unchanged_in_both_directions(layer: str) -> None:
    bench, rng = Bench(layer), random.Random(1)
    sent = [
        [(1 - me, tuple(rng.getrandbits(32) for _ in range(size % 9)), rng.randbytes(size)) for size in SIZES]
        for me in range(2)
    ]
    bench.run(*(bench.give(me, sent[me], True) for me in range(2)), *(bench.until(me, 20) for me in range(2)))
    for me in range(2):
        requests = [message[1:] for message in bench.came[me] if message[0] == "REQUEST"]
        replies = [message[1:] for message in bench.came[me] if message[0] == "REPLY"]
        assert requests == [(1 - me, arguments, data) for _, arguments, data in sent[1 - me]]
        assert replies == [
            (1 - me, tuple(2 * one & 0xFFFFFFFF for one in arguments), data[::-1]) for _, arguments, data in sent[me]
        ]


@each_layer
def test_an_all_to_all_storm_of_the_longest_messages_ends(layer: str) -> None:
    bench = Bench(layer, 4)
    sent = {me: [(to, (me,), bytes([me]) * MOST[layer]) for to in range(4) if to != me] * 3 for me in range(4)}
    bench.run(*(bench.give(me, sent[me], True) for me in sent), *(bench.until(me, 18) for me in sent))
    assert [len(came) for came in bench.came] == [18] * 4


@each_layer
def test_the_library_replies_to_a_request_whose_handler_does_not(layer: str) -> None:
    bench = Bench(layer)
    bench.run(bench.give(0, [(1, (number,), b"") for number in range(5)], False), bench.until(1, 5))
    assert [arguments for _, _, arguments, _ in bench.came[1]] == [(number,) for number in range(5)]
    assert not bench.came[0]


# ---- misuse

Misuse = Callable[[Bench], Awaitable[Any]]
MISUSES: dict[str, tuple[Misuse, type[Exception], str]] = {
    "itself": (lambda b: b.ports[0].request(0, b.keep(0)), SanlabError, "a message to node 0: unknown node"),
    "nobody": (lambda b: b.ports[0].request(5, b.keep(0)), SanlabError, "a message to node 5: unknown node; one of"),
    "a name": (lambda b: b.ports[0].request("metz", b.keep(0)), SanlabError, "node 'metz': unknown node"),
    "nine words": (lambda b: b.ports[0].request(1, b.keep(0), *range(9)), SanlabError, "9 arguments; give 8 at most"),
    "a negative word": (lambda b: b.ports[0].request(1, b.keep(0), -1), SanlabError, "give integers from 0 to"),
    "a long word": (lambda b: b.ports[0].request(1, b.keep(0), 1 << 32), SanlabError, "give integers from 0 to"),
    "a float": (lambda b: b.ports[0].request(1, b.keep(0), 1.0), SanlabError, "give integers from 0 to"),
    "half a word": (lambda b: b.ports[0].request(1, b.keep(0), 0.5), SanlabError, "give integers from 0 to"),
    "long data": (
        lambda b: b.ports[0].request(1, b.keep(0), data=bytes(3000)),
        SanlabError,
        "data must be bytes, at most",
    ),
    "text": (lambda b: b.ports[0].request(1, b.keep(0), data="text"), SanlabError, "data must be bytes"),
    "a foreign handler": (lambda b: b.ports[0].request(1, b.keep(1)), ImageError, "not in the code image"),
    "a key twice": (lambda b: b.open(0, key=1), SanlabError, "key 0x1: host0: process . has opened the"),
    "a long key": (lambda b: b.open(0, key=1 << 32), SanlabError, "not a 32-bit word"),
    "a handler twice": (lambda b: b.open(0, 2, [b.keep(0)] * 2), ImageError, "a handler is given twice"),
}


@each_layer
@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(layer: str, name: str) -> None:
    bench = Bench(layer)
    call, error, said = MISUSES[name]
    with pytest.raises(error, match=said):
        bench.run(call(bench))
    bench.run(bench.ports[0].request(1, bench.keep(0), 3), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, (3,), b"")]


@each_layer
def test_a_handler_cannot_send_requests_and_replies_only_once(layer: str) -> None:
    bench = Bench(layer)
    with pytest.raises(SanlabError, match="a request to node 0: the handler of a request makes it"):
        bench.run(bench.ports[0].request(1, bench.handlers[0][2]), bench.until(1, 1))

    for kind in ("REQUEST", "REPLY"):
        bench = Bench(layer)
        refused: list[str] = []

        async def twice(call: Any, refused: list[str] = refused, kind: str = kind) -> None:
            if call.kind.name == "REQUEST":
                await call.reply(twice)
            if call.kind.name == kind:
                with pytest.raises(SanlabError) as error:
                    await call.reply(twice)
                refused.append(error.value.cause)

        near, far = [bench.run(bench.open(node, 2, [twice]))[0] for node in range(2)]
        bench.run(near.request(1, twice), *(port.until(lambda found=refused: bool(found)) for port in (near, far)))
        assert refused == ["the request has its reply" if kind == "REQUEST" else "the message is a reply"]


@each_layer
def test_closing_a_port_waits_for_all_replies_and_frees_its_key(layer: str) -> None:
    bench = Bench(layer)
    port = bench.ports[0]
    bench.run(port.request(1, bench.keep(0)))
    with pytest.raises(SanlabError, match="requests to node 1 have no reply yet"):
        bench.run(port.close())
    bench.run(port.until(lambda: not port.unanswered), bench.until(1, 1))
    bench.run(port.close())
    for call in (port.poll, port.close, lambda: port.request(1, bench.keep(0))):
        with pytest.raises(SanlabError, match="is closed; open it again"):
            bench.run(call())
    again = bench.run(bench.open(0))[0]
    bench.run(again.request(1, bench.keep(0), 4), bench.until(1, 2))
    assert bench.came[1][1] == ("REQUEST", 0, (4,), b"")
