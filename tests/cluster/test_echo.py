"""Calls of a library in cocotb tasks: round trips over `echo`, and what a call may meet.

Strategy: the calls are awaited in cocotb tasks, beside triggers of cocotb, and compared with the payload.
"""

from typing import Any

import cocotb
from cocotb.triggers import First, Timer
from cocotb.utils import get_sim_time

from tb.sanlab.cocotb import pytest_cases, start


@cocotb.test()
async def a_message_returns_unchanged(dut: Any) -> None:
    cluster = await start(dut, layer="echo")
    near, far = cluster.hosts[0], cluster.hosts[-1]
    await near.library.start()
    await far.library.start()
    answer = cocotb.start_soon(far.library.echo())
    await near.library.send(far.vnn, b"eight by")
    assert await near.library.receive() == (far.vnn, b"eight by")
    await answer
    await cluster.end()


@cocotb.test()
async def a_message_takes_less_than_20_us(dut: Any) -> None:
    cluster = await start(dut, layer="echo")
    near, far = cluster.hosts
    await near.library.start()
    await far.library.start()
    arrived = cocotb.start_soon(far.library.receive())
    begun = get_sim_time("ps")
    cocotb.start_soon(near.library.send(far.vnn, b"x"))
    limit = Timer(20, "us")
    await First(arrived.complete, limit)
    assert arrived.done(), "the message is late"
    assert get_sim_time("ps") - begun > 1_000_000
    await cluster.end()


test_cluster = pytest_cases(globals())
