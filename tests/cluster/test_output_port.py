"""Two NICs that send to one host at once: their packets share an output port of the switch.

Strategy: two hosts send at the same instant. Their packets meet at the switch: the
characters on the receiver's cable must be whole packets one after the other.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

from pymodels.link.characters import DATA, Symbol
from pymodels.topology import End
from tb.sanlab.cocotb import pytest_cases, start

CLUSTER = "four_hosts"
PUBLIC = ["s0.port[*].*", "s0.clk", "nancy.link.rx", "nancy.link_clk"]
SIZE = 48


async def packets(node: Any, into: list[tuple[int, bytes]]) -> None:
    """Append each packet that arrives at a node, up to its GAP, with the time of the GAP in ps."""
    data = bytearray()
    while True:
        await RisingEdge(node.link_clk)
        await ReadOnly()
        character = int(node.link.rx.value)
        if character & DATA:
            data.append(character & 0xFF)
        elif character == Symbol.GAP and data:
            into.append((int(get_sim_time("ps")), bytes(data)))
            data.clear()


async def head(port: Any) -> int:
    """Return the time at which the first character of a packet is at an input port, in ps."""
    while True:
        await port.rx.value_change
        await ReadOnly()
        if int(port.rx.value) & DATA:
            return int(get_sim_time("ps"))


@cocotb.test()
async def packets_of_two_nics_pass_one_output_port_whole_and_in_turn(dut: Any) -> None:
    cluster = await start(dut, layer="echo")
    for host in cluster.hosts:
        await host.library.start()
    nancy, arrived = cluster.hosts[-1], list[tuple[int, bytes]]()
    cocotb.start_soon(packets(cluster.node("nancy"), arrived))
    sources, peers = cluster.hosts[:2], cluster.lab.plan.cluster.topology.peers
    ports = [cluster.switch("s0").port[peers[End(host.name, 0)].port] for host in sources]
    heads = [cocotb.start_soon(head(port)) for port in ports]
    sent = {host.vnn: bytes([0x11 * (host.vnn + 1)]) * SIZE for host in sources}
    sending = [cocotb.start_soon(host.library.send(nancy.vnn, sent[host.vnn])) for host in sources]
    received = dict([await nancy.library.receive() for _ in sources])
    assert received == sent
    for one in sending:
        await one
    await Timer(1, "us")
    (first_gap, _), (_, _) = arrived
    assert max([await one for one in heads]) < first_gap, "both want the port before the first packet has left"
    whole = [[payload in packet for payload in sent.values()] for _, packet in arrived]
    assert sorted(whole) == [[False, True], [True, False]], "no packet has characters of the other"
    await cluster.end()


test_cluster = pytest_cases(globals())
