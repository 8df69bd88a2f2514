"""Network of the machine.

Strategy: packets are sent by the registers of one NIC and checked in the SRAM and registers of another. Lengths,
alignments, pieces and buffer sizes are drawn by hypothesis. Wrong routes, flipped bits and unarmed receivers follow.
The shortcut for the CRC is compared with a CRC over all bytes.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodels.builders import clos, host_names
from pymodels.machine import Machine, MachineError, crc8
from pymodels.machine.net_send import packet_key
from pymodels.registers import Control, Isr, Pci, Reg
from pymodels.trace import TraceEvent

OUT, IN = 0x1000, 0x8000
RECV, SEND, BUFF, HEAD = (1 << bit for bit in (Isr.RECV, Isr.SEND, Isr.BUFF, Isr.HEAD))


def body(size: int, number: int = 0) -> bytes:
    """Return a packet without its route: a type with top bit 0, then a pattern."""
    return bytes(((i + number) * 5 + 6) & (0x7F if i == 0 else 0xFF) for i in range(size))


def send(machine: Machine, source: int, route: bytes, packet: bytes, skip: int = 0, cuts: tuple[int, ...] = ()) -> None:
    """Send a packet whose first byte is `skip` bytes after SMP, in pieces cut at these offsets."""
    nic, whole = machine.nic(source), route + packet
    nic.sram.write(OUT, bytes(skip) + whole)
    nic.write(Reg.SMP, OUT)
    nic.write(Reg.SA, skip)
    for cut in cuts:
        nic.write(Reg.SML, OUT + skip + cut)
    nic.write(Reg.SMLT, OUT + skip + len(whole))


def arm(machine: Machine, node: int, size: int = 0x4000, at: int = IN) -> None:
    """Arm the receive engine of a node."""
    machine.nic(node).write(Reg.RMP, at)
    machine.nic(node).write(Reg.RML, at + size)


def received(machine: Machine, node: int) -> tuple[bytes, int]:
    """Return bytes and syndrome of the packet at IN, with the length from RMP and ORUN as in firmware."""
    nic = machine.nic(node)
    end = nic.special.read(Reg.RMP) - (nic.special.isr >> Isr.ORUN1 & 7)
    assert nic.special.read(Reg.RECV_LENGTH) == end - IN
    data = nic.load_bytes(IN, end - IN)
    return data[:-1], data[-1]


@settings(max_examples=60)
@given(size=st.integers(4, 1200), skip=st.integers(0, 7), cuts=st.lists(st.integers(2, 1200), max_size=3))
def test_any_length_alignment_and_cut_arrives_complete(size: int, skip: int, cuts: list[int]) -> None:
    machine = Machine(2, host_bytes=4096, sram_bytes=1 << 16)
    arm(machine, 1)
    send(machine, 0, b"\x81", body(size), skip, tuple(sorted(cut for cut in cuts if cut <= size)))
    machine.run()
    assert received(machine, 1) == (body(size), 0)
    assert machine.nic(1).special.isr & (RECV | HEAD | BUFF) == RECV | HEAD
    assert machine.nic(0).special.isr == SEND
    assert machine.network.in_flight() == 0


def test_pieces_written_while_the_wire_waits_make_one_packet() -> None:
    machine = Machine(2)
    arm(machine, 1)
    nic, whole = machine.nic(0), b"\x81" + body(700)
    nic.sram.write(OUT, whole[:301])
    nic.write(Reg.SMP, OUT)
    nic.write(Reg.SML, OUT + 301)
    machine.run()
    assert nic.special.isr & SEND and not machine.nic(1).special.isr & RECV
    assert machine.nic(1).special.isr & HEAD and IN < machine.nic(1).special.read(Reg.RMP) <= IN + 300
    nic.sram.write(OUT + 301, whole[301:])
    nic.write(Reg.SMLT, OUT + len(whole))
    assert not nic.special.isr & SEND, "a limit clears SEND"
    machine.run()
    assert received(machine, 1) == (body(700), 0)


def test_rmp_advances_while_a_long_packet_arrives() -> None:
    machine = Machine(2)
    arm(machine, 1)
    send(machine, 0, b"\x81", body(4000))
    seen = set()
    for _ in range(60):
        machine.run(until_us=machine.kernel.now / 1e6 + 0.5)
        seen.add(machine.nic(1).special.read(Reg.RMP))
    assert len(seen) > 20 and all(pointer % 8 == 0 for pointer in seen)


def test_unarmed_receiver_stops_the_sender_without_loss() -> None:
    machine = Machine(2)
    send(machine, 0, b"\x81", body(4000))
    machine.run()
    sent = machine.nic(0).special.read(Reg.SMP) - OUT
    assert machine.timing.slack <= sent < machine.timing.slack + machine.timing.chunk
    assert machine.nic(0).special.isr == 0 and machine.network.in_flight() == 1
    arm(machine, 1)
    machine.run()
    assert received(machine, 1) == (body(4000), 0)


def test_a_blocked_output_holds_back_packets_of_others_and_then_lets_them_by() -> None:
    machine = Machine(4)
    for source, route in ((0, b"\x83"), (1, b"\x82"), (2, b"\x81")):
        send(machine, source, route, body(64, source))
    machine.run()
    firsts = []
    for _ in range(3):
        arm(machine, 3)
        machine.run()
        data, syndrome = received(machine, 3)
        assert syndrome == 0
        firsts.append(data)
    assert sorted(firsts) == sorted(body(64, source) for source in range(3))


def test_blocked_packet_continues_over_further_switches_as_its_route_arrives() -> None:
    """Host 0's packet to host 15 keeps the cable between two switches. Of that of host 1, at the next port, only the
    byte of the route to this cable has come.
    """
    machine = Machine(topology=clos(host_names(16)), sram_bytes=1 << 16, host_bytes=4096)
    route = machine.view(0)["routes"][15]
    send(machine, 0, route, body(2000))
    machine.run()
    nic, whole = machine.nic(1), bytes([route[0] - 1]) + route[1:] + body(50)
    nic.sram.write(OUT, whole)
    nic.write(Reg.SMP, OUT)
    nic.write(Reg.SML, OUT + 1)
    machine.run()
    assert machine.network.in_flight() == 2
    arm(machine, 15)
    machine.run()
    assert received(machine, 15) == (body(2000), 0)
    arm(machine, 15)
    nic.write(Reg.SMLT, OUT + len(whole))
    machine.run()
    assert received(machine, 15) == (body(50), 0)


def test_packets_of_one_sender_stay_in_order_even_behind_a_blocked_one() -> None:
    machine = Machine(3)
    arm(machine, 2)
    send(machine, 0, b"\x81", body(40))
    machine.run()
    send(machine, 0, b"\x82", body(40))
    machine.run()
    assert not machine.nic(2).special.isr & RECV, "head of line: node 1 is not armed"
    arm(machine, 1)
    machine.run()
    assert machine.nic(1).special.isr & RECV and machine.nic(2).special.isr & RECV


@settings(max_examples=30)
@given(size=st.integers(4, 900), room=st.integers(1, 40))
def test_a_buffer_that_is_too_small_raises_buff_and_the_rest_follows(size: int, room: int) -> None:
    machine = Machine(2, host_bytes=4096, sram_bytes=1 << 16)
    got = b""
    send(machine, 0, b"\x81", body(size))
    isr = buffers = 0
    while not isr & RECV:
        arm(machine, 1, size=8 * room)
        machine.run()
        buffers += 1
        isr = machine.nic(1).special.isr
        end = machine.nic(1).special.read(Reg.RMP) - (isr >> Isr.ORUN1 & 7 if isr & RECV else 0)
        assert isr & RECV or (isr & BUFF and end == IN + 8 * room)
        got += machine.nic(1).load_bytes(IN, end - IN)
    assert got == body(size) + b"\0"
    assert buffers == -(-(size + 1) // (8 * room))
    assert machine.nic(1).special.read(Reg.RECV_LENGTH) == size + 1


@settings(max_examples=40)
@given(size=st.integers(4, 300), data=st.data())
def test_flipped_bits_give_the_syndrome_that_a_crc_over_all_bytes_gives(size: int, data: st.DataObject) -> None:
    offset, mask = data.draw(st.integers(0, size)), data.draw(st.integers(1, 255))
    machine = Machine(2, host_bytes=4096, sram_bytes=1 << 16)
    machine.faults.corrupt(0, 1, number=0, offset=offset, mask=mask)
    arm(machine, 1)
    send(machine, 0, b"\x81", body(size))
    machine.run()
    wire = bytearray(body(size) + bytes((crc8(body(size)),)))
    wire[offset] ^= mask
    assert received(machine, 1) == (bytes(wire[:-1]), crc8(bytes(wire)))
    assert machine.nic(1).receive.crc_bad == (crc8(bytes(wire)) != 0)


def test_crc8_has_the_published_check_value() -> None:
    assert crc8(b"123456789") == 0xF4


@pytest.mark.parametrize(
    ("route", "counter"),
    [(b"\x8f", "bad_route"), (b"\xb1", "bad_route"), (b"\x07", "bad_route"), (b"\x85", "absent")],
)
def test_a_route_to_nowhere_is_consumed_and_counted(route: bytes, counter: str) -> None:
    machine = Machine(2)
    send(machine, 0, route, body(400))
    machine.run()
    assert machine.network.counters[counter] == 1 and machine.network.in_flight() == 0
    assert machine.nic(0).special.isr & SEND


def test_a_packet_that_ends_within_its_route_is_consumed_and_counted() -> None:
    machine = Machine(16, topology=clos(host_names(16)), sram_bytes=1 << 16, host_bytes=4096)
    route = machine.view(0)["routes"][15]
    assert len(route) == 3
    send(machine, 0, route[:1], b"")
    machine.run()
    assert machine.network.counters["bad_route"] == 1 and machine.network.in_flight() == 0


def test_routes_over_several_switches_lead_everywhere() -> None:
    machine = Machine(topology=clos(host_names(16)), sram_bytes=1 << 16, host_bytes=4096)
    for source in range(16):
        for target in range(16):
            if source != target:
                arm(machine, target)
                send(machine, source, machine.view(source)["routes"][target], body(20, source))
                machine.run()
                assert received(machine, target) == (body(20, source), 0)


def test_dropped_and_delayed_packets() -> None:
    machine = Machine(2)
    machine.faults.drop(0, 1, number=1)
    machine.faults.delay(0, 1, number=2, by_ps=50_000_000)
    arrivals = []
    for number in range(3):
        arm(machine, 1)
        start = machine.kernel.now
        send(machine, 0, b"\x81", body(24, number))
        machine.run()
        arrived = machine.nic(1).special.isr & RECV
        arrivals.append(received(machine, 1)[0] if arrived else None)
        assert (machine.kernel.now - start > 50_000_000) == (number == 2)
    assert arrivals == [body(24, 0), None, body(24, 2)]
    assert machine.faults.injected == 2 and len(machine.trace.of_event(TraceEvent.FAULT)) == 2


def test_a_nic_in_reset_absorbs_packets() -> None:
    machine = Machine(2)
    machine.nic(1).card.write(Pci.CONTROL, (1 << Control.LANAI_RESET_ON).to_bytes(4, "big"))
    send(machine, 0, b"\x81", body(500))
    machine.run()
    assert machine.nic(1).special.read(Reg.RECV_LOST) == 1 and machine.network.in_flight() == 0
    machine.nic(1).card.write(Pci.CONTROL, (1 << Control.LANAI_RESET_OFF - 0).to_bytes(4, "big"))
    arm(machine, 1)
    send(machine, 0, b"\x81", body(50))
    machine.run()
    assert received(machine, 1) == (body(50), 0)


def test_buffer_changed_before_send_int_is_sent_with_its_new_content() -> None:
    machine = Machine(2)
    arm(machine, 1)
    send(machine, 0, b"\x81", body(40))
    machine.nic(0).store(OUT + 8, 0xFFFFFFFF)
    machine.run()
    assert received(machine, 1)[0] != body(40)


def test_misuse_of_the_send_engine_is_an_error() -> None:
    machine = Machine(2)
    nic = machine.nic(0)
    nic.write(Reg.SMP, OUT)
    with pytest.raises(MachineError, match="not beyond SMP 0x1000"):
        nic.write(Reg.SMLT, OUT)
    nic.write(Reg.SMLT, OUT + 64)
    with pytest.raises(MachineError, match="wait for SEND_INT"):
        nic.write(Reg.SMLT, OUT + 128)
    with pytest.raises(MachineError, match="SMP written"):
        nic.write(Reg.SMP, OUT)


def test_the_trace_carries_the_key_of_the_packet() -> None:
    machine = Machine(2)
    arm(machine, 1)
    send(machine, 0, b"\x81", bytes.fromhex("06360102") + body(20))
    machine.run()
    for event in (TraceEvent.TX_TAIL, TraceEvent.RX_HEAD, TraceEvent.RX_TAIL):
        assert [record[3] for record in machine.trace.of_event(event)] == [0x06360102]
    assert packet_key(bytes.fromhex("81bf8206360102")) == 0x06360102
