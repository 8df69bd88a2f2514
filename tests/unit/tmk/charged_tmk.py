"""TreadMarks operations whose costs are recorded: pages, twins, diffs, locks, barriers, a collection; and those over
VIA.
"""

from __future__ import annotations

from firmware.tmk.host import Tmk
from pymodels.host import PAGE
from tests.unit.layers.charges import Charges
from tests.unit.tmk.tmk_bench import Bench


def tour(charges: Charges) -> None:
    """Run each operation."""
    with charges.operation("start of three"):
        bench = Bench(3)
    one, two, _ = bench.all
    base = one.malloc(2 * PAGE)
    with charges.operation("distribute"):
        bench.do(one, one.distribute(b"x"))
    with charges.operation("barrier of three"):
        bench.program(lambda tmk: tmk.barrier(0))
    with charges.operation("read of a page for the first time"):
        bench.do(two, two.process.read(base, 4))
    with charges.operation("first write to a page"):
        bench.do(two, two.process.write(base, b"word"))
    with charges.operation("write to a page with a twin"):
        bench.do(two, two.process.write(base, b"more"))
    with charges.operation("lock of its manager, and its release"):
        bench.do(two, two.lock_acquire(0), two.lock_release(0))
    with charges.operation("the same lock again"):
        bench.do(two, two.lock_acquire(0), two.lock_release(0))
    with charges.operation("lock of a third one"):
        bench.do(one, one.lock_acquire(0))
    with charges.operation("read of a page with a diff of one word"):
        bench.do(one, one.process.read(base, 4))
    for tmk in bench.all:
        tmk.barriers._limit = 1
    with charges.operation("barrier of three with a collection"):
        bench.program(_write_and_meet)
    _over_via(charges)


def _over_via(charges: Charges) -> None:
    """Run the operations that differ over VIA."""
    with charges.operation("start of two over VIA"):
        bench = Bench(2, on="via", below={"preset": "bvia2"})
    one, two = bench.all
    base = one.malloc(PAGE)
    with charges.operation("distribute over VIA"):
        bench.do(one, one.distribute(b"x"))
    with charges.operation("barrier of two over VIA"):
        bench.program(lambda tmk: tmk.barrier(0))
    with charges.operation("read of a page for the first time over VIA"):
        bench.do(two, two.process.read(base, 4))


async def _write_and_meet(tmk: Tmk) -> None:
    await tmk.process.write(tmk.memory.base + PAGE + 4 * tmk.proc_id, b"word")
    await tmk.barrier(1)
