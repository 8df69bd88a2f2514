"""Numbers of messages at the doorway: places of SRAM and of host memory, in C and in Python.

Strategy: the host and the NIC of one node share the numbers of the doorway's library. A number that one of them notes
is read by the other, at the edges of each range of addresses.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import pytest

from pymodels.hardware.discover import nic_kind
from pymodels.hardware.processors import HostProcessor, NicProcessor
from pymodels.kernel import Kernel
from pymodels.messages import (
    BESIDE,
    FIRST_RESULT,
    MOST_MESSAGES,
    Messages,
    first_arrival,
    first_of_host,
    first_of_nic,
)
from pymodels.trace import Part, TraceEvent, unit
from tb.bind.actor import PathNumbers
from tb.bind.host import HostTiming, RtlHost
from tb.bind.lanai import RtlNic
from tb.sim.doorway import Doorway

SRAM = 1 << 12
TAKE, GIVE = TraceEvent.CARD_TAKE, TraceEvent.CARD_GIVE
TIMING = HostTiming(1000.0, 500, 300, {}, (1, 1), 70, HostProcessor(1.0, 1.0, 1.0, 0.0), 0.0)


class Node(NamedTuple):
    """Host and NIC of a node, and the numbers of its SRAM."""

    host: RtlHost
    nic: RtlNic
    places: memoryview


@pytest.fixture(name="node", params=[True, False], ids=["numbered", "without numbers"])
def fixture_node(doorway: Doorway, kernel: Kernel, request: pytest.FixtureRequest) -> Node:
    """Return node 3 of a run whose messages have numbers, and of one whose messages have none."""
    memory = doorway.memory(6, 1 << 22, unit(3, Part.HOST_CPU))
    places = doorway.places(3, SRAM, first_arrival(3), 24, False)
    doorway.messages = Messages(8, request.param, lambda node: places)
    card, paths = nic_kind("lanai9").card(1 << 21), PathNumbers()
    host = doorway.backend(RtlHost)(3, "h", kernel, doorway, memory, 6, card, TIMING, paths, 1)
    sram = memoryview(bytearray(SRAM))
    return Node(host, doorway.backend(RtlNic)(3, kernel, doorway, sram, NicProcessor(1, 1, 1, 0), paths), places)


@pytest.mark.parametrize("node", [True], indirect=True)
def test_host_and_nic_draw_numbers_of_their_own(node: Node) -> None:
    assert [node.host.message(), node.host.message()] == [first_of_host(3), first_of_host(3) + 24]
    assert [node.nic.message(), node.nic.message()] == [first_of_nic(3), first_of_nic(3) + 24]


@pytest.mark.parametrize("node", [True], indirect=True)
@pytest.mark.parametrize("offset", [0, 64, SRAM - 4])
def test_a_number_in_sram_is_the_same_for_host_and_nic(node: Node, offset: int) -> None:
    at = node.host.nic_base + offset
    node.host.put_message(at, 5)
    assert (node.nic.message_at(offset), node.host.message_at(at + 3), node.places[offset // 4]) == (5, 5, 5)
    node.nic.put_message(offset, (1 << 63) + 1)
    assert node.host.message_at(at) == (1 << 63) + 1
    assert sum(map(bool, node.places)) == 1


@pytest.mark.parametrize("node", [True], indirect=True)
def test_numbers_in_host_memory_are_those_of_byte_addresses(node: Node) -> None:
    base = node.host.nic_base
    for number, address in enumerate((0, 1, 0x1004, base - 1, BESIDE, BESIDE + 6), 1):
        node.host.put_message(address, number)
        assert node.host.message_at(address) == node.nic.message_at(address, in_host=True) == number
    node.nic.put_message(0x2000, 9, in_host=True)
    assert (node.host.message_at(0x2000), node.host.message_at(0x2001), sum(node.places)) == (9, 0, 0)


@pytest.mark.parametrize("node", [True], indirect=True)
def test_a_packet_begins_at_either_word_of_its_route(node: Node) -> None:
    node.host.put_packet(node.host.nic_base + 32, 7)
    assert [node.nic.message_at(at) for at in (20, 24, 28, 32)] == [0, 7, 7, 0]


@pytest.mark.parametrize("node", [True], indirect=True)
def test_a_negative_number_and_an_address_that_is_a_text_are_errors(node: Node) -> None:
    with pytest.raises((ValueError, OverflowError)):
        node.nic.put_message(0, -1)
    for put in (node.nic.put_message, node.host.put_message):
        with pytest.raises(TypeError):
            put("somewhere", 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("node", [False], indirect=True)
def test_a_run_without_numbers_notes_none(node: Node) -> None:
    node.host.put_message(node.host.nic_base, 5)
    node.host.put_packet(node.host.nic_base + 8, 5)
    node.nic.put_message(0, 5)
    node.nic.put_message(64, 5, in_host=True)
    read = node.nic.message_at(0), node.nic.message_at(64, in_host=True), node.host.message_at(node.host.nic_base)
    assert (node.host.message(), node.nic.message(), *read, sum(node.places)) == (0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("node", [True], indirect=True)
@pytest.mark.parametrize("offset", [0, 8, 0x200008, 0x3FFFF8])
def test_a_message_in_a_card_is_named_by_its_place_and_results_are_numbered_in_order(node: Node, offset: int) -> None:
    doorway = node.nic._doorway
    message_of = doorway.lib.dw_message_of
    message_of.restype = ctypes.c_uint64
    node.nic.put_in_card(offset, 77)
    told = [message_of(unit(3, Part.FPGA), event, 0, offset) for event in (TAKE, GIVE, GIVE)]
    assert told == [77, node.nic.card_result(0), node.nic.card_result(1)]
    assert message_of(unit(3, Part.FPGA), TAKE, 0, offset ^ 8) == 0
    assert told[1] == FIRST_RESULT + 3 and told[2] <= MOST_MESSAGES
