"""SSAM: Active Messages moved by the kernel, on FIFO cards with cells.

Strategy: two and three hosts of the machine. Traps and copied bytes are counted. Words of a message are changed between
process and kernel, as a hostile process would. Cells are dropped. Behaviour shared with HPAM is tested in
`test_request_reply`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from firmware.common.host.code_image import STEP
from firmware.common.host.request_reply import Kind
from firmware.options import OptionError
from firmware.ssam.host import SsamError, check_options
from firmware.ssam.host.area import Area
from firmware.ssam.host.message import MOST, Header
from pymodels.hardware.discover import nic_kind
from tests.unit.layers import request_bench
from tests.unit.layers.request_bench import Request

Bench = partial(request_bench.Bench, "ssam")
SIZES = (0, 1, 3, 27, 28, 29, 72, 73, 500, MOST)


@pytest.mark.parametrize("size", SIZES)
def test_a_message_takes_two_traps_and_three_copies(size: int) -> None:
    bench = Bench()
    kernel, port = bench.layers[0].kernel, bench.ports[0]
    before, polls = kernel.traps, port.polls
    bench.run(port.request(1, bench.keep(0), 5, 6, data=bytes(size)), bench.until(1, 1))
    bytes_sent = 16 + 8 + size
    assert kernel.traps - before - (port.polls - polls) == 2
    assert kernel.copied["process_to_card"] == bytes_sent
    assert bench.layers[1].kernel.copied["card_to_kernel"] == bytes_sent
    assert bench.layers[1].kernel.copied["kernel_to_process"] == bytes_sent


def test_the_longest_message_with_all_arguments_arrives_complete() -> None:
    bench, data = Bench(), bytes(number % 251 for number in range(MOST))
    bench.run(bench.ports[0].request(1, bench.keep(0), *range(8), data=data), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, tuple(range(8)), data)]


def test_an_explicit_poll_is_one_trap() -> None:
    bench = Bench()
    before = bench.layers[0].kernel.traps
    assert bench.run(bench.ports[0].poll()) == [0]
    assert bench.layers[0].kernel.traps - before == 1


def test_requests_beyond_the_limit_wait_for_replies() -> None:
    bench = Bench(requests=2)
    giving = bench.machine.kernel.spawn(bench.give(0, [(1, (), b"")] * 3, False), "requests")
    bench.machine.run(5_000)
    assert not giving.finished.done
    waits = [str(wait) for wait in bench.machine.hosts[0].waits.declared()]
    assert any("a reply from node 1, held by host 1" in wait for wait in waits), waits
    bench.run(_ended(giving), bench.until(1, 3))


async def _ended(task: Any) -> None:
    await task.finished


# ---- protection


def trapping(bench: request_bench.Bench, change: Callable[[bytearray], None]) -> None:
    """Change the header that process 0 has written before its kernel reads it."""
    kernel, send = bench.layers[0].kernel, bench.layers[0].kernel.send

    async def altered(area: Area, offset: int, send_number: int) -> None:
        header = bytearray(area.process.load_bytes(area.va + offset, 16))
        change(header)
        area.process.store_bytes(area.va + offset, bytes(header))
        await send(area, offset, send_number)

    kernel.send = altered


def test_the_handler_at_the_address_in_the_message_runs() -> None:
    bench = Bench()
    trapping(bench, lambda header: header.__setitem__(7, header[7] + STEP))
    bench.run(bench.ports[0].request(1, bench.keep(0), 3), bench.until(1, 1), bench.until(0, 1))
    assert bench.came[0] == [("REPLY", 1, (6,), b"")], "the second handler answers"


def test_an_address_of_no_handler_is_reported_by_the_receiver() -> None:
    bench = Bench()
    trapping(bench, lambda header: header.__setitem__(7, 1))
    with pytest.raises(
        SsamError, match="process 1: a request of node 0: address 0x400001: no handler has this address"
    ):
        bench.run(bench.ports[0].request(1, bench.keep(0)), bench.until(1, 1))


def test_the_kernel_overwrites_key_and_source_of_a_message() -> None:
    bench = Bench(3)
    spy = bench.run(bench.open(1, key=2))[0]
    trapping(bench, lambda header: header.__setitem__(slice(0, 9), bytes([0, 0, 0, 2, *header[4:8], 2])))
    bench.run(bench.ports[0].request(1, bench.keep(0), data=b"mine"), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, (), b"mine")]
    assert bench.run(spy.poll()) == [0]


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (9, 0, "message to node 0: unknown node"),
        (9, 9, "message to node 9: unknown node"),
        (10, 3, "invalid header"),
        (11, 9, "invalid header"),
        (12, 0xFF, "invalid header"),
    ],
)
def test_the_kernel_rejects_an_invalid_header(at: int, value: int, said: str) -> None:
    bench = Bench()
    trapping(bench, lambda header: header.__setitem__(at, value))
    with pytest.raises(SsamError, match=said):
        bench.run(bench.ports[0].request(1, bench.keep(0)))


def test_the_kernel_rejects_an_offset_other_than_next() -> None:
    bench = Bench()
    for offset in (0, 4, 1 << 20):
        with pytest.raises(SsamError, match=f"message at offset {offset}: the next message is at another offset"):
            bench.run(bench.layers[0].kernel.send(bench.ports[0].area, offset, 1))


def test_messages_reach_the_program_with_their_key_and_those_of_an_unknown_key_are_counted() -> None:
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
    assert bench.layers[1].kernel.unclaimed == 1


def test_invalid_values_in_the_shared_words_of_a_process_do_not_affect_others() -> None:
    bench = Bench()
    mad = bench.run(bench.open(1, key=2))[0]
    mad.area.process.store_words(mad.area.va, (0xFFFFFFFF,) * 3)
    sane = bench.run(bench.open(0, key=2))[0]
    bench.run(sane.request(1, bench.keep(0), 2), bench.ports[0].request(1, bench.keep(0), 1), bench.until(1, 1))
    assert bench.came[1] == [("REQUEST", 0, (1,), b"")]


# ---- the network


def test_a_lost_cell_loses_only_its_message() -> None:
    bench = Bench()
    sent: list[Request] = [(1, (number,), bytes([number]) * 100) for number in range(3)]
    bench.machine.faults.drop(0, 1, bench.machine.faults.passed(0, 1) + 4)
    bench.run(bench.give(0, sent, False), bench.until(1, 2))
    assert [arguments for _, _, arguments, _ in bench.came[1]] == [(0,), (2,)]
    assert (bench.layers[1].kernel.lost_cells, bench.layers[1].kernel.incomplete) == (1, 1)


def test_the_handler_sees_a_bit_flipped_in_the_mapped_buffer() -> None:
    bench = Bench()
    port = bench.ports[0]
    trapping(bench, lambda header: port.area.process.store_bytes(port.area.va + port.area.next_slot() + 16, b"J"))
    bench.run(port.request(1, bench.keep(0), data=b"Hello"), bench.until(1, 1))
    assert bench.came[1][0][3] == b"Jello"


def test_other_cards_and_more_nodes_than_circuits_are_rejected() -> None:
    card = nic_kind("fifo").card(1 << 18)
    check_options({"requests": 16}, 64, 1 << 18, card)
    for options, nodes, kind, said in (
        ({}, 65, "fifo", "65 nodes: a FIFO card has 64 circuits"),
        ({}, 2, "lanai9", "it drives a FIFO card, and the profile has another NIC"),
        ({"requests": 0}, 2, "fifo", "ssam.requests is 0; give 1 to 16"),
        ({"request": 1}, 2, "fifo", "unknown option 'request': ssam has no such option"),
    ):
        with pytest.raises(OptionError, match=said):
            check_options(options, nodes, 1 << 20, nic_kind(kind).card(1 << 20) if kind != "fifo" else card)


def test_a_header_survives_encoding_and_decoding() -> None:
    header = Header(1 << 31, 0x400000, 1, 2, Kind.REPLY, 8, 1999)
    assert Header.decode(header.packed()) == header and header.size == 16 + 32 + 1999
