"""Does a message arrive unchanged, and how long does it take? cocotb tests of a running cluster.

`pytest FILE` runs every test on both simulators; SIM=icarus selects one, WAVES=1 writes waves.
"""

from typing import Any

import cocotb
import sanlab.cocotb
from cocotb.triggers import First, ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

CLUSTER = "two_hosts"
PUBLIC = ["*.nic.send.active_q", "*.link.rx"]


class PacketCounter:
    """Check of one's own: count the packets that a host's NIC starts to send."""

    def __init__(self, node: Any) -> None:
        self.started = 0
        cocotb.start_soon(self._watch(node.nic.send.active_q))

    async def _watch(self, active: Any) -> None:
        while True:
            await RisingEdge(active)
            self.started += 1


@cocotb.test()
async def a_message_arrives_unchanged(dut: Any) -> None:
    """Send one message from paris to metz."""
    cluster = await sanlab.cocotb.start(dut, layer="echo")
    paris, metz = cluster.hosts
    await paris.library.start()
    await metz.library.start()
    counter = PacketCounter(cluster.node("paris"))
    await paris.library.send(metz.vnn, b"hello")
    assert await metz.library.receive() == (paris.vnn, b"hello")
    assert counter.started == 1
    await cluster.end()


@cocotb.test()
async def the_wire_carries_a_message_before_it_is_received(dut: Any) -> None:
    """Compare the time at the receiving NIC's wire with the time at the library."""
    cluster = await sanlab.cocotb.start(dut, layer="echo")
    paris, metz = cluster.hosts
    await paris.library.start()
    await metz.library.start()
    received = cocotb.start_soon(metz.library.receive())
    cocotb.start_soon(paris.library.send(metz.vnn, b"hello"))
    await cluster.node("metz").link.rx.value_change
    await ReadOnly()
    arrived = get_sim_time("ns")
    await First(received.complete, Timer(20, "us"))
    assert received.done()
    assert get_sim_time("ns") > arrived
    await cluster.end()


test_cluster = sanlab.cocotb.pytest_cases(globals())
