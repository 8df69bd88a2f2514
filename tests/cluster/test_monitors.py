"""Monitors of cocotb-bus on the buses and links of a running cluster, with their scoreboards.

Strategy: messages of known bytes cross the cluster. Monitors wake cocotb tasks with the packets on the cables and the
transactions on the buses; a scoreboard compares the packets at the far host with those of the switch.
"""

from __future__ import annotations

import re
from typing import Any

import cocotb
import pytest
from cocotb.utils import get_sim_time

from pymodels.errors import SanlabError
from pymodels.link.crc8 import crc8
from pymodels.link.rules import LinkPacket
from pymodels.pci.pci import Command, Termination
from tb.agents.cluster import ClusterMonitor
from tb.sanlab.cocotb import pytest_cases
from tests.cluster.pairs import echo_pair

MONITORS = "pci,link"
PAYLOAD = b"sixteen bytes..."


@cocotb.test()
async def a_monitor_wakes_a_task_with_the_packet_of_a_message(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    link = ClusterMonitor(cluster.monitor(f"{far.name}.link"))
    cocotb.start_soon(near.library.send(far.vnn, PAYLOAD))
    packet = await link.wait_for_recv()
    assert PAYLOAD in packet.wire and not packet.syndrome
    assert get_sim_time("ps") == packet.end * 6250 + 1, "the GAP was sampled one picosecond ago"
    assert await far.library.receive() == (near.vnn, PAYLOAD)
    assert link.transactions == [packet]
    await cluster.end()


@cocotb.test()
async def a_message_is_written_over_pci_and_leaves_as_one_packet(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    bus, arriving = cluster.monitor("paris.pci"), cluster.monitor("metz.link")
    before = len(bus.transactions)
    packets: list[bytes] = []
    ClusterMonitor(arriving).add_callback(lambda packet: packets.append(packet.wire))
    await near.library.send(far.vnn, b"monitored")
    assert await far.library.receive() == (near.vnn, b"monitored")
    writes = [one for one in bus.transactions[before:] if one.command == Command.MEMORY_WRITE]
    moved = [bytes(value for _, value in one.bytes_moved()) for one in writes]
    assert b"monitored" in b"".join(moved), "the host stores the payload on the card"
    assert {one.end for one in writes} == {Termination.COMPLETION}
    assert [b"monitored" in data for data in packets] == [True]
    assert not bus.violations and not arriving.violations
    await cluster.end()


@cocotb.test()
async def a_scoreboard_expects_at_the_host_what_has_entered_the_switch(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    expected: list[LinkPacket] = []

    def entered(packet: LinkPacket) -> None:
        body = packet.wire[packet.route_bytes : -1]
        expected.append(LinkPacket(body + bytes([crc8(body)])))

    cluster.monitor("s0.0").add_callback(entered)
    board = ClusterMonitor(cluster.monitor(f"{far.name}.link")).scoreboard(expected)
    for size in (0, 16, 64):
        await near.library.send(far.vnn, bytes(range(size)))
        await far.library.receive()
    assert cluster.monitor("s0.0").transactions and not expected
    await cluster.end()
    board.finish()


@cocotb.test()
async def an_unknown_monitor_is_rejected_with_the_nearest_name(dut: Any) -> None:
    cluster, near, _ = await echo_pair(dut)
    told = re.escape(f"monitor '{near.name}.pcj': unknown name; did you mean '{near.name}.pci'?")
    with pytest.raises(SanlabError, match=told):
        cluster.monitor(f"{near.name}.pcj")
    await cluster.end()


test_cluster = pytest_cases(globals())
