"""HAL operations whose costs are recorded: sending, receiving, kept buffers, losses, interrupts."""

from __future__ import annotations

from firmware.common.host.payload import MemoryRange
from firmware.hal.nic.layout import BUFFERS, MOST
from tests.unit.hal.hal_bench import PROTOCOL, Bench, numbered
from tests.unit.layers.charges import Charges, settled


def tour(charges: Charges) -> None:
    """Run each operation."""
    with charges.operation("start"):
        bench = Bench()
    one, other = bench.hals
    host = bench.machine.host(0)
    memory = host.allocate(4096).address
    with charges.operation("a packet of 8 B"):
        bench.run(settled(bench.machine, one.send(1, PROTOCOL, b"8 bytes.")), bench.until(1, 1))
    with charges.operation("a header of 48 B and 976 B of data"):
        bench.run(settled(bench.machine, one.send(1, PROTOCOL, bytes(48), MemoryRange(memory, 976))), bench.until(1, 2))
    with charges.operation("one that is kept and sent again"):
        bench.run(_again(bench), bench.until(1, 4))
    with charges.operation("more than there are buffers"):
        bench.run(bench.give(0, 1, numbered(BUFFERS + 8, MOST)), bench.until(1, BUFFERS + 12))
    with charges.operation("a look that finds nothing"):
        bench.run(other.poll())
    faults = bench.machine.faults
    faults.corrupt(0, 1, faults.passed(0, 1), 20)
    with charges.operation("one that is damaged"):
        bench.run(settled(bench.machine, one.send(1, PROTOCOL, b"8 bytes.")))
    faults.delay(0, 1, faults.passed(0, 1), 50_000_000)
    with charges.operation("more than the NIC has room for"):
        bench.run(settled(bench.machine, bench.give(0, 1, numbered(8, MOST))))
        bench.run(other.poll())
    with charges.operation("more than there are receive buffers"):
        bench.run(settled(bench.machine, bench.give(0, 1, numbered(BUFFERS + 1))))
        bench.run(other.poll())
    with charges.operation("interrupts"):
        bench.run(other.interrupts(True))
        bench.run(settled(bench.machine, one.send(1, PROTOCOL, b"8 bytes.")))
        bench.run(other.interrupts(False))


async def _again(bench: Bench) -> None:
    buffer = await bench.hals[0].send(1, PROTOCOL, b"8 bytes.", keep=True)
    await bench.hals[0].again(buffer, b"8 others")
    bench.hals[0].free(buffer)
