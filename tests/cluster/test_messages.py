"""Messages of several layers in cocotb tests, without public signals: libraries, completions, cards, charges.

Strategy: cocotb tasks make the calls that a study makes; times are compared with the trace and with compiled costs.
"""

from __future__ import annotations

from typing import Any

import cocotb
import pytest
from cocotb.triggers import First, Timer
from cocotb.utils import get_sim_time

from pymodels.costs.table import PathTable
from pymodels.trace import Part, TraceEvent, unit
from tb.sanlab.cocotb import pytest_cases, start
from tb.studies.via._via import connect, user
from tests.cluster.pairs import echo_pair, grim_pair


@cocotb.test()
async def a_null_message_of_grim_arrives_within_7_us(dut: Any) -> None:
    arrived: list[tuple[Any, ...]] = []
    cluster, paris, metz = await grim_pair(dut, {}, {"ping": lambda *message: arrived.append(message)})
    ping = await paris.library.resolve_handler("ping")
    there = await paris.library.get_dest_id(metz.vnn)
    waiting = cocotb.start_soon(metz.library.wait_for(lambda: bool(arrived)))
    await Timer(10, "us")
    cocotb.start_soon(paris.library.send(there, ping, 42))
    await First(waiting.complete, Timer(7, "us"))
    assert [message[1] for message in arrived] == [42]
    await cluster.end()


@cocotb.test()
async def a_handler_of_grim_that_raises_fails_the_call_that_polls(dut: Any) -> None:
    def wrong(*_: Any) -> None:
        raise ZeroDivisionError("in a handler")

    cluster, paris, metz = await grim_pair(dut, {}, {"ping": wrong})
    ping = await paris.library.resolve_handler("ping")
    await paris.library.send(await paris.library.get_dest_id(metz.vnn), ping)
    await Timer(20, "us")
    with pytest.raises(ZeroDivisionError, match="in a handler"):
        await metz.library.poll()
    assert await cluster.call(lambda: cluster.kernel.now) > 0, "the cluster is still running"


@cocotb.test()
async def a_descriptor_of_via_completes_on_both_sides(dut: Any) -> None:
    cluster = await start(dut, layer="via")
    paris, metz = cluster.hosts
    await paris.library.start()
    await metz.library.start()
    near, far = [await cluster.call(user(host.library.unwrapped)) for host in (paris, metz)]
    mine, yours = await cluster.call(connect(near, far, metz.vnn))
    near.write(0, b"descriptor")
    await cluster.call(yours.post_receive(far.descriptor(0).receive([far.part(0, 64)])))
    received = cocotb.start_soon(cluster.call(yours.receive_wait()))
    begun = get_sim_time("us")
    await cluster.call(mine.post_send(near.descriptor(0).send([near.part(0, 10)])))
    await cluster.call(mine.send_wait())
    done = await received
    assert far.read(0, 10) == b"descriptor"
    assert done.length == 10
    assert get_sim_time("us") - begun < 60


@cocotb.test()
async def a_path_of_the_firmware_takes_its_charge(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    await near.library.send(far.vnn, b"charged")
    await Timer(5, "us")
    profile, trace = cluster.lab.plan.profile, cluster.lab.trace()
    charged = PathTable.of_nic("echo", profile.nic.target).cost("send")
    number = cluster.lab.legend().paths.index("echo/nic:send")
    of_nic = trace[trace["unit"] == unit(near.vnn, Part.NIC_CPU)]
    begun, ended = (
        of_nic["time"][(of_nic["event"] == event) & (of_nic["argument"] == number)]
        for event in (TraceEvent.WORK_START, TraceEvent.WORK_END)
    )
    assert len(begun) == len(ended) == 1
    clocks = (int(ended[0]) - int(begun[0])) / profile.integer("clock.nic_ps")
    assert clocks >= charged.instructions, "stalls add to the charge, nothing is taken off"
    assert clocks < 2 * charged.instructions
    await cluster.end()


test_cluster = pytest_cases(globals())
