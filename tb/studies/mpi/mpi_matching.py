"""Does every MPI receive get the message that the standard requires?

Strategy: random operations of all ranks: all send modes, blocking, non-blocking and persistent, wildcards and probes,
datatypes with gaps, communicators that are split repeatedly, collectives. Receives and probes are compared with a
sequential reference without protocols (`_mpi_reference.py`), collectives with their expected results. The long run is
`SET="operations=10000"`.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.mpi._mpi_random import RandomProgram, items_of

LAYER = "mpi"
CLUSTER = "four_hosts"
OPTIONS = {
    "operations": Option(100, "calls of all ranks together, at least", 1, 1_000_000),
    **stack_options(LAYER),
}
QUICK = "operations=40"
SHOWN = 20
"""Number of violations reported."""


async def run(lab: Lab) -> None:
    """Run the study."""
    ranks = lab.start_layer(LAYER)
    program = RandomProgram(items_of(lab.seed, lab.option("operations"), len(ranks)), len(ranks))

    async def rank(number: int, mpi: Any) -> None:
        await mpi.Init()
        await program.run(mpi, number)
        await mpi.Finalize()

    await lab.all([lab.spawn(rank(number, mpi), f"rank {number}") for number, mpi in enumerate(ranks)])
    wrong = program.wrong()
    for line in wrong[:SHOWN] or [""]:
        lab.check("matching", not wrong, line)
    lab.metric("operations", program.calls)
    lab.metric("matched", program.received)
    lab.metric("wrong", len(wrong))
    lab.metric("ended_us", lab.kernel.now / 1e6)
    lab.findings.messages += program.received
