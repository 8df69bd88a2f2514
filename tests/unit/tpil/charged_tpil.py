"""TPIL operations whose costs are recorded: every method of moving data, and the card's DMA driver."""

from __future__ import annotations

from unittest.mock import patch

from firmware.tpil.host import CardDma, Method, create
from pymodels.machine import Machine
from tests.unit.layers.charges import Charges, settled
from tests.unit.tpil.test_tpil import WINDOW, Card


class Driver:
    """DMA driver that does nothing; the costs of TPIL's own driver are recorded separately."""

    async def fetch(self, source: int, target: int, size: int) -> None:
        """Do nothing."""


def tour(charges: Charges) -> None:
    """Run each operation."""
    machine = Machine(1)
    host = machine.host(0)
    source = host.allocate(1 << 14).address
    device = create(host, WINDOW, 1 << 16, Driver())
    for method in Method:
        with charges.operation(f"tpil {method.value}"):
            machine.finish(settled(machine, device.move(method, 0, source, 9000)))
    with charges.operation("tpil h2c"):
        machine.finish(settled(machine, device.h2c(0, source, 64)))
    with charges.operation("tpil words at any byte"):
        machine.finish(settled(machine, device.move(Method.WORDS, 1, source, 41)))
    card = Card(machine)
    with (
        patch.object(host, "pio_write", card.pio_write),
        patch.object(host, "pio_read", card.pio_read),
        charges.operation("tpil driver"),
    ):
        machine.finish(CardDma(host, WINDOW).fetch(source, 0, 4096))
