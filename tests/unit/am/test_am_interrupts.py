"""AM with `receive=interrupt`: messages interrupt a computation. `test_am` tests the request-reply rule in this mode.

Strategy: two hosts of the machine; one computes while the other sends. The time of each handler is compared with
start and end of the computation, with and without the option. Messages are sent at many times around the moment at
which the host enables interrupts: none may wait for the end of the computation.
"""

from __future__ import annotations

from typing import Any

import pytest

from firmware.am.host import Call
from firmware.am.nic.layout import MOST, SLOTS
from tests.unit.am.am_bench import Bench

LONG_NS = 300_000
LATENCY_US = 40
"""Upper bound of the time for interrupt, signal and handlers."""
US = 1_000_000


class Computing:
    """Host 1 computes and host 0 sends to it, each after a delay."""

    def __init__(self, delay_ns: int, data: bytes = b"", count: int = 1, compute_ns: int = 0, **options: Any) -> None:
        self.ran: list[int] = []
        self.bench = Bench(own=lambda: [self.note], **options)
        self.near, self.far = self.bench.ports
        self.begun = self.ended = self.sent = 0
        self.bench.run(self.send(delay_ns, data, count), self.compute(compute_ns, count))

    async def note(self, call: Call) -> None:
        self.ran.append(call.port.host.now)

    async def send(self, delay_ns: int, data: bytes, count: int) -> None:
        await self.near.host.sleep(1000 * delay_ns, "the time to send")
        for _ in range(count):
            await self.near.request(1, self.note, data=data)
        self.sent = self.near.host.now
        await self.near.until(lambda: not self.near.unanswered)

    async def compute(self, delay_ns: int, count: int) -> None:
        await self.far.host.sleep(1000 * delay_ns, "the time to compute")
        self.begun = self.far.host.now
        await self.far.compute(LONG_NS)
        self.ended = self.far.host.now
        await self.far.until(lambda: self.far.handled == count)


def test_a_message_waits_for_the_end_of_a_computation_unless_interrupts_are_enabled() -> None:
    polling, interrupted = Computing(50_000), Computing(50_000, receive="interrupt")
    assert polling.ended - polling.begun == 1000 * LONG_NS
    assert polling.ran[0] > polling.ended
    assert polling.far.interrupted == 0
    assert interrupted.ran[0] < interrupted.sent + LATENCY_US * US < interrupted.ended
    assert interrupted.far.interrupted == 1
    assert 0 < interrupted.ended - interrupted.begun - 1000 * LONG_NS < LATENCY_US * US


@pytest.mark.parametrize("count", [1, 3, 2 * SLOTS])
def test_all_messages_are_handled_while_the_host_computes(count: int) -> None:
    bench = Computing(20_000, bytes(500), count, receive="interrupt")
    assert len(bench.ran) == count
    assert max(bench.ran) < bench.ended
    assert 1 <= bench.far.interrupted <= count


@pytest.mark.parametrize(("size", "step"), [(0, 125), (MOST, 500)])
def test_no_message_is_missed_that_arrives_while_the_host_enables_interrupts(size: int, step: int) -> None:
    arrivals = Computing(0, bytes(size), compute_ns=0, receive="interrupt").ran[0] // 1000
    begins = range(0, arrivals, step)
    benches = {ns: Computing(0, bytes(size), compute_ns=ns, receive="interrupt") for ns in begins}
    assert {ns for ns, bench in benches.items() if bench.ran[0] > bench.ended} == set()
    assert {bench.far.interrupted for bench in benches.values()} == {0, 1}


def test_a_polling_host_is_not_interrupted() -> None:
    bench = Bench(receive="interrupt")
    for number in range(4):
        bench.run(
            bench.ports[0].request(1, bench.answer, number), bench.until(1, number + 1), bench.until(0, number + 1)
        )
    assert [port.interrupted for port in bench.ports] == [0, 0]
