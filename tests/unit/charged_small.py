"""A tour of echo and TPIL: every operation that an application can ask for. Then what GRIM's FPGA card asks of its
host, and the host's own filter.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from firmware.host.grim.filter import HostFilter
from firmware.host.grim.fpga import FpgaCard
from firmware.host.tpil import CardDma, Method, create
from firmware.layers import ClusterView, host_library, nic_program
from firmware.mail import open_mail
from pymodels.card.fabric import Circuit
from pymodels.machine import Machine
from tests.unit.charges import Charges, settled
from tests.unit.grim_bench import Bench
from tests.unit.request_bench import Bench as RequestBench
from tests.unit.test_tpil import WINDOW, Card

SETTINGS = {"clock_divisor": 1, "config_clocks": 1}
"""Of a card."""


class Driver:
    """Fetches nothing: TPIL's own driver is asked for apart."""

    async def fetch(self, source: int, target: int, size: int) -> None:
        """A transfer."""


def tour(charges: Charges) -> None:
    """All of them."""
    _echo(charges)
    _fifo(charges)
    _ssam(charges)
    _hpam(charges)
    _tpil(charges)
    _card(charges)


def _echo(charges: Charges) -> None:
    machine = Machine(2)
    hosts = []
    for node in range(2):
        view = ClusterView(**machine.view(node))
        machine.nic(node).spawn(nic_program("echo")(machine.nic(node), view), "echo")
        hosts.append(host_library("echo")(machine.host(node), view))
    with charges.operation("echo start"):
        machine.finish(*(host.start() for host in hosts))
    with charges.operation("echo send and receive"):
        machine.finish(settled(machine, hosts[0].send(1, b"64 bytes")), hosts[1].receive())
    with charges.operation("echo answer"):
        machine.finish(hosts[0].send(1, b"back"), hosts[1].echo(), hosts[0].receive())

    async def posts(me: int) -> None:
        mail = open_mail("echo", hosts[me])
        for _ in range(2):
            await mail.post(1 - me, b"two behind each other")
        for _ in range(2):
            await mail.receive()

    with charges.operation("echo posts behind a full slot"):
        machine.finish(posts(0), posts(1))


def _fifo(charges: Charges) -> None:
    """More messages than there are buffers, or room in the FIFO of cells."""
    for form in ("buffers", "cells"):
        machine = Machine(2, nic="fifo")
        views = [ClusterView(**machine.view(node, form=form)) for node in range(2)]
        hosts = [host_library("fifo")(machine.host(node), view) for node, view in enumerate(views)]
        machine.finish(*(host.start() for host in hosts))

        async def give(sender: Any = hosts[0]) -> None:
            for _ in range(12):
                await sender.send(1, bytes(200))

        async def take(receiver: Any = hosts[1]) -> None:
            for _ in range(12):
                await receiver.receive()

        with charges.operation(f"fifo {form}"):
            machine.finish(give(), take())


def _ssam(charges: Charges) -> None:
    """A program of two processes; messages of one cell and of many."""
    bench = RequestBench("ssam")
    near, far = bench.ports
    for size in (0, 700):
        with charges.operation(f"ssam request of {size} B"):
            bench.run(settled(bench.machine, near.request(1, bench.answer(0), 3, data=bytes(size))))
        with charges.operation(f"ssam poll and answer of {size} B"):
            bench.run(settled(bench.machine, far.poll()))
        with charges.operation(f"ssam poll of {size} B"):
            bench.run(near.poll())
    with charges.operation("ssam poll"):
        bench.run(near.poll())
    with charges.operation("ssam close"):
        bench.run(near.close())


def _hpam(charges: Charges) -> None:
    """A program alone; then one that takes turns with another, and whose first request is lost."""
    bench = RequestBench("hpam")
    near, far = bench.ports
    for size in (0, 700):
        with charges.operation(f"hpam request of {size} B"):
            bench.run(settled(bench.machine, near.request(1, bench.answer(0), 3, data=bytes(size))))
        with charges.operation(f"hpam poll and answer of {size} B"):
            bench.run(settled(bench.machine, far.poll()))
        with charges.operation(f"hpam poll of {size} B"):
            bench.run(near.poll())
    with charges.operation("hpam close"):
        bench.run(near.close())
    bench = RequestBench("hpam", timeout_us=250, quantum_us=100)
    bench.run(bench.ports[0].close())
    with charges.operation("hpam open"):
        near, far = bench.run(bench.open(0, 2), bench.open(1, 2))
    with charges.operation("hpam request whose answer is lost, of a process that waits for its turn"):
        bench.machine.faults.drop(1, 0, bench.machine.faults.passed(1, 0))
        ends = [port.until(lambda: len(bench.came[0]) == 1) for port in (near, far, bench.ports[1])]
        bench.run(near.request(1, bench.answer(0), 2, data=b"second"), *ends)
    bench.run(settled(bench.machine, near.request(1, bench.answer(0), 3, data=b"third")))
    with charges.operation("hpam daemon, which takes a message from the pool"):
        bench.run(bench.layers[1].daemon._clear())


def _tpil(charges: Charges) -> None:
    machine = Machine(1)
    host = machine.host(0)
    source = host.allocate(1 << 14).address
    device = create(host, WINDOW, 1 << 16, Driver())
    for method in Method:
        with charges.operation(f"tpil {method.value}"):
            machine.finish(settled(machine, device.move(method, 0, source, 9000)))
    with charges.operation("tpil h2c"):
        machine.finish(settled(machine, device.h2c(0, source, 64)))
    card = Card(machine)
    with (
        patch.object(host, "pio_write", card.pio_write),
        patch.object(host, "pio_read", card.pio_read),
        charges.operation("tpil driver"),
    ):
        machine.finish(CardDma(host, WINDOW).fetch(source, 0, 4096))


class Registers:
    """The registers of a card that does at once what it is told."""

    def __init__(self) -> None:
        self._values: dict[int, int] = {}

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """A register."""
        self._values[address] = int.from_bytes(data, "big")

    async def pio_read(self, address: int) -> int:
        """What was written."""
        return self._values[address]


def _card(charges: Charges) -> None:
    bench, registers = Bench(1, channels=2), Registers()
    host = bench.machine.host(0)
    view = ClusterView(**bench.machine.view(0), circuits=(Circuit("image", 0, "fir16"),), fpga=SETTINGS)
    card = FpgaCard(host, bench.libraries[0].layout, view, 1)
    with (
        patch.object(host, "pio_write", registers.pio_write),
        patch.object(host, "pio_read", registers.pio_read),
        charges.operation("card initialise"),
    ):
        bench.machine.finish(card.initialise())
    with charges.operation("filter on the host"):
        bench.machine.finish(HostFilter(host, bytes(32)).run(bytes(100)))
