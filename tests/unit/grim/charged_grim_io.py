"""A tour of the operations of GRIM's I/O card: its driver on host 0, its firmware on host 1."""

from __future__ import annotations

import tempfile
from pathlib import Path

from firmware.grim.formats.iocard import ANSWER, SERVICE, DiskOp
from tests.unit.grim.grim_io_bench import IoBench
from tests.unit.layers.charges import Charges


def tour(charges: Charges) -> None:
    """Run all operations."""
    with tempfile.TemporaryDirectory() as folder:
        bench = IoBench(Path(folder))
        with charges.operation("io card initialise"):
            bench.finish(bench.driver.initialise())
        with charges.operation("io card learn"):
            bench.finish(bench.driver.learn({SERVICE: 40, ANSWER: 41}))
        with charges.operation("io card read"):
            bench.send((DiskOp.READ, 0, 4, 0), 40)
            bench.settle()
        with charges.operation("io card write outside"):
            bench.send((DiskOp.WRITE, 0, 4, 0), 40)
            bench.settle()
        with charges.operation("io card unknown handler"):
            bench.send((0, 0, 0, 0), 39)
            bench.settle()
        with charges.operation("io card reset"):
            bench.finish(bench.driver.reset())
