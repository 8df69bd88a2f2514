"""Faults and resets of the machine's NICs.

Strategy: NIC 0 sends numbered packets to NIC 1, which receives one after the other; the received packets and their
order are compared. One packet at a time is reordered or duplicated, then packets at random: their content must not
change, and a seed must reproduce its result. Then a NIC is reset while it sends, while it receives, while its program
runs and during a host DMA: all other nodes must continue, and so must the NIC after its release.
"""

from __future__ import annotations

import pytest

from firmware.verbs import Watch
from pymodels.machine import Machine
from pymodels.registers import Control, Flag, Isr, Pci, Reg
from tests.unit.machine.test_machine_network import OUT, RECV, arm, body, received, send

HOLD = (1 << Control.LANAI_RESET_ON | 1 << Control.EBUS_RESET_ON).to_bytes(4, "big")
RUN = (1 << Control.LANAI_RESET_OFF | 1 << Control.EBUS_RESET_OFF).to_bytes(4, "big")
LONG = 4000


def take_all(machine: Machine, node: int, got: list[bytes]) -> None:
    """Let a NIC take packets for ever."""
    nic = machine.nic(node)

    async def receiver() -> None:
        while True:
            arm(machine, node)
            while not nic.special.isr & RECV:
                await nic.sleep(100_000)
            data, syndrome = received(machine, node)
            assert syndrome == 0
            got.append(data)

    nic.spawn(receiver(), "receiver")


def sent_in_a_row(machine: Machine, count: int, apart_us: float = 3) -> list[int]:
    """Send `count` different packets from NIC 0 to NIC 1; return the numbers of the received ones in order."""
    got: list[bytes] = []
    take_all(machine, 1, got)
    packets = [body(100, number) for number in range(count)]
    for packet in packets:
        send(machine, 0, b"\x81", packet)
        machine.run(machine.kernel.now / 1e6 + apart_us)
    machine.run(machine.kernel.now / 1e6 + 200)
    assert machine.network.in_flight() == 0
    return [packets.index(packet) for packet in got]


def test_later_packets_pass_a_reordered_packet() -> None:
    machine = Machine(2)
    machine.faults.reorder(0, 1, 1, by_ps=5_000_000)
    assert sent_in_a_row(machine, 5) == [0, 2, 1, 3, 4]
    assert machine.network.counters["reordered"] == machine.faults.injected == 1


def test_a_reordered_last_packet_arrives() -> None:
    machine = Machine(2)
    machine.faults.reorder(0, 1, 2, by_ps=150_000_000)
    assert sent_in_a_row(machine, 3) == [0, 1, 2]
    assert machine.network.counters["reordered"] == 1


def test_a_duplicated_packet_arrives_twice_the_copy_later() -> None:
    machine = Machine(2)
    machine.faults.double(0, 1, 1, by_ps=5_000_000)
    assert sent_in_a_row(machine, 4) == [0, 1, 2, 1, 3]
    assert machine.network.counters["doubled"] == 1


def test_a_held_packet_waits_for_its_output() -> None:
    """Let it continue while a long packet of another NIC holds the output; it arrives whole after that packet."""
    machine = Machine(3)
    got: list[bytes] = []
    take_all(machine, 2, got)
    machine.faults.reorder(0, 2, 0, by_ps=3_000_000)
    send(machine, 0, b"\x82", body(300))
    machine.run(2)
    send(machine, 1, b"\x81", body(LONG))
    machine.run(100)
    assert got == [body(LONG), body(300)]


def test_a_reordered_packet_can_be_damaged_too() -> None:
    machine = Machine(2)
    machine.faults.reorder(0, 1, 0)
    machine.faults.corrupt(0, 1, 0, offset=50, mask=4)
    arm(machine, 1)
    send(machine, 0, b"\x81", body(100))
    machine.run(100)
    data, syndrome = received(machine, 1)
    assert data[50] == body(100)[50] ^ 4 and syndrome != 0 and machine.nic(1).receive.crc_bad == 1


def test_random_faults_are_reproducible_by_seed() -> None:
    orders = []
    machines = [Machine(2), Machine(2)]
    for machine in machines:
        machine.faults.lose(0.0, 0.0, 5, reordered=0.2, doubled=0.2)
        orders.append(sent_in_a_row(machine, 60))
    assert orders[0] == orders[1]
    counters = machines[0].network.counters
    assert set(orders[0]) == set(range(60)) and len(orders[0]) == 60 + counters["doubled"]
    assert counters["reordered"] > 5 and counters["doubled"] > 5
    assert orders[0] != sorted(orders[0])


# ---- reset


def control(machine: Machine, node: int, word: bytes) -> None:
    """Write a NIC's control register."""
    machine.nic(node).card.write(Pci.CONTROL, word)


