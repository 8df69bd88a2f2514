"""Delivery once and in order.

Strategy: all-to-all traffic of random sizes and channels runs between hosts that stop and start by plan. Queues are so
small that messages are rejected and senders wait. All payload is checked, and each run is compared with the reference
model, packet by packet (`grim_tap`). Counters of the firmware must show that the run had NACKs, answers that waited for
the link, long messages cut through, and full scoreboards.
"""

from __future__ import annotations

import pytest

from firmware.grim.nic.layout import Counter
from pymodels.trace import TraceEvent
from tests.unit.grim.grim_bench import Bench
from tests.unit.grim.grim_tap import Tap
from tests.unit.grim.grim_traffic import AllToAll

SIZES = [0, 3, 8, 64, 700, 3000]


def stop_and_start(bench: Bench) -> None:
    """Return receivers that stop, one after the other, for longer than their queues last."""
    for node in range(bench.nodes):
        bench.machine.host(node).pause_between(100 + 200 * node, 1200 + 300 * node)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_all_to_all_is_delivered_to_receivers_that_stop_and_start(sequencing: str, channels: int, seed: int) -> None:
    bench = Bench(
        4,
        seed,
        sequencing=sequencing,
        trace=True,
        channels=channels,
        host_queue_bytes=6000,
        queue_bytes=8192,
        segment_bytes=1400,
        cut_through_bytes=512,
    )
    tap = Tap(bench)
    stop_and_start(bench)
    AllToAll(bench, 40, SIZES, seed).run()
    tap.replay()
    assert bench.total(Counter.NACKS_SENT) > 20
    assert bench.total(Counter.CONTROL_QUEUED) > 100
    assert bench.total(Counter.EARLY) > 20
    assert bench.total(Counter.BAD_CRC) == bench.total(Counter.OUT_OF_SEQUENCE) == bench.total(Counter.STRANGE) == 0
    assert all(not stream.forward and not stream.answers for stream in tap.streams.values())


def test_eight_nodes_with_short_messages() -> None:
    bench = Bench(8, 3, host_queue_bytes=1024, segment_bytes=200, queue_bytes=2048, retry_delay_us=2)
    stop_and_start(bench)
    AllToAll(bench, 12, [0, 4, 100, 200]).run()
    assert bench.total(Counter.NACKS_SENT) > 50


@pytest.mark.parametrize("cut_through", [0, 64, 1024])
def test_cut_through_does_not_change_what_arrives(cut_through: int) -> None:
    bench = Bench(2, 4, trace=True, cut_through_bytes=cut_through, cut_through_least=64, segment_bytes=4000)
    AllToAll(bench, 30, [0, 1000, 4000, 9001]).run()
    records = bench.machine.trace.records
    rests = [record[4] for record in records if record[2] == TraceEvent.NIC_DMA_START and record[5]]
    assert (bench.total(Counter.EARLY) > 0) == (0 in rests) == (cut_through > 0)
    assert all(record[5] for record in records if record[2] == TraceEvent.DMA_START), "a block of no bytes"


def test_last_cut_through_piece_may_be_shorter_than_the_minimum() -> None:
    bench = Bench(3, 0, trace=True, cut_through_bytes=512, cut_through_least=256, segment_bytes=4000)
    AllToAll(bench, 30, list(range(600, 4000, 40)), 0).run()
    begun = [record for record in bench.machine.trace.records if record[2] == TraceEvent.NIC_DMA_START]
    short = [(at, record) for at, record in enumerate(begun) if not record[5] and record[4] < 256]
    assert short, "there was none"
    for at, (_, unit, _, packet, *_) in short:
        rest = next(later for later in begun[at + 1 :] if later[1] == unit and later[3] == packet)
        assert rest[4:6] == (0, 4), "nothing is left of it"


@pytest.mark.parametrize("combine", [0, 1])
@pytest.mark.parametrize("poll_first", [0, 1])
def test_all_ways_to_inject_and_poll_deliver_the_same(combine: int, poll_first: int) -> None:
    AllToAll(Bench(3, 5, write_combine=combine, poll_first=poll_first), 10, [0, 5, 500]).run()


def test_answers_that_wait_for_a_busy_link_all_leave() -> None:
    bench = Bench(2, 6, segment_bytes=4096)
    AllToAll(bench, 60, [4096]).run()
    assert bench.total(Counter.CONTROL_QUEUED) > 50
    assert bench.total(Counter.ACKS_SEEN) == bench.total(Counter.ACCEPTED) == bench.total(Counter.SENT)


def test_many_channels_share_the_tokens_of_a_ni() -> None:
    # A host that polls 32 endpoints with every send fills no scoreboard, so polling first is off.
    bench = Bench(2, 7, channels=32, host_queue_bytes=640, segment_bytes=128, queue_bytes=16384, poll_first=0)
    stop_and_start(bench)
    AllToAll(bench, 1500, [0, 32]).run()
    assert bench.total(Counter.BLOCKED) > 0


def test_full_scoreboard_continues_when_an_entry_is_free() -> None:
    bench = Bench(3, 8, host_queue_bytes=1024, segment_bytes=64, queue_bytes=1 << 16, window=127)
    bench.machine.host(1).pause_between(50, 3000)
    bench.machine.host(2).pause_between(50, 3000)
    AllToAll(bench, 300, [0]).run()
    assert bench.total(Counter.BLOCKED) > 0


@pytest.mark.parametrize("channels", [1, 4])
def test_notification_by_doorbell_delivers_the_same(channels: int) -> None:
    bench = Bench(3, 9, trace=True, doorbell_notify=1, channels=channels, host_queue_bytes=2048, segment_bytes=256)
    tap = Tap(bench)
    stop_and_start(bench)
    AllToAll(bench, 200, [0, 8, 200, 600]).run()
    tap.replay()
    assert bench.total(Counter.NACKS_SENT) > 0
    bells = [bench.machine.nic(node).doorbells for node in range(len(bench.machine.nics))]
    assert all(bell.producers[0] > 300 and not bell.overflows for bell in bells)


def test_doorbells_are_processed_after_a_full_scoreboard() -> None:
    bench = Bench(2, 10, doorbell_notify=1, channels=8, host_queue_bytes=640, segment_bytes=128, queue_bytes=16384)
    stop_and_start(bench)
    AllToAll(bench, 1200, [0]).run()
    assert bench.total(Counter.BLOCKED) > 0
