"""HPAM operations whose costs are recorded: requests, polls, switches, losses, close."""

from __future__ import annotations

from tests.unit.layers.charges import Charges, settled
from tests.unit.layers.request_bench import Bench


def tour(charges: Charges) -> None:
    """Run a program alone; then one that takes turns with another and whose first request is lost."""
    bench = Bench("hpam")
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
    bench = Bench("hpam", timeout_us=250, quantum_us=100)
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
