"""HPAM: buffers of the card, retransmission timers, and processes that take turns.

Strategy: two to eight hosts of the machine. Requests and replies are lost, duplicated and damaged: handlers run once,
or once a received request with `duplicates=execute`. Several processes of a host share the card under the daemon. Each
must get its own messages unchanged, also those that arrived while another process had the card. All senders at once
fill the receive pool as far as the paper says. Behaviour shared with SSAM is tested in `test_request_reply`.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest

from firmware.common.host.code_image import STEP
from firmware.common.host.request_reply import Kind
from firmware.hpam.host import NODES, HpamError, check_options
from firmware.hpam.host.message import FORMAT, MOST, SLOTS, Header
from firmware.hpam.host.slots import SEQUENCES, Slots
from firmware.layers import tolerates_loss
from firmware.options import OptionError
from pymodels.hardware.discover import nic_kind
from pymodels.machine import MachineError
from tests.unit.layers import request_bench

Bench = partial(request_bench.Bench, "hpam")


def numbered(node: int, count: int, size: int = 8) -> list[request_bench.Request]:
    """Return distinct requests."""
    return [(node, (number,), bytes([number & 0xFF]) * size) for number in range(count)]


def seen(bench: request_bench.Bench, node: int, kind: str = "REQUEST") -> list[tuple[int, ...]]:
    """Return the arguments of the messages received by a node."""
    return [arguments for one, _, arguments, _ in bench.came[node] if one == kind]


# ---- the network


@pytest.mark.parametrize("seed", range(3))
def test_every_handler_runs_once_though_packets_are_lost_and_damaged(seed: int) -> None:
    bench = Bench(timeout_us=100, seed=seed)
    bench.machine.faults.lose(0.2)
    ends = [port.until(lambda: [len(came) for came in bench.came] == [30, 30]) for port in bench.ports]
    bench.run(bench.give(0, numbered(1, 30), True), *ends)
    assert sorted(seen(bench, 1)) == [(number,) for number in range(30)]
    assert sorted(seen(bench, 0, "REPLY")) == [(2 * number,) for number in range(30)]
    assert bench.ports[0].sender.resent and bench.ports[1].duplicates and not bench.ports[1].executed_twice


def test_with_duplicates_execute_a_request_whose_reply_is_lost_runs_again() -> None:
    bench = Bench(timeout_us=100, duplicates="execute")
    bench.machine.faults.drop(1, 0, bench.machine.faults.passed(1, 0))
    bench.run(bench.give(0, numbered(1, 1), True), bench.until(0, 1), bench.until(1, 2))
    assert seen(bench, 1) == [(0,), (0,)] and bench.ports[1].executed_twice == 1


def test_a_damaged_packet_is_dropped_and_retransmitted() -> None:
    bench = Bench(timeout_us=100)
    bench.machine.faults.corrupt(0, 1, bench.machine.faults.passed(0, 1))
    bench.run(bench.give(0, numbered(1, 1), True), bench.until(0, 1), bench.until(1, 1))
    assert (bench.ports[1].damaged, bench.ports[0].sender.resent, seen(bench, 1)) == (1, 1, [(0,)])


def test_the_timeout_of_a_request_doubles_with_each_retransmission() -> None:
    """Retransmissions follow after 100, 300, 700 and 1,500 us."""
    bench = Bench(timeout_us=100)
    bench.machine.faults.lose(1)
    port = bench.ports[0]
    bench.run(bench.give(0, numbered(1, 1), True), port.until(lambda: port.process.host.now > 1_600_000_000))
    assert port.sender.resent == 4


def test_the_pool_holds_all_messages_that_the_partners_may_have_outstanding() -> None:
    """Paper 002: 24 buffers for 4 nodes; here only the requests, since no process polls."""
    bench = Bench(4)
    assert [layer.daemon.pool for layer in bench.layers] == [24] * 4
    bench.run(*(bench.give(node, numbered(0, SLOTS), False) for node in (1, 2, 3)))
    bench.machine.run(1_000)
    assert bench.machine.network.in_flight() == 0
    assert bench.run(bench.layers[0].daemon.arrived()) == [3 * SLOTS]


def test_a_fifth_request_waits_and_the_report_names_the_missing_reply() -> None:
    bench = Bench()
    giving = bench.machine.kernel.spawn(bench.give(0, numbered(1, 5), False), "requests")
    bench.machine.run(300)
    assert not giving.finished.done and bench.ports[0].unanswered == SLOTS
    waits = [str(wait) for wait in bench.machine.hosts[0].waits.declared()]
    assert any("a request buffer of node 1, held by host 1" in wait for wait in waits), waits


def test_requests_of_unrestricted_handlers_deadlock() -> None:
    bench = Bench(unrestricted=1)

    async def storm(node: int) -> None:
        async def again(call: Any) -> None:
            for _ in range(2):
                await ports[node].request(call.source, images[node])

        images[node] = again
        ports[node] = (await _both(bench.open(node, 2, [again])))[0]

    async def _both(call: Any) -> list[Any]:
        return [await call]

    images: dict[int, Any] = {}
    ports: dict[int, Any] = {}
    bench.run(*(storm(node) for node in range(2)))
    with pytest.raises(MachineError) as hung:
        bench.run(*(_storming(ports[node], 1 - node, images[node]) for node in range(2)), within_us=50_000)
    assert all(f"a request buffer of node {node}" in str(hung.value) for node in range(2))


async def _storming(port: Any, other: int, handler: Any) -> None:
    for _ in range(10):
        await port.request(other, handler)
    await port.until(lambda: port.unanswered == 0)


# ---- several processes


def opened(bench: request_bench.Bench, keys: range, came: dict[tuple[int, int], list[Any]]) -> dict[Any, Any]:
    """Open processes of further programs on both hosts; received messages are recorded by node and key."""
    handlers: dict[tuple[int, int], Any] = {}
    ports: dict[Any, Any] = {"handlers": handlers}
    for key in keys:
        for node in range(2):

            async def keep(call: Any, where: tuple[int, int] = (node, key)) -> None:
                came[where].append((call.kind.name, call.arguments, call.data))
                if call.kind is Kind.REQUEST:
                    await call.reply(handlers[where], *call.arguments, data=call.data)

            handlers[node, key] = keep
            came[node, key] = []
            ports[node, key] = bench.run(bench.open(node, key, [keep]))[0]
    return ports


@pytest.mark.parametrize(("seed", "loss"), [(1, 0.0), (2, 0.0), (3, 0.05)])
def test_each_process_gets_its_own_messages_whichever_process_has_the_card(seed: int, loss: float) -> None:
    bench = Bench(quantum_us=200, timeout_us=700, seed=seed)
    bench.machine.faults.lose(loss)
    bench.run(*(port.close() for port in bench.ports))
    came: dict[tuple[int, int], list[Any]] = {}
    rng, keys = random.Random(seed), range(2, 5)
    ports = opened(bench, keys, came)
    sent = {key: [((key, number), rng.randbytes(rng.randrange(300))) for number in range(12)] for key in keys}

    async def near(key: int) -> None:
        for arguments, data in sent[key]:
            await ports[0, key].request(1, ports["handlers"][0, key], *arguments, data=data)
        await ports[0, key].until(lambda: len(came[0, key]) == len(sent[key]))

    async def far(key: int) -> None:
        await ports[1, key].until(lambda: all(len(came[0, one]) == len(sent[one]) for one in keys))

    bench.run(*(near(key) for key in keys), *(far(key) for key in keys), within_us=3e6)
    for key in keys:
        assert sorted(came[1, key]) == sorted(("REQUEST", arguments, data) for arguments, data in sent[key])
        assert sorted(came[0, key]) == sorted(("REPLY", arguments, data) for arguments, data in sent[key])
    daemons = [layer.daemon for layer in bench.layers]
    assert all(daemon.switches > 4 for daemon in daemons)
    assert sum(ports[node, key].foreign for node in range(2) for key in keys), "some came to another process"
    if not loss:
        assert all(ports[node, key].executed_twice == 0 for node in range(2) for key in keys)


def test_a_message_for_a_stopped_process_waits_for_it_in_its_input_queue() -> None:
    bench = Bench(quantum_us=300, timeout_us=100_000)
    came: dict[tuple[int, int], list[Any]] = {}
    ports = opened(bench, range(7, 8), came)
    first, second = bench.ports[1], ports[1, 7]
    data = bytes(range(256))
    bench.run(ports[0, 7].request(1, ports["handlers"][0, 7], 5, data=data))

    async def others() -> None:  # the first process polls, until the daemon has moved what came
        await first.until(lambda: bool(len(second.incoming)))

    bench.run(others())
    assert first.foreign == 1 and not came[1, 7]
    va, _ = second.incoming.first()
    stored = second.process.load_bytes(va, FORMAT.size + 4 + len(data))
    assert Header.decode(stored).key == 7 and stored[FORMAT.size + 4 :] == data
    bench.run(second.until(lambda: bool(came[1, 7])))
    assert came[1, 7] == [("REQUEST", (5,), data)]
    assert len(second.waited) == 1 and second.waited[0] <= 4 * 300_000_000


def test_the_cost_of_a_switch_grows_with_the_messages_it_moves() -> None:
    took: dict[int, int] = {}
    for count in (0, 1, 3):
        bench = Bench(quantum_us=300, timeout_us=100_000)
        came: dict[tuple[int, int], list[Any]] = {}
        ports = opened(bench, range(7, 8), came)
        daemon, first = bench.layers[1].daemon, bench.ports[1]
        give = daemon._give

        async def timed(old: Any, new: Any, daemon: Any = daemon, give: Any = give) -> None:
            begun, before = daemon.host.now, daemon.moved
            await give(old, new)
            took.setdefault(daemon.moved - before, daemon.host.now - begun)

        daemon._give = timed
        for _ in range(count):
            bench.run(ports[0, 7].request(1, ports["handlers"][0, 7], data=bytes(500)))
        bench.run(first.until(lambda count=count: count in took))
    assert took[0] < took[1] < took[3]


def test_unanswered_requests_are_saved_with_their_process_and_retransmitted_unchanged() -> None:
    bench = Bench(quantum_us=200, timeout_us=500)
    came: dict[tuple[int, int], list[Any]] = {}
    ports = opened(bench, range(7, 8), came)
    data = bytes(range(200))
    bench.machine.faults.drop(0, 1, bench.machine.faults.passed(0, 1))
    bench.run(bench.give(0, [(1, (1,), data)], True))  # lost; then the other process uses the same buffer
    bench.run(ports[0, 7].request(1, ports["handlers"][0, 7], 2, data=b"other"))

    async def rest() -> None:
        await bench.ports[0].until(lambda: bool(bench.came[0]))

    bench.run(rest(), ports[0, 7].until(lambda: bool(came[0, 7])), bench.until(1, 1), _polls(ports[1, 7], came[0, 7]))
    assert bench.came[1] == [("REQUEST", 0, (1,), data)] and came[1, 7] == [("REQUEST", (2,), b"other")]


async def _polls(port: Any, until: list[Any]) -> None:
    await port.until(lambda: bool(until))


def test_messages_with_an_unknown_key_are_counted_by_the_daemon() -> None:
    bench = Bench(quantum_us=200)
    came: dict[tuple[int, int], list[Any]] = {}
    opened(bench, range(7, 8), came)
    stranger = bench.run(bench.open(0, 9))[0]
    bench.run(stranger.request(1, bench.keep(0)))
    bench.run(bench.ports[1].until(lambda: bench.layers[1].daemon.unclaimed > 0))
    assert not bench.came[1] and not came[1, 7]


# ---- words that are changed on the way


def in_buffer(bench: request_bench.Bench, at: int, value: int) -> None:
    """Change a byte of the next request, as a process could in its buffer on the card."""
    card = bench.ports[0]._card
    fill = card.fill

    async def changed(buffer: int, route: bytes, header: bytes, data: bytes) -> int:
        packet = bytearray(header + data)
        packet[at] = value
        return int(await fill(buffer, route, bytes(packet[: len(header)]), bytes(packet[len(header) :])))

    card.fill = changed


def test_the_handler_at_the_address_in_the_message_runs() -> None:
    bench = Bench()
    in_buffer(bench, 11, STEP)
    bench.run(bench.ports[0].request(1, bench.keep(0), 3), bench.until(1, 1), bench.until(0, 1))
    assert bench.came[0] == [("REPLY", 1, (6,), b"")], "the second handler answers"


def test_an_address_of_no_handler_is_reported_by_the_receiver() -> None:
    bench = Bench()
    in_buffer(bench, 11, 1)
    with pytest.raises(HpamError, match="a request of node 0: address 0x400001: no handler has this address"):
        bench.run(bench.ports[0].request(1, bench.keep(0)), bench.until(1, 1))


def test_the_handler_sees_a_bit_flipped_in_the_card() -> None:
    bench = Bench()
    in_buffer(bench, FORMAT.size, ord("J"))
    bench.run(bench.ports[0].request(1, bench.keep(0), data=b"Hello"), bench.until(1, 1))
    assert bench.came[1][0][3] == b"Jello"


# ---- parts


def test_sequence_numbers_wrap_and_old_requests_are_recognised() -> None:
    slots = Slots([1])
    assert slots.new(1, 0, 0) is None, "nothing came yet"
    for sequence in (*range(1, SEQUENCES), 0, 1):
        assert slots.next_sequence(1, 0) == sequence
        if sequence > SEQUENCES - 3 or sequence < 2:
            slots._seen[1, 0] = (sequence - 1) % SEQUENCES
            assert [slots.new(1, 0, sequence), slots.new(1, 0, sequence)] == [True, False if sequence else None]
            assert slots.new(1, 0, (sequence - 1) % SEQUENCES) is None


def test_a_header_survives_encoding_and_decoding() -> None:
    header = Header(0x0F2F, 3, 255, 1 << 31, 0x400000, Kind.REPLY << 4 | 3, 8, 65535, MOST)
    assert Header.decode(header.packed()) == header
    assert (header.kind, header.slot, header.body) == (Kind.REPLY, 3, 32 + MOST)


def test_other_cards_and_more_nodes_than_the_memory_holds_are_rejected() -> None:
    card = nic_kind("fifo").card(1 << 18)
    check_options({"timeout_us": 20, "duplicates": "execute"}, NODES, 1 << 18, card)
    assert NODES == 8 and tolerates_loss("hpam", {})
    for options, nodes, kind, said in (
        ({}, 9, "fifo", "9 nodes: the memory of a FIFO card has room for 8"),
        ({}, 2, "lanai9", "it drives a FIFO card, and the profile has another NIC"),
        ({"timeout_us": 1}, 2, "fifo", "hpam.timeout_us is 1; give 20 to 1000000"),
        ({"duplicates": "keep"}, 2, "fifo", "hpam.duplicates is 'keep';.*drop"),
        ({"timeout": 1}, 2, "fifo", "unknown option 'timeout': hpam has no such option"),
    ):
        with pytest.raises(OptionError, match=said):
            check_options(options, nodes, 1 << 20, nic_kind(kind).card(1 << 20) if kind != "fifo" else card)
