"""Numbers of messages in the trace of random traffic: one number from the call to the handler, on every layer.

Strategy: three hosts send messages of random sizes at random times. If the layer repairs losses, the network loses
packets. Numbers travel beside the messages (`pymodels.messages`), so that keys and sources in the records are an
independent witness. Each number must belong to one sender and at most one receiver. A packet must arrive under the
number and the key under which it was sent. A host must take it from the node that drew its number.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator

import pytest

from firmware.mail import Mail
from firmware.promises import Promise
from pymodels.messages import DRAWERS
from pymodels.trace import PARTS_PER_NODE, SWITCH_BASE, Part, TraceEvent
from tests.unit.conformance.bench import Bench, message
from tests.unit.conformance.cases import PS, Case, every_case

E = TraceEvent
NODES, MESSAGES = 3, 6
TAKES = E.POLL_HIT, E.HANDLER_START, E.IN_KERNEL, E.IN_PROCESS
AT_RECEIVER = (*TAKES, E.HANDLER_END, E.NIC_ACCEPT, E.NIC_RECV_DONE, E.ACK_SENT, E.NACK_SENT)
"""Events that always have a number."""
Row = tuple[int, int, int, int, int, int, int]


def drawer(number: int) -> int:
    """Return the node whose host or NIC has drawn a number."""
    return (number - 1) % (DRAWERS * NODES) // DRAWERS


def node_of(row: Row) -> int:
    """Return the node of a record."""
    return row[1] // PARTS_PER_NODE


def traffic(case: Case, seed: int) -> list[Row]:
    """Return the records of random traffic that has arrived: between all hosts, or to the last one if packets are
    lost, because a layer repairs losses only while its hosts poll.
    """
    bench, rng = Bench(case.layer, NODES, trace=True, **case.options), random.Random(seed)
    lossy, kernel, last = Promise.LOSS in case.promised, bench.machine.kernel, NODES - 1
    if lossy:
        bench.machine.faults.lose(0.04, 0.0, seed)
    others = [[last] if lossy else [node for node in range(NODES) if node != me] for me in range(NODES)]
    most = bench.mails[0].most
    plan = [
        [(rng.choice(others[me]), rng.randrange(1, min(most, 900)), rng.randrange(30)) for _ in range(MESSAGES)]
        for me in range(last if lossy else NODES)
    ]

    async def send(me: int, mail: Mail) -> None:
        for number, (to, size, pause) in enumerate(plan[me]):
            await mail.host.sleep(pause * PS, "a pause")
            await (mail.send if lossy else mail.post)(to, message(me, to, number, size))
        if lossy:
            await mail.finish()

    async def receive(me: int, mail: Mail) -> None:
        for _ in range(sum(to == me for sends in plan for to, *_ in sends)):
            await mail.receive()

    async def both(me: int, mail: Mail) -> None:
        await send(me, mail)
        await receive(me, mail)
        await mail.posted()
        await mail.finish()

    if lossy:
        for me in range(last):
            kernel.spawn(send(me, bench.mails[me]), f"host {me}")
        bench.run(receive(last, bench.mails[last]), within_us=100_000)
    else:
        bench.run(*(both(me, mail) for me, mail in enumerate(bench.mails)), within_us=100_000)
    bench.rest()
    return sorted(bench.machine.trace.records, key=lambda row: row[0])


def software(rows: list[Row], *events: TraceEvent) -> Iterator[Row]:
    """Yield the records of these events that hosts and NIC processors have left."""
    for row in rows:
        if row[1] < SWITCH_BASE and row[1] % PARTS_PER_NODE in (Part.HOST_CPU, Part.NIC_CPU) and row[2] in events:
            yield row


@pytest.mark.parametrize("seed", range(2))
@every_case
def test_a_message_has_one_number_from_its_call_to_its_handler(case: Case, seed: int) -> None:
    rows = traffic(case, seed)
    called = [row[6] for row in software(rows, E.SEND_CALL)]
    assert len(called) == len(set(called)) > NODES
    assert all(drawer(row[6]) == node_of(row) for row in software(rows, E.SEND_CALL))
    takers = defaultdict(set)
    for row in software(rows, *TAKES):
        takers[row[6]].add(node_of(row))
    assert takers.keys() <= set(called)
    assert all(len(nodes) == 1 and drawer(number) not in nodes for number, nodes in takers.items())
    nameless = [E(row[2]).name for row in software(rows, *AT_RECEIVER) if not row[6]]
    assert not nameless
    sources = [(row[5] & 0xFF, drawer(row[6])) for row in software(rows, *TAKES) if row[3]]
    assert all(source == expected for source, expected in sources), "the record names the node that drew the number"


@pytest.mark.parametrize("seed", range(2))
@every_case
def test_a_packet_arrives_under_its_number_and_key(case: Case, seed: int) -> None:
    rows = traffic(case, seed)
    sent, arrived = (
        [(row[3], row[6]) for row in rows if row[1] < SWITCH_BASE and (row[1] % PARTS_PER_NODE, row[2]) == place]
        for place in ((Part.NET_SEND, E.TX_START), (Part.NET_RECV, E.RX_HEAD))
    )
    assert len(arrived) > NODES
    assert set(arrived) <= set(sent)
    if Promise.LOSS not in case.promised:
        assert sorted(arrived) == sorted(sent)
    numbered = [number for _, number in sent if number]
    called = {row[6] for row in software(rows, E.SEND_CALL)}
    assert set(numbered) <= called
    blocks = [row for row in rows if row[2] == E.DMA_START and row[1] % PARTS_PER_NODE == Part.HOST_DMA and row[6]]
    assert {row[6] for row in blocks} <= called
