"""SSAM: Active Messages that the kernel moves, on FIFO cards of cells.

Strategy: two to four hosts of the machine. Requests and replies of all sizes must arrive once, in order and unharmed,
in storms of all to all too; traps and copied bytes are counted. Words of a message are changed between process and
kernel, as a hostile process would, and on the way. Cells are lost. Each misuse raises its own error.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from firmware.host.code_image import STEP, ImageError
from firmware.host.ssam import SsamError, check_options
from firmware.host.ssam.area import Area
from firmware.host.ssam.errors import OptionError
from firmware.host.ssam.message import MOST, Header, Kind
from pymodels.hardware.discover import nic_kind
from tests.unit.ssam_bench import Bench

Request = tuple[int, tuple[int, ...], bytes]
"""Destination, arguments, data."""
SIZES = (0, 1, 3, 27, 28, 29, 72, 73, 500, MOST)


async def give(bench: Bench, node: int, messages: Sequence[Request], answered: bool) -> None:
    """These requests."""
    handler = bench.answer if answered else bench.keep
    for destination, arguments, data in messages:
        await bench.ports[node].request(destination, handler(node), *arguments, data=data)


def test_requests_and_replies_arrive_once_in_order_and_unharmed_both_ways_at_once() -> None:
    bench, rng = Bench(), random.Random(1)
    sent = [
        [(1 - me, tuple(rng.getrandbits(32) for _ in range(size % 9)), rng.randbytes(size)) for size in SIZES]
        for me in range(2)
    ]
    bench.run(*(give(bench, me, sent[me], True) for me in range(2)), *(bench.until(me, 20) for me in range(2)))
    for me in range(2):
        requests = [message[1:] for message in bench.came[me] if message[0] == "REQUEST"]
        replies = [message[1:] for message in bench.came[me] if message[0] == "REPLY"]
        assert requests == [(1 - me, arguments, data) for _, arguments, data in sent[1 - me]]
        assert replies == [
            (1 - me, tuple(2 * one & 0xFFFFFFFF for one in arguments), data[::-1]) for _, arguments, data in sent[me]
        ]


def test_a_storm_of_all_to_all_with_the_longest_messages_ends() -> None:
    bench = Bench(4)
    sent = {me: [(to, (me,), bytes([me]) * MOST) for to in range(4) if to != me] * 3 for me in range(4)}
    bench.run(*(give(bench, me, sent[me], True) for me in sent), *(bench.until(me, 18) for me in sent))
    assert [len(came) for came in bench.came] == [18] * 4


@pytest.mark.parametrize("size", SIZES)
def test_a_message_is_two_traps_and_three_copies_of_its_bytes(size: int) -> None:
    bench = Bench()
    kernel, port = bench.ssams[0].kernel, bench.ports[0]
    before, polls = kernel.traps, port.polls
    bench.run(port.request(1, bench.keep(0), 5, 6, data=bytes(size)), bench.until(1, 1))
    bytes_sent = 16 + 8 + size
    assert kernel.traps - before - (port.polls - polls) == 2
    assert kernel.copied["process_to_card"] == bytes_sent
    assert bench.ssams[1].kernel.copied["card_to_kernel"] == bytes_sent
    assert bench.ssams[1].kernel.copied["kernel_to_process"] == bytes_sent


def test_an_explicit_poll_is_one_trap() -> None:
    bench = Bench()
    before = bench.ssams[0].kernel.traps
    assert bench.run(bench.ports[0].poll()) == [0]
    assert bench.ssams[0].kernel.traps - before == 1


def test_a_request_that_its_handler_does_not_answer_is_answered_by_the_library() -> None:
    bench = Bench(requests=1)
    bench.run(give(bench, 0, [(1, (number,), b"") for number in range(5)], False), bench.until(1, 5))
    assert [arguments for _, _, arguments, _ in bench.came[1]] == [(number,) for number in range(5)]
    assert not bench.came[0]


def test_more_requests_than_may_be_open_wait_for_answers() -> None:
    bench = Bench(requests=2)
    giving = bench.machine.kernel.spawn(give(bench, 0, [(1, (), b"")] * 3, False), "requests")
    bench.machine.run(5_000)
    assert not giving.finished.done
    waits = [str(wait) for wait in bench.machine.hosts[0].waits.declared()]
    assert any("an answer of node 1, held by host 1" in wait for wait in waits), waits
    bench.run(_ended(giving), bench.until(1, 3))


async def _ended(task: Any) -> None:
    await task.finished


# ---- protection


def trapping(bench: Bench, change: Callable[[bytearray], None]) -> None:
    """Change the header that process 0 has written, before its kernel looks at it."""
    kernel, send = bench.ssams[0].kernel, bench.ssams[0].kernel.send

    async def altered(area: Area, offset: int, send_number: int) -> None:
        header = bytearray(area.process.load_bytes(area.va + offset, 16))
        change(header)
        area.process.store_bytes(area.va + offset, bytes(header))
        await send(area, offset, send_number)

    kernel.send = altered  # type: ignore[method-assign, assignment]


def test_the_handler_that_runs_is_the_one_that_the_message_names() -> None:
    bench = Bench()
    trapping(bench, lambda header: header.__setitem__(7, header[7] + STEP))
    bench.run(bench.ports[0].request(1, bench.keep(0), 3), bench.until(1, 1), bench.until(0, 1))
    assert bench.came[0] == [("REPLY", 1, (6,), b"")], "the second handler answers"


def test_an_address_at_which_no_handler_begins_is_an_error_of_its_receiver() -> None:
    bench = Bench()
    trapping(bench, lambda header: header.__setitem__(7, 1))
    with pytest.raises(SsamError, match="process 1: a request of node 0: address 0x400001: no handler begins there"):
        bench.run(bench.ports[0].request(1, bench.keep(0)), bench.until(1, 1))


def test_key_and_source_are_the_kernels_word_not_the_processs() -> None:
    bench = Bench(3)
    spy = bench.run(bench.open(1, key=2))[0]
    trapping(bench, lambda header: header.__setitem__(slice(0, 9), bytes([0, 0, 0, 2, *header[4:8], 2])))
    bench.run(bench.ports[0].request(1, bench.keep(0), data=b"mine"), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, (), b"mine")]
    assert bench.run(spy.poll()) == [0]


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (9, 0, "a message to node 0: there is none"),
        (9, 9, "a message to node 9: there is none"),
        (10, 3, "it has no header"),
        (11, 9, "it has no header"),
        (12, 0xFF, "it has no header"),
    ],
)
def test_a_header_that_cannot_be_is_refused_by_the_kernel(at: int, value: int, said: str) -> None:
    bench = Bench()
    trapping(bench, lambda header: header.__setitem__(at, value))
    with pytest.raises(SsamError, match=said):
        bench.run(bench.ports[0].request(1, bench.keep(0)))


def test_a_trap_with_an_offset_that_is_not_the_next_slots_is_refused() -> None:
    bench = Bench()
    for offset in (0, 4, 1 << 20):
        with pytest.raises(SsamError, match=f"a message at offset {offset}: the next message stands elsewhere"):
            bench.run(bench.ssams[0].kernel.send(bench.ports[0].area, offset, 1))


def test_each_program_gets_its_own_messages_and_those_of_no_program_are_counted() -> None:
    bench = Bench()
    others = [bench.run(bench.open(node, key=7))[0] for node in range(2)]
    stranger = bench.run(bench.open(0, key=8))[0]
    bench.run(
        bench.ports[0].request(1, bench.keep(0), 1),
        others[0].request(1, bench.answer(0), 7),
        stranger.request(1, bench.keep(0), 8),
        others[1].until(lambda: len(bench.came[1]) == 1),
    )
    assert bench.came[1] == [("REQUEST", 0, (7,), b"")], "the first program has not polled"
    bench.run(bench.until(1, 2))
    assert bench.came[1][1] == ("REQUEST", 0, (1,), b"")
    assert bench.ssams[1].kernel.unclaimed == 1


def test_a_process_that_writes_nonsense_into_its_words_harms_itself_alone() -> None:
    bench = Bench()
    mad = bench.run(bench.open(1, key=2))[0]
    mad.area.process.store_words(mad.area.va, (0xFFFFFFFF,) * 3)
    sane = bench.run(bench.open(0, key=2))[0]
    bench.run(sane.request(1, bench.keep(0), 2), bench.ports[0].request(1, bench.keep(0), 1), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, (1,), b"")]


# ---- the network


def test_a_lost_cell_loses_its_message_and_no_other() -> None:
    bench = Bench()
    sent: list[Request] = [(1, (number,), bytes([number]) * 100) for number in range(3)]
    bench.machine.faults.drop(0, 1, bench.machine.faults.passed(0, 1) + 4)
    bench.run(give(bench, 0, sent, False), bench.until(1, 2))
    assert [arguments for _, _, arguments, _ in bench.came[1]] == [(0,), (2,)]
    assert (bench.ssams[1].kernel.lost_cells, bench.ssams[1].kernel.incomplete) == (1, 1)


def test_a_bit_that_falls_over_in_the_mapped_buffer_is_seen_by_the_handler() -> None:
    bench = Bench()
    port = bench.ports[0]
    trapping(bench, lambda header: port.area.process.store_bytes(port.area.va + port.area.next_slot() + 16, b"J"))
    bench.run(port.request(1, bench.keep(0), data=b"Hello"), bench.until(1, 1))
    assert bench.came[1][0][3] == b"Jello"


# ---- misuse

Misuse = Callable[[Bench], Awaitable[Any]]
MISUSES: dict[str, tuple[Misuse, type[Exception], str]] = {
    "itself": (lambda b: b.ports[0].request(0, b.keep(0)), SsamError, "a message to node 0: there is none"),
    "nobody": (lambda b: b.ports[0].request(5, b.keep(0)), SsamError, "a message to node 5: there is none; one of"),
    "a name": (lambda b: b.ports[0].request("metz", b.keep(0)), SsamError, "node 'metz': there is none"),  # type: ignore[arg-type]
    "nine words": (lambda b: b.ports[0].request(1, b.keep(0), *range(9)), SsamError, "9 arguments; give 8 at most"),
    "a negative word": (lambda b: b.ports[0].request(1, b.keep(0), -1), SsamError, "give words of 32 bits"),
    "a long word": (lambda b: b.ports[0].request(1, b.keep(0), 1 << 32), SsamError, "give words of 32 bits"),
    "a float": (lambda b: b.ports[0].request(1, b.keep(0), 1.0), SsamError, "give words of 32 bits"),  # type: ignore[arg-type]
    "half a word": (lambda b: b.ports[0].request(1, b.keep(0), 0.5), SsamError, "give words of 32 bits"),  # type: ignore[arg-type]
    "long data": (lambda b: b.ports[0].request(1, b.keep(0), data=bytes(MOST + 1)), SsamError, f"{MOST} bytes"),
    "text": (lambda b: b.ports[0].request(1, b.keep(0), data="text"), SsamError, "its data are no more"),  # type: ignore[arg-type]
    "a foreign handler": (lambda b: b.ports[0].request(1, b.keep(1)), ImageError, "it is not in the code image"),
    "a key twice": (lambda b: b.open(0, key=1), SsamError, "key 0x1: host0: process 1 has opened the device with it"),
    "a long key": (lambda b: b.open(0, key=1 << 32), SsamError, "it is not a word of 32 bits"),
    "a handler twice": (lambda b: b.open(0, 2, [b.keep(0)] * 2), ImageError, "it has a handler twice"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_misuse_raises_its_own_error_and_sends_nothing(name: str) -> None:
    bench = Bench()
    call, error, said = MISUSES[name]
    with pytest.raises(error, match=said):
        bench.run(call(bench))
    bench.run(bench.ports[0].request(1, bench.keep(0), 3), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, (3,), b"")]


def test_a_handler_sends_no_requests_and_answers_once() -> None:
    bench = Bench()
    with pytest.raises(SsamError, match="a request to node 0: the handler of a request makes it"):
        bench.run(bench.ports[0].request(1, bench.handlers[0][2]), bench.until(1, 1))

    for kind in Kind:
        bench = Bench()
        refused: list[str] = []

        async def twice(call: Any, refused: list[str] = refused, kind: Kind = kind) -> None:
            if call.kind is Kind.REQUEST:
                await call.reply(twice)
            if call.kind is kind:
                with pytest.raises(SsamError) as error:
                    await call.reply(twice)
                refused.append(error.value.cause)

        near, far = [bench.run(bench.open(node, 2, [twice]))[0] for node in range(2)]
        bench.run(near.request(1, twice), *(port.until(lambda found=refused: bool(found)) for port in (near, far)))
        assert refused == ["it is answered already" if kind is Kind.REQUEST else "a reply is not answered"]


def test_a_port_closes_when_all_is_answered_and_its_key_is_free_again() -> None:
    bench = Bench()
    port = bench.ports[0]
    bench.run(port.request(1, bench.keep(0)))
    with pytest.raises(SsamError, match="requests to node 1 are not answered"):
        bench.run(port.close())
    bench.run(port.until(lambda: not any(port._open.values())), bench.until(1, 1))
    bench.run(port.close())
    for call in (port.poll, port.close, lambda: port.request(1, bench.keep(0))):
        with pytest.raises(SsamError, match="it is closed; open it again"):
            bench.run(call())
    again = bench.run(bench.open(0))[0]
    bench.run(again.request(1, bench.keep(0), 4), bench.until(1, 2))
    assert bench.came[1][1] == ("REQUEST", 0, (4,), b"")


def test_the_layer_runs_on_its_card_alone_and_on_as_many_as_have_circuits() -> None:
    card = nic_kind("fifo").card(1 << 18)
    check_options({"requests": 16}, 64, 1 << 18, card)
    for options, nodes, kind, said in (
        ({}, 65, "fifo", "65 nodes: a FIFO card has 64 circuits"),
        ({}, 2, "lanai9", "it drives a FIFO card, and this is another NIC"),
        ({"requests": 0}, 2, "fifo", "0 is not a whole number in 1..16"),
        ({"request": 1}, 2, "fifo", "SSAM does not have it"),
    ):
        with pytest.raises(OptionError, match=said):
            check_options(options, nodes, 1 << 20, nic_kind(kind).card(1 << 20) if kind != "fifo" else card)


def test_a_header_is_what_it_was_before_packing() -> None:
    header = Header(1 << 31, 0x400000, 1, 2, Kind.REPLY, 8, 1999)
    assert Header.of(header.packed()) == header and header.size == 16 + 32 + 1999
