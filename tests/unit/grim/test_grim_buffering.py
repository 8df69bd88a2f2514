"""Buffering at the receiving NI (paper 000, 4.3.3).

Strategy: the traffic of the delivery tests runs with both kinds of buffering. A receiver that stops fills the incoming
queues, which counters show, and everything must arrive once and in order. Compared with buffering at the sender alone
there are fewer NACKs, and half the room for sending. A sender fails while a part of its long message is in an incoming
queue; its next message must be complete.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.common.host import card
from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter, Layout
from firmware.grim.options import Options
from pymodels.registers import Pci
from tests.unit.grim.grim_bench import US, Bench, restart_nic
from tests.unit.grim.grim_tap import Tap
from tests.unit.grim.grim_traffic import AllToAll

SMALL: dict[str, Any] = {"host_queue_bytes": 6000, "queue_bytes": 8192, "segment_bytes": 1400, "cut_through_bytes": 512}
SIZES = [0, 3, 64, 700, 3000]


def stopped(buffering: str, **options: Any) -> Bench:
    """Run all-to-all traffic between three nodes, two of which stop for a while."""
    bench = Bench(3, 1, True, True, **{**SMALL, "buffering": buffering, **options})
    tap = Tap(bench)
    for node in (0, 1):
        bench.machine.host(node).pause_between(100 + 200 * node, 1200 + 300 * node)
    AllToAll(bench, 60, SIZES).run(5000)
    tap.replay()
    return bench


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("sequencing", ["any-to-any", "per-ni"])
def test_incoming_queues_keep_order_and_lose_nothing(channels: int, sequencing: str) -> None:
    bench = stopped("both", channels=channels, sequencing=sequencing)
    assert bench.total(Counter.QUEUED) > 30
    assert bench.total(Counter.EARLY) > 10, "long messages still go early where nothing waits"


def test_full_incoming_queue_rejects_messages() -> None:
    bench = stopped("both", sram_bytes=1 << 16, multicast_trees=0, reply_bytes=4096)
    assert bench.total(Counter.QUEUED) > 0
    assert bench.total(Counter.NACKS_SENT) > 0


def test_incoming_queues_reduce_nacks() -> None:
    refused = {kind: stopped(kind).total(Counter.NACKS_SENT) for kind in ("sending", "both")}
    assert refused["sending"] > 20
    assert refused["both"] == 0


def test_message_with_room_at_its_endpoint_bypasses_the_incoming_queue() -> None:
    bench = Bench(2, 1, False, True, buffering="both")
    AllToAll(bench, 20, [0, 64]).run()
    assert bench.total(Counter.QUEUED) == 0


def test_incoming_queues_survive_loss() -> None:
    bench = Bench(3, 5, False, True, **{**SMALL, "buffering": "both", "timeout_us": 300})
    bench.machine.host(1).pause_between(200, 1500)
    bench.machine.faults.lose(0.03, 0.03, 4)
    AllToAll(bench, 60, SIZES).run(50_000)
    assert bench.total(Counter.QUEUED) > 0
    assert bench.total(Counter.TIMEOUTS) > 0


def test_incoming_queues_halve_the_room_for_outgoing_messages() -> None:
    limits = {
        kind: Layout(Options.from_values({"buffering": kind, "queue_bytes": 1 << 23}), 2, 1 << 21).limit
        for kind in ("sending", "both")
    }
    assert 0.45 < limits["both"] / limits["sending"] < 0.55


def test_restart_report_follows_the_messages_accepted_before() -> None:
    """Lose the end of a long message; the first message after the restart must not be taken for it."""
    bench = Bench(2, 1, False, True, buffering="both", host_queue_bytes=1024, segment_bytes=200, timeout_us=300)
    got: list[bytes] = []

    async def node(library: Grim, me: int) -> None:
        def on_data(source: int, a0: int, a1: int, a2: int, a3: int, data: memoryview) -> None:
            got.append(bytes(data))

        number = (await bench.publish(library, data=on_data))["data"]
        if me == 0:
            await library.host.sleep(1000 * US)
            await library.wait_for(lambda: len(got) == 1)
            return
        sending = library.host.spawn(library.send(library.get_dest_id(0), number, payload=bytes(20_000)), "long")
        await library.host.sleep(60 * US)
        bench.machine.nic(1).card.write(Pci.CONTROL, card.HOLD.to_bytes(4, "big"))
        await sending.finished
        library = await restart_nic(bench, 1)
        await library.sync_handlers()
        await library.send(library.get_dest_id(0), number, payload=b"whole")

    bench.run(node, 50_000)
    assert bench.count(0, Counter.QUEUED) > 0
    assert (got, list(bench.libraries[0].handlers.numbers)) == ([b"whole"], ["data"])