@pytest.mark.parametrize("after_us", [0.05, 0.5, 3.0, 20.0])
def test_a_nic_that_is_reset_while_it_sends_leaves_the_path_free(after_us: float) -> None:
    """Expect a wrong CRC for the packet in progress; packets of other NICs pass, and its own after its release."""
    machine = Machine(3)
    arm(machine, 2)
    send(machine, 0, b"\x82", body(LONG))
    machine.run(after_us)
    control(machine, 0, HOLD)
    machine.run(machine.kernel.now / 1e6 + 5)
    if after_us > 0.1:
        assert received(machine, 2)[1] != 0
        assert len(received(machine, 2)[0]) < LONG
    for sender, route in ((1, b"\x81"), (0, b"\x82")):
        arm(machine, 2)
        control(machine, 0, RUN)
        send(machine, sender, route, body(200, sender))
        machine.run(machine.kernel.now / 1e6 + 10)
        assert received(machine, 2) == (body(200, sender), 0)
    assert machine.network.in_flight() == 0


def test_a_nic_that_is_reset_between_two_pieces_of_a_packet_leaves_the_path_free() -> None:
    machine = Machine(3)
    arm(machine, 2)
    nic = machine.nic(0)
    nic.sram.write(OUT, b"\x82" + body(300))
    nic.write(Reg.SMP, OUT)
    nic.write(Reg.SML, OUT + 101)
    machine.run()
    assert machine.network.in_flight() == 1
    control(machine, 0, HOLD)
    machine.run()
    assert machine.network.in_flight() == 0 and received(machine, 2)[1] != 0
    arm(machine, 2)
    send(machine, 1, b"\x81", body(200))
    machine.run()
    assert received(machine, 2) == (body(200), 0)


@pytest.mark.parametrize(("after_us", "held_us"), [(1.0, 1.0), (10.0, 0.1), (10.0, 1.0)])
def test_packets_to_a_nic_in_reset_vanish(after_us: float, held_us: float) -> None:
    """Expect the discard of a whole packet that has begun to arrive, even if the NIC is released earlier."""
    machine = Machine(2)
    arm(machine, 1)
    send(machine, 0, b"\x81", body(LONG))
    machine.run(after_us)
    control(machine, 1, HOLD)
    machine.run(after_us + held_us)
    control(machine, 1, RUN)
    arm(machine, 1)
    machine.run(100)
    nic = machine.nic(1)
    assert nic.receive.lost == 1 and not nic.special.isr & RECV
    send(machine, 0, b"\x81", body(100))
    machine.run(200)
    assert received(machine, 1) == (body(100), 0)


def test_a_nic_in_reset_runs_no_program_and_keeps_its_registers_as_after_power_up() -> None:
    machine = Machine(2)
    nic = machine.nic(0)
    turns = []

    async def program() -> None:
        while True:
            await nic.work("turn")
            turns.append(nic.now)

    nic.spawn(program(), "program")
    nic.write(Reg.EIMR, 0xFF)
    nic.write(Reg.IT0, 20)
    machine.run(5)
    control(machine, 0, HOLD)
    before = len(turns)
    machine.run(50)
    assert len(turns) == before > 10
    assert nic.special.isr == nic.special.read(Reg.EIMR) == 0, "the timer expired during reset"
    control(machine, 0, RUN)
    machine.run(60)
    assert len(turns) == before, "only a started program runs"
    nic.spawn(program(), "program")
    machine.run(70)
    assert len(turns) > before


def test_polling_loop_in_reset_notices_no_pending_change() -> None:
    machine = Machine(2)
    nic = machine.nic(0)
    noticed = []

    async def program() -> None:
        noticed.append(await nic.poll_loop([Watch(0x100, 0, "look")]).run())

    nic.spawn(program(), "program")
    machine.run(5)
    nic.store(0x100, 1)
    control(machine, 0, HOLD)
    machine.run(50)
    assert noticed == []


def test_reset_finishes_the_current_dma_block_and_starts_no_other() -> None:
    machine = Machine(2)
    nic, buffer = machine.nic(0), machine.host(0).allocate(8192)
    for at, following in ((0x100, 0x200), (0x200, 0x300)):
        nic.store_words(at, (following, 0, 2000, 0x1000, 0, buffer.address))
    nic.store_words(0x300, (Flag.TERMINAL, 0, 0, 0, 0, 0))
    nic.card.write(Pci.POINTERS, (0x100).to_bytes(4, "big"))
    nic.write(Reg.PULSE, 1)
    machine.run(2)
    control(machine, 0, HOLD)
    machine.run(50)
    assert nic.dma.blocks == 1 and not nic.dma.busy
    control(machine, 0, RUN)
    nic.write(Reg.PULSE, 1)
    machine.run(100)
    assert nic.dma.blocks == 2
    assert nic.special.isr & (1 << Isr.WAKE1) == 0
