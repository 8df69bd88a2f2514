"""The trace of one message.

Strategy: a null message and a long one are sent between idle hosts. Their stages are selected from the trace by the
packet's key, which records of the host have before the NI has written it. Every stage must be there, once, in the order
of operation. Awaited verbs of a message are counted, because each wakes Python on RTL.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from firmware.grim.host import Grim
from pymodels.machine import ModelHost, ModelNic
from pymodels.machine.spin import Spin
from pymodels.trace import PARTS_PER_NODE, Part, TraceEvent
from tests.unit.grim.grim_bench import Bench

STAGES = [
    (0, Part.HOST_CPU, TraceEvent.SEND_CALL),
    (0, Part.HOST_CPU, TraceEvent.PAYLOAD_WRITTEN),
    (0, Part.HOST_CPU, TraceEvent.POINTER_WRITTEN),
    (0, Part.NIC_CPU, TraceEvent.NIC_NOTICED),
    (0, Part.NIC_CPU, TraceEvent.NIC_SEND_START),
    (0, Part.NET_SEND, TraceEvent.TX_TAIL),
    (1, Part.NET_RECV, TraceEvent.RX_HEAD),
    (1, Part.NET_RECV, TraceEvent.RX_TAIL),
    (1, Part.NIC_CPU, TraceEvent.NIC_RECV_START),
    (1, Part.NIC_CPU, TraceEvent.NIC_ACCEPT),
    (1, Part.NIC_CPU, TraceEvent.NIC_DMA_START),
    (1, Part.HOST_CPU, TraceEvent.POLL_HIT),
    (1, Part.HOST_CPU, TraceEvent.HANDLER_START),
    (1, Part.HOST_CPU, TraceEvent.HANDLER_END),
]


async def one_way(bench: Bench, library: Grim, me: int, count: int, between: Any = None) -> None:
    """Send `count` messages from node 0 to node 1, far apart."""
    got: list[int] = []

    def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
        got.append(a0)

    number = (await bench.publish(library, handler=handler))["handler"]
    if me == 0:
        await library.host.sleep(100_000_000)
        if between is not None:
            between()
        for i in range(count):
            await library.send(library.get_dest_id(1), number, i)
            await library.host.sleep(50_000_000)
    else:
        await library.wait_for(lambda: len(got) == count)


@pytest.mark.parametrize("channels", [1, 4])
def test_trace_has_the_stages_of_every_message_under_its_key(channels: int) -> None:
    bench = Bench(2, trace=True, channels=channels)
    log = bench.machine.trace
    bench.run(lambda library, me: one_way(bench, library, me, 300, log.records.clear))
    stages: dict[tuple[int, int], list[tuple[int, Part, int]]] = {}
    round_of: Counter[int] = Counter()
    for _, unit, event, packet, *_ in log.records:
        node, part = divmod(unit, PARTS_PER_NODE)
        if event == TraceEvent.SEND_CALL:
            round_of[packet] += 1
        if packet and (node, part, event) in STAGES:
            stages.setdefault((packet, round_of[packet]), []).append((node, Part(part), event))
    tails = [stage for stage in STAGES if stage[1] is Part.NET_SEND]
    for key, found in stages.items():
        heads = [stage for stage in found if stage not in tails]  # the tail leaves while the head arrives
        assert heads == [stage for stage in STAGES if stage not in tails], hex(key[0])
        assert tails[0] in found
    assert len(stages) == 300


def test_a_null_message_costs_at_most_twenty_awaits(monkeypatch: pytest.MonkeyPatch) -> None:
    awaits: Counter[str] = Counter()
    verbs = {
        ModelNic: ("work", "read"),
        ModelHost: ("spend", "pio_write", "pio_read", "pio_copy", "poll"),
        Spin: ("run",),
    }
    for owner, names in verbs.items():
        for name in names:
            verb = getattr(owner, name)

            def counted(
                self: Any, *arguments: Any, _verb: Any = verb, _name: str = f"{owner.__name__}.{name}", **more: Any
            ) -> Any:
                awaits[_name] += 1
                return _verb(self, *arguments, **more)

            monkeypatch.setattr(owner, name, counted)
    bench = Bench(2)
    bench.run(lambda library, me: one_way(bench, library, me, 100, awaits.clear))
    bench.settle()
    assert awaits["ModelHost.pio_read"] == 0
    assert awaits["ModelNic.read"] == 100  # RMP, to check the length
    assert awaits.total() <= 20 * 100, awaits


def test_host_dma_of_a_long_message_begins_before_its_tail_arrives() -> None:
    bench = Bench(2, trace=True, segment_bytes=4096, cut_through_bytes=1024)

    async def node(library: Grim, me: int) -> None:
        got: list[int] = []

        def handler(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(a0)

        number = (await bench.publish(library, handler=handler))["handler"]
        if me == 0:
            await library.send(library.get_dest_id(1), number, payload=bytes(4096))
        else:
            await library.wait_for(lambda: bool(got))

    bench.run(node)
    log = bench.machine.trace
    tail = next(record for record in log.of_event(TraceEvent.RX_TAIL) if record[4] >= 4096)
    pieces = [
        record
        for record in log.of_event(TraceEvent.NIC_DMA_START)
        if record[3] == tail[3] and record[0] > tail[0] - 30_000_000
    ]
    assert pieces[0][0] < tail[0] < pieces[-1][0]
    assert sum(record[4] for record in pieces) == 32 + 4096
