"""Late doorbells of EPOS: the NIC follows a chain of Tx DMA Requests to every valid block, also before its doorbell.

Strategy: the doorbell of the second frame of a message is rung late, on cards with and without chains, with either
starter of the chain. The frame must be sent all the same.
"""

from __future__ import annotations

import pytest

from tests.unit.epos.epos_bench import Bench
from tests.unit.epos.test_epos import drawn


@pytest.mark.parametrize(("activate", "nic"), [("host", "lanai9"), ("lanai", "lanai9"), ("lanai", "lanai4")])
def test_frame_fetched_before_its_doorbell_is_sent(activate: str, nic: str) -> None:
    bench = Bench(nic=nic, activate=activate, mtu=1024)
    outgoing, rings = bench.hosts[0].outgoing, list[int]()
    ring = outgoing._ring

    async def late(word: int) -> None:
        rings.append(word)
        if len(rings) == 2:
            await bench.hosts[0].host.sleep(300_000_000, "other work")
        await ring(word)

    outgoing._ring = late  # type: ignore[method-assign]
    message = drawn(3, [2048])
    _, got = bench.run(bench.give(0, 1, message), bench.take(1, 1), within_us=10_000)
    assert [one.data for one in got] == message
