"""A tour of the host's operations with GRIM's FPGA card, and of the host's own filter."""

from __future__ import annotations

from unittest.mock import patch

from firmware.grim.host.filter import HostFilter
from firmware.grim.host.fpga import FpgaCard
from firmware.view import ClusterView
from pymodels.card.fabric import Circuit
from tests.unit.grim.grim_bench import Bench
from tests.unit.layers.charges import Charges

SETTINGS = {"clock_divisor": 1, "config_clocks": 1}
"""Settings of the card."""


class Registers:
    """Registers of a card that is never busy."""

    def __init__(self) -> None:
        self._values: dict[int, int] = {}

    async def pio_write(self, address: int, data: bytes, combine: bool = False) -> None:
        """Write a register."""
        self._values[address] = int.from_bytes(data, "big")

    async def pio_read(self, address: int) -> int:
        """Return the value last written."""
        return self._values[address]


def tour(charges: Charges) -> None:
    """Run all operations."""
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
