"""SSAM operations whose costs are recorded: requests, polls, close."""

from __future__ import annotations

from tests.unit.layers.charges import Charges, settled
from tests.unit.layers.request_bench import Bench


def tour(charges: Charges) -> None:
    """Run each operation between two processes, with messages of one cell and of many."""
    bench = Bench("ssam")
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
