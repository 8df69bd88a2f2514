"""Active Messages: handlers by address, PUT and GET, and freedom from deadlock of requests and replies.

Strategy: two to four hosts of the machine, with each LANai. Messages of all sizes must arrive once, in order and
unchanged, also all to all. A message is modified in transit: another handler must run, or an error must name the
address; other payload must arrive. Each misuse raises its own error, and the port stays usable.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest

from firmware.am.host import AmError, Call, Port
from firmware.am.nic.layout import MOST, PORT, SLOTS, WORDS, Place, Word
from firmware.common.host.code_image import BASE, STEP, ImageError
from firmware.layers import check_options
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.machine import MachineError
from tests.unit.am.am_bench import Bench

SIZES = (0, 1, 3, 4, 31, 32, 33, 1000, MOST - 1, MOST)
LONG_NS = 300_000
each_nic = pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
each_receive = pytest.mark.parametrize("receive", ["poll", "interrupt"])


async def give(bench: Bench, node: int, messages: Sequence[tuple[int, tuple[int, ...], bytes]]) -> None:
    for to, arguments, data in messages:
        await bench.ports[node].request(to, bench.answer, *arguments, data=data)


@each_nic
def test_requests_and_replies_arrive_once_in_order_and_unharmed_both_ways_at_once(nic: str) -> None:
    bench, rng = Bench(nic=nic), random.Random(1)
    sent = [
        [
            (1 - me, tuple(rng.getrandbits(32) for _ in range(n % 6)), rng.randbytes(size))
            for n, size in enumerate(SIZES)
        ]
        for me in range(2)
    ]
    count = 2 * len(SIZES)
    bench.run(*(give(bench, me, sent[me]) for me in range(2)), *(bench.until(me, count) for me in range(2)))
    for me in range(2):
        assert [came[1:] for came in bench.came[me] if came[0] == 0] == [(1 - me, *one[1:]) for one in sent[1 - me]]
        assert [came[1:] for came in bench.came[me] if came[0] == 1] == [
            (1 - me, tuple(2 * one & 0xFFFFFFFF for one in arguments), data[::-1]) for _, arguments, data in sent[me]
        ]


@each_nic
def test_all_to_all_requests_of_the_longest_messages_complete(nic: str) -> None:
    bench = Bench(4, nic)
    sent = {me: [(to, (me,), bytes([me]) * MOST) for to in range(4) if to != me] * 6 for me in range(4)}
    bench.run(*(give(bench, me, sent[me]) for me in sent), *(bench.until(me, 36) for me in sent))
    assert [len(came) for came in bench.came] == [36] * 4


@each_nic
@pytest.mark.parametrize("size", [0, 4, 30, MOST, 3 * MOST + 5])
def test_put_and_get_copy_exactly_their_bytes_and_increment_the_flag_at_the_data(nic: str, size: int) -> None:
    bench, data = Bench(nic=nic), random.Random(size).randbytes(size)
    near, far = (layer.host for layer in bench.layers)
    source, target, back = near.allocate(size + 8), far.allocate(size + 8), near.allocate(size + 8)
    flags = near.allocate(8).address, far.allocate(8).address
    near.store_bytes(source.address, data)
    target.view[:] = back.view[:] = b"\xa5" * (size + 8)

    async def first() -> None:
        await bench.ports[0].put(1, target.address, source.address, size, flags[1])
        await bench.ports[0].until(lambda: not bench.ports[0].unanswered)
        assert near.load_words(flags[0], 1) == (0,)
        await bench.ports[0].get(1, target.address, back.address, size, flags[0])
        await bench.ports[0].flag(flags[0], 1)

    async def second() -> None:
        await bench.ports[1].flag(flags[1], 1)
        await bench.ports[1].until(lambda: bench.ports[1].handled >= 2 * -(-max(size, 1) // MOST))

    bench.run(first(), second())
    assert bytes(target.view) == bytes(back.view) == data + b"\xa5" * 8
    assert far.load_words(flags[1], 1) == (1,)


def rewritten(host: Any, handler: int) -> Any:
    """Return a patch of the bus that replaces the handler address of the first descriptor."""
    original, at = host.pio_write, host.nic_base + Word.DESCRIPTORS

    async def changed(address: int, data: bytes, combine: bool = False) -> None:
        if address == at:
            data = data[:8] + handler.to_bytes(4, "big") + data[12:]
        await original(address, data, combine)

    return patch.object(host, "pio_write", changed)


def test_the_handler_at_the_address_in_the_message_runs() -> None:
    bench = Bench()
    with rewritten(bench.layers[0].host, BASE + 3 * STEP):  # `answer`, after PUT, GET and `keep`
        bench.run(bench.ports[0].request(1, bench.keep, 7), bench.until(1, 1), bench.until(0, 1))
    assert bench.came == [[(1, 1, (14,), b"")], [(0, 0, (7,), b"")]]


def test_an_address_of_no_handler_is_reported_by_the_receiver() -> None:
    bench = Bench()
    said = f"host host1: a request of node 0: address {BASE + 1:#x}: no handler has this address"
    with rewritten(bench.layers[0].host, BASE + 1), pytest.raises(AmError, match=said):
        bench.run(bench.ports[0].request(1, bench.keep, 7), bench.until(1, 1))


def test_the_handler_sees_the_bytes_in_the_receive_buffer_not_a_copy() -> None:
    bench = Bench()
    bench.run(bench.ports[0].request(1, bench.keep, data=b"sent"))
    bench.run(bench.machine.host(1).sleep(50_000_000, "its arrival"))
    place = Place(2)
    memory = bench.layers[1]._memory
    at = place.receive + Place.buffer(0, 0, 0)
    assert bytes(memory.view[at : at + 4]) == b"sent"
    memory.view[at] ^= 1
    bench.run(bench.until(1, 1))
    assert bench.came[1] == [(0, 0, (), b"rent")]


def test_a_message_of_a_different_code_image_is_reported_with_its_source() -> None:
    bench = Bench(own=iter([[], [Bench.until]]).__next__)
    with pytest.raises(
        AmError, match="request from node 0: its code image differs from this node's; open AM with the same"
    ):
        bench.run(bench.ports[0].request(1, bench.keep), bench.until(1, 1))


# ---- misuse

Misuse = Callable[[Bench], Awaitable[Any]]
MISUSES: dict[str, tuple[Misuse, type[Exception], str]] = {
    "itself": (lambda b: b.ports[0].request(0, b.keep), AmError, "a message to node 0: unknown node"),
    "an unknown node": (
        lambda b: b.ports[0].request(5, b.keep),
        AmError,
        r"a message to node 5: unknown node; one of \[1\]",
    ),
    "a node of type str": (lambda b: b.ports[0].request("metz", b.keep), AmError, "node 'metz': unknown node"),  # type: ignore[arg-type]
    "six words": (lambda b: b.ports[0].request(1, b.keep, *range(6)), AmError, "6 arguments; give 5 at most"),
    "a negative word": (lambda b: b.ports[0].request(1, b.keep, -1), AmError, "give integers from 0 to"),
    "a long word": (lambda b: b.ports[0].request(1, b.keep, 1 << 32), AmError, "give integers from 0 to"),
    "a fractional word": (lambda b: b.ports[0].request(1, b.keep, 0.5), AmError, "give integers"),  # type: ignore[arg-type]
    "long data": (lambda b: b.ports[0].request(1, b.keep, data=bytes(MOST + 1)), AmError, "at most 4096 of them"),
    "data of type str": (lambda b: b.ports[0].request(1, b.keep, data="x"), AmError, "data must be bytes"),  # type: ignore[arg-type]
    "a foreign handler": (lambda b: b.ports[0].request(1, b.until), ImageError, "not in the code image"),
    "put to an unknown node": (lambda b: b.ports[0].put(7, 0, 0, 4, 0), AmError, "a message to node 7: unknown node"),
    "put of a negative size": (lambda b: b.ports[0].put(1, 0, 0, -1, 0), AmError, "invalid size -1; give 0 or more"),
    "put from a misaligned address": (
        lambda b: b.ports[0].put(1, 0, 2, 4, 0),
        AmError,
        "invalid source address 2; give a physical",
    ),
    "get to a misaligned address": (
        lambda b: b.ports[0].get(1, 0, 3, 4, 0),
        AmError,
        "invalid target address 3; give a physical",
    ),
    "a misaligned flag": (lambda b: b.ports[0].get(1, 0, 0, 4, 1), AmError, "invalid flag address 1; give a physical"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(name: str) -> None:
    bench = Bench()
    call, error, said = MISUSES[name]
    with pytest.raises(error, match=said):
        bench.run(call(bench))
    bench.run(bench.ports[0].request(1, bench.keep, 3), bench.until(1, 1))
    assert bench.came[1] == [(0, 0, (3,), b"")]


def test_am_is_opened_once_and_its_options_are_checked() -> None:
    bench = Bench()
    with pytest.raises(AmError, match="its port is already open; open it once"):
        bench.layers[0].open([])
    card = bench.machine.host(0).card
    wrong: list[tuple[dict[str, int | str], str]] = [
        ({"unrestrict": 1}, "unrestricted"),
        ({"unrestricted": 2}, "am.unrestricted is 2; give 0 to 1"),
        ({"receive": "sometimes"}, "unknown word: am.receive is 'sometimes'"),
    ]
    for options, said in wrong:
        with pytest.raises(OptionError, match=said):
            check_options("am", options, 2, 1 << 20, card)
    with pytest.raises(OptionError, match="a packet of this NIC holds 2032 bytes, .*; use a profile with a LANai"):
        check_options("am", {}, 2, 1 << 20, nic_kind("sp").card(1 << 20))
    with pytest.raises(OptionError, match="65 nodes: the NIC has descriptors for 64"):
        check_options("am", {}, 65, 1 << 20, card)


# ---- the rule


def serve_messages(port: Port, receive: str, over: Callable[[], bool]) -> Awaitable[None]:
    """Run handlers until `over()`, or during a computation that messages interrupt."""
    return port.compute(LONG_NS) if receive == "interrupt" else port.until(over)


@each_receive
@pytest.mark.parametrize("kind", ["request", "reply"])
def test_a_request_sent_by_a_handler_is_rejected(kind: str, receive: str) -> None:
    async def asks(call: Call) -> None:
        if call.kind.label == kind:
            await call.port.request(call.source, asks)
        else:
            await call.reply(asks)

    async def ask(port: Port) -> None:
        await port.request(1, asks)
        await serve_messages(port, receive, lambda: port.handled > 0)

    bench = Bench(own=lambda: [asks], receive=receive)
    near, far = bench.ports
    with pytest.raises(AmError, match=f"a request to node .: the handler of a {kind} makes it; reply"):
        bench.run(ask(near), serve_messages(far, receive, lambda: far.handled > 0), within_us=1000)


@pytest.mark.parametrize(("kind", "said"), [(0, "the request has its reply"), (1, "the message is a reply")])
def test_a_second_reply_and_a_reply_to_a_reply_are_rejected(kind: int, said: str) -> None:
    refused: list[str] = []

    async def twice(call: Call) -> None:
        if call.kind == 0:
            await call.reply(twice)
        if call.kind == kind:
            with pytest.raises(AmError) as error:
                await call.reply(twice)
            refused.append(error.value.cause)

    bench = Bench(own=lambda: [twice])
    near, far = bench.ports
    bench.run(near.request(1, twice), near.until(lambda: not near.unanswered), far.until(lambda: far.handled == 1))
    assert refused == [said]


@each_receive
def test_requests_of_unrestricted_handlers_deadlock_and_the_report_names_both_nodes(receive: str) -> None:
    async def asks(call: Call) -> None:
        for _ in range(SLOTS + 1):
            await call.port.request(call.source, bench.keep)

    async def flood(port: Port) -> None:
        for _ in range(SLOTS):
            await port.request(1 - port.me, asks)
        await serve_messages(port, receive, lambda: not port.unanswered)

    bench = Bench(own=lambda: [asks], unrestricted=1, receive=receive)
    with pytest.raises(MachineError) as report:
        bench.run(flood(bench.ports[0]), flood(bench.ports[1]), within_us=1e4)
    assert "a reply from node 0" in str(report.value)
    assert "a reply from node 1" in str(report.value)


def test_buffers_and_queues_do_not_overlap_in_host_and_nic_memory() -> None:
    place = Place(3)
    ends = [place.receive, place.queue, place.bytes]
    assert ends == sorted(ends)
    assert Place.buffer(2, 1, 3) + MOST == place.receive == place.queue - place.receive
    assert Word.DESCRIPTORS + 64 * 8 * 64 == PORT
    assert 4 * (WORDS + 2) <= 64
