"""AM-II event mask NOT_EMPTY: the bundle sleeps until a message arrives, and misses none.

Strategy: the CPU use of a waiting process distinguishes sleeping from spinning. Messages are then sent at every point
of the call that falls asleep, one step apart: each must wake it.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.am2.host import Mask
from tests.unit.am2.am2_bench import KEEP, TAG, Bench

US = 1_000_000
EARLY_US = 30
"""Time before the call at which the message is sent: it takes longer to arrive than the call to fall asleep."""


def asleep(each: int = 1, **options: Any) -> Bench:
    """Return a bench whose bundle of node 1 sleeps while it waits."""
    bench = Bench(each=each, **{"timeout_us": 100, **options})
    bench.bundles[1].set_event_mask(Mask.NOT_EMPTY)
    for endpoint, other in zip(bench.bundles[0].endpoints, bench.bundles[1].endpoints, strict=True):
        endpoint.map(0, other.name, TAG)
    return bench


def waited(bench: Bench, after_us: float, number: int = 0) -> tuple[int, int]:
    """Return the end of a wait of node 1, and its CPU time. The message is sent EARLY_US before `after_us`."""
    host, times = bench.machine.host(1), list[int]()

    async def waits() -> None:
        await bench.machine.kernel.sleep(EARLY_US * US)
        before = host.cpu_ps
        await bench.bundles[1].wait()
        times.extend((bench.machine.kernel.now, host.cpu_ps - before))

    async def sends() -> None:
        await bench.machine.kernel.sleep(int(after_us * US))
        await bench.bundles[0].endpoints[number].request(0, KEEP, 7)

    bench.run(waits(), sends(), within_us=1e4)
    return times[0], times[1]


@pytest.mark.parametrize("nic", ["lanai9", "lanai4"])
def test_a_sleeping_process_does_not_use_the_cpu(nic: str) -> None:
    slept, spun = asleep(nic=nic), asleep(nic=nic)
    spun.bundles[1].set_event_mask(Mask.NONE)
    used = [waited(bench, 1500)[1] for bench in (slept, spun)]
    assert used[0] < 150 * US < 1200 * US < used[1]
    assert slept.run(slept.bundles[1].poll()) == [1]


def test_a_message_at_any_time_of_falling_asleep_wakes_the_process() -> None:
    bench = asleep()
    for step in range(100):
        waited(bench, step * 0.4)
        assert bench.run(bench.bundles[1].poll()) == [1]
        bench.run(bench.bundles[0].until(lambda: not bench.endpoints[0].unanswered))


def test_any_endpoint_of_the_bundle_wakes_it_even_when_absent() -> None:
    bench = asleep(each=3, frames=2)
    for number in (2, 0, 1):
        waited(bench, 700, number)
        assert bench.run(bench.bundles[1].poll()) == [1]


def test_a_returned_message_wakes_the_process() -> None:
    bench = asleep()
    bench.bundles[0].set_event_mask(Mask.NOT_EMPTY)
    bench.endpoints[0].map(4, bench.endpoints[1].name, TAG + 1)
    bench.run(bench.endpoints[0].request(4, KEEP), bench.bundles[0].until(lambda: bool(bench.back[0])), within_us=1e4)


def test_waits_for_replies_sleep_too() -> None:
    bench = asleep()
    bench.bundles[0].set_event_mask(Mask.NOT_EMPTY)
    bench.run(bench.send(0, 1, 5), bench.until(0, 1), bench.until(1, 1), within_us=1e4)
    assert bench.came[0] == [(True, 1, (10,), b"")]


def test_a_spinning_bundle_causes_no_interrupts() -> None:
    bench = Bench()
    bench.run(bench.send(0, 1, 5), bench.until(0, 1), bench.until(1, 1), within_us=1e4)
    assert [layer._driver._notices.count for layer in bench.layers] == [0, 0]
