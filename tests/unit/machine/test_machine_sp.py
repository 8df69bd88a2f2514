"""The SP adapter of the machine: its registers, and FirmVIA on it.

Strategy: firmware's register accesses are made by hand on two adapters of the machine. Host memory, headers and the
order of commands are compared with the register map, and flagged errors must raise. Then the whole layer runs: messages
of every kind of length between two processes, in memory and on another network.
"""

from __future__ import annotations

import pytest

from firmware.common.host.card import acknowledge
from pymodels.formats.sp import SwitchHeader
from pymodels.hardware.discover import nic_kind
from pymodels.machine import Machine, MachineError
from pymodels.nics.sp.machine import ModelSpNic
from pymodels.nics.sp.registers import (
    SpCommand,
    SpControl,
    SpPci,
    SpReg,
    SpSize,
    SpStatus,
    fetch_command,
    read_command,
    store_command,
)
from pymodels.registers import Isr, Reg
from tests.unit.via.test_via_delivery import SIZES, one_way
from tests.unit.via.via_bench import pair

HERE, THERE = 0x2000, 0x3000
KEY = 0x00112233


@pytest.fixture(name="machine")
def fixture_machine() -> Machine:
    """Two hosts with memory that was granted."""
    machine = Machine(2, nic="sp")
    for host in machine.hosts:
        host.allocate(0x8000)
    return machine


def adapter(machine: Machine, node: int) -> ModelSpNic:
    """Return an adapter."""
    nic = machine.nics[node]
    assert isinstance(nic, ModelSpNic)
    return nic


def order(nic: ModelSpNic, first: int, address: int, *words: int) -> None:
    """Insert a command and its words."""
    nic.write(SpReg.COMMAND_HIGH, first)
    nic.write(SpReg.COMMAND_LOW, address)
    for word in words:
        nic.write(SpReg.DATA_ONE, word)


def send(machine: Machine, data: bytes, own: bool = False) -> tuple[int, ...]:
    """Send a packet from adapter 0 to adapter 1, and return its six header words."""
    nic = adapter(machine, 0)
    header = SwitchHeader(machine.view(0)["routes"][1], 0, 1, 8 + len(data))
    for index, word in enumerate((*header.words(), KEY, 7)):
        nic.write(SpReg.SEND0 + 4 * index, word)
    if own:
        for at in range(0, len(data), 4):
            nic.write(SpReg.OWN0 + at, int.from_bytes(data[at : at + 4].ljust(4, b"\0"), "big"))
    else:
        machine.host(0).store_bytes(HERE, data)
        order(nic, fetch_command(len(data)), HERE)
    nic.write(SpReg.SEND_START, len(data) << 16 if own else len(data))
    return (0, 0, *header.words()[2:], KEY, 7)


def bit(nic: ModelSpNic, which: SpStatus, width: int = 1) -> int:
    """Return a field of STATUS."""
    return nic.special.read(SpReg.STATUS) >> which & (1 << width) - 1


@pytest.mark.parametrize(("size", "own"), [(1, True), (8, True), (64, True), (9, False), (1024, False), (2032, False)])
def test_a_packet_arrives_as_sent_and_is_stored_piece_by_piece(machine: Machine, size: int, own: bool) -> None:
    data = bytes(range(7, 200)) * 11
    header = send(machine, data[:size], own)
    machine.run()
    there = adapter(machine, 1)
    assert bit(there, SpStatus.ARRIVED) and bit(adapter(machine, 0), SpStatus.SENT, 8) == 1
    assert tuple(there.special.read(SpReg.RECV0 + 4 * index) for index in range(6)) == header
    assert there.special.read(SpReg.RECV_STATUS) == size
    first = size // 2
    if first:
        order(there, store_command(first, True), THERE)
    order(there, store_command(size - first, True), THERE + first)
    order(there, store_command(8, False), THERE + 0x1000, 1, size)
    there.write(SpReg.RECV_NEXT, 0)
    machine.run()
    assert machine.host(1).load_bytes(THERE, size) == data[:size]
    assert machine.host(1).load_words(THERE + 0x1000, 2) == (1, size)
    assert not bit(there, SpStatus.ARRIVED) and bit(there, SpStatus.LEFT_IDLE)
    assert bit(there, SpStatus.STORED, 8) == (3 if first else 2)


def test_commands_are_done_in_their_order_and_an_interrupt_behind_them(machine: Machine) -> None:
    nic, host, rang = adapter(machine, 0), machine.host(0), list[int]()

    async def service() -> None:
        rang.append(host.load_words(THERE, 1)[0])
        assert nic.card.read(SpPci.CONTROL) == 1
        await acknowledge(host)

    host.on_interrupt(service)
    order(nic, store_command(4, False), THERE, 5)
    order(nic, read_command(8), THERE)
    order(nic, 1 << SpCommand.ALARM, 0)
    assert not bit(nic, SpStatus.READ)
    machine.run(until_us=100)
    assert (nic.special.read(SpReg.READ0), rang) == (5, [5]) and bit(nic, SpStatus.READ)
    assert nic.card.read(SpPci.CONTROL) == 0


