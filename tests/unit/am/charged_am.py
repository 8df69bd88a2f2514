"""AM operations whose costs are recorded: messages, replies, PUT, GET, an empty poll, a damaged packet."""

from __future__ import annotations

from firmware.am.nic.layout import MOST
from tests.unit.am.am_bench import Bench
from tests.unit.layers.charges import Charges, settled


def tour(charges: Charges) -> None:
    """Run each operation."""
    with charges.operation("start"):
        bench = Bench()
    near, far = bench.ports
    memory = [layer.host.allocate(4 * MOST).address for layer in bench.layers]
    for size in (0, 700):
        with charges.operation(f"request of {size} B"):
            bench.run(settled(bench.machine, near.request(1, bench.answer, 3, data=bytes(size))))
        with charges.operation(f"poll and answer of {size} B"):
            bench.run(settled(bench.machine, far.poll()))
        with charges.operation(f"poll of {size} B"):
            bench.run(near.poll())
    with charges.operation("poll"):
        bench.run(near.poll())
    with charges.operation("put of 700 B"):
        bench.run(settled(bench.machine, near.put(1, memory[1], memory[0], 700, memory[1])))
    with charges.operation("poll and handler of put"):
        bench.run(settled(bench.machine, far.poll()))
    bench.run(near.poll())
    with charges.operation("get of 700 B"):
        bench.run(settled(bench.machine, near.get(1, memory[1], memory[0], 700, memory[0])))
    with charges.operation("poll and handler of get"):
        bench.run(settled(bench.machine, far.poll()))
    bench.run(near.poll())
    faults = bench.machine.faults
    faults.delay(0, 1, faults.passed(0, 1), 50_000_000)
    with charges.operation("more payload than the NIC has room for"):
        bench.run(settled(bench.machine, _requests(bench, 4)), settled(bench.machine, _replies(bench)))
    for port in (far, near, far, near):
        bench.run(settled(bench.machine, port.poll()))
    faults.corrupt(0, 1, faults.passed(0, 1), 20)
    with charges.operation("one that is damaged"):
        bench.run(settled(bench.machine, near.request(1, bench.keep)))
    with charges.operation("start, with interrupts"):
        bench = Bench(receive="interrupt")
    near, far = bench.ports
    with charges.operation("computing that a message interrupts"):
        bench.run(settled(bench.machine, near.request(1, bench.keep)), settled(bench.machine, far.compute(200_000)))


async def _requests(bench: Bench, count: int) -> None:
    for _ in range(count):
        await bench.ports[0].request(1, bench.keep, data=bytes(MOST))


async def _replies(bench: Bench) -> None:
    for _ in range(4):
        await bench.ports[1].request(0, bench.answer, data=bytes(MOST))
