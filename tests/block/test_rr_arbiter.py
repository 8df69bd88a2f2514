"""Round-robin arbiter against a model that searches for the next requester.

Strategy: requests are random, and grants are used at random. The grant must match a model that searches for the next
requester after the last served one. Under full load every requester must be served equally often.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

N = 6


async def begin(dut: Any) -> None:
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    dut.rst.value, dut.request.value, dut.take.value = 1, 0, 0
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(share=[0.1, 0.5, 0.9])
async def the_next_requester_after_the_last_one_is_granted(dut: Any, share: float) -> None:
    rng, edge, last = random.Random(cocotb.RANDOM_SEED), RisingEdge(dut.clk), N - 1
    await begin(dut)
    for _ in range(1500):
        request, take = [rng.random() < share for _ in range(N)], rng.random() < 0.7
        dut.request.value = sum(asks << port for port, asks in enumerate(request))
        dut.take.value = int(take)
        await edge
        order = [(last + 1 + step) % N for step in range(N)]
        chosen = next((port for port in order if request[port]), None)
        assert int(dut.grant.value) == (0 if chosen is None else 1 << chosen)
        if take and chosen is not None:
            last = chosen


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def permanent_requesters_are_served_equally(dut: Any) -> None:
    edge, served = RisingEdge(dut.clk), Counter[int]()
    await begin(dut)
    dut.request.value, dut.take.value = (1 << N) - 1, 1
    await edge
    for _ in range(10 * N):
        await edge
        served[int(dut.grant.value)] += 1
    assert served == {1 << port: 10 for port in range(N)}
