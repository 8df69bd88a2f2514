"""NACK and roll-back.

Strategy: a receiver stops until its queue is full while the sender's other streams continue. Rejected, dropped,
rolled-back and resent messages are counted by the firmware and, by stream, by the reference model. The retry delay is
measured in the trace. A roll-back must affect the rejected stream and no other.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.path_tables import BACK_STEP_PATHS
from pymodels.machine.processor import ModelProcessor
from pymodels.trace import TraceEvent
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_tap import Tap

STOPPED, OTHER = 1, 2


class OneStops:
    """Node 0 sends alternately to a node that stops for `pause_us` and to one that does not."""

    def __init__(self, bench: Bench, count: int, pause_us: float) -> None:
        self.bench = bench
        self.count = count
        self.got: list[list[tuple[int, int]]] = [[], [], []]
        bench.machine.host(STOPPED).pause_between(60, 60 + pause_us)
        self.tap = Tap(bench)
        bench.run(self._node)
        bench.settle()
        self.tap.replay()

    async def _node(self, library: Grim, me: int) -> None:
        def handler(source: int, number: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            self.got[me].append((self.bench.machine.kernel.now, number))

        number = (await self.bench.publish(library, handler=handler))["handler"]
        if me == 0:
            for i in range(self.count):
                for node in (STOPPED, OTHER):
                    await library.send(library.get_dest_id(node), number, i, payload=bytes(40))
        else:
            await library.wait_for(lambda: len(self.got[me]) == self.count)

    def numbers(self, node: int) -> list[int]:
        """Return the numbers that a node received, in order."""
        return [number for _, number in self.got[node]]


@pytest.mark.parametrize("delay", [0, 1, 20])
def test_only_the_rejected_stream_is_rolled_back(delay: int) -> None:
    bench = Bench(3, 1, trace=True, host_queue_bytes=1024, segment_bytes=64, retry_delay_us=delay)
    run = OneStops(bench, 60, 400)
    assert run.numbers(STOPPED) == run.numbers(OTHER) == list(range(60))
    assert run.tap.rolled_back == {(0, 0, STOPPED, 0)}
    other = run.tap.streams[0, 0, OTHER, 0]
    assert other.transmissions == other.expected
    assert run.tap.streams[0, 0, STOPPED, 0].transmissions > 60


@pytest.mark.parametrize(
    "options",
    [{}, {"queue_style": "slotted"}, {"queue_style": "hybrid"}, {"sequencing": "per-ni"}, {"timeout_us": 500}],
)
def test_roll_back_stops_at_the_first_unsent_message(options: dict[str, Any]) -> None:
    """Use a small window: few of a hundred waiting messages are in flight."""
    bench = Bench(2, 6, host_queue_bytes=1024, segment_bytes=64, window=6, **options)
    bench.machine.host(STOPPED).pause_between(60, 1000)
    looked: list[int] = []
    work = ModelProcessor.work

    def noting(nic: ModelProcessor, path: str, times: int = 1) -> Any:
        if path in BACK_STEP_PATHS:
            looked.append(times)
        return work(nic, path, times)

    got: list[int] = []

    async def node(library: Grim, me: int) -> None:
        number = (await bench.publish(library, data=lambda source, a0, *_: got.append(a0)))["data"]
        if me == 0:
            for i in range(100):
                await library.send(library.get_dest_id(STOPPED), number, i)
        else:
            await library.wait_for(lambda: len(got) == 100)

    with patch.object(ModelProcessor, "work", noting):
        bench.run(node)
    assert got == list(range(100))
    assert len(looked) > 10
    assert max(looked) <= 6 + 1


def test_other_streams_of_the_channel_continue_during_a_roll_back() -> None:
    bench = Bench(3, 2, trace=True, host_queue_bytes=1024, segment_bytes=64)
    run = OneStops(bench, 60, 2000)
    assert run.got[OTHER][-1][0] < 1000 * 1_000_000 < run.got[STOPPED][-1][0]


def test_first_rejected_message_gets_a_nack_and_later_ones_are_dropped_silently() -> None:
    bench = Bench(3, 3, trace=True, host_queue_bytes=1024, segment_bytes=64, retry_delay_us=100)
    OneStops(bench, 60, 500)
    nacks, drops = bench.count(STOPPED, Counter.NACKS_SENT), bench.count(STOPPED, Counter.DROPPED)
    assert 3 <= nacks <= 7
    assert drops > 0
    assert bench.count(0, Counter.NACKS_SEEN) == nacks
    assert bench.count(0, Counter.ROLLED_BACK) >= nacks + drops
    assert bench.count(OTHER, Counter.NACKS_SENT) == 0


@pytest.mark.parametrize("delay", [20, 200])
def test_retransmission_follows_the_retry_delay(delay: int) -> None:
    bench = Bench(3, 4, trace=True, host_queue_bytes=1024, segment_bytes=64, retry_delay_us=delay)
    OneStops(bench, 60, 1000)
    log = bench.machine.trace
    seen = [(record[0], record[3]) for record in log.of_event(TraceEvent.NACK_SEEN)]
    waits = [
        min(record[0] for record in log.of_event(TraceEvent.RESEND) if record[3] == key and record[0] > time) - time
        for time, key in seen
    ]
    assert all(delay - 0.5 <= wait / 1e6 <= delay + 12 for wait in waits), waits


def test_nack_without_a_message_in_flight_is_counted_and_ignored() -> None:
    bench = Bench(2, 5)

    async def node(library: Grim, me: int) -> None:
        """Do nothing after `grim_enable`."""

    bench.run(node)
    bench.settle()
    nic = bench.machine.nic(0)
    layout = bench.libraries[0].layout
    words = (0x06360500, 0x31 << 26 | 1 << 8 | 1)
    # The other NI's control queue is used to send it: the entry is filled in and handed to its send engine.
    other = bench.machine.nic(1)
    other.store_words(layout.report, (0, int.from_bytes(bench.views[1].routes[0].rjust(4, b"\0"), "big"), *words))
    other.special.write(0x118, 8 - len(bench.views[1].routes[0]))
    other.special.write(0x0F0, layout.report)
    other.special.write(0x108, layout.report + 16)
    bench.settle()
    assert bench.count(0, Counter.STRANGE) == 1
    assert nic.load(layout.counter(Counter.NACKS_SEEN)) == 0


class OneEndpointStops:
    """Two channels of one host: node 0 sends alternately to both, and the endpoint of channel 0 has no room for a
    while.
    """

    def __init__(self, bench: Bench, count: int) -> None:
        self.bench, self.count = bench, count
        self.order: list[tuple[int, int]] = []
        self.meanwhile = 0
        """Messages that node 1 received while one of its endpoints was stopped."""
        self.tap = Tap(bench)
        bench.run(self._node)
        bench.settle()
        self.tap.replay()

    async def _node(self, library: Grim, me: int) -> None:
        def handler(source: int, number: int, channel: int, a2: int, a3: int, data: memoryview) -> None:
            self.order.append((channel, number))

        number = (await self.bench.publish(library, handler=handler))["handler"]
        if me == 1:
            queues = library.calls.ready().dispatch.incoming
            stopped = queues.pop(0)  # no host reads it
            for _ in range(1000):
                await library.poll()
                await library.host.sleep(1_000_000)
            self.meanwhile = len(self.order)
            queues.insert(0, stopped)
            await library.wait_for(lambda: len(self.order) == 2 * self.count)
            return
        for i in range(self.count):
            for channel in (0, 1):
                await library.send(
                    library.get_dest_id(1, 0, channel), number, i, channel, 0, 0, bytes(40), channel=channel
                )


@pytest.mark.parametrize(("sequencing", "meanwhile"), [("any-to-any", 60), ("per-ni", 0)])
def test_stopped_endpoint_blocks_others_of_its_host_only_per_ni(sequencing: str, meanwhile: int) -> None:
    """Paper 000, 4.3.2: a NACK rolls back every channel to that NI, or the rejected channel alone."""
    sizes: dict[str, Any] = {"channels": 2, "host_queue_bytes": 1024, "segment_bytes": 64}
    run = OneEndpointStops(Bench(2, 1, trace=True, sequencing=sequencing, **sizes), 60)
    for channel in (0, 1):
        assert [number for one, number in run.order if one == channel] == list(range(60))
    least = run.bench.libraries[1].layout.host_limit // 72
    assert meanwhile <= run.meanwhile <= meanwhile + least + 1
    assert len(run.tap.rolled_back) == 1
    assert sum(stream.transmissions - stream.expected for stream in run.tap.streams.values()) > 20
