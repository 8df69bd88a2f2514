"""What does a plain Python function do as an MPI rank, without a process: `function=ring.py:main`?

Strategy: the function `main(mpi)` of a file runs once on every host, in a greenlet (tb/program/mpi/plain); `mpi` has
the names of mpi4py. The results are in `program-0.txt` and so on. Its computation takes no simulated time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from firmware.mpi.host import Mpi
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.plan.request import Plan
from tb.program.mpi.plain.find import function_of
from tb.program.mpi.plain.front import run_plain

LAYER = "mpi"
HOSTS = 1
"""Smallest number of hosts."""
OPTIONS = {
    "function": Option("ring.py:main", "a Python file and a function of it, which is given MPI"),
    **stack_options(LAYER),
}


def check(plan: Plan) -> None:
    """Reject an unknown function."""
    _function(plan)


def _function(plan: Plan) -> Any:
    return function_of(str(plan.options["function"]), Path(plan.request.directory or ".").absolute())


async def run(lab: Lab) -> None:
    """Run the study."""
    ranks, function = lab.start_layer(LAYER), _function(lab.plan)
    begun = lab.kernel.now

    async def rank(mpi: Mpi) -> Any:
        await mpi.Init()
        result = await run_plain(mpi, function)
        await mpi.Finalize()
        return result

    found = await lab.all([lab.spawn(rank(mpi), f"rank {number}") for number, mpi in enumerate(ranks)])
    for number, result in enumerate(found):
        Path(lab.plan.request.folder, f"program-{number}.txt").write_text(f"{result}\n", encoding="utf-8")
    lab.metric("ranks", len(ranks))
    lab.metric("function_us", (lab.kernel.now - begun) / 1e6)
