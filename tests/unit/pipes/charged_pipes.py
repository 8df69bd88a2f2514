"""A tour of Pipes: writes of both kinds, reads, what is lost, acknowledgements."""

from __future__ import annotations

from tests.unit.layers.charges import Charges
from tests.unit.pipes.pipes_bench import Pair, pattern
from tests.unit.pipes.test_pipes import SECOND_WAY


def tour(charges: Charges) -> None:
    """Run each operation."""
    pair = Pair()
    for name, size, direct in (("short", 100, False), ("5,000 B", 5000, False), ("5,000 B past the pipe", 5000, True)):
        with charges.operation(name):
            pair.run(pair.write(0, 1, pattern(size), size, direct), pair.read(1, 0, size))
    pair.machine.faults.delay_into(SECOND_WAY, 40_000_000)
    with charges.operation("over a late route"):
        pair.run(pair.write(0, 1, pattern(5000), 5000), pair.read(1, 0, 5000))
    for name, direct in (("a packet is lost", False), ("one past the pipe is lost", True)):
        pair.machine.faults.drop(0, 1, pair.machine.faults.passed(0, 1))
        with charges.operation(name):
            pair.run(pair.write(0, 1, pattern(100), 100, direct), pair.read(1, 0, 100))
    with charges.operation("a full pipe is read"):
        pair.run(pair.write(0, 1, pattern(100_000), 50_000), pair.read(1, 0, 100_000, 50_000))
