"""Order and cancellation between cocotb and software (the rule in tb/cocotb_test/README.md).

Strategy: tasks of the kernel and of cocotb note when they run; the notes must be the same on both simulators.
"""

from __future__ import annotations

from typing import Any

import cocotb
import pytest
from cocotb.triggers import First, Timer
from cocotb.utils import get_sim_time

from pymodels.errors import SanlabError
from tb.sanlab.cocotb import pytest_cases, start, trigger


@cocotb.test()
async def a_call_at_an_even_time_begins_one_picosecond_later(dut: Any) -> None:
    cluster = await start(dut)
    await Timer(1, "us")
    await Timer(2 - get_sim_time("step") % 2, "step")  # to an even time
    now = int(get_sim_time("step"))
    assert now % 2 == 0
    assert await cluster.call(lambda: cluster.kernel.now) == now + 1
    assert int(get_sim_time("step")) == now + 1, "its task resumes when the call ends"
    assert await cluster.call(lambda: cluster.kernel.now) == now + 1, "the next call begins at once"


@cocotb.test()
async def software_of_an_instant_runs_before_the_calls_of_cocotb(dut: Any) -> None:
    cluster = await start(dut)
    notes: list[str] = []

    async def software(time: int) -> None:
        await cluster.kernel.sleep_until(time)
        notes.append("software")
        await cluster.kernel.sleep(0)
        notes.append("software again")

    async def test_task(name: str, time: int) -> None:
        await Timer(time - int(get_sim_time("step")), "step")
        await cluster.call(lambda: notes.append(name))

    instant = int(get_sim_time("step")) + 1_000_000
    assert instant % 2, "a call has just ended, at an odd time"
    for name in ("first", "second"):
        cocotb.start_soon(test_task(name, instant))
    cocotb.start_soon(cluster.call(software(instant)))
    await Timer(2, "us")
    assert notes == ["software", "software again", "first", "second"]


@cocotb.test()
async def software_waits_for_a_trigger_of_cocotb(dut: Any) -> None:
    cluster = await start(dut)

    async def software() -> int:
        before = cluster.kernel.now
        await trigger(Timer(3, "us"))
        return cluster.kernel.now - before

    assert await cluster.call(software) == 3_000_000


@cocotb.test()
async def cancelling_a_cocotb_task_stops_its_call(dut: Any) -> None:
    cluster = await start(dut)
    closed: list[int] = []

    async def endless() -> None:
        try:
            while True:
                await cluster.kernel.sleep(1_000_000)
        finally:
            closed.append(cluster.kernel.now)

    task = cocotb.start_soon(cluster.call(endless))
    await Timer(2, "us")
    task.cancel()
    await Timer(2, "us")
    assert len(closed) == 1
    assert await cluster.call(lambda: len(cluster.kernel.tasks)) == 2, "only this task's own and the cluster's are left"


@cocotb.test()
async def stopping_a_kernel_task_cancels_the_trigger(dut: Any) -> None:
    cluster = await start(dut)
    ends: list[str] = []

    async def watched() -> None:
        try:
            await Timer(1, "ms")
            ends.append("fired")
        finally:
            ends.append("ended")

    async def software() -> None:
        await trigger(watched())

    task = await cluster.crossing.call(lambda: [cluster.kernel.spawn(software(), "waits")])
    await Timer(2, "us")
    await cluster.call(lambda: cluster.kernel.stop(task[0]))
    await Timer(2, "us")
    assert ends == ["ended"]


@cocotb.test()
async def an_exception_of_a_call_reaches_its_cocotb_task(dut: Any) -> None:
    cluster = await start(dut, layer="echo")
    with pytest.raises(ValueError, match=r"destination 7"):
        await cluster.hosts[0].library.send(7, b"")


@cocotb.test()
async def a_call_after_the_end_is_rejected(dut: Any) -> None:
    cluster = await start(dut, layer="echo")
    await cluster.end()
    with pytest.raises(SanlabError) as caught:
        await cluster.hosts[0].library.send(1, b"")
    assert str(caught.value) == (
        "paris.library.send: the cluster has ended: its end() was called; make calls between start and end"
    )


@cocotb.test()
async def a_trigger_without_a_running_cluster_is_rejected(dut: Any) -> None:
    remedy = "await triggers of cocotb between start and end of a cluster test"
    with pytest.raises(SanlabError) as caught:
        await trigger(Timer(1, "us"))
    assert str(caught.value) == f"trigger: no cluster of a cocotb test is running; {remedy}"
    cluster = await start(dut)
    await cluster.end()
    with pytest.raises(SanlabError) as caught:
        await trigger(Timer(1, "us"))
    assert str(caught.value) == f"trigger: its end() was called; {remedy}"


@cocotb.test()
async def another_cluster_than_the_built_one_names_its_declaration(dut: Any) -> None:
    with pytest.raises(SanlabError, match=r"declare at the top of the test file: CLUSTER = '.*four_hosts"):
        await start(dut, cluster="four_hosts")


@cocotb.test()
async def an_unknown_host_is_rejected_with_the_nearest_name(dut: Any) -> None:
    cluster = await start(dut)
    with pytest.raises(SanlabError) as caught:
        cluster.host("pariss")
    assert str(caught.value) == "host: unknown host 'pariss': the cluster has 2; did you mean 'paris'?"


@cocotb.test()
async def a_call_can_race_against_a_timer(dut: Any) -> None:
    cluster = await start(dut)
    never = cocotb.start_soon(cluster.call(cluster.kernel.future("something that never happens")))
    timer = Timer(5, "us")
    assert await First(never.complete, timer) is timer
    never.cancel()


test_cluster = pytest_cases(globals())
