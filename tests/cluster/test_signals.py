"""Public signals by stable name (strategy: what crosses the wires is compared with what software sent).

The same names work on both simulators; edges of a signal are those of cocotb.
"""

from typing import Any

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

from pymodels.errors import SanlabError
from tb.sanlab.cocotb import pytest_cases, start, trigger

PUBLIC = ["*.pci.*", "*.link.rx", "*.link.tx", "paris.nic.send.active_q", "paris.nic_clk", "s0.port[*].rx", "s0.clk"]


@cocotb.test()
async def a_message_is_seen_on_the_wires(dut: Any) -> None:
    cluster = await start(dut, layer="echo")
    near, far = cluster.hosts
    await near.library.start()
    await far.library.start()
    paris = cluster.node("paris")
    sent = cocotb.start_soon(near.library.send(far.vnn, b"x"))
    await FallingEdge(paris.pci.frame_n)
    doorbell = get_sim_time("ps")
    await RisingEdge(paris.nic.send.active_q)
    await ReadOnly()
    assert get_sim_time("ps") > doorbell
    await cluster.switch("s0").port[0].rx.value_change
    await cluster.node("metz").link.rx.value_change
    dut._log.info("arrived %d ps after the doorbell", get_sim_time("ps") - doorbell)
    await sent
    assert await far.library.receive() == (0, b"x")
    await cluster.end()


@cocotb.test()
async def a_signal_that_is_not_public_names_its_declaration(dut: Any) -> None:
    cluster = await start(dut)
    with pytest.raises(SanlabError) as caught:
        _ = cluster.node("metz").nic.send.active_q
    expected = (
        'signal metz.nic.send.active_q: not public; add "metz.nic.send.active_q" to PUBLIC at the top of the test file'
    )
    assert str(caught.value) == expected
    with pytest.raises(SanlabError, match=r"signal paris.nic.send.active: unknown name; did you mean"):
        _ = cluster.node("paris").nic.send.active


@cocotb.test()
async def firmware_waits_for_an_edge(dut: Any) -> None:
    cluster = await start(dut)
    clock = cluster.switch("s0").clk

    async def software() -> list[int]:
        times = []
        for _ in range(3):
            await trigger(RisingEdge(clock))
            times.append(cluster.kernel.now)
        return times

    times = await cluster.call(software)
    assert [time % 6250 for time in times] == [1, 1, 1], "software runs one picosecond after the edge"
    assert [late - early for late, early in zip(times[1:], times, strict=False)] == [6250, 6250]
    await Timer(1, "ns")


test_cluster = pytest_cases(globals())