def test_two_packets_are_buffered_and_others_stay_in_the_network(machine: Machine) -> None:
    there = adapter(machine, 1)
    for number in range(4):
        send(machine, bytes([number]) * 500)
        machine.run()
    assert machine.network.in_flight() == 1, "the next one waits for the network, the last for the link interface"
    for number in range(4):
        assert there.special.read(SpReg.RECV6) == number * 0x01010101
        there.write(SpReg.RECV_NEXT, 0)
        machine.run()
    assert machine.network.in_flight() == 0 and not bit(there, SpStatus.ARRIVED)


def test_a_flipped_bit_is_reported_with_the_packet(machine: Machine) -> None:
    machine.faults.corrupt(0, 1, 0, offset=60, mask=2)
    send(machine, bytes(100))
    machine.run()
    assert adapter(machine, 1).special.read(SpReg.RECV_STATUS) == 1 << 16 | 100


def test_the_timer_rings_once_and_can_be_stopped(machine: Machine) -> None:
    nic = adapter(machine, 0)
    nic.write(SpReg.TIMER, 1000)
    machine.run(until_us=7)
    assert not bit(nic, SpStatus.TIME)
    machine.run(until_us=8)
    assert bit(nic, SpStatus.TIME)
    nic.write(SpReg.ACK, 1 << SpStatus.TIME)
    nic.write(SpReg.TIMER, 10)
    nic.write(SpReg.TIMER, 0)
    machine.run(until_us=20)
    assert not bit(nic, SpStatus.TIME)


def test_doorbells_become_entries(machine: Machine) -> None:
    nic = adapter(machine, 0)
    nic.write(SpReg.BELL_BASE, 0x1000)
    nic.card.write(SpPci.DOORBELL + 8, (99).to_bytes(4, "big"))
    assert nic.load_words(0x1000, 2) == (SpPci.DOORBELL + 8, 99)
    assert nic.special.read(SpReg.BELL_PRODUCER) == 1 and bit(nic, SpStatus.BELL)
    nic.write(SpReg.BELL_CONSUMER, 1)
    assert not bit(nic, SpStatus.BELL)


def test_misuse_that_the_adapter_flags_is_an_error(machine: Machine) -> None:
    nic = adapter(machine, 0)
    with pytest.raises(MachineError, match="RECV_NEXT without a packet"):
        nic.write(SpReg.RECV_NEXT, 0)
    with pytest.raises(MachineError, match="STORE of 4 bytes that no packet"):
        order(nic, store_command(4, True), THERE)
    for value in (SpSize.USER + 1, SpSize.INLINE + 1 << 16, 1 << 16 | 4):
        with pytest.raises(MachineError, match="makes no packet now"):
            nic.write(SpReg.SEND_START, value)
    with pytest.raises(MachineError, match="no writable register 0x010"):
        nic.write(SpReg.TIME, 0)
    with pytest.raises(MachineError, match="no word to write at offset 0x800000 of the NIC"):
        nic.card.write(0x800000, bytes(4))
    nic.write(SpReg.COMMAND_HIGH, fetch_command(64))
    with pytest.raises(MachineError, match="is not in allocated memory"):
        nic.write(SpReg.COMMAND_LOW, 0x100000)


def test_the_host_clears_the_interrupt_in_the_control_register() -> None:
    card = nic_kind("sp").card(1 << 19)
    assert card.register(Reg.ISR) == card.control == 0xE0800040
    assert card.signal(1 << Isr.HOST_SIG) == 1


def test_an_interrupt_is_set_in_both_registers_until_the_host_clears_it(machine: Machine) -> None:
    nic, host = adapter(machine, 0), machine.host(0)

    def seen() -> tuple[int, int]:
        return nic.special.read(SpReg.INTERRUPT), machine.finish(host.pio_read(host.card.control))[0]

    assert seen() == (0, 0)
    nic.write(SpReg.INTERRUPT, 1)
    assert seen() == (1, 1 << SpControl.INTERRUPT)
    nic.card.write(SpPci.CONTROL, (1 << SpControl.INTERRUPT).to_bytes(4, "big"))
    assert seen() == (0, 0)


@pytest.mark.parametrize("preset", ["firmvia", "bvia1", "bvia2", "hwvia"])
def test_via_delivers_messages_of_every_length_with_all_options(preset: str) -> None:
    p = pair(Machine(2, nic="sp", sram_bytes=1 << 20), preset=preset)

    async def all_of_them() -> None:
        for size in [size for size in SIZES if preset != "bvia1" or size <= 4096]:
            for at, to in ((0, 0), (4093, 1)):
                await one_way(p, size, at, to)

    p.machine.finish(all_of_them())
    assert p.machine.network.in_flight() == 0
