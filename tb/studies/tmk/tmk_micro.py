"""What do barrier, lock, page and diff of TreadMarks cost over UDP and over VIA (paper 001, 5.5.3)?

Strategy: the micro-benchmarks of the paper, first over UDP, then over Berkeley VIA, on the same hosts, each the mean
over repetitions. Barrier: 2, 4 and 8 processes meet. Lock: a process gets it from its manager, which had it last
(direct), or through the manager from a third process (indirect). Page: process 1 reads a word of each of some pages
that process 0 has. Diff: it reads them again, after process 0 has written one word of each (small) or all (large). Page
and diff include the fault.
"""

from __future__ import annotations

from typing import Any

from pymodels.host import PAGE
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.studies.tmk._tmk import SUBSTRATES, anew, check_hosts, together

LAYER = "tmk"
CLUSTER = "eight_hosts"
OPTIONS = {
    "repetitions": Option(4, "barriers, locks and pages of each kind", 2, 1000),
    **stack_options(LAYER),
}
QUICK = "repetitions=2"
VARIANTS = {"l7": ("lanai9-l7+p2-300", "repetitions=8")}
"""Hosts of chapter 5."""
COUNTS = 2, 4, 8
PAGES = 1
DIFFS = "diff_small", "diff_large"
LOCKS = "lock_direct", "lock_indirect"


def check(plan: Plan) -> None:
    """Reject fewer hosts than the largest barrier has processes."""
    check_hosts(plan, "tmk_micro", COUNTS[-1])


async def run(lab: Lab) -> None:
    """Run the study."""
    found: dict[str, dict[str, float]] = {}
    for name in SUBSTRATES:
        found[name] = {}
        for count in COUNTS[:-1]:
            await _barriers(lab, found[name], await anew(lab, name, processes=count, pages=PAGES))
        processes = await anew(lab, name, processes=COUNTS[-1], pages=lab.option("repetitions"))
        await _barriers(lab, found[name], processes)
        await Micro(lab, processes, found[name]).run()
        lab.findings.messages += sum(tmk.sent for tmk in processes)
        for kind, us in found[name].items():
            lab.metric(f"{name}_{kind}_us", us)
        lab.progress(len(found), len(SUBSTRATES), "substrates")
    gains = {kind: us / found["bvia"][kind] for kind, us in found["udp"].items()}
    lab.metric("gain_barrier_8", gains["barrier_8"])
    lab.metric("gain_lock_max", max(gains[kind] for kind in LOCKS))
    lab.metric("gain_page_diff_max", max(gains[kind] for kind in ("page", *DIFFS)))
    lab.metric("gain_least", min(gains.values()))


async def _barriers(lab: Lab, found: dict[str, float], processes: list[Any]) -> None:
    """Return the mean time of a barrier after a first one."""
    repetitions = lab.option("repetitions")

    async def meet(tmk: Any) -> int:
        await tmk.barrier(0)
        begun = lab.kernel.now
        for _ in range(repetitions):
            await tmk.barrier(0)
        return lab.kernel.now - begun

    times = await together(lab, processes, meet)
    found[f"barrier_{len(processes)}"] = max(times) / repetitions / 1e6


class Micro:
    """Locks, pages and diffs on eight processes."""

    def __init__(self, lab: Lab, processes: list[Any], found: dict[str, float]) -> None:
        self._lab, self._all, self._found = lab, processes, found
        self._count = lab.option("repetitions")

    async def run(self) -> None:
        """Run all measurements."""
        await together(self._lab, self._all, self._program)

    async def _program(self, tmk: Any) -> None:
        """Run the program of one process; idle processes compute and serve Requests."""
        array = await tmk.array(self._count, PAGE // 4, "u4")
        await self._locks(tmk)
        await tmk.barrier(0)
        if tmk.proc_id == 0:
            await tmk.process.write(array.address, bytes(PAGE * self._count))
        await tmk.barrier(0)
        await self._read(tmk, array.address, "page")
        for number, kind in enumerate(DIFFS):
            await tmk.barrier(0)
            for page in range(self._count if tmk.proc_id == 0 else 0):
                size = 4 if kind == "diff_small" else PAGE
                await tmk.process.write(array.address + page * PAGE, bytes([number + 1]) * size)
            await tmk.barrier(0)
            await self._read(tmk, array.address, kind)
        await tmk.exit()

    async def _locks(self, tmk: Any) -> None:
        """Measure locks managed by process 0: process 2 gets each from there, then process 1 gets it from 2."""
        numbers = [tmk.nprocs * (1 + index) for index in range(self._count)]
        for who, kind in ((2, "lock_direct"), (1, "lock_indirect")):
            await tmk.barrier(0)
            if tmk.proc_id != who:
                continue
            taken = 0
            for number in numbers:
                begun = self._lab.kernel.now
                await tmk.lock_acquire(number)
                taken += self._lab.kernel.now - begun
                await tmk.lock_release(number)
            self._found[kind] = taken / len(numbers) / 1e6

    async def _read(self, tmk: Any, address: int, kind: str) -> None:
        """Read a word of each page in process 1."""
        if tmk.proc_id != 1:
            return
        begun = self._lab.kernel.now
        for page in range(self._count):
            word = await tmk.process.read(address + page * PAGE, 4)
            self._lab.check(
                f"word of a {kind}",
                kind == "page" or word == bytes([1 + DIFFS.index(kind)]) * 4,
                "an old word",
            )
        self._found[kind] = (self._lab.kernel.now - begun) / self._count / 1e6
