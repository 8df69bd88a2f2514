"""Turns of a NIC's AM-II endpoints: in proportion to weights, and not blocked by one that cannot send.

Strategy: the machine with one channel for requests. A message for a full queue holds the channel until endpoints of
different weights have filled their queues. Then the order in which the NIC takes messages is read from its trace. The
cost of idle endpoints is the longest wait of single messages, compared with the compiled path of a sample.
"""

from __future__ import annotations

from collections import Counter

import pytest

from pymodels.trace import TraceEvent
from tests.unit.am2.am2_bench import KEEP, TAG, Bench


@pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
@pytest.mark.parametrize("channels", [2, 32])
def test_messages_of_endpoints_are_in_proportion_to_their_weights(nic: str, channels: int) -> None:
    weights = (1, 2, 4)
    bench = Bench(nic=nic, channels=channels, credits=32, timeout_us=60)
    near, far = bench.bundles
    bench.run(*(near.allocate_endpoint(weight) for weight in weights))
    bench.run(*(far.allocate_endpoint() for _ in weights))
    for one, other in zip(near.endpoints[1:], far.endpoints[1:], strict=True):
        bench.run(other.set_tag(TAG), one.set_tag(TAG))
        other.set_handler(KEEP, bench.keep)
        one.map(0, other.name, TAG)

    async def program() -> None:
        for number in range(32):
            await bench.endpoints[0].request(1, KEEP, number)
        await bench.machine.kernel.sleep(2_000_000_000)
        near.endpoints[1].map(1, bench.endpoints[1].name, TAG)
        for _ in range(channels // 2):  # the receivers have no room for these: they hold every channel
            await near.endpoints[1].request(1, KEEP)
        await bench.machine.kernel.sleep(200_000_000)
        for _ in range(32 - channels // 2):
            for endpoint in near.endpoints[1:]:
                await endpoint.request(0, KEEP)

    bench.run(program(), within_us=2e4)
    since = len(bench.machine.trace.records)
    total = 32 + channels // 2 + 3 * (32 - channels // 2)
    bench.run(bench.until(0, 0), bench.until(1, total), within_us=1e5)
    order = [
        record[4]
        for record in bench.machine.trace.records[since:]
        if record[2] == TraceEvent.NIC_NOTICED and record[3] >> 24 == 0 and record[4] > 0
    ]
    rounds = (32 - channels // 2) // max(weights)
    share = Counter(order[: rounds * sum(weights)])
    assert [share[number + 1] / rounds for number in range(3)] == pytest.approx(weights, rel=0.05)


def test_an_idle_endpoint_adds_two_samples_to_the_polling_loop() -> None:
    alone, among_eight = Bench(), Bench(each=8)
    look, _ = alone.machine.nic(0).cost("am2_look_queue")
    visit = (_longest_wait(among_eight) - _longest_wait(alone)) / 7
    assert visit == pytest.approx(2 * look, rel=0.05)


def _longest_wait(bench: Bench) -> int:
    """Return the longest time until the NIC takes a single message, at many phases of the NIC's loop."""

    async def program() -> None:
        for number in range(40):
            await bench.endpoints[0].request(1, KEEP, number)
            await bench.until(0, 0)
            await bench.machine.kernel.sleep(26_100_000)

    bench.run(program(), bench.until(1, 40))
    records = bench.machine.trace.records
    given = {record[3]: record[0] for record in records if record[2] == TraceEvent.POINTER_WRITTEN}
    taken = {record[3]: record[0] for record in records if record[2] == TraceEvent.NIC_NOTICED}
    return max(time - given[name] for name, time in taken.items() if name >> 24 == 0)
