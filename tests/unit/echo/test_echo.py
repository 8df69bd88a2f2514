"""echo on the machine: delivery, damaged packets and errors.

Strategy: firmware and library run on the machine and send messages of every length. Bits are flipped on the wire and in
the SRAM, and arguments are invalid. Order and back-pressure are tested in `tests/unit/conformance`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from firmware.echo.host import Echo
from firmware.echo.nic import layout
from firmware.layers import host_library, nic_program
from firmware.view import ClusterView
from pymodels.costs.table import PathTable
from pymodels.machine import Machine, MachineError
from pymodels.registers import Pci

FIRMWARE = Path(__file__).parents[3] / "firmware"


def open_echo(machine: Machine) -> list[Echo]:
    """Start the firmware on every NIC, and open the library on every host."""
    opened: list[Echo] = []
    for node in range(len(machine.names)):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("echo")(machine.nic(node), view), "echo")
        opened.append(host_library("echo")(machine.host(node), view))
    machine.finish(*(library.start() for library in opened))
    return opened


def payload(size: int, salt: int = 0) -> bytes:
    """Return bytes that differ for each size and salt."""
    return bytes((7 * i + size + 31 * salt) & 0xFF for i in range(size))


def test_every_length_comes_back_unchanged() -> None:
    machine = Machine(2)
    here, there = open_echo(machine)

    async def ask() -> None:
        for size in range(layout.PAYLOAD + 1):
            await here.send(1, payload(size))
            assert await here.receive() == (1, payload(size))

    async def answer() -> None:
        for _ in range(layout.PAYLOAD + 1):
            await there.echo()

    machine.finish(ask(), answer())
    assert machine.network.in_flight() == 0


@pytest.mark.parametrize("offset", [0, 3, 8, 20, 71])
def test_a_packet_with_a_bit_flipped_on_the_wire_is_dropped_by_its_crc(offset: int) -> None:
    machine = Machine(2)
    here, there = open_echo(machine)
    machine.faults.corrupt(0, 1, number=0, offset=offset, mask=0x10)
    machine.finish(here.send(1, payload(64)))
    machine.finish(here.send(1, payload(64, salt=1)))
    assert machine.finish(there.receive()) == [(0, payload(64, salt=1))]
    assert machine.nic(1).receive.crc_bad == 1
    with pytest.raises(MachineError, match="host1 polling"):
        machine.finish(there.receive())


def test_a_bit_flipped_in_the_sram_arrives_flipped() -> None:
    """E1: the bytes that arrive are those that went through the hardware, not a copy that went round it."""
    machine = Machine(2)
    here, there = open_echo(machine)
    machine.host(1).pause_between(0, 100)
    machine.finish(here.send(1, payload(16)))
    machine.run(until_us=machine.kernel.now / 1e6 + 0.3)
    machine.nic(0).sram.data[layout.OUT + 16] ^= 0x01
    assert machine.finish(there.receive()) == [(0, bytes([payload(16)[0] ^ 1]) + payload(16)[1:])]


def test_nothing_is_sent_before_the_receiver_is_ready() -> None:
    machine = Machine(2)
    libraries: list[Echo] = []
    for node in range(2):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("echo")(machine.nic(node), view), "echo")
        libraries.append(host_library("echo")(machine.host(node), view))

    async def late() -> tuple[int, bytes]:
        await machine.host(1).sleep(300_000_000)
        await libraries[1].start()
        return await libraries[1].receive()

    async def early() -> None:
        await libraries[0].start()
        await libraries[0].send(1, b"first")

    assert machine.finish(late(), early())[0] == (0, b"first")


@pytest.mark.parametrize(("destination", "size"), [(0, 4), (2, 4), (1, 65)])
def test_an_invalid_argument_is_reported_with_its_value(destination: int, size: int) -> None:
    machine = Machine(2)
    here, _ = open_echo(machine)
    with pytest.raises(ValueError, match=rf"destination {destination} \(of \[1\]\) or payload \({size} of 64 B\)"):
        machine.finish(here.send(destination, bytes(size)))


def test_every_path_has_a_compiled_cost() -> None:
    tables = {side: PathTable.load(side, "echo") for side in ("nic", "host")}
    machine = Machine(2, cost=lambda side, path: 7_500 * tables[side].cost(path).instructions)
    here, there = open_echo(machine)
    machine.finish(here.send(1, b"x"), there.echo(), here.receive())


def test_start_loads_the_dma_chain_pointer() -> None:
    machine = Machine(2)
    open_echo(machine)
    machine.run(until_us=machine.kernel.now / 1e6 + 1)  # the stores are on their way
    assert machine.nic(0).card.read(Pci.POINTERS) == layout.CHAIN


def test_firmware_and_library_together_have_about_100_lines_of_code() -> None:
    lines = 0
    for file in FIRMWARE.glob("echo/*/*.py"):
        if file.name in ("boot.py",):
            continue  # words for the C firmware
        text = file.read_text(encoding="utf-8")
        texts = {
            line
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        code = [line for number, line in enumerate(text.splitlines(), 1) if number not in texts and line.strip()]
        lines += sum(1 for line in code if not line.lstrip().startswith("#"))
    assert 0 < lines < 105
