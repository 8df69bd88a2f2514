"""Numbers of messages in the trace, as the software of hosts and NICs records them at the senders of messages.

Strategy: layers run on the machine. A message is sent alone over each layer, and every record of its sender must carry
its number. Then two messages are sent at the same time, one is cut into segments, and one is lost. NICs make messages
for others, and processes of one host send by turns. The numbers must distinguish the messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

from firmware.grim.host import Grim
from pymodels.machine import Machine
from pymodels.trace import CAUSE_SHIFT, Part, TraceEvent, unit
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.test_grim_loss import OneLoss
from tests.unit.layers.mail_bench import MailBench
from tests.unit.report.madeup_trace import AT_SENDER
from tests.unit.udp.udp_bench import Bench as Sockets

E = TraceEvent
ALL_OF_THEM = (E.SEND_CALL, E.PAYLOAD_WRITTEN, E.POINTER_WRITTEN, E.NIC_NOTICED, E.NIC_SEND_START)
POSTED = (E.SEND_CALL, E.POSTED, E.SEND_RETURN, E.NIC_DESCRIPTOR, E.NIC_SEND_START)
OF_HOST = (E.SEND_CALL, E.PAYLOAD_WRITTEN)
LAYERS: list[tuple[str, str, tuple[TraceEvent, ...]]] = [
    ("am", "", ALL_OF_THEM),
    ("am", "lanai4", ALL_OF_THEM),
    ("am2", "", (*ALL_OF_THEM, E.ACK_SEEN)),
    ("echo", "", OF_HOST),
    ("epos", "", ALL_OF_THEM),
    ("grim", "", (*ALL_OF_THEM, E.SEND_RETURN, E.NIC_SEND_DONE, E.ACK_SEEN)),
    ("hal", "", ALL_OF_THEM),
    ("hpam", "", (*OF_HOST, E.POINTER_WRITTEN)),
    ("via", "", POSTED),
    ("via", "sp", POSTED),
]
"""Layers, kinds of NIC, and events of a sender that must be recorded."""


def numbers(machine: Machine, since: int, node: int) -> dict[TraceEvent, list[int]]:
    """Return the numbers of messages in records of a node's software, by event, from a time on."""
    owners = unit(node, Part.HOST_CPU), unit(node, Part.NIC_CPU)
    found: dict[TraceEvent, list[int]] = defaultdict(list)
    for time, owner, event, *_, message in machine.trace.records:
        if time >= since and owner in owners and event in (*AT_SENDER, E.NIC_COPY, E.NIC_REPLY):
            found[E(event)].append(message)
    return found


@pytest.mark.parametrize(("layer", "nic", "events"), LAYERS)
def test_every_record_of_a_message_at_its_sender_carries_its_number(
    layer: str, nic: str, events: tuple[TraceEvent, ...]
) -> None:
    bench = MailBench(layer, nic=nic, trace=True)
    bench.machine.run(bench.machine.kernel.now / 1e6 + 2000)
    since = bench.machine.kernel.now
    bench.run(bench.mails[0].send(1, bytes(48)), bench.mails[1].receive())
    bench.machine.run(since / 1e6 + 2000)
    found = numbers(bench.machine, since, 0)
    (number,) = found[E.SEND_CALL]
    assert number > 0
    assert set(events) <= found.keys()
    if E.POSTED in events:
        del found[E.NIC_NOTICED]  # the NIC has not read the descriptor yet
    assert {event: set(some) for event, some in found.items()} == {event: {number} for event in found}


def test_a_datagram_has_one_number_for_all_its_fragments() -> None:
    bench = Sockets()
    bench.run(bench.give(0, 1, [bytes(20_000)]), bench.get(1, 1))
    found = numbers(bench.machine, 0, 0)
    (number,) = found[E.SEND_CALL]
    fragments = len(found[E.PAYLOAD_WRITTEN])
    assert fragments > 1
    for event in ALL_OF_THEM[1:]:
        assert found[event] == [number] * fragments, event.name


def test_numbers_tell_messages_apart_that_are_sent_at_the_same_time() -> None:
    bench = MailBench("am", trace=True)
    since = bench.machine.kernel.now
    sends = [bench.mails[0].send(1, bytes(size)) for size in (4000, 40, 400)]
    bench.run(*sends, *(bench.mails[1].receive() for _ in sends))
    found = numbers(bench.machine, since, 0)
    assert len(set(found[E.SEND_CALL])) == 3
    for event in ALL_OF_THEM:
        assert sorted(found[event]) == sorted(found[E.SEND_CALL]), event.name
    records, nic = bench.machine.trace.records, unit(0, Part.NIC_CPU)
    sizes = {row[6]: row[4] for row in records if row[2] == E.SEND_CALL and row[4]}
    fetched = {row[6]: row[4] for row in records if row[2] == E.NIC_DMA_START and row[1] == nic and row[6] in sizes}
    assert sizes == fetched, "the payload of each message is fetched under its number"


