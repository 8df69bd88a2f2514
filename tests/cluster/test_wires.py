"""Messages on the wires of a cluster: packets, cycles, flow control, damage.

Strategy: cocotb tasks watch the cables, the bus and the engines while library calls send; what passes must agree with
what software sent, and with the fact sheet.
"""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, First, ReadOnly, RisingEdge, Timer
from cocotb.utils import get_sim_time

from firmware.echo.nic.layout import STATE
from pymodels.link.characters import DATA
from pymodels.topology import End
from tb.sanlab.cocotb import pytest_cases
from tests.cluster.pairs import echo_pair

PUBLIC = [
    "*.pci.*",
    "*.link.*",
    "*.nic.send.*",
    "*.nic.receive.*",
    "*.nic.doorbell.*",
    "*.nic_clk",
    "*.link_clk",
    "*.interrupt.*",
    "*.port[*].*",
]


async def characters(clock: Any, wire: Any, into: list[int]) -> None:
    """Append the character on a wire before each edge of its clock."""
    while True:
        await RisingEdge(clock)
        await ReadOnly()
        into.append(int(wire.value))


async def at_rises(strobe: Any, value: Any, into: list[int]) -> None:
    """Append a value at each rise of a strobe."""
    while True:
        await RisingEdge(strobe)
        await ReadOnly()
        into.append(int(value.value))


async def cycles_until(clock: Any, wire: Any, mask: int) -> int:
    """Return the number of edges of a clock until a wire has a bit of a mask after one of them."""
    cycles = 0
    while True:
        await RisingEdge(clock)
        await ReadOnly()
        cycles += 1
        if int(wire.value) & mask:
            return cycles


@cocotb.test()
async def a_round_trip_is_one_packet_on_each_cable_and_each_way(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    there, back = list[int](), list[int]()
    for host, wire in (("metz", there), ("paris", back)):
        node = cluster.node(host)
        cocotb.start_soon(characters(node.link_clk, node.link.rx, wire))
    answer = cocotb.start_soon(far.library.echo())
    await near.library.send(far.vnn, b"twelve bytes")
    assert await near.library.receive() == (far.vnn, b"twelve bytes")
    await answer
    for wire in (there, back):
        payload = bytes(character & 0xFF for character in wire if character & DATA)
        assert payload.count(b"twelve bytes") == 1
        assert len(payload) == 24 + 1, "header and payload in whole words of 8 bytes, CRC-8"
    await cluster.end()


@cocotb.test()
async def the_first_character_follows_the_doorbell_within_100_nic_cycles(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    paris = cluster.node("paris")
    doorbell = near.verbs.nic_base + STATE  # the word that announces a packet to the NIC
    sent = cocotb.start_soon(near.library.send(far.vnn, b""))
    while True:  # until the host writes it on the bus
        await FallingEdge(paris.pci.frame_n)
        await ReadOnly()
        if int(paris.pci.ad.value) & 0xFFFF_FFFF == doorbell and int(paris.pci.cbe.value) & 1:
            break
    await RisingEdge(paris.nic_clk)
    begun = get_sim_time("ps")
    started = cocotb.start_soon(cycles_until(paris.nic_clk, paris.nic.send.active_q, 1))
    cycles = await cycles_until(paris.nic_clk, paris.link.tx, DATA)
    took = get_sim_time("ps") - begun
    clock = cluster.lab.plan.profile.integer("clock.nic_ps")
    assert cycles * clock == took, "free-running clocks have every edge"
    assert 0 < await started < cycles < 100, "the firmware starts the send engine, which sends the first character"
    dut._log.info("first character %d NIC cycles after the doorbell", cycles)
    await sent


@cocotb.test()
async def a_receiver_that_is_not_ready_stops_its_sender(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    paris = cluster.node("paris")

    async def send() -> None:
        for number in range(12):
            await near.library.send(far.vnn, bytes([number]) * 64)

    sending = cocotb.start_soon(send())
    stopped = paris.link.stopped
    await First(RisingEdge(stopped), Timer(500, "us"))
    assert int(stopped.value) == 1, "no STOP arrived at the sender"
    quiet = get_sim_time("ns")
    await First(FallingEdge(stopped), Timer(20, "us"))
    assert get_sim_time("ns") - quiet == 20_000, "STOP lasts while nobody receives"
    for number in range(12):
        assert await far.library.receive() == (near.vnn, bytes([number]) * 64)
    assert int(stopped.value) == 0, "GO arrived when the receiver had taken its packets"
    await sending
    await cluster.end()


@cocotb.test()
async def a_damaged_character_ends_in_a_syndrome_and_no_message(dut: Any) -> None:
    cluster, near, far = await echo_pair(dut)
    paris, metz = cluster.node("paris"), cluster.node("metz")
    there = list[int]()
    syndromes = list[int]()
    cocotb.start_soon(characters(metz.link_clk, metz.link.rx, there))
    cocotb.start_soon(at_rises(metz.nic.receive.set_recv, metz.nic.receive.syndrome, syndromes))
    sent = cocotb.start_soon(near.library.send(far.vnn, b"damaged!"))
    await RisingEdge(paris.nic.send.active_q)
    while not int(metz.link.rx.value) & DATA:
        await RisingEdge(metz.link_clk)
        await ReadOnly()
    now = get_sim_time("us")
    await cluster.call(lambda: cluster.lab.running.fault(End("metz", 0), "flip", now + 0.05, now + 0.06, 0x01))
    await sent
    received = cocotb.start_soon(far.library.receive())
    await Timer(20, "us")
    payload = bytes(character & 0xFF for character in there if character & DATA)
    assert len(payload) == 8 + 8 + 1
    assert b"damaged!" not in payload, "one of its characters is another"
    assert [value != 0 for value in syndromes] == [True], "the CRC-8 finds the error"
    assert not received.done(), "the firmware has dropped the packet"
    await near.library.send(far.vnn, b"whole")
    assert await received == (near.vnn, b"whole")
    assert syndromes[1:] == [0]
    await cluster.end()


test_cluster = pytest_cases(globals())