def causes(machine: Machine, event: TraceEvent) -> list[tuple[int, int, int]]:
    """Return number, number of the cause, and node of each message that a NIC has made."""
    made = machine.trace.of_event(event)
    return [(row[6], row[5] >> CAUSE_SHIFT, row[5] & (1 << CAUSE_SHIFT) - 1) for row in made]


async def until(library: Grim, over: Callable[[], object]) -> None:
    """Poll until something holds."""
    while not over():
        await library.poll()
        await library.host.sleep(1_000_000)


def one_message(size: int, segment_bytes: int) -> Bench:
    """Node 0 sends node 1 a message of GRIM."""
    bench = Bench(2, trace=True, segment_bytes=segment_bytes)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=lambda *call: got.append(call[1])))["handler"]
        if me == 0:
            await library.send(library.get_dest_id(1), number, 7, payload=bytes(size))
        await until(library, lambda: got)

    bench.run(node)
    bench.settle()
    return bench


def test_the_segments_of_a_message_have_its_number() -> None:
    bench = one_message(3000, segment_bytes=1000)
    found = numbers(bench.machine, 0, 0)
    number = found[E.PAYLOAD_WRITTEN][-1]
    for event in (E.PAYLOAD_WRITTEN, E.POINTER_WRITTEN, E.NIC_NOTICED, E.NIC_SEND_START, E.ACK_SEEN):
        assert found[event].count(number) == 3, event.name


def test_a_message_that_is_sent_again_keeps_its_number() -> None:
    bench = OneLoss(3, [(0, 1, 1)]).bench
    found = numbers(bench.machine, 0, 0)
    lost, behind = found[E.SEND_CALL][-2:]
    assert found[E.RESEND] == [lost, behind]
    assert found[E.NIC_SEND_START].count(lost) == found[E.NIC_SEND_START].count(behind) == 2
    assert found[E.ACK_SEEN].count(lost) == 1


def test_a_reply_to_a_remote_read_has_a_number_of_its_own() -> None:
    bench = Bench(2, trace=True)
    places: list[int] = []

    async def node(library: Grim, me: int) -> None:
        await bench.publish(library)
        if me == 1:
            places.append(await library.malloc_pinned(4096))
            await until(library, lambda: len(places) == 2)
            return
        target = await library.malloc_pinned(4096)
        await until(library, lambda: places)
        library.store_pinned(target + 64, b"\1\0\0\0")
        await library.fetch_memory(library.get_dest_id(1), target, places[0], 64, lock=target + 64)
        await library.wait_for_lock(target + 64, 0)
        places.append(0)

    bench.run(node)
    bench.settle()
    asks, gives = (numbers(bench.machine, 0, node) for node in (0, 1))
    (reply,) = gives[E.NIC_REPLY]
    read = asks[E.SEND_CALL][-1]
    assert reply not in asks[E.SEND_CALL] + gives[E.SEND_CALL]
    assert gives[E.NIC_SEND_START].count(reply) == gives[E.ACK_SEEN].count(reply) == 1
    assert asks[E.ACK_SEEN].count(read) == 1, "by its reply"
    assert causes(bench.machine, E.NIC_REPLY) == [(reply, read, 0)]


def test_copies_of_a_multicast_have_numbers_of_their_own() -> None:
    bench = Bench(4, trace=True)
    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, handler=lambda *call: got.append(call[1])))["handler"]
        if me == 0:
            await library.broadcast(number, 7, 0, 0, 0, b"")
        await until(library, lambda: len(got) == 4)

    bench.run(node)
    bench.settle()
    every = [numbers(bench.machine, 0, node) for node in range(4)]
    copies = [number for found in every for number in found[E.NIC_COPY]]
    assert len(copies) == len(set(copies)) == 3
    assert not set(copies) & {number for found in every for number in found[E.SEND_CALL]}
    for event in (E.NIC_SEND_START, E.ACK_SEEN):
        assert sum(found[event].count(number) for found in every for number in copies) == 3
    made = causes(bench.machine, E.NIC_COPY)
    original = every[0][E.SEND_CALL][-1]
    assert {cause for _, cause, _ in made} <= {original, *copies}
    assert {child for *_, child in made} == {1, 2, 3}
    handled = [row[6] for row in bench.machine.trace.of_event(E.HANDLER_START)]
    assert sorted(handled[-4:]) == sorted([original, *copies]), "each node handles its own copy"


def test_a_machine_without_a_trace_draws_no_numbers() -> None:
    bench = MailBench("am")
    bench.run(bench.mails[0].send(1, bytes(48)), bench.mails[1].receive())
    assert bench.machine.host(0).message() == 0
